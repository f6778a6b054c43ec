#!/usr/bin/env python3
"""Three public benchmarks by today's init (docs/evidence/gallery.md#public-benchmarks):

    python3 docs/runs/benchmarks/today.py PIHC FOLDER [NAME ...]

For each of examples/benchmarks, or those named: its PDE file without what init had added, `pihc init --minutes 3`, PI-HC on one core, predictions of the first 16
samples of benchmark.py, and their score; the same after one step of training. What is in FOLDER already is not made again. today.csv beside this file has the scores;
lines of other names stay. Needs NumPy."""
import csv, json, pathlib, re, shutil, subprocess, sys, time

import numpy as np

here = pathlib.Path(__file__).parent
examples = here.parents[2] / "examples" / "benchmarks"
pihc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
names = sys.argv[3:] or sorted(p.parent.name for p in examples.glob("*/problem.yaml"))
SAMPLES = 16
KEYS = {"varying-waves": ["--set=training.validate_count=1"]}  # where a prediction takes a minute, by linear rows: there is nothing to choose by validations


def run(*command):
    p = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stderr)
    return p.stdout


folder.mkdir(parents=True, exist_ok=True)
table = here / "today.csv"
rows = {(r["name"], r["arm"]): r for r in csv.DictReader(table.open())} if table.exists() else {}
for name in names:
    spec, truth, data = folder / name, folder / f"{name}-truth", folder / f"{name}-data"
    if not (truth / "first.npz").exists():
        shutil.rmtree(truth, ignore_errors=True)
        run(sys.executable, here / "benchmark.py", "make", name, truth)
        drawn = np.load(truth / "initial.npz")
        np.savez(truth / "first.npz", **{key: drawn[key][:SAMPLES] for key in drawn})
    if not spec.exists():
        text = (examples / name / "problem.yaml").read_text()
        bare = folder / f"{name}.yaml"
        bare.write_text("\n\n".join(b for b in re.split(r"\n\n", text) if not b.lstrip().startswith(("# Added by pihc init", "# Changed by pihc init"))))
        run(pihc, "init", bare, "--minutes", 3, "--out", spec)
        run(pihc, "generate", spec / "spec.yaml", "--out", data)
    for arm, keys in (("trained", []), ("one step", ["--set=training.steps=1"])):
        trained, fields, scored = (folder / f"{name}-{arm.replace(' ', '-')}{end}" for end in ("", ".npz", ".json"))
        if not scored.exists():
            begin = ["--resume", trained] if trained.exists() else [spec / "spec.yaml", "--method", "hard", "--data", data, "--out", trained, *KEYS.get(name, []), *keys]
            run(pihc, "-q", "train", *begin, "--workers", "1")
            begun = time.perf_counter()
            run(pihc, "-q", "predict", trained, "--initial", truth / "first.npz", "--out", fields, "--workers", "1")
            seconds = (time.perf_counter() - begun) / SAMPLES
            score = json.loads(run(sys.executable, here / "benchmark.py", "score", name, truth, fields))
            found = np.load(fields)
            log = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]
            score |= {"seconds": seconds, "passes": float(found["passes"].mean()) if "passes" in found else 1.0, "estimate": float(found["error_estimate"].mean()),
                      "steps": max(r.get("step", 0) for r in log)}
            scored.write_text(json.dumps(score))
        s = json.loads(scored.read_text())
        rows[name, arm] = {"name": name, "arm": arm, "steps": s["steps"], "samples": s["samples"], "median": f"{s['median']:.4g}", "worst": f"{s['worst']:.4g}",
                           "estimate": f"{s['estimate']:.4g}", "passes": f"{s['passes']:.3g}", "seconds": f"{s['seconds']:.3g}"}
        print(rows[name, arm], flush=True)
with table.open("w", newline="") as f:
    w = csv.DictWriter(f, list(next(iter(rows.values()))), lineterminator="\n")
    w.writeheader()
    w.writerows(rows[k] for k in sorted(rows))
