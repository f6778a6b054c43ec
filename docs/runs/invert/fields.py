# T5: the initial field of Burgers' and of the Kuramoto-Sivashinsky equation from 8 points of space, 5 % noise, in windows of 1, 2 and 4
# times: Lyapunov's (L = 22: 1/0.043), and of Burgers, which is not chaotic, 1, the mean time to a shock. Truths are drawn from the
# distribution of the file, and solved by Fourier series (ETDRK4; A.-K. Kassam and L. N. Trefethen, 2005) on 128 points, exactly (NOISE 0)
# or with a noise of u_t that is white in time and space, of density NOISE. Strong and weak with MODEL:
#   python3 fields.py PIHC burgers|ks NOISE MODEL WINDOW FIRST COUNT [LIMIT [strong|weak]]
# prints a line for each case and method: the relative error of the field found, the part of it within the 95 % band, p, seconds, at most LIMIT (100); the
# error of the background, its mean, is 1 or so.
import json, pathlib, subprocess, sys, tempfile, time
import numpy

examples = pathlib.Path(__file__).parents[3] / "examples"
series = "initial={distribution: random-series, series: periodic, parameters: {modes: 6, decay: 1}}"
kinds = {
    "burgers": (examples / "burgers/problem.yaml", -1, 2, 1.0, 10, 32, ["constants.nu=0.05"]),
    "ks": (examples / "kuramoto-sivashinsky/problem.yaml", 0, 22, 1 / 0.043, 16, 32, ["residual_weight=1"]),
}
n = 128  # points of the truth


def solve(kind, u0, length, T, steps, noise, rng, every):
    k = 2 * numpy.pi / length * numpy.fft.rfftfreq(n, 1 / n)
    L = -0.05 * k**2 if kind == "burgers" else k**2 - k**4
    h = T / steps
    z = h * L[:, None] + numpy.exp(1j * numpy.pi * (numpy.arange(1, 33) - 0.5) / 32)
    E, E2 = numpy.exp(h * L), numpy.exp(h * L / 2)
    mean = lambda f: h * f.mean(axis=1).real
    Q = mean((numpy.exp(z / 2) - 1) / z)
    f1 = mean((-4 - z + numpy.exp(z) * (4 - 3 * z + z**2)) / z**3)
    f2 = mean((2 + z + numpy.exp(z) * (z - 2)) / z**3)
    f3 = mean((-4 - 3 * z - z**2 + numpy.exp(z) * (4 - z)) / z**3)
    cut = k < k.max() * 2 / 3
    N = lambda v: -0.5j * k * numpy.fft.rfft(numpy.fft.irfft(v * cut, n) ** 2) * cut
    v, out = numpy.fft.rfft(u0), [u0]
    for i in range(steps):
        if noise:  # half of a step's before and after it
            v = v + numpy.fft.rfft(noise * numpy.sqrt(h / 2 * n / length) * rng.normal(size=n))
        a = N(v)
        p = E2 * v + Q * a
        b = N(p)
        q = E2 * v + Q * b
        c = N(q)
        r = E2 * p + Q * (2 * c - a)
        v = E * v + a * f1 + 2 * (b + c) * f2 + N(r) * f3
        if noise:
            v = v + numpy.fft.rfft(noise * numpy.sqrt(h / 2 * n / length) * rng.normal(size=n))
        if (i + 1) % every == 0:
            out.append(numpy.fft.irfft(v, n))
    return numpy.array(out)


def draw(rng):
    x, k = numpy.arange(n) / n, numpy.arange(1, 7)
    d = 1 / k / numpy.sqrt(2 * numpy.sum(1 / k**2))
    a, b = rng.normal(size=6) * d, rng.normal(size=6) * d
    return numpy.sqrt(2) * (a @ numpy.cos(2 * numpy.pi * numpy.outer(k, x)) + b @ numpy.sin(2 * numpy.pi * numpy.outer(k, x)))


def main(pihc, kind, noise, model, window, first, count, limit=100, methods=("strong", "weak")):
    path, low, length, unit, per, points, changes = kinds[kind]
    T, times = unit * window, per * window  # observed per times in a unit
    print("case,method,error,covered,p,chi_squared,instants,seconds")
    for case in range(first, first + count):
        rng = numpy.random.default_rng(case)
        u0 = draw(rng)
        substeps = 100 if kind == "burgers" else 60
        u = solve(kind, u0, length, T, times * substeps, noise, rng, substeps)
        sigma = 0.05 * numpy.sqrt(numpy.mean(u**2))
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            with open(folder / "obs.csv", "w") as f:
                f.write("t,x,value,sigma\n")
                for i in range(1, times + 1):
                    for j in range(0, n, n // 8):
                        f.write(f"{T * i / times!r},{low + length * j / n!r},{float(u[i, j] + sigma * rng.normal())!r},{float(sigma)!r}\n")
            for method in methods:
                command = [pihc, "-q", "invert", path, "--observe", folder / "obs.csv", "--free", "u0", "--grid", f"x={points}", "--grid", f"t={times + 1}"]
                for change in [series, f"axes.t.range=[0, {T!r}]"] + changes:
                    command += ["--set", change]
                if method == "weak":
                    command += ["--model-error", repr(model)]
                begin = time.perf_counter()
                try:
                    done = subprocess.run(command + ["--json"], capture_output=True, text=True, timeout=limit)
                except subprocess.TimeoutExpired:
                    print(f"{case},{method},nan,nan,nan,nan,,{limit}", flush=True)
                    continue
                seconds = time.perf_counter() - begin
                if done.returncode:
                    print(f"{case},{method},nan,nan,nan,nan,,{seconds:.2f}", flush=True)
                    print(done.stderr, file=sys.stderr)
                    continue
                out = json.loads(done.stdout)
                f, true = out["field"], u0[:: n // points]
                error = numpy.linalg.norm(numpy.array(f["value"]) - true) / numpy.linalg.norm(true)
                covered = numpy.mean((numpy.array(f["low"]) <= true) & (true <= numpy.array(f["high"])))
                print(f"{case},{method},{error:.4g},{covered:.3f},{out['chi_squared']['p']:.3g},{out['chi_squared']['value']:.4g},{out['instants']},{seconds:.2f}", flush=True)


if __name__ == "__main__":
    a = sys.argv
    main(a[1], a[2], float(a[3]), float(a[4]), int(a[5]), *map(int, a[6:9]), *([a[9:10]] if len(a) > 9 else []))
