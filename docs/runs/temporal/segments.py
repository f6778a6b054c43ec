#!/usr/bin/env python3
"""Times beyond training by segments: diffusion-sorption at demo size on t up to 400 s in four segments of 100 s, predicted up to 500 s.

    segments.py PIHC FOLDER [SEED...]     train, predict and score, in FOLDER; a run that is there is not made again
    segments.py collect FOLDER COMMIT     lines of runs.csv to standard output; FOLDER/errors.csv

The PDE file of pihc ends at 400 s; all rows of a subdomain are taken, since a quarter of the time has fewer than the spec asks for; all else is
diffusion-sorption-demo. Errors are those of the last 100 s, on the test samples of diffusion-sorption-demo. One core a run. NumPy is needed.
"""
import csv
import hashlib
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

METHODS = ("soft", "hard", "moe")
ROOT = pathlib.Path(__file__).parents[3]


def prepare(pihc, folder):
    """The PDE file, the spec, and the data of both times."""
    text = (ROOT / "pde/problems/diffusion-sorption.yaml").read_text()
    old = "t: {range: [0, 500], points: 101"
    assert old in text
    (folder / "problem.yaml").write_text(text.replace(old, "t: {range: [0, 400], points: 81"))
    lines = [line for line in (ROOT / "model/specs/diffusion-sorption-demo.yaml").read_text().splitlines() if not line.startswith(("problem:", "grid:"))]
    (folder / "spec.yaml").write_text("\n".join(lines).replace("  points: 2500", "  points: 0") + "\nproblem: problem.yaml\ngrid: {t: 81, x: 128}\nrollout: 4\n")
    for spec, name in ((folder / "spec.yaml", "data"), ("diffusion-sorption-demo", "whole")):
        if not (folder / name).is_dir():
            subprocess.run([pihc, "-q", "generate", spec, "--out", folder / name, "--workers", "1"], check=True, stdout=subprocess.DEVNULL)


def run(pihc, folder, method, seed):
    out, errors = folder / f"{method}-{seed}", folder / f"{method}-{seed}.json"
    if errors.exists():
        return
    if not (out / "metrics.json").exists():
        subprocess.run(["rm", "-rf", out], check=True)
        subprocess.run([pihc, "-q", "train", folder / "spec.yaml", "--method", method, "--seed", str(seed), "--data", folder / "data", "--out", out, "--workers", "1"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([pihc, "-q", "eval", out, "--workers", "1"], check=True, stdout=subprocess.DEVNULL)
    whole = np.load(folder / "whole/test-00000.npz")
    truth, begins = whole["solution"], whole["initial"]
    np.save(folder / "u0.npy", begins.reshape(len(truth), -1))
    fields = folder / f"{method}-{seed}.npz"
    fields.unlink(missing_ok=True)
    subprocess.run([pihc, "-q", "predict", out, "--initial", folder / "u0.npy", "--until", "500", "--out", fields, "--workers", "1"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    u = np.load(fields)["u"].reshape(truth.shape)
    fields.unlink()
    norm = lambda a: np.linalg.norm(a.reshape(len(a), -1), axis=1)
    beyond = norm((u - truth)[:, 81:]) / norm(truth[:, 81:])
    all_times = norm(u - truth) / norm(truth)
    errors.write_text(json.dumps({"beyond": beyond.tolist(), "all": all_times.tolist()}))
    print(method, seed, f"{beyond.mean():.4f}, worst {beyond.max():.4f}; all times {all_times.mean():.4f}", flush=True)


def collect(folder, commit):
    out, columns = csv.writer(sys.stdout, lineterminator="\n"), {}
    for path in sorted(folder.glob("*-*.json"), key=lambda p: (int(p.stem.split("-")[1]), METHODS.index(p.stem.split("-")[0]))):
        method, seed = path.stem.split("-")
        e = json.loads(path.read_text())
        m = json.loads((folder / path.stem / "metrics.json").read_text())
        spec = hashlib.sha256((folder / path.stem / "spec.yaml").read_bytes()).hexdigest()
        columns[f"{method} {seed}"] = e["beyond"]
        a = np.array(e["all"])
        g = lambda x: f"{x:.5g}"
        out.writerow(["diffusion-sorption-demo-segments-temporal", method, seed, "101x128", len(a), g(a.mean()), g(a.std()), g(np.median(a)), g(a.max()), g(np.mean(e["beyond"])),
                      g(m["relative_residual"]["mean"]), g(m["truth_residual"]["mean"]), "", m["step"], round(m["train_seconds"]), commit, spec, m["dataset_hash"][:12]])
    with open(folder / "errors.csv", "w") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["sample", *columns])
        w.writerows([i, *(f"{e:.5g}" for e in row)] for i, row in enumerate(zip(*columns.values())))


if __name__ == "__main__":
    if sys.argv[1] == "collect":
        collect(pathlib.Path(sys.argv[2]), sys.argv[3])
        sys.exit()
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    prepare(sys.argv[1], folder)
    for seed in sys.argv[3:] or range(5):
        for method in METHODS:
            run(sys.argv[1], folder, method, seed)
