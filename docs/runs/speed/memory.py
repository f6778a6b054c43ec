"""Prints the largest resident memory of two steps of diffusion-sorption-paper, one sample at a time, over the points of all solves.

    pihc generate diffusion-sorption-paper --out DATA
    python3 docs/runs/speed/memory.py PIHC DATA FOLDER > memory.csv
"""
import os
import shutil
import subprocess
import sys

pihc, data, folder = sys.argv[1:]
print("method,points,mib")
for points in (100, 1000, 10000, 100000):
    for method, each in (("hard", points), ("moe", points // 4)):
        shutil.rmtree(folder, ignore_errors=True)
        run = subprocess.Popen([pihc, "-q", "train", "diffusion-sorption-paper", "--method", method, "--workers", "1", "--data", data, "--out", folder] + [
            f"--set={s}" for s in ("training.steps=2", "training.stages=[]", "training.batch=1", "training.micro_batch=1", "training.validate_count=1", f"constraint.points={each}")
        ], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(run.pid, 0)
        assert status == 0, (method, points)
        print(f"{method},{points},{used.ru_maxrss // 1024}", flush=True)
