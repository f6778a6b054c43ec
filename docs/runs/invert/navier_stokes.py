# T4: the viscosity of a flow on 64 x 64 points from a tenth of the points at 20 times, with 5 % noise. The truth is pseudo-spectral with
# the classical Runge-Kutta method on 128 x 128 points. python3 navier_stokes.py PIHC [SEED]
import json, pathlib, subprocess, sys, tempfile, time
import numpy

nu, T, n, steps = 1e-3, 1.0, 128, 2000
rng = numpy.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
k = 2 * numpy.pi * numpy.fft.fftfreq(n, 1 / n)
kx, ky = k[:, None], k[None, :]
square = kx**2 + ky**2
inverse = numpy.where(square > 0, 1 / numpy.where(square > 0, square, 1), 0)
low = abs(k) < 2 * numpy.pi * n / 3
keep = low[:, None] & low[None, :]


def rate(w):
    # as the problem has it: w = dv_y/dx - dv_x/dy
    psi = w * inverse
    vx, vy = numpy.fft.ifft2(1j * ky * psi).real, numpy.fft.ifft2(-1j * kx * psi).real
    wx, wy = numpy.fft.ifft2(1j * kx * w).real, numpy.fft.ifft2(1j * ky * w).real
    return -numpy.fft.fft2(vx * wx + vy * wy) * keep - nu * square * w


w = numpy.fft.fft2(rng.normal(size=(n, n))) * numpy.exp(-square / (2 * (2 * numpy.pi * 2.5) ** 2)) * keep
w[0, 0] = 0
w *= 3 / numpy.sqrt(numpy.mean(numpy.fft.ifft2(w).real ** 2))
start, dt, frames = numpy.fft.ifft2(w).real[::2, ::2], T / steps, []
for i in range(steps):
    a = rate(w)
    b = rate(w + dt / 2 * a)
    c = rate(w + dt / 2 * b)
    w = w + dt / 6 * (a + 2 * b + 2 * c + rate(w + dt * c))
    if (i + 1) % (steps // 20) == 0:
        frames.append(numpy.fft.ifft2(w).real[::2, ::2])
sigma = 0.05 * numpy.sqrt(numpy.mean(numpy.square(frames)))
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    numpy.save(folder / "w0.npy", start)
    rows = []
    for i, u in enumerate(frames):
        at = rng.choice(64 * 64, 410, replace=False)
        rows.append(numpy.column_stack([numpy.full(410, (i + 1) * T / 20), at // 64 / 64, at % 64 / 64, u.ravel()[at] + sigma * rng.normal(size=410), numpy.full(410, sigma)]))
    numpy.savetxt(folder / "obs.csv", numpy.concatenate(rows), delimiter=",", header="t,x,y,value,sigma", comments="")
    begin = time.time()
    command = [sys.argv[1], "invert", "navier-stokes", "--set", f"constants.T={T}", "--grid", "t=11,x=64,y=64", "--observe", folder / "obs.csv", "--free", "nu", "--value", "nu=1e-2", "--initial", folder / "w0.npy", "--json"]
    out = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
e = out["estimates"]["nu"]
print(f"nu = {e['value']:.5g} ({e['low']:.5g} to {e['high']:.5g}), truth {nu:g}, error {abs(e['value'] / nu - 1):.2%}; chi-squared {out['chi_squared']['value']:.0f} of {out['chi_squared']['degrees']}, p = {out['chi_squared']['p']:.2g}; {time.time() - begin:.0f} s")
