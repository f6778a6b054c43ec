#!/usr/bin/env python3
"""Trains and scores both problems at demo size with other N (functions), m (points an expert), K (experts).

    sensitivity.py PIHC FOLDER [PROBLEM]     train and score, in FOLDER; what is there already is not made again
    sensitivity.py collect FOLDER COMMIT     lines of runs.csv to standard output; FOLDER/errors-TABLE.csv

One thing is changed at a time, of PI-HC-MoE as shipped: N = 16, K = 4, and m = 2500 (diffusion-sorption) or 1000 (Navier-Stokes).
With another K the rows of all experts together stay as many; K = 1 is PI-HC. One core a run. No package is needed.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "seeds"))
import seeds

SEEDS = range(100, 103)  # those of seeds.py, on the data that they share
SHAPES = {
    "diffusion-sorption-demo": (2500, (100, 500, 0), {1: "", 2: "{x: 2}", 8: "{x: 8}", 16: "{x: 16}"}),
    "navier-stokes-demo": (1000, (100, 300, 0), {1: "", 2: "{x: 2}", 8: "{x: 4, y: 2}", 16: "{x: 4, y: 4}"}),
}


def arms(problem):
    m, points, experts = SHAPES[problem]
    moe = ["--method", "moe"]
    yield "moe", moe
    for n in (4, 8, 32):
        yield f"N={n}", moe + ["--set", f"network.basis={n}"]
    for other in points:
        yield f"m={other or 'all'}", moe + ["--set", f"constraint.points={other}"]
    for k, split in experts.items():
        own = moe + ["--set", f"constraint.experts={split}"] if split else ["--method", "hard"]
        yield f"K={k}", own + ["--set", f"constraint.points={4 * m // k}"]


if __name__ == "__main__":
    if sys.argv[1] == "collect":
        seeds.collect(*sys.argv[2:4], "sensitivity", dict.fromkeys(SHAPES, SEEDS), {p: [a for a, _ in arms(p)] for p in SHAPES})
        sys.exit()
    os.makedirs(sys.argv[2], exist_ok=True)
    for seed in SEEDS:
        for problem in sys.argv[3:] or SHAPES:
            for arm, more in arms(problem):
                seeds.train(*sys.argv[1:3], problem, arm, seed, 100, *more)
