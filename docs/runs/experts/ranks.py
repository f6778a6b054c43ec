"""Time of a step of PI-HC-MoE whose one sample is shared among ranks of one core.

    python3 ranks.py PIHC LAUNCH... -- R...     as in: python3 ranks.py bin/pihc mpirun --oversubscribe -- 1 2

96,000 rows and 16 experts of diffusion-sorption, N = 16, a small network. The numbers of ranks take turns, five times over; a line of
JSON for each goes to standard output: least and median seconds of a step of moe, of soft (the network and the loss), and their
difference, the constraint. No package is needed."""

import json
import statistics
import subprocess
import sys

program, launch, numbers = sys.argv[1], sys.argv[2 : sys.argv.index("--")], [int(r) for r in sys.argv[sys.argv.index("--") + 1 :]]
KEYS = ["grid={t: 401, x: 256}", "training.batch=1", "constraint.experts={x: 16}", "constraint.points=6000", "network.basis=16"]
TURNS = 5

found = {r: [] for r in numbers}
for _ in range(TURNS):
    for r in numbers:
        command = ([*launch, "-np", str(r)] if r > 1 else []) + [program, "-q", "bench", "step", "diffusion-sorption-demo", "--workers", "1", "--repeat", "1", "--json"]
        out = subprocess.run(command + [x for k in KEYS for x in ("--set", k)] + ([] if r > 1 else ["--mpi", "off"]), check=True, capture_output=True, text=True)
        found[r].append(json.loads(out.stdout))
for r, all in found.items():
    line = {"ranks": r}
    for key, of in (("moe_s", lambda b: b["moe_s"]), ("soft_s", lambda b: b["soft_s"]), ("constraint_s", lambda b: b["moe_s"] - b["soft_s"])):
        values = [of(b) for b in all]
        line[key] = {"least": round(min(values), 4), "median": round(statistics.median(values), 4)}
    print(json.dumps(line))
