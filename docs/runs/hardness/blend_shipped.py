#!/usr/bin/env python3
"""What blending does to runs of shipped specs (docs/evidence/controls.md#where-the-residual-is):

    python3 docs/runs/hardness/blend_shipped.py PIHC RUN ...

Scores runs of `moe` with `evaluation.blend` 0 and 0.25, on one core. Lines of CSV to standard output: spec, seed, samples, mean error
and residual over the rate without and with, and the mean difference of the errors of samples with half of its 95 % interval (Student's t), in percent. No package is needed."""
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

T = {32: 2.0395, 40: 2.0227, 100: 1.9842, 200: 1.9720}  # 97.5 % points of Student's t, by samples


def score(run, blend, out):
    subprocess.run([sys.argv[1], "-q", "eval", run, "--set", f"evaluation.blend={blend}", "--no-estimates", "--workers", "1", "--out", out], check=True, stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())


out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["spec", "seed", "samples", "error", "blended_error", "residual", "blended_residual", "difference", "half"])
for run in map(pathlib.Path, sys.argv[2:]):
    with tempfile.TemporaryDirectory() as folder:
        plain, blended = (score(run, blend, pathlib.Path(folder) / f"{blend}.json") for blend in (0, 0.25))
    d = [100 * (b["relative_l2"] - a["relative_l2"]) for a, b in zip(plain["per_sample"], blended["per_sample"], strict=True)]
    out.writerow([*run.name.rsplit("-moe-", 1), len(d), *(f"{100 * m[key]['mean']:.4g}" for key in ("relative_l2", "relative_residual") for m in (plain, blended)),
                  f"{statistics.mean(d):.3g}", f"{T[len(d)] * statistics.stdev(d) / len(d) ** 0.5:.2g}"])
    sys.stdout.flush()
