#!/usr/bin/env python3
"""The choices behind the shipped specs and the defaults of init, each with and without (docs/evidence/choices.md):

    choices.py PIHC FOLDER [CASE ...]

An arm of a case differs from the others of it by keys of the spec, lines of the PDE file, or arguments of eval. Seeds begin at 100, and data are drawn for the seed.
One core a run; what is in FOLDER already is not made again. choices.csv beside this file has a line for each run; those of other cases stay. No package is needed.
"""
import csv
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).parent
root = here.parents[2]
GROWTH = ("(?s)\n# Added by pihc init: small differences.*", "")
ANSATZ = r"(?m)^ansatz: .*$"


def ansatz(text):
    return ANSATZ, f"ansatz: {{offset: u0, {text}}}"


def first(order, row):
    """Advection by the multiplier, with a residual from the first time or the one after it."""
    return [ansatz("multiplier: t"), (r"u_t: \{.*\}", f"u_t: {{axis: t, derivative: 1, order: {order}}}"), (r"rows: \{t: \[\d, 0\]\}", f"rows: {{t: [{row}, 0]}}")]


def weight(order, text):
    """Diffusion-sorption with another order in time and weight of the residual."""
    return [(r"u_t: \{.*\}", f"u_t: {{axis: t, derivative: 1, order: {order}, closure: one-sided}}"), (r"weight: sqrt\(500.*", f"weight: {text}")]


# By case: the spec (a built-in one, or a PDE file that init writes one for), seeds, and by arm the method, edits of the PDE file, keys, and arguments of eval.
# An arm without edits and keys of its own may be that of another case: it is trained once.
DEMO, FLOW = "diffusion-sorption-demo", "navier-stokes-demo"
ALONE = ["evaluation.newton=false", "rollout=1"]  # without what init adds to its own ansatz
CASES = {
    "diffusion-sorption": (DEMO, range(100, 103), {
        "hard": ("hard", [], [], []),
        "hard, order 6, no 40 s": ("hard", weight(6, "sqrt(500*t)"), [], []),
        "hard, order 2, no 40 s": ("hard", weight(2, "sqrt(500*t)"), [], []),
        "moe": ("moe", [], [], []),
        "moe, borders count fully": ("moe", [], ["loss.border_rows={start: 1, end: 1}"], []),
        "moe, no overlap": ("moe", [], ["constraint.overlap.start=0", "constraint.overlap.end=0"], []),
        "hard, one step": ("hard", [], ["training.steps=1", "training.validate=1"], []),
        "hard, one step, waves": ("hard", [], ["training.steps=1", "training.validate=1", "network.spectral_gain=1"], []),
    }),
    **{f"fourth-{name}": (here / f"{name}.yaml", range(100, 102), {
        "init": ("hard", [], [], []),
        "smooth": ("hard", [ansatz(f"multiplier: \"{time}\", smooth: {{x: {length}}}")], ALONE, []),
        "multiplier": ("hard", [ansatz(f"multiplier: \"{time}*{walls}\"")], ALONE, []),
    }) for name, time, length, walls in (
        ("damped", "(t/0.1)^2", 0.15, "4*x*(1 - x)"), ("film", "t", 0.1, "4*x*(1 - x)"), ("swift-hohenberg", "t/4", 0.8, "4*x/15*(1 - x/15)"), ("clamped", "(t/0.1)^2", 0.15, "16*x^2*(1 - x)^2"))},
    "first-rows": ("advection", range(100, 102), {
        "order 2, from t_1": ("hard", first(2, 1), ALONE, []),
        "order 6, from t_1": ("hard", first(6, 1), ALONE, []),
        "order 6, from t_0": ("hard", first(6, 0), ALONE, []),
    }),
    "growth-allen-cahn": ("allen-cahn", range(100, 102), {"init": ("hard", [], [], []), "even": ("hard", [GROWTH], [], [])}),
    "growth-kuramoto-sivashinsky": ("kuramoto-sivashinsky", range(100, 102), {
        "init": ("hard", [], [], []), "even": ("hard", [GROWTH], [], []),
        "experts along t": ("moe", [], ["constraint.experts={t: 2}"], []), "experts along x": ("moe", [], ["constraint.experts={x: 4}"], []),
    }),
    "passes-darcy": ("darcy-smooth", range(100, 102), {"init": ("hard", [], [], []), "one pass": ("hard", [], ["network.passes=1", "network.features={}", "evaluation={}"], [])}),
    "features": (FLOW, range(100, 102), {
        "shipped": ("soft", [], ["data.test.count=16"], ["--passes", "6"]),
        "one pass": ("soft", [], ["data.test.count=16", "network.passes=1"], []),
        "one pass, no features": ("soft", [], ["data.test.count=16", "network.passes=1", "network.features={}"], []),
        "one pass, no features, absolute losses": ("soft", [], ["data.test.count=16", "network.passes=1", "network.features={}", "loss.relative=false"], []),
        "one pass, no features, absolute losses, coordinates": ("soft", [], ["data.test.count=16", "network.passes=1", "network.features={}", "loss.relative=false", "network.omit_coordinates=[]"], []),
    }),
    "corrections": (FLOW, range(100, 102), {
        "shipped": ("hard", [], ["data.test.count=16"], []),
        "even": ("hard", [(r"(?m)^  weight: .*$", "")], ["data.test.count=16"], []),
        "no corrections": ("hard", [], ["data.test.count=16"], ["--set=evaluation.directions=0"]),
    }),
}


def run(pihc, *arguments):
    subprocess.run([pihc, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def spec(pihc, folder, base, edits):
    """The spec of a base with edits of its PDE file: a name or a file, and what its folders are named after."""
    if base in (DEMO, FLOW):
        if not edits:
            return base, [], base
        name = base.removesuffix("-demo")
        source = root / "pde" / "problems" / f"{name}.yaml"
    else:
        name = base.stem if isinstance(base, pathlib.Path) else base
        source = folder / f"init-{name}" / "problem.yaml"
        if not source.exists():
            bare = folder / f"{name}.yaml"
            text = (base if isinstance(base, pathlib.Path) else root / "examples" / name / "problem.yaml").read_text()
            bare.write_text("\n\n".join(part for part in text.split("\n\n") if not part.lstrip().startswith("# Added by pihc init")))
            run(pihc, "-q", "init", bare, "--minutes", 0.5, "--out", source.parent)
        if not edits:
            return source.parent / "spec.yaml", [], source.parent.name
    text = source.read_text()
    for pattern, new in edits:
        text, n = re.subn(pattern, new, text)
        if n != 1:
            sys.exit(f"{source}: {n} places of {pattern}")
    made = folder / f"edited-{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}" / "problem.yaml"
    made.parent.mkdir(exist_ok=True)
    made.write_text(text)
    if base in (DEMO, FLOW):
        return base, [f"--set=problem={made}"], made.parent.name
    (made.parent / "spec.yaml").write_text((source.parent / "spec.yaml").read_text())
    return made.parent / "spec.yaml", [], made.parent.name


if __name__ == "__main__":
    pihc, folder = sys.argv[1], pathlib.Path(sys.argv[2]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    revision = re.search(r"revision ([0-9a-f]{8})", subprocess.run([pihc, "version"], check=True, capture_output=True, text=True).stdout)[1]
    for case in sys.argv[3:] or CASES:
        base, seeds, arms = CASES[case]
        for seed in seeds:
            for arm, (method, edits, keys, arguments) in arms.items():
                of, problem, name = spec(pihc, folder, base, edits)
                sets = [f"--set=data.{split}.seed={first + seed}" for split, first in (("train", 1000), ("validation", 2000), ("test", 3000))]
                sets += [f"--set={key}" for key in keys]
                data = folder / f"data-{name}-{seed}"
                if not data.exists():
                    run(pihc, "-q", "generate", of, *problem, *(s for s in sets if "=data." in s), "--workers", "1", "--out", data)
                out = folder / "-".join([name, method, str(seed), *(re.sub(r"[^a-z0-9]+", "-", key) for key in keys)])
                if not out.exists():
                    part = folder / "part"  # of a training that did not end nothing is kept
                    shutil.rmtree(part, ignore_errors=True)
                    run(pihc, "-q", "train", of, *problem, "--method", method, "--seed", seed, "--data", data, "--out", part, "--workers", "1", *sets)
                    part.rename(out)
                metrics = folder / ("-".join([out.name, *(re.sub(r"[^a-z0-9]+", "-", a) for a in arguments)]) + ".json") if arguments else out / "metrics.json"
                if not metrics.exists():
                    run(pihc, "-q", "eval", out, "--workers", "1", "--out", metrics, *arguments)
                m = json.loads(metrics.read_text())
                e = m["relative_l2"]
                table = here / "choices.csv"
                rows = list(csv.DictReader(table.open())) if table.exists() else []
                row = {"case": case, "arm": arm, "seed": str(seed), "method": method, "step": m["step"], "samples": m["samples"], **{k: f"{e[v]:.4g}" for k, v in (("mean", "mean"), ("median", "median"), ("worst", "max"))},
                       "persistence": f"{m['persistence']['mean']:.4g}" if "persistence" in m else "",
                       "passes": f"{m['passes']['mean']:.3g}" if "passes" in m else "", "seconds": round(m["train_seconds"]), "commit": revision}
                rows = [r for r in rows if (r["case"], r["arm"], r["seed"]) != (case, arm, str(seed))] + [row]
                rows.sort(key=lambda r: (list(CASES).index(r["case"]), r["seed"], list(CASES[r["case"]][2]).index(r["arm"])))
                with table.open("w", newline="") as f:
                    w = csv.DictWriter(f, list(row), lineterminator="\n")
                    w.writeheader()
                    w.writerows(rows)
                print(case, arm, seed, e["mean"], flush=True)
