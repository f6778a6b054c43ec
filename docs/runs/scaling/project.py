#!/usr/bin/env python3
"""Predicts the time of a step on many ranks (docs/evidence/scaling.md, What to expect) from stored times of one, and writes projected.csv beside this file. No package is needed."""
import csv
import json
import math
import pathlib

here = pathlib.Path(__file__).parent
LATENCY, BANDWIDTH, MEMORY = 2e-6, 10e9, 40e9  # s, bytes/s between ranks and to memory: typical of clusters, not measured


def sorption():
    """PI-HC-MoE at the paper's size with 10,000 points in all: seconds of a sample, samples, parameters."""
    study = json.loads((here.parent / "studies/scaling-diffusion-sorption-paper.json").read_text())
    row = next(row for row in study["rows"] if row["points"] == 10000)
    return row["moe"]["training_s"]["median"] / study["batch"], study["batch"], 5.3e6


def flow():
    """PI-HC-MoE with the published choices on 64 cubed, four samples a step: the same."""
    last = json.loads((here.parent / "paper-size/published-moe.jsonl").read_text().splitlines()[-1])
    return last["seconds"] / last["step"] / 4, 4, 134e6


def step(t, batch, parameters, ranks, slabs=1, spectrum=0, layers=0):
    """Seconds of a step: S slabs a sample, in which the network is run once forward and once backward."""
    groups = ranks // slabs
    exchange = 4 * parameters * (groups - 1) / (groups * BANDWIDTH) + (groups - 1) * LATENCY
    divided = 0
    if slabs > 1:
        sent = (2 * 3 * layers * spectrum + 4 * parameters) * (slabs - 1) / slabs
        divided = sent / BANDWIDTH + 8 * layers * (slabs - 1) * LATENCY
    return math.ceil(batch / groups) * (t / slabs + divided + exchange) + exchange + 40 * parameters / MEMORY


def main():
    rows = []
    for problem, (t, batch, n) in (("diffusion-sorption", sorption()), ("navier-stokes", flow())):
        for ranks in (1, 2, 4, 6, 16, 64, 256, 1024):
            for what, samples in (("strong", batch), ("weak", ranks)):
                one = step(t, samples, n, 1) if what == "strong" else step(t, 1, n, 1) * ranks
                rows.append([problem, what, ranks, 1, f"{t:.4g}", f"{one / (ranks * step(t, samples, n, ranks)):.4f}"])
    t, batch, n = flow()
    for ranks, slabs in ((16, 4), (64, 16)):
        speed = step(t, batch, n, 1) / (ranks * step(t, batch, n, ranks, slabs, 8 * 2048 * 64, 8))
        rows.append(["navier-stokes", "strong", ranks, slabs, f"{t:.4g}", f"{speed:.4f}"])
    with open(here / "projected.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerows([["problem", "scaling", "ranks", "slabs", "sample", "speed"], *rows])


if __name__ == "__main__":
    main()
