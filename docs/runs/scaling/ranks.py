#!/usr/bin/env python3
"""Several processes against one (docs/evidence/scaling.md), on a machine of two idle cores:

    ranks.py PIHC FOLDER [CASE ...]

times.csv beside this file gets, for each turn of a case, the seconds of a step of soft, hard and moe, and of moe less soft (pihc bench step), of one process
and of ranks with one thread each; memory.csv the least and the most that a process of a training of one step needs, as largest resident memory in MiB. Lines of
other cases stay. FOLDER keeps the dataset. No package is needed."""
import csv
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).parent
LAUNCH = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np"]
EXPERTS = [f"--set={key}" for key in ("grid={t: 401, x: 256}", "training.batch=1", "constraint.experts={x: 16}", "constraint.points=6000", "network.basis=16")]
SORPTION, FLOW = ["diffusion-sorption-demo", "--set=training.batch=4"], ["navier-stokes-small", "--set=training.batch=4"]
CASES = {  # arguments of bench step, threads of the one process, ranks, arguments of these
    "samples of diffusion-sorption": (SORPTION, 2, 2, []),
    "samples of Navier-Stokes": (FLOW, 2, 2, []),
    "slabs of diffusion-sorption": (SORPTION, 2, 2, ["--slabs", "2"]),
    "slabs of Navier-Stokes": (["navier-stokes-demo", "--set=training.batch=4"], 2, 2, ["--slabs", "2"]),
    "experts": (["diffusion-sorption-demo", *EXPERTS], 1, 2, []),
}
TURNS = 5
DATA = ["navier-stokes-small"] + [f"--set={key}" for key in ("grid={t: 128, x: 128, y: 128}", "data.train.count=1", "data.validation.count=1", "data.test.count=1", "data.test.grids=[]")]
MEMORY = [*DATA, *(f"--set={key}" for key in ("training.batch=1", "training.micro_batch=1", "network.passes=2", "training.validate_count=1", "training.steps=1"))]


def keep(pihc, table, case, new):
    """Puts lines of a case, with the program's commit and the processor, in the place of those that a table has."""
    path = here / table
    version = subprocess.run([pihc, "version"], check=True, capture_output=True, text=True).stdout
    processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    about = {"commit": re.search(r"revision (\w{8})", version)[1], "processor": processor[1] if processor else ""}
    new = [row | about for row in new]
    rows = [r for r in csv.DictReader(path.open()) if r["case"] != case] if path.exists() else []
    rows += new
    with path.open("w", newline="") as f:
        w = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
        w.writeheader()
        w.writerows(rows)


def bench(command):
    out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {method: out[f"{method}_s"] for method in ("soft", "hard", "moe")} | {"constraint": out["moe_s"] - out["soft_s"]}


def times(pihc, case):
    spec, threads, ranks, more = CASES[case]
    step = ["bench", "step", *spec, "--repeat", "8", "--json"]
    rows = []
    for turn in range(TURNS):
        one, several = bench([pihc, "-q", "--mpi", "off", *step, "--workers", str(threads)]), bench([*LAUNCH, str(ranks), pihc, "-q", *more, *step, "--workers", "1"])
        for method in one:
            rows.append({"case": case, "turn": turn, "method": method, "one": f"{one[method]:.4g}", "ranks": f"{several[method]:.4g}", "ratio": f"{several[method] / one[method]:.4g}"})
            print(rows[-1], flush=True)
    keep(pihc, "times.csv", case, rows)


def memory(pihc, folder):
    rows, data = [], folder / "data"
    if not data.exists():
        subprocess.run([pihc, "-q", "generate", *DATA, "--out", data], check=True, stdout=subprocess.DEVNULL)
    for modes, keys in (("2", ["--set=network.modes={t: 2, x: 2, y: 2}"]), ("8", [])):
        for ranks in (1, 4):
            out = folder / f"run-{modes}-{ranks}"
            shutil.rmtree(out, ignore_errors=True)
            train = [sys.executable, __file__, "used", pihc, "-q", "--slabs", str(ranks), "train", *MEMORY, *keys, "--workers", "1", "--method", "moe", "--data", data, "--out", out]
            text = subprocess.run([*(LAUNCH + [str(ranks)] if ranks > 1 else []), *train], check=True, capture_output=True, text=True).stdout
            used = sorted(int(line.split()[1]) for line in text.splitlines() if line.startswith("MiB "))
            rows.append({"case": "memory", "modes": modes, "ranks": ranks, "least": used[0], "most": used[-1]})
            print(rows[-1], flush=True)
    keep(pihc, "memory.csv", "memory", rows)


if __name__ == "__main__":
    if sys.argv[1] == "used":
        subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
        print("MiB", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
        sys.exit()
    pihc, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for case in sys.argv[3:] or [*CASES, "memory"]:
        memory(pihc, folder) if case == "memory" else times(pihc, case)
