#!/usr/bin/env python3
"""What the commands and programs of docs/guide/equation.md print, and the program of docs/guide/python.md, as they stand there:

    guide.py equation|python PIHC

Needs NumPy, for `python` the package in python/ too. Half a minute of training each, which wants an idle machine."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

name, pihc = sys.argv[1:]
root = pathlib.Path(__file__).parents[3]
text = (root / "docs" / "guide" / f"{name}.md").read_text()
blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
environment = dict(os.environ, PYTHONPATH=str(root / "python"), PIHC_BINARY=str(pathlib.Path(pihc).resolve()))


def run(command, shown):
    p = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    print(f"$ {shown}\n{p.stdout}{p.stderr}".replace(str(folder), "."), flush=True)
    return p.returncode


with tempfile.TemporaryDirectory() as made:
    folder = pathlib.Path(made)
    (folder / "bin").mkdir()
    shutil.copy(pihc, folder / "bin" / "pihc")
    environment["PATH"] = f"{folder}/bin:{environment['PATH']}"
    if name == "python":
        program = next(code for kind, code in blocks if kind == "python" and "rod.yaml" in code)
        sys.exit(run([sys.executable, "-c", program], "the program of Your own equation"))
    for kind, code in blocks:
        if kind == "yaml":
            (folder / "rod.yaml").write_text(code)
            (folder / "cosine.yaml").write_text(code.replace("series: sine", "series: cosine"))
        elif kind == "python" and "import" in code and run([sys.executable, "-c", code], "python"):
            sys.exit(1)
        elif code.startswith("pihc ") and run(["sh", "-c", code], code.strip()):
            sys.exit(1)
    sys.exit(run(["pihc", "init", "cosine.yaml", "--out", "cosine", "--minutes", "0.5"], "pihc init cosine.yaml --out cosine --minutes 0.5"))
