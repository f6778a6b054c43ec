#!/usr/bin/env python3
"""Runs benchmarks of Go and keeps their figures, from the repository's root:

    bench.py OUT.csv PACKAGE PATTERN [FLAG ...]     as in bench.py docs/runs/lm/bench.csv ./lm 'Rows|Cholesky' -benchtime 0.3s -cpu 1

OUT.csv has a line for each figure: benchmark (without the number of threads), unit, value. Lines of benchmarks that are not run again stay. No package is needed."""
import csv
import os
import re
import subprocess
import sys

out, package, pattern, *flags = sys.argv[1:]
environment = os.environ | {"GOEXPERIMENT": "simd", "CGO_ENABLED": "0"}  # as the Makefile has it
command = ["go", "test", package, "-run", "^$", "-bench", pattern, "-trimpath", "-ldflags=-X=runtime.godebugDefault=simd=+", *flags]
text = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
print(text)
figures = {}
if os.path.exists(out):
    with open(out) as f:
        figures = {(r["benchmark"], r["unit"]): r["value"] for r in csv.DictReader(f)}
for line in text.splitlines():
    if found := re.match(r"Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)", line):
        words = found[2].split()
        figures |= {(found[1], unit): value for value, unit in zip(words[::2], words[1::2])}
with open(out, "w") as f:
    table = csv.writer(f, lineterminator="\n")
    table.writerow(["benchmark", "unit", "value"])
    table.writerows([*key, value] for key, value in sorted(figures.items()))
