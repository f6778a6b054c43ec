#!/usr/bin/env python3
"""The gallery by today's init (docs/evidence/gallery.md):

    python3 docs/runs/gallery/again.py PIHC FOLDER [NAME ...]

For each example, or those named: its PDE file without what init had added, `pihc init --minutes 3`, `pihc reproduce --methods moe`, and, where the spec has steps of
Newton's method, `pihc eval` of the same parameters without. What is in FOLDER already is not made again. again.csv beside this file has the errors, and the mean of
the paired difference with half of its 95 % interval (Student's t); lines of other examples stay."""
import csv, json, pathlib, re, statistics, subprocess, sys

here = pathlib.Path(__file__).parent
examples = here.parents[2] / "examples"
pihc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
names = sys.argv[3:] or sorted(p.parent.name for p in examples.glob("*/problem.yaml"))
T31 = 2.0395  # the 97.5 % point of Student's t with 31 degrees of freedom


def run(*command):
    p = subprocess.run([pihc, *map(str, command)], capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stderr)


table = here / "again.csv"
rows = {r["file"]: r for r in csv.DictReader(table.open())} if table.exists() else {}
for name in names:
    spec, runs, without = folder / name, folder / f"{name}-runs", folder / f"{name}-without.json"
    if not (runs / "moe" / "metrics.json").exists():
        text = (examples / name / "problem.yaml").read_text()
        bare = folder / f"{name}.yaml"
        bare.write_text("\n\n".join(b for b in re.split(r"\n\n", text) if not b.lstrip().startswith("# Added by pihc init")))
        run("init", bare, "--minutes", 3, "--out", spec)
        run("reproduce", spec / "spec.yaml", "--methods", "moe", "--out", runs)
    newton = "newton: true" in (spec / "spec.yaml").read_text()
    if newton and not without.exists():
        run("eval", runs / "moe", "--data", runs / "data", "--set", "evaluation.newton=false", "--json", "--out", without)
    m, text = json.loads((runs / "moe" / "metrics.json").read_text()), (spec / "problem.yaml").read_text()
    ansatz = next((a for key, a in (("duhamel: rows", "rows"), ("duhamel: true", "Duhamel"), ("smooth:", "smooth"), ("ansatz:", "multiplier")) if key in text), "none")
    e = m["relative_l2"]
    row = {"file": name, "steps": m["step"], "ansatz": ansatz, "mean": f"{e['mean']:.4g}", "median": f"{e['median']:.4g}", "worst": f"{e['max']:.4g}",
           "estimate": f"{m['error_estimate']['mean']:.4g}", "verdict": m["verdict"], "passes": f"{m['passes']['mean']:.3g}" if "passes" in m else "",
           "mean_without": "", "worst_without": "", "passes_without": "", "difference": "", "half": ""}
    if newton:
        other = json.loads(without.read_text())
        d = [a["relative_l2"] - b["relative_l2"] for a, b in zip(m["per_sample"], other["per_sample"], strict=True)]
        half = T31 * statistics.stdev(d) / len(d) ** 0.5 if len(d) == 32 else float("nan")
        row |= {"mean_without": f"{other['relative_l2']['mean']:.4g}", "worst_without": f"{other['relative_l2']['max']:.4g}", "passes_without": f"{other['passes']['mean']:.3g}",
                "difference": f"{statistics.mean(d):.3g}", "half": f"{half:.2g}"}
    rows[name] = row
    print(row, flush=True)
with table.open("w", newline="") as f:
    w = csv.DictWriter(f, list(row), lineterminator="\n")
    w.writeheader()
    w.writerows(rows[k] for k in sorted(rows))
