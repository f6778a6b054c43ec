# Writes cloughtocher.json: cases of SciPy's CloughTocher2DInterpolator. Run here.
import json
import numpy, scipy
from scipy.interpolate import CloughTocher2DInterpolator
from scipy.spatial import Delaunay

rng = numpy.random.default_rng(7)


def case(name, points, values, queries):
    mesh = Delaunay(points)
    f = CloughTocher2DInterpolator(mesh, values, tol=1e-12, maxiter=100000)
    results = f(queries)
    return dict(name=name, scipy=scipy.__version__, points=points.tolist(), values=values.tolist(),
                simplices=mesh.simplices.tolist(), queries=queries.tolist(),
                results=[None if numpy.isnan(v) else float(v) for v in results])


def lattice(nx, nt, count, sx, st):
    i = numpy.sort(rng.choice(nx * nt, count, replace=False))
    return numpy.stack([i // nx * st, i % nx * sx], axis=1).astype(float)


def wave(p):
    return numpy.sin(3 * p[:, 0] / p[:, 0].max()) * numpy.exp(-2 * p[:, 1] / p[:, 1].max())


scattered = rng.random((60, 2))
grid = lattice(12, 10, 120, 1, 1)
sparse = lattice(32, 20, 90, 25, 64)
stretched = rng.random((50, 2)) * [1, 40]
cases = [
    case("scattered", scattered, rng.standard_normal(60), rng.random((80, 2))),
    case("whole grid", grid, wave(grid), rng.random((60, 2)) * [9, 11]),
    case("sampled grid", sparse, wave(sparse), rng.random((80, 2)) * [19 * 64, 31 * 25]),
    case("stretched", stretched, rng.standard_normal(50), rng.random((60, 2)) * [1, 40]),
]
json.dump(cases, open("cloughtocher.json", "w"))
