#!/usr/bin/env python3
"""Arms of recipe.jsonl against one of them.

    table.py FILE BASE

Ratios of errors, BASE over another arm, so that above 1 the other is better: by the mean over the test samples, and by their geometric
mean. Logarithms of the ratio are paired by equation and seed. Intervals are of 95 %, by Student's t: of the pairs, and of the
equations, each the mean of its seeds, which is the one to believe for another equation.
"""
import collections
import json
import math
import statistics
import sys

T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145}


def interval(logs):
    """The geometric mean and its interval."""
    middle, half = statistics.mean(logs), 0.0
    if len(logs) > 1:
        half = T[len(logs) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(middle):.2f} ({math.exp(middle - half):.2f} to {math.exp(middle + half):.2f})"


with open(sys.argv[1]) as f:
    lines = [json.loads(line) for line in f]
runs = {(line["arm"], line["problem"], line["seed"]): line for line in lines}
base = sys.argv[2]
measures = {"mean": lambda r: math.log(r["mean"]), "geometric mean": lambda r: statistics.mean(map(math.log, r["errors"]))}
for what, log in measures.items():
    for arm in dict.fromkeys(arm for arm, _, _ in runs if arm != base):
        equations = collections.defaultdict(list)
        for (name, problem, seed), run in runs.items():
            if name == arm and (base, problem, seed) in runs:
                equations[problem].append(log(runs[base, problem, seed]) - log(run))
        pairs = [v for logs in equations.values() for v in logs]
        print(f"{what}: {base} over {arm}: {len(pairs)} pairs {interval(pairs)}, {len(equations)} equations",
              interval([statistics.mean(logs) for logs in equations.values()]))
        print("   ", ", ".join(f"{problem} {math.exp(statistics.mean(logs)):.2f}" for problem, logs in equations.items()))
