"""The experiment of preregistration.md.

    python3 paired.py measure PIHC DIR     seconds of a step of every arm, on an idle machine
    python3 paired.py run PIHC DIR SEED    data, trainings and scores of a seed, what is there already left out
    python3 paired.py score DIR            the table and the verdict

PIHC is the program; everything runs on one core of it (--workers 1). No package is needed."""

import json
import math
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS, MEASURED = 120, 60
ARMS = {
    "moe-16": ["moe", "network.basis=16", "constraint.experts={x: 8}"],
    "hard-16": ["hard", "network.basis=16"],
    "hard-64": ["hard", "network.basis=64"],
    "soft": ["soft"],
}
SPEC = """defaults: fitted
problem: %s/pulse.yaml
grid: {t: 65, x: 128}
network: {width: 32, layers: 4, passes: 1, features: {}}
data:
  train: {count: 4000, seed: 1}
  validation: {count: 4, seed: 2}
  test: {count: 64, seed: 3}
""" % HERE
STUDENT = 2.262  # 97.5 % of Student's t with 9 degrees of freedom


def keys(arm):
    return [x for key in ARMS[arm][1:] for x in ("--set", key)]


def spec(folder):
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/spec.yaml", "w") as f:
        f.write(SPEC)
    return folder + "/spec.yaml"


def train(program, folder, arm, out, data, steps, more=()):
    subprocess.run([program, "-q", "train", spec(folder), "--method", ARMS[arm][0], "--data", data, "--out", out, "--workers", "1",
                    "--set", f"training.steps={steps}", "--set", f"training.validate={steps}", "--set", f"training.checkpoint={steps}", *keys(arm), *more], check=True)


def measure(program, folder):
    data = folder + "/data"
    if not os.path.exists(data):
        subprocess.run([program, "-q", "generate", spec(folder), "--out", data], check=True)
    seconds = {}
    for arm in ARMS:
        took = {}
        for steps in (MEASURED // 6, MEASURED + MEASURED // 6):
            out = f"{folder}/measured-{arm}-{steps}"
            begin = time.monotonic()
            train(program, folder, arm, out, data, steps)
            took[steps] = time.monotonic() - begin
        seconds[arm] = (took[MEASURED + MEASURED // 6] - took[MEASURED // 6]) / MEASURED
    with open(folder + "/seconds.json", "w") as f:
        json.dump(seconds, f)
    print(json.dumps(seconds))


def run(program, folder, seed):
    with open(folder + "/seconds.json") as f:
        seconds = json.load(f)
    more, data = ["--set", f"seed={seed}"], folder + "/data"
    if seed >= 105:
        own = ["--set", f"data.train.seed={1000 + seed}", "--set", f"data.test.seed={2000 + seed}"]
        more, data = more + own, f"{folder}/data-{seed}"
        if not os.path.exists(data):
            subprocess.run([program, "-q", "generate", spec(folder), "--out", data, *own], check=True)
    for arm in ARMS:
        out = f"{folder}/{arm}-{seed}"
        if os.path.exists(out + ".json"):
            continue
        train(program, folder, arm, out, data, round(SECONDS / seconds[arm]), more)
        scored = subprocess.run([program, "-q", "eval", out, "--data", data, "--split", "test", "--workers", "1", "--json"], check=True, capture_output=True, text=True)
        with open(out + ".json", "w") as f:
            f.write(scored.stdout)


def score(folder):
    errors = {arm: {} for arm in ARMS}
    for name in sorted(os.listdir(folder)):
        found = re.fullmatch(r"(.*)-(1\d\d)\.json", name)
        if found:
            with open(f"{folder}/{name}") as f:
                errors[found[1]][int(found[2])] = json.load(f)["relative_l2"]["mean"]
    seeds = sorted(set.intersection(*(set(e) for e in errors.values())))
    print(json.dumps({"seeds": seeds, **{arm: [round(e[s], 6) for s in seeds] for arm, e in errors.items()}}))
    for arm in ARMS:
        if arm == "moe-16" or len(seeds) < 10:
            continue
        d = [math.log(errors["moe-16"][s] / errors[arm][s]) for s in seeds]
        mean, half = statistics.mean(d), STUDENT * statistics.stdev(d) / math.sqrt(len(d))
        print(f"moe-16 over {arm}: {math.exp(mean):.3f} ({math.exp(mean - half):.3f} to {math.exp(mean + half):.3f}), t = {mean / (half / STUDENT):.2f}")


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "run":
        run(rest[0], rest[1], int(rest[2]))
    else:
        {"measure": measure, "score": score}[command](*rest)
