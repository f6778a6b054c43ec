# T3 without walls: wind, place and strength of a leak from 200 points of the unit square with 2 % noise. The truth is that of the
# plane, by Green's function and Gauss's quadrature in time. python3 leak_open.py PIHC [SEED]
import json, pathlib, subprocess, sys, tempfile, time
import numpy

here = pathlib.Path(__file__).parent
truth = {"vx": 2, "x0": 0.3, "y0": 0.6, "q": 1}
D, width = 0.05, 0.1


def plume(t, x, y):
    node, weight = numpy.polynomial.legendre.leggauss(200)
    s = t[:, None] * (node + 1) / 2  # when it leaked
    variance = width**2 + 2 * D * (t[:, None] - s)
    dx = x[:, None] - truth["x0"] - truth["vx"] * (t[:, None] - s)
    dy = y[:, None] - truth["y0"] - (numpy.sin(3 * numpy.pi * t[:, None]) - numpy.sin(3 * numpy.pi * s)) / numpy.pi
    return truth["q"] * (numpy.exp(-(dx**2 + dy**2) / (2 * variance)) / (2 * numpy.pi * variance)) @ weight * t / 2


rng = numpy.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
t, x, y = rng.random((3, 200))
clean = plume(t, x, y)
sigma = 0.02 * numpy.sqrt(numpy.mean(clean**2))
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "leak.csv"
    numpy.savetxt(path, numpy.column_stack([t, x, y, clean + sigma * rng.normal(size=200), numpy.full(200, sigma)]), delimiter=",", header="t,x,y,value,sigma", comments="")
    begin = time.time()
    command = [sys.argv[1], "invert", here / "leak-open.yaml", "--observe", path, "--free", "vx,x0,y0,q", "--json"]
    out = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
print(f"{time.time() - begin:.1f} s, chi-squared {out['chi_squared']}")
for name, value in truth.items():
    e = out["estimates"][name]
    print(f"{name} = {e['value']:.5f} ({e['low']:.5f} to {e['high']:.5f}), truth {value}, error {abs(e['value'] / value - 1):.2%}")
