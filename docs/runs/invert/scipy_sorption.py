# T2 beside SciPy: least_squares over solve_ivp (LSODA, banded) and pihc invert, in turn, for D and s = k (1 - phi)/phi of examples/sorption
# from 50 points with 1 % noise. python3 scipy_sorption.py PIHC FIRST COUNT [CELLS...] prints a line for each case: the estimates, times, and
# how far each is from SciPy's on 320 cells with rtol 1e-10, in deviations by Gauss and Newton (the larger of the two). It needs
# numpy and scipy (pip install numpy scipy, in a venv of its own). Which comes first alternates. Cpu is of all threads,
# seconds are on the clock. Where k runs to zero its deviation is 0, and how far apart means nothing.
import json, pathlib, platform, resource, subprocess, sys, tempfile, time
import numpy
from scipy.optimize import least_squares
from sorption import observe, phi, problem, start, cells


def processor():
    try:
        return next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "?"


def cpu():
    return sum(t for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN) for t in resource.getrusage(who)[:2])


def fit(c, n, t, x, value, sigma, rtol, begin, **options):
    s = least_squares(lambda p: (observe(*numpy.exp(p), c, n, t, x, rtol) - value) / sigma, begin, diff_step=1e-4, **options)
    return s.x, numpy.sqrt(numpy.diag(numpy.linalg.pinv(s.jac.T @ s.jac))), 2 * s.cost


def main(pihc, first, count, *sizes):
    sizes = sizes or (128,)
    names = [f"scipy_{n}" for n in sizes]
    ratio = (1 - phi) / phi
    print(",".join(["case", "processor", "D", "s", "D_deviation", "s_deviation"] + [f"{who}_{what}" for who in ["pihc"] + names for what in ("D", "s", "chi_squared", "apart", "seconds", "cpu")]))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for case in range(first, first + count):
            rng = numpy.random.default_rng(case)
            D, k = 2.5e-4 * 4 ** rng.random(), 1.75e-4 * 4 ** rng.random()
            c, sigma = rng.normal(size=4) * 0.4, 0.01
            t, x = 10 + 490 * rng.random(50), rng.random(50)
            value = observe(D, k, c, 400, t, x) + sigma * rng.normal(size=50)
            numpy.save(folder / "u0.npy", start(cells(64), c))
            numpy.savetxt(folder / "obs.csv", numpy.column_stack([t, x, value, numpy.full(50, sigma)]), delimiter=",", header="t,x,value,sigma", comments="", fmt="%.17g")
            found = {}

            def ours():
                command = [pihc, "-q", "invert", problem, "--observe", folder / "obs.csv", "--free", "D,k", "--value", f"phi={phi}", "--initial", folder / "u0.npy", "--json"]
                out = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
                return numpy.log([out["estimates"][n]["value"] or 1e-300 for n in "Dk"]), out["chi_squared"]["value"]

            def theirs(n):
                at, _, sum_ = fit(c, n, t, x, value, sigma, 1e-6, numpy.log([5e-4, 3.5e-4]))
                return at, sum_

            tasks = [("pihc", ours)] + [(f"scipy_{n}", lambda n=n: theirs(n)) for n in sizes]
            for who, task in tasks if case % 2 else tasks[::-1]:
                begin, used = time.perf_counter(), cpu()
                found[who] = (*task(), time.perf_counter() - begin, cpu() - used)
            least = min(found.values(), key=lambda f: f[1])[0]
            best, deviations, _ = fit(c, 320, t, x, value, sigma, 1e-10, least, jac="3-point", xtol=1e-12, ftol=1e-14, gtol=1e-12)
            row = [f"{D:.5g}", f"{k * ratio:.5g}"] + [f"{d:.4g}" for d in deviations]
            for who, _ in tasks:
                at, sum_, seconds, used = found[who]
                row += [f"{numpy.exp(at[0]):.6g}", f"{numpy.exp(at[1]) * ratio:.6g}", f"{sum_:.6g}", f"{max(abs(at - best) / deviations):.3g}", f"{seconds:.3g}", f"{used:.3g}"]
            print(",".join([str(case), processor().replace(",", ";")] + row), flush=True)


main(sys.argv[1], *map(int, sys.argv[2:]))
