"""py-pde and `pihc solve` on the PDE files of this folder, on one core: error at the last time, and seconds.

    pip install py-pde pyyaml
    python3 docs/runs/solve/pypde.py ./pihc [--case NAME] [--repeat 3] [--out docs/runs/solve/pypde.csv]

Both begin with what the PDE file says. Errors are in relative L2, over all unknowns, against a solution that neither of
them made: ETDRK4 (Kassam and Trefethen, 2005) in NumPy with more modes and short steps, which is compared with twice the
steps, or, for linear equations, Fourier series. Seconds are the least of the rounds, in which all runs take turns, in
processor time of one thread: of py-pde its stepper alone, compiled and called once before (`compile`, by the clock); of pihc the
whole process with start, files and output, and with every grid that its estimate of the error takes. `process` is that by the
clock. What would take more than LIMIT is left out.
"""

import argparse, csv, json, os, re, subprocess, sys, tempfile, time

CORE = max(os.sched_getaffinity(0))
os.sched_setaffinity(0, {CORE})
for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS"):
    os.environ[name] = "1"

import numpy as np
import pde
import scipy.sparse as sparse
import yaml

FOLDER = os.path.dirname(os.path.abspath(__file__))
LIMIT = 20.0  # seconds of one run
E3, E5, E7 = 1e-3, 1e-5, 1e-7


class Case:
    """What a PDE file says, with the equation for py-pde and for the reference."""

    def __init__(self, file, rates, linear, nonlinear, modes, steps, runs, tolerances, stiff, variables=None):
        self.file, self.rates, self.linear, self.nonlinear = file, rates, linear, nonlinear
        self.modes, self.steps, self.runs, self.tolerances, self.stiff = modes, steps, runs, tolerances, stiff
        with open(os.path.join(FOLDER, file + ".yaml")) as f:
            self.problem = p = yaml.safe_load(f)
        names = {"pi": np.pi}
        number = lambda text: eval(str(text).replace("^", "**"), {"__builtins__": {}}, names)
        for key, value in p.get("constants", {}).items():
            names[key] = float(number(value))
        axes = list(p["axes"].items())
        self.time = float(number(axes[0][1]["range"][1]))
        self.axes = [a for a, _ in axes[1:]]
        self.lengths = [float(number(v["range"][1])) for _, v in axes[1:]]
        self.points = [v["points"] for _, v in axes[1:]]
        self.variables = variables or (p["unknown"] if isinstance(p["unknown"], list) else [p["unknown"]])
        self.names, self.start = names, {}
        for c in p["conditions"].values():
            text = c["expression"]
            unknown = text.split(" ", 1)[0]
            self.start[unknown] = text.split(" ", 1)[1].lstrip() if " " in text else "- 0"
        self.shape = lambda n: [n] * len(self.lengths)

    def begin(self, n, offset):
        """The initial condition at n points an axis, (unknowns, n[, n]); offset is that of the points in steps."""
        at = np.meshgrid(*[(np.arange(n) + offset) * (l / n) for l in self.lengths], indexing="ij")
        scope = dict(self.names, exp=np.exp, sin=np.sin, cos=np.cos, **dict(zip(self.axes, at)))
        value = lambda text: eval(text.replace("^", "**"), {"__builtins__": {}}, scope)
        for key, text in self.problem.get("expressions", {}).items():
            scope[key] = value(text)
        rows = []
        for v in self.variables:
            text = self.start.get(v, "- 0")
            assert text[0] in "+-"  # u - (...): what u is
            rows.append(-value(text) + 0 * at[0])
        return np.array(rows)

    def waves(self, n):
        return np.meshgrid(*[2 * np.pi / l * np.fft.fftfreq(n, 1 / n) for l in self.lengths], indexing="ij")

    def reference(self):
        """Fourier coefficients at the last time, and the distance to those with half the steps."""
        n, axes = self.modes, tuple(range(1, 1 + len(self.lengths)))
        k = self.waves(n)
        first = np.fft.fftn(self.begin(n, 0), axes=axes)
        if self.nonlinear is None:
            return self.linear(k, first, self.time), 0.0
        fine = etdrk4(self, k, first, self.steps)
        half = etdrk4(self, k, first, self.steps // 2)
        return fine, np.linalg.norm(fine - half) / np.linalg.norm(fine)

    def error(self, solution, reference, offset):
        """Relative L2 distance of (unknowns, n[, n]) from the reference at the same points."""
        n, axes = solution.shape[-1], tuple(range(1, 1 + len(self.lengths)))
        k = self.waves(self.modes)
        shift = np.exp(1j * sum(ki * offset * l / n for ki, l in zip(k, self.lengths)))
        exact = np.fft.ifftn(reference * shift, axes=axes).real
        every = self.modes // n
        assert every * n == self.modes
        exact = exact[(slice(None),) + (slice(None, None, every),) * len(self.lengths)]
        return float(np.linalg.norm(solution - exact) / np.linalg.norm(exact))


def etdrk4(case, k, v, steps):
    h, L = case.time / steps, case.linear(k)
    mean = lambda f: np.mean([f(h * L + r) for r in np.exp(1j * np.pi * (np.arange(32) + 0.5) / 16)], axis=0).real if np.isrealobj(L) else \
        np.mean([f(h * L + r) for r in np.exp(1j * np.pi * (np.arange(32) + 0.5) / 16)], axis=0)
    E, E2 = np.exp(h * L), np.exp(h * L / 2)
    Q = h * mean(lambda z: (np.exp(z / 2) - 1) / z)
    f1 = h * mean(lambda z: (-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3)
    f2 = h * mean(lambda z: (2 + z + np.exp(z) * (-2 + z)) / z**3)
    f3 = h * mean(lambda z: (-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3)
    N = lambda v: case.nonlinear(k, v)
    for _ in range(steps):
        Nv = N(v)
        a = E2 * v + Q * Nv
        Na = N(a)
        Nb = N(E2 * v + Q * Na)
        Nc = N(E2 * a + Q * (2 * Nb - Nv))
        v = E * v + Nv * f1 + 2 * (Na + Nb) * f2 + Nc * f3
    return v


def transformed(function):
    """A nonlinear part of real fields from their coefficients."""

    def apply(k, v):
        axes = tuple(range(1, v.ndim))
        return np.fft.fftn(np.array(function(k, v, lambda w: np.fft.ifftn(w).real)), axes=axes)

    return apply


square = lambda k: sum(x**2 for x in k)
gray = dict(Du=2e-5, Dv=1e-5, F=0.04, k=0.06)


def gray_linear(k):
    return np.array([-gray["Du"] * square(k) - gray["F"], -gray["Dv"] * square(k) - gray["F"] - gray["k"]])


def gray_nonlinear(k, v, real):
    a, b = real(v[0]), real(v[1])
    return [gray["F"] - a * b**2, a * b**2]


def wave_exact(k, v, t):
    w = np.sqrt(square(k))
    return np.array([np.cos(w * t) * v[0], -w * np.sin(w * t) * v[0]])


def schroedinger_exact(k, v, t):
    psi = v[0] + 1j * v[1]  # coefficients of u + i v
    psi = np.exp(-1j * square(k) * t) * psi
    axes = tuple(range(0, psi.ndim))
    field = np.fft.ifftn(psi, axes=axes)
    return np.fft.fftn(np.array([field.real, field.imag]), axes=tuple(range(1, 1 + psi.ndim)))


# runs of py-pde: (points, solver, tolerance, spectral Laplacian). BDF has the pattern of the Jacobian.
CASES = {
    "ks": Case("kuramoto-sivashinsky", {"u": "-gradient_squared(u) / 2 - laplace(u + laplace(u))"},
               lambda k: square(k) - square(k)**2, transformed(lambda k, v, real: [-0.5 * sum(real(1j * x * v[0])**2 for x in k)]), 512, 4800,
               [(128, "BDF", E3, 0)], (1e-2, 1e-4, 1e-6), 4),
    "ks-2d": Case("kuramoto-sivashinsky-2d", {"u": "-gradient_squared(u) / 2 - laplace(u + laplace(u))"},
                  lambda k: square(k) - square(k)**2, transformed(lambda k, v, real: [-0.5 * sum(real(1j * x * v[0])**2 for x in k)]), 128, 800,
                  [(64, "euler", E3, 0)], (1e-2, 1e-4), 4),
    "cahn-hilliard": Case("cahn-hilliard", {"c": "laplace(c**3 - c - laplace(c))"},
                          lambda k: square(k) - square(k)**2, transformed(lambda k, v, real: [np.fft.ifftn(-square(k) * np.fft.fftn(real(v[0])**3)).real]), 128, 3200,
                          [(64, "euler", E3, 0)], (1e-2, 1e-4), 4, ["c"]),
    "gray-scott": Case("gray-scott", {"u": "2e-5*laplace(u) - u*v**2 + 0.04*(1 - u)", "v": "1e-5*laplace(v) + u*v**2 - (0.04 + 0.06)*v"},
                       gray_linear, transformed(gray_nonlinear), 128, 800,
                       [(64, "runge-kutta", E3, 0), (128, "runge-kutta", E3, 0)], (1e-2, 1e-4), 2),
    "wave": Case("wave", {"u": "v", "v": "laplace(u)"}, wave_exact, None, 256, 0,
                 [(128, "runge-kutta", E3, 0)], (1e-2, 1e-4), 1, ["u", "v"]),
    "schroedinger": Case("schroedinger", {"psi": "I*laplace(psi)"}, schroedinger_exact, None, 1024, 0,
                         [(256, "runge-kutta", E5, 0), (1024, "runge-kutta", E3, 0)], (1e-2, 1e-4, 1e-6), 2),
    "kdv": Case("korteweg-de-vries", {"u": "6 * u * d_dx(u) - laplace(d_dx(u))"},
                lambda k: 1j * k[0]**3, transformed(lambda k, v, real: [real(6j * k[0] / 2 * np.fft.fftn(real(v[0])**2))]), 256, 24000,
                [(128, "runge-kutta", E5, 0)], (1e-2, 1e-4, 1e-6), 3),
}


class PyPDE:
    def __init__(self, case, points, solver, tolerance, spectral):
        self.case, self.points, self.solver, self.tolerance, self.spectral = case, points, solver, tolerance, spectral
        grid = pde.CartesianGrid([[0, l] for l in case.lengths], [points] * len(case.lengths), periodic=True)
        pde.backends.get_backend("numba").config["use_spectral"] = bool(spectral)
        first, eq = case.begin(points, 0.5), pde.PDE(case.rates)
        if "psi" in case.rates:
            self.state = pde.ScalarField(grid, first[0] + 1j * first[1], dtype=complex)
        elif len(case.rates) == 1:
            self.state = pde.ScalarField(grid, first[0])
        else:
            self.state = pde.FieldCollection([pde.ScalarField(grid, x) for x in first])
        self.dt = 0.05 * min(grid.discretization)**min(case.stiff, 4) if case.file != "gray-scott" else 0.1
        begin = time.perf_counter()
        if solver in ("euler", "runge-kutta"):
            kind = pde.EulerSolver if solver == "euler" else pde.RungeKuttaSolver
            self.method = kind(eq, backend="numba", adaptive=True, tolerance=tolerance)
        else:
            keys = {"jac_sparsity": pattern(grid, case)} if solver == "BDF" else {}
            self.method = pde.ScipySolver(eq, backend="numba", method=solver, rtol=tolerance, atol=tolerance * 1e-2, **keys)
        self.stepper = self.method.make_stepper(self.state, dt=self.dt)
        self.run(2 * self.dt)
        self.compile = time.perf_counter() - begin
        # A short piece says whether the whole takes too long.
        part = case.time / 50
        self.estimate = 50 * self.run(part)[0] if solver != "BDF" else 0

    def run(self, until):
        state = self.state.copy()
        self.method.info["dt"] = self.dt
        begin = time.process_time()
        self.stepper(state, 0.0, until)
        seconds = time.process_time() - begin
        data = state.data
        if np.iscomplexobj(data):
            data = np.array([data.real, data.imag])
        return seconds, data.reshape((-1,) + (self.points,) * len(self.case.lengths))


def pattern(grid, case):
    """The pattern of the Jacobian: of two Laplacians one after another, or one, or of a third derivative."""
    one = lambda n: sparse.diags([np.ones(n - abs(i)) for i in (-1, 0, 1, n - 1, 1 - n)], [-1, 0, 1, n - 1, 1 - n])
    if len(grid.shape) == 1:
        near = one(grid.shape[0])
    else:
        near = sparse.kron(one(grid.shape[0]), sparse.eye(grid.shape[1])) + sparse.kron(sparse.eye(grid.shape[0]), one(grid.shape[1]))
    reach = near @ near if case.stiff > 2 else near
    return sparse.kron(np.ones((len(case.rates),) * 2), abs(reach)).tocsc()


def pihc(program, case, tolerance):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "u.npz")
        begin, before = time.perf_counter(), os.times().children_user
        try:
            done = subprocess.run([program, "solve", "-q", os.path.join(FOLDER, case.file + ".yaml"), "--tolerance", str(tolerance), "--json", "--out", out],
                                  capture_output=True, text=True, timeout=LIMIT * 4)
        except subprocess.TimeoutExpired:
            return None
        process, cpu = time.perf_counter() - begin, os.times().children_user - before
        if done.returncode:
            sys.exit(f"{case.file}: {done.stderr}")
        said, data = json.loads(done.stdout), np.load(out)
        said["seconds"] = cpu
        names = [v for v in case.variables if v in data]
        return said, process, np.array([data[v][0, -1] for v in names]), names


def measure(name, program, repeat, write):
    case = CASES[name]
    reference, distance = case.reference()
    print(f"{name}: reference within {distance:.1e}", flush=True)
    ours = {t: None for t in case.tolerances}
    theirs = []
    for run in case.runs:
        p = PyPDE(case, *run)
        print(f"  py-pde {run}: compiled in {p.compile:.1f} s, about {p.estimate:.2f} s", flush=True)
        if p.estimate <= LIMIT:
            theirs.append([p, None])
    only = lambda data, names: np.array([data[case.variables.index(v)] for v in names])
    for turn in range(repeat):
        for entry in theirs:
            if turn == 0 or entry[1][0] < LIMIT / 4:
                got = entry[0].run(case.time)
                entry[1] = got if entry[1] is None or got[0] < entry[1][0] else entry[1]
        for t in ours:
            if turn == 0 or ours[t] and ours[t][0]["seconds"] < LIMIT / 4:
                got = pihc(program, case, t)
                if got and (ours[t] is None or got[0]["seconds"] < ours[t][0]["seconds"]):
                    ours[t] = got
    names = case.variables if name != "wave" else ["u"]
    for p, (seconds, data) in theirs:
        error = case.error(only(data, names), only(reference, names), 0.5)
        write(dict(equation=name, program="py-pde", settings=p.solver + (", spectral" if p.spectral else ""), tolerance=p.tolerance, points=p.points,
                   error=f"{error:.3g}", estimate="", seconds=f"{seconds:.4g}", process="", compile=f"{p.compile:.3g}", stepper=""))
    for t, got in ours.items():
        if got is None:
            continue
        said, process, data, _ = got
        error = case.error(data if name != "wave" else data[:1], only(reference, names), 0)
        grid = said["grid"][case.axes[0]]
        write(dict(equation=name, program="pihc", settings="", tolerance=t, points=grid, error=f"{error:.3g}", estimate=f"{said['error_estimate']:.3g}",
                   seconds=f"{said['seconds']:.4g}", process=f"{process:.4g}", compile="", stepper=said.get("stepper", "")))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("pihc")
    p.add_argument("--case", choices=CASES)
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("--out", default=os.path.join(FOLDER, "pypde.csv"))
    o = p.parse_args()
    columns = ["equation", "program", "settings", "tolerance", "points", "error", "estimate", "seconds", "process", "compile", "stepper", "processor"]
    with open("/proc/cpuinfo") as f:
        processor = re.search(r"model name\s*: (.*)", f.read()).group(1)
    lines = []
    if o.case and os.path.exists(o.out):  # the other cases stay
        with open(o.out) as f:
            lines = [line for line in csv.DictReader(f) if line["equation"] != o.case]

    def write(line):
        lines.append(dict(line, processor=processor))
        print("  " + ", ".join(str(v) for v in line.values() if v != ""), flush=True)

    for name in [o.case] if o.case else CASES:
        measure(name, o.pihc, o.repeat, write)
        order = list(CASES)
        lines.sort(key=lambda line: order.index(line["equation"]))
        with open(o.out + ".new", "w", newline="") as f:
            table = csv.DictWriter(f, columns, lineterminator="\n")
            table.writeheader()
            table.writerows(lines)
        os.replace(o.out + ".new", o.out)


if __name__ == "__main__":
    main()
