#!/usr/bin/env python3
"""Pairs of trainings in equal processor time: one network for the whole time, and segments of it.

    pairs.py PIHC FOLDER SEGMENTS SEED SECONDS

FOLDER has problem.yaml and spec.yaml, as `pihc init` writes them. Training, validation and test samples are drawn with seeds of
SEED's own (1000, 2000 and 3000 more). Each arm trains PI-HC, of width 32 with batches of four, for as many steps as SECONDS of one
core allow, by the processor time of 24 steps before; 16 test samples are scored. A line of JSON for each arm goes to pairs.jsonl.
"""
import json
import os
import resource
import subprocess
import sys

pihc, folder, segments, seed, seconds = sys.argv[1], sys.argv[2].rstrip("/"), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
name = os.path.basename(folder)
data = [f"--set=data.{split}.{key}" for split, count, more in (("train", 2000, 1000), ("validation", 8, 2000), ("test", 16, 3000))
        for key in (f"count={count}", f"seed={more + seed}")]


def run(*arguments):
    """Runs pihc, and returns seconds of processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([pihc, "-q", *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


dataset = f"data-{name}-{seed}"
if not os.path.isdir(dataset):
    run("generate", f"{folder}/spec.yaml", "--out", dataset, *data)
for rollout in (1, segments):
    out = f"run-{name}-{rollout}-{seed}"

    def train(steps):
        subprocess.run(["rm", "-rf", out], check=True)
        return run("train", f"{folder}/spec.yaml", "--data", dataset, "--out", out, "--workers", "1", "--method", "hard", f"--set=seed={seed}",
                   f"--set=training.steps={steps}", f"--set=training.validate={max(1, steps // 4)}", f"--set=training.checkpoint={max(1, steps // 2)}",
                   "--set=network.width=32", "--set=training.batch=4", f"--set=rollout={rollout}", *data)

    step = (train(28) - train(4)) / 24
    steps = max(50, int((seconds - 1) / step))
    used = train(steps)
    scored = run("eval", out, "--workers", "1")
    with open(f"{out}/metrics.json") as f:
        metrics = json.load(f)
    errors = sorted(sample["relative_l2"] for sample in metrics["per_sample"])
    line = {"problem": name, "rollout": rollout, "seed": seed, "steps": steps, "train_seconds": round(used, 1), "eval_seconds": round(scored, 1),
            "passes": (metrics.get("passes") or {}).get("mean"), "mean": metrics["relative_l2"]["mean"], "median": errors[len(errors) // 2],
            "worst": errors[-1], "errors": errors}
    with open("pairs.jsonl", "a") as f:
        f.write(json.dumps(line) + "\n")
    print(line["problem"], rollout, seed, steps, f'{100 * line["mean"]:.3g} {100 * line["median"]:.3g} {100 * line["worst"]:.3g} %', flush=True)
