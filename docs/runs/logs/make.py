#!/usr/bin/env python3
"""What short commands print, for figures of documents (docs/runs/sentences):

    python3 docs/runs/logs/make.py PIHC [NAME ...]

runs the commands below, or those named, in the repository's root, and writes NAME.txt beside this file: command, commit and processor, then the output. Some need
NumPy and SciPy. All of them take about half an hour of two idle cores."""
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).parent
root = here.parents[2]
pihc, names = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]

# By name, commands whose outputs follow each other in one file.
COMMANDS = {
    "klein-gordon": ["python3 docs/runs/invert/klein_gordon.py $PIHC"],
    "leak-open": [f"python3 docs/runs/invert/leak_open.py $PIHC {seed}" for seed in range(1, 7)],
    "coverage": [f"python3 docs/runs/invert/coverage.py docs/runs/invert/{of}" for of in ("sorption.csv", "sorption.csv 400", "scipy.csv")],
    "fields": ["python3 docs/runs/invert/fields_table.py"],
    "recipe": ["python3 docs/runs/recipe/table.py docs/runs/recipe/recipe.jsonl adam"],
    "invert-navier-stokes": ["python3 docs/runs/invert/navier_stokes.py $PIHC"],
    "check-gallery": [f"$PIHC check {p.relative_to(root)}" for p in sorted((root / "examples").glob("*/spec.yaml"))],
    "check-navier-stokes": ["$PIHC check navier-stokes-demo", "$PIHC check navier-stokes-small"],
    "check-published": ["$PIHC check navier-stokes-published --grid t=32,x=32,y=32"],
    "grid-verdict": ["go test ./score -run TestVerdictOfGrid -v"],
    "grid-estimates": ["go test ./internal/dataset -run TestEstimateClassical -v"],
    "grid-holds": ["go test ./experiment -run Hold -v"],
    "error-of-grid": ["go test ./tools/verdict -run TestErrorOfGrid -v -args -full"],
    "refinement": ["go test ./internal/discrete -run Refinement -v"],
    "lm-gradient": ["go test ./lm -run Gradient -v"],
    "robertson": ["$PIHC init docs/runs/sixth/robertson.yaml --out $TMP/robertson --minutes 0.5 2>&1 || true", "$PIHC -q solve docs/runs/sixth/robertson.yaml --out $TMP/robertson.npz"],
    "bench-solver": ["$PIHC bench solver"],
    "bench-network": ["$PIHC bench network", "$PIHC bench network --problem navier-stokes"],
    "cost-sorption": ["$PIHC -q reproduce examples/sorption/spec.yaml --methods moe --set training.steps=20 --json --out $TMP/sorption"],
    "cost-uses": [
        "$PIHC -q reproduce diffusion-sorption --scale demo --methods hard --set training.steps=300 --json --out $TMP/uses",
        "$PIHC -q reproduce examples/fisher-kpp/spec.yaml --methods hard --set network.passes=1 --set network.features={} --set training.steps=200 --json --out $TMP/fisher",
        "go run ./docs/runs/invert $TMP/uses/hard D 1",
        "go run ./docs/runs/invert $TMP/uses/hard D,k 1",
        "go run ./docs/runs/invert $TMP/fisher/hard r 1",
        "go run ./docs/runs/invert $TMP/fisher/hard D,r 1",
    ],
    "guide-equation": ["python3 docs/runs/logs/guide.py equation $PIHC"],
    "guide-python": ["python3 docs/runs/logs/guide.py python $PIHC", "PYTHONPATH=python PIHC_BINARY=$PIHC $PYTHON python/tests/latency.py 200"],
    "adjoint-modes": ["go test ./constraint -run AdjointModes -v"],
}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=root).stdout.strip()


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def run(command, folder):
    """What a command prints. $TMP is a folder of the file's commands; scripts run in one of their own, for what they leave behind."""
    python = command.startswith("python3 ")
    script = command.replace("$PIHC", pihc).replace("$TMP", folder).replace("$PYTHON", sys.executable)
    if python:
        script = script.replace("python3", sys.executable, 1).replace("docs/runs/", f"{root}/docs/runs/")
    with tempfile.TemporaryDirectory() as own:
        p = subprocess.run(script, shell=True, capture_output=True, text=True, cwd=own if python else root)
    if p.returncode:
        sys.exit(f"{command}: status {p.returncode}\n{p.stderr}")
    return p.stdout.replace(str(root), ".").replace(folder, "$TMP")


commit = re.search(r"revision (\w+)", output(pihc, "version"))
for name in names or COMMANDS:
    text = f"# commit {commit[1] if commit else 'not known'}, {processor()}, {os.cpu_count()} cores\n"
    with tempfile.TemporaryDirectory() as folder:
        text += "".join(f"\n$ {command}\n{run(command, folder)}" for command in COMMANDS[name])
    (here / f"{name}.txt").write_text(text)
    print(name, flush=True)
