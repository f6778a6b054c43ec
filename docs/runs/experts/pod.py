"""How much nearer to solutions N functions for each subdomain are than N functions for the whole domain.

    python3 pod.py DATASET EXPERTS [--whole]

DATASET is a folder of `pihc generate` with test samples, EXPERTS the numbers of subdomains along the axes: 1,4 or 2,2. From the
first four fifths of the test samples come the N functions that hold most of them (proper orthogonal decomposition, POD): of the
whole domain, and of each subdomain. The rest are projected on them, as nearly as can be. One line of JSON has, for N = 4, 16
and 64, mean relative L2 errors of: `one`, N functions and one set of weights; `experts`, the same functions with a set of weights
for each subdomain, which is what experts do with a basis; `local`, functions of each subdomain. A field is u less its initial
condition, which is what a basis has to add; with --whole it is u. Functions do not depend on the sample here; a network's do.
Solves of `one` and of `experts` take the same operations a row. Needs NumPy."""

import glob
import itertools
import json
import sys

import numpy as np

folder, experts = sys.argv[1], [int(k) for k in sys.argv[2].split(",")]
files = sorted(glob.glob(folder + "/test-*.npz"))
u = np.concatenate([np.load(f)["solution"] for f in files]).astype(float)
if u.ndim > 2 + len(experts) - (len(experts) == 3):
    u = u[:, 0] if u.shape[1] < 4 else u
size = np.sqrt((u.reshape(len(u), -1) ** 2).sum(1))
if "--whole" not in sys.argv:
    u = u - u[:, :1]
fit, held = u[: len(u) * 4 // 5], u[len(u) * 4 // 5 :]
size = size[len(fit) :]
cuts = [np.array_split(np.arange(n), k) for n, k in zip(u.shape[1:], experts)]
boxes = [np.ix_(*box) for box in itertools.product(*cuts)]


def flat(a, box=None):
    return (a if box is None else a[(slice(None), *box)]).reshape(len(a), -1)


def pod(a, n):
    values, vectors = np.linalg.eigh(a @ a.T)
    vectors = vectors[:, ::-1][:, :n]
    return np.linalg.qr(a.T @ vectors)[0]


def missed(a, functions):
    """Squares of what the span of functions (points, N) leaves of fields (samples, points)."""
    q = np.linalg.qr(functions)[0]
    return ((a - (a @ q) @ q.T) ** 2).sum(1)


def error(squares):
    return float(f"{(np.sqrt(squares) / size).mean():.3g}")


out = {"dataset": folder, "samples": len(u), "experts": experts}
for n in (4, 16, 64):
    if n > len(fit):
        continue
    whole = pod(flat(fit), n)
    shaped = whole.T.reshape(n, *u.shape[1:])
    out[str(n)] = {
        "one": error(missed(flat(held), whole)),
        "experts": error(sum(missed(flat(held, b), flat(shaped, b).T) for b in boxes)),
        "local": error(sum(missed(flat(held, b), pod(flat(fit, b), n)) for b in boxes)),
    }
print(json.dumps(out))
