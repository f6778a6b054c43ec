#!/usr/bin/env python3
"""Errors of gallery runs by sample. `go run ./tools/evidence` makes the table of docs/evidence/gallery.md of them.

    python3 gallery.py collect NAME COMMIT RUN     adds RUN/hard and RUN/moe, or the one that pihc reproduce wrote, to samples.csv
"""
import csv, json, os, sys

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "samples.csv")
COLUMNS = ["equation", "method", "commit", "steps", "sample", "relative_l2", "residual_over_rate", "persistence", "passes"]


def rows():
    return list(csv.DictReader(open(FILE))) if os.path.exists(FILE) else []


def collect(name, commit, run):
    kept = [r for r in rows() if r["equation"] != name]
    for method in ("hard", "moe"):
        metrics = os.path.join(run, method, "metrics.json")
        if not os.path.exists(metrics):
            continue
        m = json.load(open(metrics))
        for s in m["per_sample"]:
            kept.append(dict(equation=name, method=method, commit=commit, steps=m["step"], sample=s["index"], passes=s.get("passes", 1),
                             **{k: f"{s[k]:.5g}" for k in ("relative_l2", "residual_over_rate", "persistence")}))
    with open(FILE, "w", newline="") as f:
        w = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        w.writeheader()
        w.writerows(kept)


if __name__ == "__main__":
    collect(*sys.argv[2:])
