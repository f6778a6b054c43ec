#!/usr/bin/env python3
"""The paper's Navier-Stokes, 64 points per axis, one seed that was never looked at (docs/evidence/results.md).

    navier_stokes.py PIHC FOLDER one-pass [METHOD ...]             our rows and the small network, in one pass without features
    navier_stokes.py PIHC FOLDER published SECONDS [METHOD ...]    the published choices, for so many seconds of training in all
    navier_stokes.py PIHC FOLDER finer [METHOD ...]                what one-pass made, on 256 x 256 points, 100 samples
    navier_stokes.py PIHC FOLDER collect COMMIT                    lines of runs.csv to standard output; FOLDER/errors-TABLE.csv

One core a run, two with the published choices. What is there already is not made again; trainings that were interrupted go on. No package is needed.
"""
import json
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "seeds"))
import seeds

SEED = 100
TABLE = {"one-pass": "one-pass", "published": "64"}  # after the problem's name
PROBLEM = {"one-pass": "navier-stokes-paper", "published": "navier-stokes-published"}
KEYS = {
    "one-pass": ["--set=network.passes=1", "--set=network.features={}", "--set=data.test.grids=[]"],
    "published": ["--set=data.test.count=20"],
}


WORKERS = {"one-pass": "1", "published": "2"}
POINTS = {"soft": [], "hard": ["--points", "20000"], "moe": ["--points", "20000"]}  # rows of a solve, as trained on 64 points per axis
SEEDS = [f"--set=data.{split}.seed={base + SEED}" for split, base in (("train", 1000), ("validation", 2000), ("test", 3000))]


def finer(pihc, folder, method):
    """Scores a run of one pass on 256 x 256 points, on the same test samples."""
    run, data = folder / f"{PROBLEM['one-pass']}-{method}-{SEED}", folder / "data-256"
    if not data.exists():
        seeds.run(pihc, "-q", "generate", PROBLEM["one-pass"], "--out", data, *SEEDS, "--set=data.test.grids=[{x: 256, y: 256}]", "--set=data.train.count=1", "--set=data.validation.count=1")
    scored = folder / f"{PROBLEM['one-pass']}-on-256-{method}-{SEED}"
    if not (scored / "metrics.json").exists():
        scored.mkdir(exist_ok=True)
        seeds.run(pihc, "-q", "eval", run, "--data", data, "--grid", "x=256,y=256", "--workers", "1", *POINTS[method], "--out", scored / "metrics.json")
        (scored / "spec.yaml").write_bytes((run / "spec.yaml").read_bytes())
    print("256", method, json.loads((scored / "metrics.json").read_text())["relative_l2"]["mean"], flush=True)


def seconds(run):
    """What a training has taken until its last line."""
    lines = (run / "log.jsonl").read_text().splitlines() if (run / "log.jsonl").exists() else []
    return max((json.loads(line).get("seconds", 0) for line in lines), default=0)


def train(pihc, folder, kind, method, limit):
    problem, run = PROBLEM[kind], folder / f"{PROBLEM[kind]}-{method}-{SEED}"
    keys = SEEDS + KEYS[kind]
    data = folder / f"data-{problem}"
    if not data.exists():
        seeds.run(pihc, "-q", "generate", problem, "--out", data, *(k for k in keys if "=data." in k))
    if (run / "metrics.json").exists():
        return
    begin = ["--resume", run] if run.exists() else [problem, "--method", method, "--seed", str(SEED), "--data", data, "--out", run, *keys]
    training = subprocess.Popen([pihc, "-q", "train", *map(str, begin), "--workers", WORKERS[kind]])
    try:
        training.wait(None if limit is None else max(1, limit - seconds(run)))
    except subprocess.TimeoutExpired:
        training.send_signal(signal.SIGINT)
    if training.wait() not in (0, 130):
        sys.exit(f"{run}: status {training.returncode}")
    seeds.run(pihc, "-q", "eval", run, "--workers", WORKERS[kind], *(["--last", "--no-estimates"] if limit else POINTS[method]))
    print(problem, method, json.loads((run / "metrics.json").read_text())["relative_l2"]["mean"], flush=True)


if __name__ == "__main__":
    pihc, folder, kind, *rest = sys.argv[1:]
    folder = pathlib.Path(folder)
    if kind == "collect":
        for name, problem in PROBLEM.items():
            seeds.collect(folder, rest[0], TABLE[name], {problem: [SEED]}, {problem: seeds.METHODS})
        seeds.collect(folder, rest[0], "one-pass", {f"{PROBLEM['one-pass']}-on-256": [SEED]}, {f"{PROBLEM['one-pass']}-on-256": seeds.METHODS})
        sys.exit()
    if kind == "finer":
        for method in rest or seeds.METHODS:
            finer(pihc, folder, method)
        sys.exit()
    limit = int(rest.pop(0)) if kind == "published" else None
    folder.mkdir(parents=True, exist_ok=True)
    for method in rest or seeds.METHODS:
        train(pihc, folder, kind, method, limit)
