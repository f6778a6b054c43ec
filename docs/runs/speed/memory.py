"""Prints the largest resident memory of two steps at the paper's sizes, in MiB, over the points of all solves.

    python3 docs/runs/speed/memory.py PIHC FOLDER > memory.csv

FOLDER keeps the datasets. No package is needed.
"""
import os
import pathlib
import shutil
import subprocess
import sys

CASES = {  # problem, samples that are in memory at once
    "diffusion-sorption": ("diffusion-sorption-paper", 1),
    "diffusion-sorption, six": ("diffusion-sorption-paper", 6),
    "navier-stokes": ("navier-stokes-published", 1),
}
SMALL = [f"--set=data.{key}" for key in ("train.count=16", "validation.count=1", "test.count=1", "test.grids=[]")]


def run(pihc, *arguments):
    """What a command needs at most."""
    process = subprocess.Popen([pihc, "-q", *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"memory.py: pihc {' '.join(map(str, arguments))}: status {status}")
    return used.ru_maxrss // 1024


pihc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
print("case,method,points,mib")
for case, (problem, samples) in CASES.items():
    data, trained = folder / f"data-{problem}", folder / "run"
    if not data.exists():
        run(pihc, "generate", problem, "--out", data, *SMALL)
    keys = SMALL + [f"--set=training.{key}" for key in ("steps=2", "stages=[]", f"batch={samples}", f"micro_batch={samples}", "validate_count=1", "validate=2")]
    for points in (100, 1000, 10000, 100000):
        for method, each in (("hard", points), ("moe", points // 4)):
            shutil.rmtree(trained, ignore_errors=True)
            used = run(pihc, "train", problem, "--method", method, "--workers", "1", "--data", data, "--out", trained, f"--set=constraint.points={each}", *keys)
            print(f'"{case}",{method},{points},{used}', flush=True)
shutil.rmtree(trained, ignore_errors=True)
