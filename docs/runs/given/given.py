#!/usr/bin/env python3
"""What pihc says of solutions of a file, right and wrong ones (docs/evidence/reliability.md, "Thresholds for solutions of a file").

    given.py PIHC FOLDER [EQUATION ...]     lines of given.csv to standard output

Four solutions of each equation, by its own rows on twice the points of each axis (three times of cells) and refined from there, thinned
to the grid of its spec. Then one thing is changed at a time, in the solutions or in the PDE file, and `pihc generate` says whether they
belong together. The equations of examples/ are those that the thresholds were chosen on; those of docs/runs/choices are not. Needs numpy
and PyYAML.
"""
import copy
import csv
import pathlib
import re
import shutil
import subprocess
import sys

import numpy
import yaml

ROOT = pathlib.Path(__file__).parents[3]
COUNT = 4
LIMIT = 600  # seconds of a comparison; what takes longer is "error"
HELD_OUT = [ROOT / "docs/runs/choices" / f"{name}.yaml" for name in ("clamped", "damped", "film", "swift-hohenberg")]


def equations():
    for spec in sorted(ROOT.glob("examples/*/spec.yaml")):
        yield spec.parent.name, "examples", yaml.safe_load((spec.parent / "problem.yaml").read_text()), yaml.safe_load(spec.read_text())["grid"]
    for file in HELD_OUT:
        problem = yaml.safe_load(file.read_text())
        yield file.stem, "choices", problem, {name: axis["points"] for name, axis in problem["axes"].items()}


def unknowns(problem):
    return re.split(r"[\s,]+", problem["unknown"]) if isinstance(problem["unknown"], str) else problem["unknown"]


def begins(problem):
    """The name of an unknown's initial condition, of those that solutions have."""
    names = unknowns(problem)
    return ["initial"] if len(names) == 1 else [f"{name}0" for name in names]


def solve(pihc, folder, problem, grid):
    """Arrays of right solutions on the grid, and on one of twice the points of the first axis."""
    folder.mkdir(parents=True)
    factor, fine = {}, {}
    for name, points in grid.items():
        kind = problem["axes"][name]["boundary"]
        factor[name] = 3 if kind == "cells" else 2
        fine[name] = 2 * points - 1 if kind == "nodes" else factor[name] * points
    problem = copy.deepcopy(problem)
    problem.setdefault("reference", {"solver": "discrete"})
    write(folder, problem, fine, {"test": {"count": COUNT, "seed": 4000}, "validation": {"count": 1, "seed": 4001}, "train": {"count": 1, "seed": 4002}})
    say = run(pihc, folder)
    if say.returncode:
        sys.exit(say.stderr)
    with numpy.load(folder / "data" / "test-00000.npz") as stored:
        arrays = {k: stored[k] for k in stored.files}

    def thin(a, keep=()):
        axes = list(grid)[1 + len(grid) - a.ndim :] if a.ndim > 1 else []  # numbers have none, fields of space lack the first
        at = [slice(None)]
        for axis in axes:
            at.append(slice(None) if axis in keep else slice(1 if factor[axis] == 3 else 0, None, factor[axis]))
        return a[tuple(at)]

    names = solutions(problem)
    keep = {k: v for k, v in arrays.items() if k in names or k in begins(problem) or k in problem.get("inputs", {})}
    first = next(iter(grid))
    return {k: thin(v) for k, v in keep.items()}, {k: thin(v, (first,)) for k, v in keep.items() if k in names}


def solutions(problem):
    return ["solution"] if len(unknowns(problem)) == 1 else unknowns(problem)


def write(folder, problem, grid, data):
    (folder / "problem.yaml").write_text(yaml.safe_dump(problem, sort_keys=False))
    (folder / "spec.yaml").write_text(yaml.safe_dump({"defaults": "fitted", "problem": "problem.yaml", "grid": grid, "data": data}, sort_keys=False))


def run(pihc, folder, limit=None):
    command = [pihc, "generate", "spec.yaml", "--out", "data", "--workers", "1"]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"not within {limit} s")


def judge(pihc, folder, problem, grid, arrays):
    """What pihc says: outcome, distance in percent, factor, message."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    numpy.savez(folder / "solutions.npz", **arrays)
    problem = copy.deepcopy(problem)
    problem["reference"] = {"file": "solutions.npz"}
    write(folder, problem, grid, {"test": {"count": COUNT - 2}, "validation": {"count": 1}, "train": {"count": 1}})
    say = run(pihc, folder, LIMIT)
    text = say.stderr
    found = re.search(r"off by (\S+) % of its size, (\S+) times", text)
    numbers = [plain(x) for x in found.groups()] if found else ["", ""]
    if say.returncode:
        judged = "solution" in text.splitlines()[0] and ("is none of" in text or "begin" in text)
        return ("refused" if judged else "error", *numbers, text)
    return ("warned" if "warning: " in text else "silent", *numbers, text)


def plain(x):
    """A number as pihc writes it, 1.55×10⁻⁵, for programs."""
    return re.sub(r"×10([⁻⁰¹²³⁴-⁹]+)", lambda m: "e" + m[1].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")), x)


def scaled(x, factor):
    return f"{factor}*({x})" if isinstance(x, str) else factor * x


def changes(problem, grid, right, finer):
    """Names, and files and solutions that belong together no more."""
    names, first = solutions(problem), next(iter(grid))
    time, stored = first == "t", right
    if time and len(names) == len(begins(problem)) and all(numpy.allclose(right[k][:, 0], right[b]) for k, b in zip(names, begins(problem))):
        right = {k: v for k, v in right.items() if k not in begins(problem)}
    rng = numpy.random.default_rng(5)

    def fields(change):
        return problem, {**right, **{k: numpy.ascontiguousarray(change(k, right[k].copy())) for k in names}}

    def start(a, b):
        """b with the first time of a."""
        b[:, 0] = a[:, 0]
        return b

    yield "right", problem, right
    for name in problem.get("constants", {}):
        for label, factor in (("sign of a constant", -1), ("a constant a tenth larger", 1.1), ("a constant a tenth smaller", 0.9), ("a constant twice as large", 2), ("a constant 1 % larger", 1.01)):
            if name != "pi":
                yield f"{label}: {name}", {**problem, "constants": {**problem["constants"], name: scaled(problem["constants"][name], factor)}}, right
    for percent in (1, 5, 20, 40):
        yield f"noise of {percent} %", *fields(lambda k, a: a + percent / 100 * a.std() * rng.standard_normal(a.shape))
    yield "noise after the start of 20 %", *fields(lambda k, a: start(a, a + 0.2 * a.std() * rng.standard_normal(a.shape)))
    yield "values offset by their standard deviation", *fields(lambda k, a: start(a, a + a.std()))

    swapped = {k: right[k][[0, 1, 1, 3]] for k in names}
    yield "a sample is that of another start or input", problem, {**stored, **swapped}
    inputs = [k for k in problem.get("inputs", {}) if k in right]
    if inputs:
        yield "inputs of other samples", problem, {**right, **{k: numpy.roll(right[k], 1, 0) for k in inputs}}
    if not time:
        yield "half as large", *fields(lambda k, a: a / 2)
        return
    yield "half the time axis", problem, {**right, **{k: finer[k][:, : right[k].shape[1]] for k in names}}
    yield "late by a step", problem, {**right, **{k: start(right[k], numpy.concatenate([right[k][:, :1], right[k][:, :-1]], 1)) for k in names}}
    yield "early by half a step", problem, {**right, **{k: start(right[k], numpy.concatenate([finer[k][:, 1::2], finer[k][:, -1:]], 1)) for k in names}}
    yield "zeros from step 5", *fields(lambda k, a: numpy.where(numpy.arange(a.shape[1]).reshape(-1, *[1] * (a.ndim - 2)) < 5, a, 0))
    yield "random walks", *fields(lambda k, a: a[:, :1] + numpy.concatenate([0 * a[:, :1], 0.1 * a.std() * rng.standard_normal(a[:, 1:].shape).cumsum(1)], 1))
    yield "the start times 1 + 5t", *fields(lambda k, a: a[:, :1] * (1 + 5 * numpy.linspace(0, 1, a.shape[1])).reshape(-1, *[1] * (a.ndim - 2)))
    yield "the start at all times", *fields(lambda k, a: a[:, :1] + 0 * a)
    yield "time backwards", *fields(lambda k, a: a[:, ::-1])

    def wrong(k, a):
        a[:, a.shape[1] // 2] = a[:, -1]
        return a
    yield "one time is the last", *fields(wrong)


if __name__ == "__main__":
    pihc, folder, *only = sys.argv[1:]
    pihc, folder = pathlib.Path(pihc).resolve(), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    out, log = csv.writer(sys.stdout, lineterminator="\n"), open(folder / "messages.txt", "a")
    for name, origin, problem, grid in equations():
        if only and name not in only:
            continue
        shutil.rmtree(folder / name, ignore_errors=True)
        right, finer = solve(pihc, folder / name / "right", problem, grid)
        for change, changed, arrays in changes(problem, grid, right, finer):
            outcome, distance, factor, text = judge(pihc, folder / name / "given", changed, grid, arrays)
            if change == "right":
                nearest = distance
            elif distance == nearest and outcome == "silent":
                outcome = "same"  # the change does not change the equation
            kind, _, constant = change.partition(": ")
            out.writerow([name, origin, kind, constant, outcome, distance, factor])
            sys.stdout.flush()
            print(f"== {name}, {change}: {outcome}\n{text}", file=log, flush=True)
