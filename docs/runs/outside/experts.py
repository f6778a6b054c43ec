"""How many experts in space a wave in segments bears (docs/evidence/choices.md):

    python3 docs/runs/outside/experts.py PIHC FOLDER

trains 40 steps of telegraph.yaml, as `init --minutes 0.5` writes it, with other experts; experts.csv has the last error on validation samples.
"""
import csv, json, pathlib, subprocess, sys

here = pathlib.Path(__file__).parent
pihc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
subprocess.run([pihc, "init", here / "telegraph.yaml", "--minutes", "0.5", "--out", folder / "spec"], check=True, capture_output=True)
spec = folder / "spec" / "spec.yaml"
subprocess.run([pihc, "generate", spec, "--out", folder / "data"], check=True, capture_output=True)
with (here / "experts.csv").open("w", newline="") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow(["experts", "error"])
    for experts in ("{x: 4}", "{x: 2}", "{t: 2}", "{x: 1}"):
        run = folder / experts.strip("{}").replace(": ", "")
        subprocess.run([pihc, "train", spec, "--data", folder / "data", "--method", "moe", "--out", run, "--set", f"constraint.experts={experts}",
                        "--set", "training.steps=40", "--set", "training.validate=40", "--set", "training.checkpoint=40", "--set", "training.learning_rate.warmup=5"],
                       check=True, capture_output=True)
        last = json.loads((run / "log.jsonl").read_text().splitlines()[-1])
        w.writerow([run.name, f"{last['validation_relative']:.4g}"])
        f.flush()
