#!/usr/bin/env python3
"""The gallery by today's init, and what it owes to training (docs/evidence/gallery.md):

    python3 docs/runs/gallery/again.py PIHC FOLDER [NAME ...]

For each example, or those named: its PDE file without what init had added, `pihc init --minutes 3`, `pihc generate`, `pihc train --method moe` as it says and for one
step, and the scores of both, where the spec has steps of Newton's method with these and without, one core each. What is in FOLDER already is not made again.
Beside this file again.csv has the errors, and the mean of the paired difference of the steps with half of its 95 % interval (Student's t); samples-again.csv those of
each test sample. Lines of other examples stay. No package is needed."""
import csv
import json
import pathlib
import re
import statistics
import subprocess
import sys

here = pathlib.Path(__file__).parent
examples = here.parents[2] / "examples"
T = {30: 2.0452, 32: 2.0395}  # 97.5 % points of Student's t, by samples
ARMS = {"trained": ((), ()), "untrained": (("--set", "training.steps=1"), ("--last", "--no-estimates"))}  # arguments of training and of scoring


def run(pihc, *command):
    p = subprocess.run([pihc, *map(str, command)], capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stderr)
    return p.stdout


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "not known")


def make(pihc, folder, name):
    """A spec by init and its data."""
    spec, data = folder / name, folder / f"{name}-data"
    if not spec.exists():
        text = (examples / name / "problem.yaml").read_text()
        bare = folder / f"{name}.yaml"
        bare.write_text("\n\n".join(b for b in re.split(r"\n\n", text) if not b.lstrip().startswith("# Added by pihc init")))
        run(pihc, "init", bare, "--minutes", 3, "--out", spec)
    if not data.exists():
        run(pihc, "-q", "generate", spec / "spec.yaml", "--out", data, "--workers", 1)
    return spec, data


def score(pihc, folder, name, arm):
    """Trains and scores one arm of an example: its line of again.csv, and those of samples."""
    spec, data = make(pihc, folder, name)
    training, scoring = ARMS[arm]
    trained, without = folder / f"{name}-{arm}", folder / f"{name}-{arm}-without.json"
    if not (trained / "metrics.json").exists():
        begin = ["--resume", trained] if trained.exists() else [spec / "spec.yaml", "--method", "moe", "--data", data, "--out", trained, *training]
        run(pihc, "-q", "train", *begin, "--workers", 1)
        run(pihc, "-q", "eval", trained, *scoring, "--workers", 1)
    newton = "newton: true" in (spec / "spec.yaml").read_text()
    if newton and not without.exists():
        run(pihc, "-q", "eval", trained, *(scoring or ["--no-estimates"]), "--workers", 1, "--set", "evaluation.newton=false", "--out", without)
    m, text = json.loads((trained / "metrics.json").read_text()), (spec / "problem.yaml").read_text()
    e, errors, bare = m["relative_l2"], [s["relative_l2"] for s in m["per_sample"]], None
    row = {
        "file": name, "arm": arm, "newton": newton, "steps": m["step"],
        "ansatz": next((a for key, a in (("duhamel: rows", "rows"), ("duhamel: true", "Duhamel"), ("smooth:", "smooth"), ("ansatz:", "multiplier")) if key in text), "none"),
        "mean": f"{e['mean']:.4g}", "median": f"{e['median']:.4g}", "worst": f"{e['max']:.4g}",
        "estimate": f"{m['error_estimate']['mean']:.4g}" if "error_estimate" in m else "", "verdict": m.get("verdict", ""),
        "passes": f"{m['passes']['mean']:.3g}" if "passes" in m else "", "mean_without": "", "worst_without": "", "passes_without": "", "difference": "", "half": "",
        "commit": re.search(r"revision (\w{8})", (trained / "run.json").read_text())[1], "processor": processor(),
    }
    if newton:
        other = json.loads(without.read_text())
        bare = [s["relative_l2"] for s in other["per_sample"]]
        d = [a - b for a, b in zip(errors, bare, strict=True)]
        half = T[len(d)] * statistics.stdev(d) / len(d) ** 0.5
        row |= {"mean_without": f"{other['relative_l2']['mean']:.4g}", "worst_without": f"{other['relative_l2']['max']:.4g}", "passes_without": f"{other['passes']['mean']:.3g}",
                "difference": f"{statistics.mean(d):.3g}", "half": f"{half:.2g}"}
    return row, [{"file": name, "arm": arm, "sample": i, "error": f"{x:.5g}", "without": f"{bare[i]:.5g}" if bare else ""} for i, x in enumerate(errors)]


def keep(path, rows, key):
    """Writes rows in the place of those of the same key; the others stay."""
    old = list(csv.DictReader(path.open())) if path.exists() else []
    ours = {tuple(str(r[k]) for k in key) for r in rows}
    every = [r for r in old if tuple(r[k] for k in key) not in ours] + rows
    with path.open("w", newline="") as f:
        w = csv.DictWriter(f, list(rows[0]), lineterminator="\n", restval="")
        w.writeheader()
        w.writerows(sorted(every, key=lambda r: [str(r[k]) for k in key] + [int(r.get("sample", 0))]))


if __name__ == "__main__":
    pihc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:] or sorted(p.parent.name for p in examples.glob("*/problem.yaml")):
        for arm in ARMS:
            row, samples = score(pihc, folder, name, arm)
            print(row, flush=True)
            keep(here / "again.csv", [row], ["file", "arm"])
            keep(here / "samples-again.csv", samples, ["file", "arm"])
