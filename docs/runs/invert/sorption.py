# T2: D and the sorption of examples/sorption from 50 points with 1 % noise: how often the 95 % intervals hold the truth. python3
# sorption.py PIHC FIRST COUNT prints a line for each case; coverage.py sums up, and scipy_sorption.py is SciPy beside it.
import json, pathlib, subprocess, sys, tempfile, time
import numpy
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

problem = pathlib.Path(__file__).parents[3] / "examples/sorption/problem.yaml"
phi, rho, n_f, floor = 0.3, 2880, 0.874, 1e-3


def cells(n):
    return (numpy.arange(n) + 0.5) / n


def start(x, c):
    return 0.08 * numpy.exp(sum(v * numpy.cos((k + 1) * numpy.pi * x) / (k + 1) for k, v in enumerate(c)))


def solve(D, k, c, n, times, rtol):
    """Finite volumes on n cells, and the right wall u + D u_x = 0; (times, n) with values at both walls added."""
    h = 1 / n
    q = (1 - phi) / phi * rho * k * n_f

    def right(u):
        # u_w + D (u_w - u_n)/(h/2) = 0 to second order: the parabola through the wall and two cells
        a, b, e = 8 / (3 * h), -3 / h, 1 / (3 * h)  # u_x at the wall by u_w, u_n, u_(n-1)
        return -D * (b * u[-1] + e * u[-2]) / (1 + D * a)

    def f(t, u):
        w = right(u)
        slope = numpy.empty(n + 1)
        slope[1:-1] = (u[1:] - u[:-1]) / h
        slope[0] = (-8 / 3 + 3 * u[0] - u[1] / 3) / h
        slope[-1] = (8 / 3 * w - 3 * u[-1] + u[-2] / 3) / h
        R = 1 + q * (numpy.maximum(u, floor) + 1e-6) ** (n_f - 1)
        return D / R * (slope[1:] - slope[:-1]) / h

    s = solve_ivp(f, (0, times[-1]), start(cells(n), c), "LSODA", t_eval=times, rtol=rtol, atol=rtol * 1e-2, lband=2, uband=2)
    return numpy.array([numpy.concatenate([[1], u, [right(u)]]) for u in s.y.T])


def observe(D, k, c, n, t, x, rtol=1e-8):
    order = numpy.argsort(t)
    u = solve(D, k, c, n, t[order], rtol)
    points = numpy.concatenate([[0], cells(n), [1]])
    out = numpy.empty(len(t))
    out[order] = [CubicSpline(points, row)(p) for row, p in zip(u, x[order])]
    return out


def main(pihc, first, count):
    print("case,D,k,D_estimate,D_low,D_high,k_estimate,k_low,k_high,p,seconds")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for case in range(first, first + count):
            rng = numpy.random.default_rng(case)
            D, k = 2.5e-4 * 4 ** rng.random(), 1.75e-4 * 4 ** rng.random()
            c = rng.normal(size=4) * 0.4
            t, x = 10 + 490 * rng.random(50), rng.random(50)
            value = observe(D, k, c, 400, t, x) + 0.01 * rng.normal(size=50)
            numpy.save(folder / "u0.npy", start(cells(64), c))
            numpy.savetxt(folder / "obs.csv", numpy.column_stack([t, x, value, numpy.full(50, 0.01)]), delimiter=",", header="t,x,value,sigma", comments="")
            begin = time.perf_counter()
            command = [pihc, "-q", "invert", problem, "--observe", folder / "obs.csv", "--free", "D,k", "--value", f"phi={phi}", "--initial", folder / "u0.npy", "--json"]
            out = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            seconds, e = time.perf_counter() - begin, out["estimates"]
            row = [D, k] + [e[n][key] for n in "Dk" for key in ("value", "low", "high")] + [out["chi_squared"]["p"], seconds]
            print(",".join([str(case)] + ["" if v is None else f"{v:.5g}" for v in row]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
