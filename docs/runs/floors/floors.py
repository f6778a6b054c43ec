#!/usr/bin/env python3
"""Measures the floors of diffusion-sorption's rows (docs/evidence/choices.md): the distance of their minimiser over all grid values from the classical solution.

    floors.py PIHC OUT.csv     from the repository's root; no package is needed
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROBLEM = pathlib.Path("pde/problems/diffusion-sorption.yaml").read_text()
U_T = "u_t: {axis: t, derivative: 1, %s}"
DEMO = ["diffusion-sorption-demo", "--grid", "t=101,x=128"]
ROWS = {
    "shipped": (None, DEMO),
    "order-4": (U_T % "order: 4", DEMO),
    "order-2": (U_T % "order: 2", DEMO),
    "BDF2": (U_T % "side: backward, order: 2", DEMO),
    "BDF1": (U_T % "side: backward, order: 1", DEMO),
    "published": (None, ["diffusion-sorption-published", "--grid", "t=101,x=128"]),
    "small": (None, ["diffusion-sorption-small", "--grid", "t=101,x=256"]),
}

with tempfile.TemporaryDirectory() as folder, open(sys.argv[2], "w") as out:
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["rows", "floor_error", "floor_residual"])
    for name, (u_t, arguments) in ROWS.items():
        if u_t:
            text, changed = re.subn(r"u_t: \{.*\}", u_t, PROBLEM)
            assert changed == 1, name
            file = pathlib.Path(folder, "problem.yaml")
            file.write_text(text)
            arguments = [*arguments, "--set", f"problem={file}"]
        p = subprocess.run([sys.argv[1], "check", *arguments, "--json"], capture_output=True, text=True)
        if not p.stdout:
            sys.exit(p.stderr)
        found = json.loads(p.stdout)
        table.writerow([name, f"{found['floor_error']:.4g}", f"{found['floor_residual']:.4g}"])
