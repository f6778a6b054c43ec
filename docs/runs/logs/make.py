#!/usr/bin/env python3
"""What short commands print, for figures of documents (docs/runs/sentences):

    python3 docs/runs/logs/make.py PIHC [NAME ...]

runs the commands below, or those named, in the repository's root, and writes NAME.txt beside this file: command, commit and processor, then the output. Some need
NumPy and SciPy. All of them take about half an hour of one idle core."""
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
    "leak": ["python3 docs/runs/invert/leak.py $PIHC"],
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
    "adjoint-modes": ["go test ./constraint -run AdjointModes -v"],
}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=root).stdout.strip()


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def run(command):
    """What a command prints. Scripts run in a folder of their own, for what they leave behind."""
    python = command.startswith("python3 ")
    script = command.replace("$PIHC", pihc)
    if python:
        script = script.replace("python3", sys.executable, 1).replace("docs/runs/", f"{root}/docs/runs/")
    with tempfile.TemporaryDirectory() as folder:
        p = subprocess.run(script, shell=True, capture_output=True, text=True, cwd=folder if python else root)
    if p.returncode:
        sys.exit(f"{command}: status {p.returncode}\n{p.stderr}")
    return p.stdout.replace(str(root), ".")


commit = re.search(r"revision (\w+)", output(pihc, "version"))
for name in names or COMMANDS:
    text = f"# commit {commit[1] if commit else 'not known'}, {processor()}, {os.cpu_count()} cores\n"
    text += "".join(f"\n$ {command}\n{run(command)}" for command in COMMANDS[name])
    (here / f"{name}.txt").write_text(text)
    print(name, flush=True)
