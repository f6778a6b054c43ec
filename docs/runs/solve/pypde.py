# py-pde (finite differences of second order, adaptive Runge-Kutta steps, by NumPy and by numba) beside pihc solve, on periodic boxes, from one initial
# field each. Errors are relative L2 at the last time and at the common points, against a Fourier series with SciPy's DOP853 to 1e-9.
# python3 pypde.py PIHC [PROBLEM ...]; a line for each run: seconds are of the whole command for pihc, of the second of two runs for
# py-pde, whose first compiles and is given beside.
import pathlib, subprocess, sys, tempfile, time
import numpy
from scipy.integrate import solve_ivp
import pde

cos, sin, tau = numpy.cos, numpy.sin, 2 * numpy.pi
# name: length, end, unknowns with their initial fields of phases, rates for py-pde, pihc's file without axes, points of the reference
problems = {
    "kuramoto-sivashinsky": (22, 10, {"u": lambda x: cos(x) + 0.5 * sin(2 * x)}, {"u": "-laplace(u) - laplace(laplace(u)) - u * d_dx(u)"}, """
terms: {u_t: {axis: t, derivative: 1}, u_x: {spectral: derivative, axis: x}, u_xx: {spectral: derivative, axis: x, derivative: 2}, u_xxxx: {spectral: derivative, axis: x, derivative: 4}}
residual: {expression: u_t + u*u_x + u_xx + u_xxxx, rows: {t: [1, 0]}}""", 64),
    "cahn-hilliard": (20, 2, {"u": lambda x, y: 0.3 * (cos(x) + sin(2 * y) * cos(x))}, {"u": "laplace(u**3 - u - laplace(u))"}, """
terms: {u_t: {of: u, axis: t, derivative: 1}, u_lap: {of: u, spectral: laplacian}, m_lap: {of: m, spectral: laplacian}}
residual:
  flow: {expression: u_t - m_lap, rows: {t: [1, 0]}}
  potential: {expression: m - u^3 + u + u_lap}""", 48),
    "gray-scott": (1, 10, {"u": lambda x, y: 0.4 + 0.1 * cos(x) * sin(y), "v": lambda x, y: 0.3 + 0.08 * sin(x + 2 * y)},
        {"u": "2e-4*laplace(u) - u*v**2 + 0.04*(1 - u)", "v": "1e-4*laplace(v) + u*v**2 - 0.09*v"}, """
terms: {u_t: {of: u, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}, u_lap: {of: u, spectral: laplacian}, v_lap: {of: v, spectral: laplacian}}
residual:
  feed: {expression: u_t - 2e-4*u_lap + u*v^2 - 0.04*(1 - u), rows: {t: [1, 0]}}
  kill: {expression: v_t - 1e-4*v_lap - u*v^2 + 0.09*v, rows: {t: [1, 0]}}""", 48),
    "wave": (1, 1, {"u": lambda x: cos(x) + 0.3 * sin(3 * x), "w": lambda x: 0 * x}, {"u": "w", "w": "0.49*laplace(u)"}, """
terms: {u_tt: {axis: t, derivative: 2}, u_t: {axis: t, derivative: 1}, u_xx: {spectral: derivative, axis: x, derivative: 2}}
residual: {expression: u_tt - 0.49*u_xx, rows: {t: [1, 1]}}""", 32),
    "schroedinger": (10, 5, {"u": lambda x: numpy.exp(4 * (cos(x) - 1)) * cos(3 * x), "v": lambda x: numpy.exp(4 * (cos(x) - 1)) * sin(3 * x)},
        {"u": "-0.5*laplace(v)", "v": "0.5*laplace(u)"}, """
terms: {u_t: {of: u, axis: t, derivative: 1}, v_t: {of: v, axis: t, derivative: 1}, u_xx: {of: u, spectral: derivative, axis: x, derivative: 2}, v_xx: {of: v, spectral: derivative, axis: x, derivative: 2}}
residual:
  real: {expression: u_t + 0.5*v_xx, rows: {t: [1, 0]}}
  imaginary: {expression: v_t - 0.5*u_xx, rows: {t: [1, 0]}}""", 64),
}


def fields(starts, dim, n):
    x = tau * numpy.arange(n) / n
    return numpy.array([numpy.broadcast_to(f(*numpy.meshgrid(*[x] * dim, indexing="ij")), [n] * dim) for f in starts.values()])


def reference(name, length, end, u0):
    dim, n = u0.ndim - 1, u0.shape[1]
    k = tau / length * numpy.fft.fftfreq(n, 1 / n)
    K = numpy.meshgrid(*[k] * dim, indexing="ij")
    k2 = sum(q**2 for q in K)
    F, B, axes = numpy.fft.fftn, numpy.fft.ifftn, tuple(range(1, dim + 1))
    lap = lambda u: -B(k2 * F(u)).real

    def rate(t, y):
        u = y.reshape(u0.shape)
        match name:
            case "kuramoto-sivashinsky":
                v = u[0]
                r = [-v * B(1j * K[0] * F(v)).real + B((k2 - k2**2) * F(v)).real]
            case "cahn-hilliard":
                r = [lap(u[0] ** 3 - u[0] - lap(u[0]))]
            case "gray-scott":
                r = [2e-4 * lap(u[0]) - u[0] * u[1] ** 2 + 0.04 * (1 - u[0]), 1e-4 * lap(u[1]) + u[0] * u[1] ** 2 - 0.09 * u[1]]
            case "wave":
                r = [u[1], 0.49 * lap(u[0])]
            case "schroedinger":
                r = [-0.5 * lap(u[1]), 0.5 * lap(u[0])]
        return numpy.ravel(r)

    return solve_ivp(rate, (0, end), u0.ravel(), "DOP853", rtol=1e-9, atol=1e-11, t_eval=[end]).y[:, -1].reshape(u0.shape)


def error(u, true):
    for a in range(1, true.ndim):
        step = u.shape[a] // 16, true.shape[a] // 16
        u, true = numpy.take(u, numpy.arange(0, u.shape[a], step[0]), a), numpy.take(true, numpy.arange(0, true.shape[a], step[1]), a)
    return numpy.linalg.norm(u - true) / numpy.linalg.norm(true)


def by_pypde(length, end, starts, rates, dim, n, tolerance, backend):
    # CartesianGrid has points at centres of cells: a periodic box may begin half a cell before.
    h = length / n
    grid = pde.CartesianGrid([[-h / 2, length - h / 2]] * dim, n, periodic=True)
    state = pde.FieldCollection([pde.ScalarField(grid, f) for f in fields(starts, dim, n)])
    names = list(rates)
    equation = pde.PDE(rates)
    for field, name in zip(state, names):
        field.label = name
    seconds = []
    for _ in range(2):
        begin = time.perf_counter()
        out = equation.solve(state, t_range=end, dt=1e-4, adaptive=True, tolerance=tolerance, solver="runge-kutta", tracker=None, backend=backend)
        seconds.append(time.perf_counter() - begin)
    return numpy.array([f.data for f in out]), seconds


def by_pihc(pihc, name, length, end, starts, text, dim, n, tolerance):
    unknowns = ["u", "m"] if name == "cahn-hilliard" else ["u"] if dim == 1 and "w" in starts else list(starts)
    points = "".join(f"  {a}: {{range: [0, {length}], points: {n}, boundary: periodic}}\n" for a in "xy"[:dim])
    begins = "".join(f"  start_{u}: {{kind: initial, at: {{t: low}}, expression: {u} - {u}0}}\n" for u in unknowns if u != "m")
    if name == "wave":
        begins += "  rest: {kind: initial, at: {t: low}, expression: u_t}\n"
    series = "{distribution: random-series, series: periodic}"
    initial = series if unknowns in (["u"],) else "{" + ", ".join(f"{u}: {series}" for u in unknowns if u != "m") + "}"
    file = f"name: {name}\nunknown: [{', '.join(unknowns)}]\naxes:\n  t: {{range: [0, {end}], points: 11, boundary: nodes}}\n{points}{text.strip()}\nconditions:\n{begins}initial: {initial}\n"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "p.yaml").write_text(file)
        drawn = fields({u: starts[u] for u in unknowns if u in starts}, dim, n)
        if len(unknowns) == 1:
            numpy.save(folder / "u0.npy", drawn[0])
            given = folder / "u0.npy"
        else:
            numpy.savez(folder / "u0.npz", **{u + "0": f[None] for u, f in zip(unknowns, drawn)})
            given = folder / "u0.npz"
        begin = time.perf_counter()
        done = subprocess.run([pihc, "-q", "solve", folder / "p.yaml", "--initial", given, "--tolerance", str(tolerance), "--out", folder / "u.npz"], capture_output=True, text=True)
        seconds = time.perf_counter() - begin
        if done.returncode or done.stderr:
            print(done.stderr, file=sys.stderr)
        if done.returncode:
            return None, seconds
        out = numpy.load(folder / "u.npz")
        return numpy.array([out[u][0, -1] for u in unknowns if u != "m"]), seconds


for name in sys.argv[2:] or problems:
    length, end, starts, rates, text, most = problems[name]
    dim = 2 if name in ("cahn-hilliard", "gray-scott") else 1
    true = reference(name, length, end, fields(starts, dim, most))
    for n, tolerance in [(16, 1e-2), (32, 1e-3), (32, 1e-5)] if dim == 2 else [(32, 1e-2), (32, 1e-3), (64, 1e-5)]:
        u, seconds = by_pihc(sys.argv[1], name, length, end, starts, text, dim, n, tolerance)
        print(f"{name},pihc,{n},{tolerance},{'nan' if u is None else format(error(u, true[: len(u)]), '.2g')},{seconds:.2f}", flush=True)
    for n, tolerance in [(16, 1e-4), (32, 1e-4), (64, 1e-5)] if dim == 2 else [(32, 1e-4), (64, 1e-5), (128, 1e-6)]:
        for backend in ["numpy", "numba"]:
            u, seconds = by_pypde(length, end, starts, rates, dim, n, tolerance, backend)
            print(f"{name},py-pde {backend},{n},{tolerance},{error(u[:1] if name == 'wave' else u, true[:1] if name == 'wave' else true):.2g},{seconds[1]:.2f} (first {seconds[0]:.1f})", flush=True)
