#!/usr/bin/env python3
"""Errors of gallery runs by sample, and the rows of the table in docs/evidence/gallery.md.

    python3 gallery.py collect NAME COMMIT RUN     adds RUN/hard and RUN/moe, which pihc reproduce wrote, to samples.csv
    python3 gallery.py table                       prints the rows

In percent: mean, standard deviation over the samples, median, worst; residual over the rate, mean."""
import csv, json, os, statistics, sys

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "samples.csv")
COLUMNS = ["equation", "method", "commit", "steps", "sample", "relative_l2", "residual_over_rate", "persistence", "passes"]


def rows():
    return list(csv.DictReader(open(FILE))) if os.path.exists(FILE) else []


def collect(name, commit, run):
    kept = [r for r in rows() if r["equation"] != name]
    for method in ("hard", "moe"):
        m = json.load(open(os.path.join(run, method, "metrics.json")))
        for s in m["per_sample"]:
            kept.append(dict(equation=name, method=method, commit=commit, steps=m["step"], sample=s["index"], passes=s.get("passes", 1),
                             **{k: f"{s[k]:.5g}" for k in ("relative_l2", "residual_over_rate", "persistence")}))
    with open(FILE, "w", newline="") as f:
        w = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        w.writeheader()
        w.writerows(kept)


def table():
    groups = {}
    for r in rows():
        groups.setdefault(r["equation"], {}).setdefault(r["method"], []).append(r)
    for name, methods in groups.items():
        line = f"| {name} |"
        for method in ("hard", "moe"):
            e = [100 * float(r["relative_l2"]) for r in methods[method]]
            of = [100 * float(r["residual_over_rate"]) for r in methods[method]]
            line += f" {statistics.mean(e):.3f} ± {statistics.pstdev(e):.3f}, {statistics.median(e):.3f}, {max(e):.2f} | {statistics.mean(of):.2g} % |"
        p = [100 * float(r["persistence"]) for r in methods["hard"]]
        print(line + f" {statistics.mean(p):.0f} % |")


if __name__ == "__main__":
    {"collect": collect, "table": table}[sys.argv[1]](*sys.argv[2:])
