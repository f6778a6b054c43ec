#!/usr/bin/env python3
"""Trains PI-HC-MoE on examples for few steps, and scores each with fields that go over into each other around borders, over several widths.

    blend.py PIHC FOLDER [EXAMPLE...]     lines of CSV to standard output; what is trained in FOLDER already is not trained again

The error and the residual of few steps are those of a bad network, whose experts differ by much: what blending may spoil it spoils there. One core.
"""
import csv
import json
import pathlib
import subprocess
import sys

STEPS = 200
WIDTHS = (0, 0.1, 0.25, 0.5)
root = pathlib.Path(__file__).parents[3]
pihc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(exist_ok=True)
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["problem", "steps", "experts", "width", "error", "worst", "residual", "jump"])


def run(*arguments):
    subprocess.run([pihc, "-q", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


for name in sys.argv[3:] or ("heat", "burgers", "allen-cahn", "fisher-kpp", "fitzhugh-nagumo", "sorption", "darcy", "allen-cahn-2d"):
    spec, data, trained = root / "examples" / name / "spec.yaml", folder / f"data-{name}", folder / name
    small = ["--set", "data.train.count=400", "--set", "data.validation.count=4", "--set", "data.test.count=16"]
    if not data.is_dir():
        run("generate", spec, "--out", data, "--workers", "1", *small)
    if not (trained / "metrics.json").exists():
        run("train", spec, "--data", data, "--method", "moe", "--out", trained, "--workers", "1", "--set", f"training.steps={STEPS}", *small)
        run("eval", trained, "--workers", "1")
    for width in WIDTHS:
        scores = folder / f"{name}-{width}.json"
        scores.unlink(missing_ok=True)
        run("eval", trained, "--workers", "1", "--set", f"evaluation.blend={width}", "--out", scores)
        m = json.loads(scores.read_text())
        g = lambda key, what="mean": f"{m[key][what]:.4g}" if key in m else ""
        out.writerow([name, STEPS, len(m["experts"]), width, g("relative_l2"), g("relative_l2", "max"), g("relative_residual"), g("border_jump")])
        sys.stdout.flush()
