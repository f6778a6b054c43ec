"""What init and reproduce make of PDE files that were written from the documents alone (docs/evidence/gallery.md):

    python3 docs/runs/outside/outside.py PIHC FOLDER TABLE MINUTES [NAME ...] [--KEY ...]

For each file beside TABLE, or those named (FOLDER/NAME: in a folder beside that of TABLE): `pihc init --minutes MINUTES`, no key, then
`pihc reproduce --methods moe` with what follows the names. A line of TABLE says what came of it; a file that init refuses has its
message instead. Lines of other files stay. Tables are outside.csv (0.5 minutes), before.csv (likewise, with an older program),
../newcomers/newcomers.csv (0.5 on one core) and ../strangers/strangers.csv (3 on one core), for example.
"""
import csv, json, pathlib, subprocess, sys

pihc, folder, table, minutes = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
here = table.parent
flags = next((i for i, a in enumerate(sys.argv) if a.startswith("--")), len(sys.argv))
names = sys.argv[5:flags] or sorted(p.stem for p in here.glob("*.yaml"))
columns = ["file", "mean", "median", "worst", "estimate", "verdict", "ansatz", "refused"]
rows = {r["file"]: r for r in csv.DictReader(table.open())} if table.exists() else {}


def run(*command):
    return subprocess.run([pihc, *command], capture_output=True, text=True)


for name in names:
    spec, out, file = folder / name, folder / f"{name}-runs", (here.parent if "/" in name else here) / f"{name}.yaml"
    spec.parent.mkdir(parents=True, exist_ok=True)
    row = dict.fromkeys(columns, "") | {"file": name}
    init = run("init", file, "--minutes", minutes, "--out", spec)
    if init.returncode:
        row["refused"] = next(x for x in init.stderr.splitlines() if x.startswith("pihc: init:")).replace(f"{file.parent}/", "")
    else:
        text = (spec / "problem.yaml").read_text()
        row["ansatz"] = "linear rows" if "duhamel: rows" in text else "Duhamel" if "duhamel: true" in text else "smooth" if "smooth:" in text else "multiplier" if "ansatz:" in text else "none"
        result = run("reproduce", spec / "spec.yaml", "--methods", "moe", "--out", out, "--json", *sys.argv[flags:])
        if result.returncode:
            sys.exit(f"{name}: {result.stderr}")
        metrics = json.loads((out / "moe" / "metrics.json").read_text())
        l2 = metrics["relative_l2"]
        row |= {"mean": f"{l2['mean']:.4g}", "median": f"{l2['median']:.4g}", "worst": f"{l2['max']:.4g}",
                "estimate": f"{metrics['error_estimate']['mean']:.4g}", "verdict": metrics["verdict"]}
    rows[name] = row
    with table.open("w", newline="") as f:
        w = csv.DictWriter(f, columns, lineterminator="\n")
        w.writeheader()
        w.writerows(rows[k] for k in sorted(rows))
    print(row, flush=True)
