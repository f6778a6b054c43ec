"""How much nearer to solutions N functions for each subdomain are than N functions for the whole domain.

    python3 pod.py DATASET EXPERTS [--whole]

DATASET is a folder of `pihc generate` with test samples, EXPERTS the numbers of subdomains along the axes: 1,4 or 2,2. From the
first four fifths of the test samples come the N functions that hold most of them (proper orthogonal decomposition, POD): of the
whole domain, and of each subdomain. The rest are projected on them, as nearly as can be. One line of JSON has, for N = 4, 16
and 64, mean relative L2 errors of: `one`, N functions and one set of weights; `experts`, the same functions with a set of weights
for each subdomain, which is what experts do with a basis; `local`, functions of each subdomain. A field is u less its initial
condition, which is what a basis has to add; with --whole it is u. Unknowns of a system have functions and weights of their own each;
errors are the root mean square of theirs. Functions do not depend on the sample here; a network's do.
Solves of `one` and of `experts` take the same operations a row. Needs NumPy."""

import glob
import itertools
import json
import sys

import numpy as np

folder, experts = sys.argv[1], [int(k) for k in sys.argv[2].split(",")]
parts = [np.load(f) for f in sorted(glob.glob(folder + "/test-*.npz"))]
names = ["solution"] if "solution" in parts[0] else [k for k in parts[0] if parts[0][k].ndim == 1 + len(experts)]
unknowns = [np.concatenate([p[k] for p in parts]).astype(float) for k in names]


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


def approximate(u, n):
    """Squares of the relative errors of the last fifth of fields, for one, experts and local."""
    size = (flat(u) ** 2).sum(1)[len(u) * 4 // 5 :]
    if "--whole" not in sys.argv:
        u = u - u[:, :1]
    fit, held = u[: len(u) * 4 // 5], u[len(u) * 4 // 5 :]
    boxes = [np.ix_(*box) for box in itertools.product(*(np.array_split(np.arange(points), k) for points, k in zip(u.shape[1:], experts)))]
    whole = pod(flat(fit), n)
    shaped = whole.T.reshape(n, *u.shape[1:])
    return np.array([
        missed(flat(held), whole),
        sum(missed(flat(held, b), flat(shaped, b).T) for b in boxes),
        sum(missed(flat(held, b), pod(flat(fit, b), n)) for b in boxes),
    ]) / size


out = {"dataset": folder, "samples": len(unknowns[0]), "experts": experts}
for n in (4, 16, 64):
    if n > len(unknowns[0]) * 4 // 5:
        continue
    squares = np.mean([approximate(u, n) for u in unknowns], axis=0)
    out[str(n)] = {key: float(f"{np.sqrt(s).mean():.3g}") for key, s in zip(("one", "experts", "local"), squares)}
print(json.dumps(out))
