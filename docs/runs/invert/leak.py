# T3: the wind and the place and strength of a leak from 200 points with 2 % noise. The truth is by fourth-order differences and the
# classical Runge-Kutta method on 81 x 81 points. python3 leak.py PIHC [SEED]
import json, pathlib, subprocess, sys, time
import numpy
from scipy.interpolate import RegularGridInterpolator

here = pathlib.Path(__file__).parent
truth = {"vx": 2, "x0": 0.3, "y0": 0.6, "q": 1}
D, width, n = 0.05, 0.1, 81
x = numpy.linspace(0, 1, n)
h = x[1]


def first(u):
    d = numpy.empty_like(u)
    d[2:-2] = (u[:-4] - 8 * u[1:-3] + 8 * u[3:-1] - u[4:]) / (12 * h)
    d[1] = (-3 * u[0] - 10 * u[1] + 18 * u[2] - 6 * u[3] + u[4]) / (12 * h)
    d[-2] = (3 * u[-1] + 10 * u[-2] - 18 * u[-3] + 6 * u[-4] - u[-5]) / (12 * h)
    d[0] = d[-1] = 0
    return d


def second(u):
    d = numpy.empty_like(u)
    d[2:-2] = (-u[:-4] + 16 * u[1:-3] - 30 * u[2:-2] + 16 * u[3:-1] - u[4:]) / (12 * h * h)
    d[1] = (10 * u[0] - 15 * u[1] - 4 * u[2] + 14 * u[3] - 6 * u[4] + u[5]) / (12 * h * h)
    d[-2] = (10 * u[-1] - 15 * u[-2] - 4 * u[-3] + 14 * u[-4] - 6 * u[-5] + u[-6]) / (12 * h * h)
    d[0] = d[-1] = 0
    return d


X, Y = numpy.meshgrid(x, x, indexing="ij")
source = truth["q"] * numpy.exp(-((X - truth["x0"]) ** 2 + (Y - truth["y0"]) ** 2) / (2 * width**2)) / (2 * numpy.pi * width**2)


def walls(c):
    c[0], c[:, 0], c[:, -1] = 0, 0, 0
    c[-1, 1:-1] = (48 * c[-2, 1:-1] - 36 * c[-3, 1:-1] + 16 * c[-4, 1:-1] - 3 * c[-5, 1:-1]) / 25
    return c


def rate(t, c):
    return -truth["vx"] * first(c) - 3 * numpy.cos(3 * numpy.pi * t) * first(c.T).T + D * (second(c) + second(c.T).T) + source


steps = 4000
dt, c, kept = 1 / steps, numpy.zeros((n, n)), []
for i in range(steps + 1):
    if i % 20 == 0:
        kept.append(c.copy())
    a = rate(i * dt, c)
    b = rate((i + 0.5) * dt, walls(c + dt / 2 * a))
    d = rate((i + 0.5) * dt, walls(c + dt / 2 * b))
    e = rate((i + 1) * dt, walls(c + dt * d))
    c = walls(c + dt / 6 * (a + 2 * b + 2 * d + e))
rng = numpy.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
at = rng.random((200, 3))
clean = RegularGridInterpolator((numpy.linspace(0, 1, len(kept)), x, x), numpy.array(kept), method="cubic")(at)
sigma = 0.02 * numpy.sqrt(numpy.mean(clean**2))
with open("leak.csv", "w") as f:
    f.write("t,x,y,value,sigma\n" + "".join(f"{p[0]},{p[1]},{p[2]},{v},{sigma}\n" for p, v in zip(at.tolist(), (clean + sigma * rng.normal(size=200)).tolist())))
begin = time.time()
out = json.loads(subprocess.run([sys.argv[1], "invert", here / "leak.yaml", "--observe", "leak.csv", "--free", "vx,x0,y0,q", "--json"], check=True, stdout=subprocess.PIPE).stdout)
print(f"{time.time() - begin:.1f} s, chi-squared {out['chi_squared']}")
for name, value in truth.items():
    e = out["estimates"][name]
    print(f"{name} = {e['value']:.5f} ({e['low']:.5f} to {e['high']:.5f}), truth {value}, error {abs(e['value'] / value - 1):.2%}")
