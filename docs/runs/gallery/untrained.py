#!/usr/bin/env python3
"""What the gallery owes to training (docs/evidence/gallery.md): again.py's specs after one step of training

    python3 docs/runs/gallery/untrained.py PIHC FOLDER [NAME ...]

For each example, or those named: its PDE file without what init had added, `pihc init --minutes 3`, `pihc generate`, `pihc train --method moe` for one step, and its
score, with the spec's steps of Newton's method and without, one core each. What is in FOLDER already is not made again. untrained.csv beside this file has the errors; lines of other examples stay. No package is needed."""
import csv
import json
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).parent
examples = here.parents[2] / "examples"
pihc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
names = sys.argv[3:] or sorted(p.parent.name for p in examples.glob("*/problem.yaml"))
folder.mkdir(parents=True, exist_ok=True)
table = here / "untrained.csv"
rows = {r["file"]: r for r in csv.DictReader(table.open())} if table.exists() else {}


def run(*command):
    p = subprocess.run([pihc, "-q", *map(str, command)], capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stderr)


for name in names:
    spec, data, trained = folder / name, folder / f"{name}-data", folder / f"{name}-one-step"
    if not (trained / "metrics.json").exists():
        if not spec.exists():
            text = (examples / name / "problem.yaml").read_text()
            bare = folder / f"{name}.yaml"
            bare.write_text("\n\n".join(b for b in re.split(r"\n\n", text) if not b.lstrip().startswith("# Added by pihc init")))
            run("init", bare, "--minutes", 3, "--out", spec)
        if not data.exists():
            run("generate", spec / "spec.yaml", "--out", data, "--workers", 1)
        if not trained.exists():
            run("train", spec / "spec.yaml", "--method", "moe", "--data", data, "--out", trained, "--workers", 1, "--set", "training.steps=1")
        run("eval", trained, "--last", "--no-estimates", "--workers", 1)
    m = json.loads((trained / "metrics.json").read_text())
    e = m["relative_l2"]
    newton, without = "newton: true" in (spec / "spec.yaml").read_text(), folder / f"{name}-without.json"
    rows[name] = {"file": name, "newton": newton, "mean": f"{e['mean']:.4g}", "median": f"{e['median']:.4g}", "worst": f"{e['max']:.4g}",
                  "passes": f"{m['passes']['mean']:.3g}" if "passes" in m else "", "mean_without": "", "worst_without": "", "passes_without": ""}
    if newton:
        if not without.exists():
            run("eval", trained, "--last", "--no-estimates", "--workers", 1, "--set", "evaluation.newton=false", "--out", without)
        m = json.loads(without.read_text())
        rows[name] |= {"mean_without": f"{m['relative_l2']['mean']:.4g}", "worst_without": f"{m['relative_l2']['max']:.4g}", "passes_without": f"{m['passes']['mean']:.3g}"}
    print(rows[name], flush=True)
    with table.open("w", newline="") as f:
        w = csv.DictWriter(f, list(rows[name]), lineterminator="\n")
        w.writeheader()
        w.writerows(rows[k] for k in sorted(rows))
