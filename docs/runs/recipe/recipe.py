#!/usr/bin/env python3
"""Arms of a training in equal processor time.

    recipe.py PIHC FOLDER SEED SECONDS ARM...

FOLDER has problem.yaml and spec.yaml, as examples/ do. Training, validation and test samples are drawn with seeds of SEED's own
(1000, 2000 and 3000 more). An ARM is a name, a colon, and keys of the spec with commas between, as in
whole:rollout=1 and segments:rollout=4. Each arm trains PI-HC, of width 32 with batches of four, for as many
steps as SECONDS of one core allow, by the least processor time of 16 steps in five turns of all arms that differ in more than the rate,
measured once for a problem (seconds-PROBLEM.json); 16 test samples are scored. A line of JSON for each arm
goes to recipe.jsonl.
"""
import json
import os
import resource
import subprocess
import sys

pihc, folder, seed, seconds, arms = sys.argv[1], sys.argv[2].rstrip("/"), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5:]
problem = os.path.basename(folder)
data = [f"--set=data.{split}.{key}" for split, count, more in (("train", 2000, 1000), ("validation", 8, 2000), ("test", 16, 3000))
        for key in (f"count={count}", f"seed={more + seed}")]


def run(*arguments):
    """Runs pihc, and returns seconds of processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([pihc, "-q", *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


dataset = f"data-{problem}-{seed}"
if not os.path.isdir(dataset):
    run("generate", f"{folder}/spec.yaml", "--out", dataset, *data)
arms = {name: [f"--set={key}" for key in keys.split(",") if key] for name, keys in (arm.split(":") for arm in arms)}


def work(name):
    """What an arm's steps cost depends on this."""
    return " ".join(key for key in arms[name] if "learning_rate" not in key)


def train(name, steps):
    """Trains an arm from the beginning, and returns the run's folder and seconds."""
    out = f"run-{problem}-{name}-{seed}"
    subprocess.run(["rm", "-rf", out], check=True)
    return out, run("train", f"{folder}/spec.yaml", "--data", dataset, "--out", out, "--workers", "1", "--method", "hard", f"--set=seed={seed}",
                    f"--set=training.steps={steps}", f"--set=training.validate={max(1, steps // 4)}", f"--set=training.checkpoint={max(1, steps // 2)}",
                    "--set=network.width=32", "--set=training.batch=4", *arms[name], *data)


times, of_step = f"seconds-{problem}.json", {}
if os.path.exists(times):
    with open(times) as f:
        of_step = json.load(f)
new = {work(name): name for name in arms if work(name) not in of_step}
for _ in range(5):
    for key, name in new.items():
        of_step[key] = min(of_step.get(key, 1e9), (train(name, 18)[1] - train(name, 2)[1]) / 16)
with open(times, "w") as f:
    json.dump(of_step, f)
for name in arms:
    steps = max(50, int((seconds - 1) / of_step[work(name)]))
    out, used = train(name, steps)
    scored = run("eval", out, "--workers", "1")
    with open(f"{out}/metrics.json") as f:
        metrics = json.load(f)
    errors = sorted(sample["relative_l2"] for sample in metrics["per_sample"])
    line = {"problem": problem, "arm": name, "keys": arms[name], "seed": seed, "steps": steps, "train_seconds": round(used, 1),
            "eval_seconds": round(scored, 1), "mean": metrics["relative_l2"]["mean"], "median": errors[len(errors) // 2], "worst": errors[-1], "errors": errors}
    with open("recipe.jsonl", "a") as f:
        f.write(json.dumps(line) + "\n")
    print(problem, name, seed, line["steps"], line["train_seconds"], line["eval_seconds"],
          f'{100 * line["mean"]:.3g} {100 * line["median"]:.3g} {100 * line["worst"]:.3g} %', flush=True)
