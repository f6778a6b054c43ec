#!/usr/bin/env python3
"""A network for each initial condition beside an operator (docs/evidence/alternatives.md):

    python3 docs/runs/alternatives/burgers.py PIHC FOLDER [SAMPLES]

Trains PI-HC and PI-HC-MoE of examples/burgers on one core, one after the other, then DeepXDE's network (examples/python/deepxde_burgers.py) on each of the first
samples of the same test set, on one core too. deepxde.csv beside this file has errors and seconds. What is in FOLDER already is not made again. Needs deepxde, flax, optax and jax."""
import csv, json, os, pathlib, subprocess, sys, time

here = pathlib.Path(__file__).parent
root = here.parents[2]
pihc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
samples = int(sys.argv[3]) if len(sys.argv) > 3 else 3
spec, data = root / "examples" / "burgers" / "spec.yaml", folder / "data"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def run(*command):
    p = subprocess.run([pihc, *map(str, command)], capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stderr)


folder.mkdir(parents=True, exist_ok=True)
if not data.exists():
    run("generate", spec, "--out", data)
metrics = {}
for method in ("hard", "moe"):
    if not (folder / method / "metrics.json").exists():
        run("-q", "train", spec, "--method", method, "--data", data, "--out", folder / method, "--workers", "1")
        run("-q", "eval", folder / method, "--workers", "1")
    metrics[method] = json.loads((folder / method / "metrics.json").read_text())

sys.path.insert(0, str(root / "examples" / "python"))
import deepxde_burgers
import numpy as np

f = np.load(data / "test-00000.npz")
rows = []
for i in range(samples):
    truth = f["solution"][i]
    begun = time.perf_counter()
    model = deepxde_burgers.train(f["initial"][i], 15000)
    seconds = time.perf_counter() - begun
    t, x = np.linspace(0, 1, truth.shape[0]), np.linspace(-1, 1, truth.shape[1], endpoint=False)
    u = np.asarray(model.predict(np.stack(np.broadcast_arrays(x[None], t[:, None]), -1).reshape(-1, 2))).reshape(truth.shape)
    row = {"sample": i, "deepxde": f"{np.linalg.norm(u - truth) / np.linalg.norm(truth):.4g}", "deepxde_seconds": f"{seconds:.0f}"}
    for method, m in metrics.items():
        row |= {method: f"{m['per_sample'][i]['relative_l2']:.4g}", f"{method}_mean": f"{m['relative_l2']['mean']:.4g}", f"{method}_worst": f"{m['relative_l2']['max']:.4g}",
                f"{method}_training": f"{m['train_seconds']:.0f}", f"{method}_scoring": f"{m['evaluation_seconds'] / m['samples']:.3g}"}
    rows.append(row)
    print(row, flush=True)
with (here / "deepxde.csv").open("w", newline="") as out:
    w = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    w.writeheader()
    w.writerows(rows)
