#!/usr/bin/env python3
"""Fine features at the end of time: errors by wavenumber of the runs of seeds.py one-pass (docs/evidence/paper.md).

    python3 docs/runs/seeds/fine.py PIHC FOLDER

FOLDER is that of the runs. For each run its test samples are predicted, and at the last time the Fourier coefficients of prediction less solution are summed up in bands of
|k|, the larger of the two wavenumbers. fine.csv beside this file: arm, seed, the band's first and last k, and the mean over samples of the relative L2 error in the band. Needs NumPy."""
import csv
import glob
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

BANDS = ((0, 2), (3, 5), (6, 15))
pihc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
rows = []
for run in sorted(folder.glob("navier-stokes-demo-one-pass-*")):
    arm, seed = run.name.removeprefix("navier-stokes-demo-one-pass-").rsplit("-", 1)
    data = run / json.loads((run / "run.json").read_text())["data_from_run"]
    test = [np.load(f) for f in sorted(glob.glob(f"{data}/test-*.npz"))]
    truth = np.concatenate([t["solution"] for t in test])[:, -1]
    with tempfile.TemporaryDirectory() as out:
        np.save(f"{out}/initial.npy", np.concatenate([t["initial"] for t in test]))
        last = ["--last"] if arm == "control" else []
        subprocess.run([pihc, "-q", "predict", run, "--initial", f"{out}/initial.npy", "--out", f"{out}/u.npz", "--no-estimates", "--workers", "1", *last], check=True, stdout=subprocess.DEVNULL)
        found = np.load(f"{out}/u.npz")
        u = found["w"][:, -1]
    n = truth.shape[-1]
    k = np.abs(np.fft.fftfreq(n, 1 / n))
    larger = np.maximum(k[:, None], k[None, :])
    error, whole = (np.abs(np.fft.fft2(x)) ** 2 for x in (u - truth, truth))
    for first, final in BANDS:
        band = (larger >= first) & (larger <= final)
        relative = np.sqrt(error[:, band].sum(1) / whole[:, band].sum(1))
        rows.append([arm, seed, first, final, len(truth), f"{relative.mean():.4g}", f"{np.sqrt(whole[:, band].sum() / whole.sum()):.3g}"])
with (pathlib.Path(__file__).parent / "fine.csv").open("w", newline="") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow(["arm", "seed", "first", "last", "samples", "error", "part"])
    w.writerows(rows)
