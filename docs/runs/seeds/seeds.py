#!/usr/bin/env python3
"""Trains and scores what preregistration.md names.

    seeds.py PIHC FOLDER [PROBLEM [SEED ...]]     train and score, in FOLDER; what is there already is not made again
    seeds.py arms PIHC FOLDER [SEED ...]          the arms of three choices of training, likewise
    seeds.py control PIHC FOLDER [PROBLEM [SEED ...]]    the same networks trained on solutions, and not at all, likewise
    seeds.py one-pass PIHC FOLDER [SEED ...]      Navier-Stokes in one pass, likewise
    seeds.py factorised PIHC FOLDER [PROBLEM [SEED ...]]    another network, likewise
    seeds.py collect FOLDER COMMIT     lines of runs.csv to standard output; FOLDER/errors-TABLE.csv

One core a run. No package is needed.
"""
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

SEEDS = {"diffusion-sorption-demo": range(100, 110), "navier-stokes-demo": range(100, 106), "diffusion-sorption-small": range(100, 106), "navier-stokes-small": range(100, 106)}
KEYS = {"navier-stokes-small": ["--set=data.test.grids=[]"]}
METHODS = ("soft", "hard", "moe")
ARMS = {f"{method}-{name}": (method, key) for name, key, methods in (
    ("adjoint-paper", "constraint.adjoint=paper", METHODS[1:]),
    ("batch-8", "training.batch=8", METHODS[1:]),
    ("conditions-16", "data.train.count=16", METHODS),
) for method in methods}


CONTROL = ["--method", "soft", "--set=data.train.count=2000", "--set=loss.data=1", "--set=training.best=last"]
CONTROLS = {  # keys of training, arguments of scoring, by arm
    "diffusion-sorption-demo": {
        "control": ([*CONTROL, "--set=loss.weights={residual: 0, initial: 0, left: 0, right: 0}"], []),
        "hard-untrained": (["--method", "hard", "--set=training.steps=1"], ["--last"]),
        "moe-untrained": (["--method", "moe", "--set=training.steps=1"], ["--last"]),
    },
    "navier-stokes-demo": {"control": ([*CONTROL, "--set=loss.weights={residual: 0}", "--set=evaluation.passes=6"], [])},
}
ONE_PASS = {  # keys of training by arm: rows of one solve as many as of all experts, and the paper's 64 functions
    arm: ["--set=network.passes=1", "--set=network.features={}", *keys]
    for arm, keys in {
        "soft": ["--method", "soft"],
        "hard": ["--method", "hard", "--set=constraint.points=4000"],
        "moe": ["--method", "moe"],
        "hard-64": ["--method", "hard", "--set=constraint.points=4000", "--set=network.basis=64"],
        "moe-64": ["--method", "moe", "--set=network.basis=64"],
        "control": [*CONTROL, "--set=loss.weights={residual: 0}", "--set=evaluation.passes=1"],
    }.items()
}
FACTORISED = {  # by problem, arms with the shipped network's sizes
    problem: {"hard-ffno": ["--method", "hard", f"--set=network={{kind: ffno, expansion: 4, spectral_gain: 0, basis: 16, {sizes}}}"]}
    for problem, sizes in {
        "diffusion-sorption-demo": "width: 32, layers: 5, modes: {t: 8, x: 8}, projection: 64, initial_scale: 0.2",
        "navier-stokes-demo": "width: 16, layers: 4, modes: {t: 6, x: 8, y: 8}, projection: 32, omit_coordinates: [x, y], passes: 6, "
        "features: {w: 1, w_x: 4, w_y: 4, vel_x: 0.07, vel_y: 0.07, residual: 0.2, mean_residual: 1}",
    }.items()
}


def own(problem, seed):
    """The number that the seeds of its data are made of."""
    return 100 if seed < 100 + len(SEEDS[problem]) // 2 else seed


def run(pihc, *arguments):
    subprocess.run([pihc, *arguments], check=True, stdout=subprocess.DEVNULL)


def train(pihc, folder, problem, arm, seed, number, *more, scoring=()):
    """Trains and scores one run, FOLDER/PROBLEM-ARM-SEED, with the arguments in more and in scoring, on the data of a number; not twice."""
    keys = [f"--set=data.{split}.seed={base + number}" for split, base in (("train", 1000), ("validation", 2000), ("test", 3000))]
    keys += [key for key in more if key.startswith(("--set=data.", "--set=loss.data"))]
    data = f"{folder}/data-{problem}-{number}" + "".join(re.sub(r".*\.", "-", key) for key in keys[3:])
    if not os.path.isdir(data):
        run(pihc, "-q", "generate", problem, "--out", data, "--workers", "1", *keys)
    out = f"{folder}/{problem}-{arm}-{seed}"
    if os.path.exists(f"{out}/metrics.json"):
        return
    shutil.rmtree(out, ignore_errors=True)
    run(pihc, "-q", "train", problem, "--seed", str(seed), "--data", data, "--out", out, "--workers", "1", *keys, *more)
    run(pihc, "-q", "eval", out, "--workers", "1", *scoring)
    with open(f"{out}/metrics.json") as f:
        print(problem, arm, seed, json.load(f)["relative_l2"]["mean"], flush=True)


def collect(folder, commit, suffix, seeds, arms):
    """Lines of runs.csv of the runs that are there, by problem its seeds and arms, and their errors by sample in FOLDER/errors-TABLE.csv."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    for problem in seeds:
        columns, table = {}, f"{problem}-{suffix}"
        for seed in seeds[problem]:
            for arm in arms[problem]:
                run = f"{folder}/{problem}-{arm}-{seed}"
                if not os.path.exists(f"{run}/metrics.json"):
                    continue
                with open(f"{run}/metrics.json") as f:
                    m = json.load(f)
                with open(f"{run}/spec.yaml", "rb") as f:
                    spec = hashlib.sha256(f.read()).hexdigest()
                shutil.copyfile(f"{run}/spec.yaml", f"{folder}/{spec[:12]}.yaml")
                columns[f"{arm} {seed}"] = [s["relative_l2"] for s in m["per_sample"]]
                g = lambda key, what="mean": f"{m[key][what]:.5g}" if key in m else ""
                out.writerow([table, arm, seed, "x".join(map(str, m["grid"])), m["samples"], g("relative_l2"), g("relative_l2", "std"), g("relative_l2", "median"),
                              g("relative_l2", "max"), "", g("relative_residual"), g("truth_residual"), g("passes"), m["step"], round(m["train_seconds"]), commit, spec, m["dataset_hash"][:12]])
        if not columns:
            continue
        with open(f"{folder}/errors-{table}.csv", "w") as f:
            w = csv.writer(f, lineterminator="\n")
            w.writerow(["sample", *columns])
            w.writerows([i, *(f"{e:.5g}" for e in row)] for i, row in enumerate(zip(*columns.values())))


if __name__ == "__main__":
    if sys.argv[1] == "collect":
        collect(*sys.argv[2:4], "unseen-seeds", SEEDS, dict.fromkeys(SEEDS, METHODS))
        collect(*sys.argv[2:4], "unseen-control", {problem: SEEDS[problem] for problem in CONTROLS}, CONTROLS)
        collect(*sys.argv[2:4], "unseen-one-pass", {"navier-stokes-demo": SEEDS["navier-stokes-demo"]}, {"navier-stokes-demo": [f"one-pass-{arm}" for arm in ONE_PASS]})
        collect(*sys.argv[2:4], "unseen-factorised", {problem: SEEDS[problem] for problem in FACTORISED}, FACTORISED)
        collect(*sys.argv[2:4], "unseen-arms", {"diffusion-sorption-demo": range(100, 110)}, {"diffusion-sorption-demo": ARMS})
        sys.exit()
    if sys.argv[1] == "arms":
        problem = "diffusion-sorption-demo"
        os.makedirs(sys.argv[3], exist_ok=True)
        for seed in map(int, sys.argv[4:] or SEEDS[problem]):
            for arm, (method, key) in ARMS.items():
                train(sys.argv[2], sys.argv[3], problem, arm, seed, own(problem, seed), "--method", method, f"--set={key}")
        sys.exit()
    if sys.argv[1] == "one-pass":
        problem = "navier-stokes-demo"
        os.makedirs(sys.argv[3], exist_ok=True)
        for seed in map(int, sys.argv[4:] or SEEDS[problem]):
            for arm, keys in ONE_PASS.items():
                train(sys.argv[2], sys.argv[3], problem, f"one-pass-{arm}", seed, own(problem, seed), *keys)
        sys.exit()
    if sys.argv[1] == "factorised":
        os.makedirs(sys.argv[3], exist_ok=True)
        for problem in sys.argv[4:5] or FACTORISED:
            for seed in map(int, sys.argv[5:] or SEEDS[problem]):
                for arm, keys in FACTORISED[problem].items():
                    train(sys.argv[2], sys.argv[3], problem, arm, seed, own(problem, seed), *keys)
        sys.exit()
    if sys.argv[1] == "control":
        os.makedirs(sys.argv[3], exist_ok=True)
        for problem in sys.argv[4:5] or CONTROLS:
            for seed in map(int, sys.argv[5:] or SEEDS[problem]):
                for arm, (keys, scoring) in CONTROLS[problem].items():
                    train(sys.argv[2], sys.argv[3], problem, arm, seed, own(problem, seed), *keys, scoring=scoring)
        sys.exit()
    os.makedirs(sys.argv[2], exist_ok=True)
    for problem in sys.argv[3:4] or SEEDS:
        for seed in map(int, sys.argv[4:] or SEEDS[problem]):
            for method in METHODS:
                train(sys.argv[1], sys.argv[2], problem, method, seed, own(problem, seed), "--method", method, *KEYS.get(problem, ()))
