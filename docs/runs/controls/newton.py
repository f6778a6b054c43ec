"""Passes with steps of Newton's method beside those without (docs/evidence/controls.md): python3 docs/runs/controls/newton.py PIHC TABLE NAME=RUN ... --data DATA [--limits 4,6,8] [--samples N]

Each run is scored on the test samples of DATA (`pihc eval`) with `evaluation.newton` and without, over the most passes that it may take. A line of TABLE is one score; lines of other names stay."""
import csv, json, pathlib, subprocess, sys

pihc, table, data = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[sys.argv.index("--data") + 1]
limits = sys.argv[sys.argv.index("--limits") + 1].split(",") if "--limits" in sys.argv else ["4", "6", "8", "24", "100"]
few = ["--samples", sys.argv[sys.argv.index("--samples") + 1]] if "--samples" in sys.argv else []
runs = [run.partition("=")[::2] for run in sys.argv[3:sys.argv.index("--data")]]
rows = [r for r in csv.DictReader(table.open()) if r["run"] not in dict(runs)] if table.exists() else []
for name, folder in runs:
    for newton in ("false", "true"):
        for limit in limits:
            p = subprocess.run([pihc, "eval", folder, "--data", data, "--json", "--workers", "1", *few, "--set", f"evaluation.newton={newton}", "--set", f"evaluation.limit={limit}"], capture_output=True, text=True)
            if p.returncode:
                sys.exit(p.stderr)
            m = json.loads(p.stdout)
            rows.append({"run": name, "newton": newton, "limit": limit, "samples": m["samples"], "passes": f"{m['passes']['mean']:.3g}", "points": f"{m['points_evaluated']['mean']:.4g}",
                         "mean": f"{m['relative_l2']['mean']:.4g}", "worst": f"{m['relative_l2']['max']:.4g}", "residual": f"{m['residual_over_rate']['mean']:.4g}"})
            print(rows[-1], flush=True)
with table.open("w", newline="") as f:
    w = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
    w.writeheader()
    w.writerows(rows)
