# T1: 50 points of the exact solution, from a guess of m2 = 1. python3 klein_gordon.py PIHC
import json, pathlib, subprocess, sys, time
import numpy

here = pathlib.Path(__file__).parent
rng = numpy.random.default_rng(1)
t, x = rng.random(50), rng.random(50)
with open("klein-gordon.csv", "w") as f:
    f.write("t,x,value,sigma\n")
    for a, b in zip(t, x):
        f.write(f"{float(a)!r},{float(b)!r},{float(numpy.cos(2 * b) * numpy.cos(8**0.5 * a))!r},1e-4\n")
begin = time.time()
out = json.loads(subprocess.run([sys.argv[1], "-q", "invert", here / "klein-gordon.yaml", "--observe", "klein-gordon.csv", "--free", "m2", "--json"], check=True, capture_output=True).stdout)
m2 = out["estimates"]["m2"]
print(f"m2 = {m2['value']:.7f} ({m2['low']:.6f} to {m2['high']:.6f}), error {abs(m2['value'] - 4):.1e}, {time.time() - begin:.2f} s in all")
assert abs(m2["value"] - 4) < 1e-4
