"""Times pihc on one core beside itself of another commit and beside JAX, in turn, and writes a table.

    make plugin
    python3 docs/runs/speed/speed.py TABLE.csv ROUNDS [OLD]

OLD is another pihc program, of 0f74648 for the table that is stored here. Needs the
packages of examples/python/jax_best.py. Nothing else may run on the machine.
"""
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

CORE = ["taskset", "-c", "0"]
PLUGIN = os.path.abspath("bin/pjrt-cpu.so")
EXPERTS = ["--set", "constraint.experts={x: 64}", "--set", "constraint.points=1000", "--set", "training.batch=1"]


def output(*command, **more):
    return subprocess.run(CORE + list(command), check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env={**os.environ, **more}).stdout


def bench(program, part, problem, scale, *more):
    spec = [f"{problem}-{scale}"] if program == PIHC else ["--problem", problem, "--scale", scale]
    return json.loads(output(program, "bench", part, *spec, "--workers", "1", "--json", *more))


def go_bench(binary, pattern, *metrics, seconds="1s", more=()):
    """The values of metrics in every line that a compiled test prints for a benchmark."""
    text = output(binary, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", seconds, "-test.cpu", "1", *more, PIHC_PJRT=PLUGIN)
    found = {}
    for name, rest in re.findall(r"^Benchmark(\S+)\s+\d+\s+(.*)$", text, re.M):
        values = {unit: float(v) for v, unit in re.findall(r"(\S+) (\S+)", rest)}
        found[name] = [values[m] for m in metrics]
    return found


def jax(**more):
    """Seconds of each part; with the plugin, which has no Cholesky, it fails at the first solve."""
    text = subprocess.run(CORE + [sys.executable, "examples/python/jax_best.py", "1"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env={**os.environ, **more}).stdout
    return {name: float(ms) / 1e3 for name, ms in re.findall(r"^(network|step of \w+),.*?([\d.]+) ms$", text, re.M)}


def failing():
    begin = time.time()
    subprocess.run(CORE + [PIHC, "eval", "/nonexistent"], stderr=subprocess.DEVNULL)
    return time.time() - begin


def round_of(old):
    v = {}
    network = bench(PIHC, "network", "diffusion-sorption", "paper", "--repeat", "5")
    v["network of diffusion-sorption", "fraction of peak"] = network["fraction_of_peak"]
    v["network of navier-stokes-small, one sample", "fraction of peak"] = bench(PIHC, "network", "navier-stokes", "small", "--repeat", "7")["fraction_of_peak"]
    (four,) = go_bench(f"{BIN}/fno.test", "Network/small/batch=4/cores=1", "fraction").values()
    v["network of navier-stokes-small, four samples", "fraction of peak"] = four[0]
    passes = go_bench(f"{BIN}/engine.test", "Passes", "cpu-ms/pass", seconds="3x")
    v["pass of a prediction, 32 x 32 x 32", "ms"], v["pass of a prediction, 32 x 128 x 128", "ms"] = passes["Passes/32"][0], passes["Passes/128"][0]
    (rows,) = [x for name, x in go_bench(f"{BIN}/lm.test", "Rows/pass/basis=16/rows=20000/float64", "fraction_of_peak", "fraction_of_read").items()]
    v["pass of a solve, 20,000 x 16", "fraction of peak"], v["pass of a solve, 20,000 x 16", "fraction of reading"] = rows
    many = bench(PIHC, "step", "diffusion-sorption", "paper", "--repeat", "3", *EXPERTS)
    v["moe over soft, 64 experts", "ratio"] = many["moe_over_soft"]
    for name, (ratio,) in go_bench(f"{BIN}/engine.test", "Batches/.*/.*/workers=1", "ratio").items():
        v["together over one at a time: " + name.split("/", 1)[1].replace("/workers=1", ""), "ratio"] = ratio
    step = bench(PIHC, "step", "diffusion-sorption", "paper", "--repeat", "1")
    there, same = jax(), jax(PJRT_NAMES_AND_LIBRARY_PATHS="xla:" + PLUGIN, JAX_PLATFORMS="xla")
    ours = network["forward_s"] + network["backward_s"]
    v["JAX over pihc, network", "ratio"] = there["network"] / ours
    for method in ("soft", "hard", "moe"):
        v[f"JAX over pihc, step of {method}", "ratio"] = there[f"step of {method}"] / step[f"{method}_s"]
    v["network of diffusion-sorption", "ms"] = ours * 1e3
    device = go_bench(f"{BIN}/xla.test", "Device/.*/.*/.*/(step|backward)", "ns/op", seconds="2x", more=["-batches", "1"])
    of = {(method, kind): ns[0] / 1e9 for name, ns in device.items() for method, kind in re.findall(r"method=(\w+)/batch=1/(\w+)", name)}
    v["engine xla over JAX, same plugin: network", "ratio"] = of["moe", "backward"] / same["network"]
    v["engine xla over JAX, same plugin: step of soft", "ratio"] = 6 * of["soft", "step"] / same["step of soft"]
    v["engine xla over JAX, its own backend: step of moe", "ratio"] = 6 * of["moe", "step"] / there["step of moe"]
    v["a command that fails", "ms"] = failing() * 1e3
    if old:
        before = bench(old, "network", "diffusion-sorption", "paper", "--repeat", "5")
        v["time of 0f74648 over this: network of diffusion-sorption", "ratio"] = (before["forward_s"] + before["backward_s"]) / ours
        small, then = (bench(p, "network", "navier-stokes", "small", "--repeat", "7") for p in (PIHC, old))
        v["time of 0f74648 over this: network of navier-stokes-small", "ratio"] = (then["forward_s"] + then["backward_s"]) / (small["forward_s"] + small["backward_s"])
        then = bench(old, "step", "diffusion-sorption", "paper", "--repeat", "3", *EXPERTS)
        v["time of 0f74648 over this: step of moe, 64 experts", "ratio"] = then["moe_s"] / many["moe_s"]
        v["moe over soft, 64 experts, 0f74648", "ratio"] = then["moe_over_soft"]
    return v


def main(table, rounds, old=None):
    for package in ("fno", "engine", "lm", "xla"):
        subprocess.run(["go", "test", "-c", "-o", f"{BIN}/{package}.test", f"./{package}"], check=True)
    subprocess.run(["go", "build", "-o", PIHC, "./cmd/pihc"], check=True)
    all_rounds = []
    for i in range(int(rounds)):
        all_rounds.append(round_of(old))
        print("round", i + 1, file=sys.stderr, flush=True)
        with open(table, "w", newline="") as f:
            w = csv.writer(f, lineterminator="\n")
            w.writerow(["key", "what", "unit", "rounds", "least", "median", "most"])
            for what, unit in all_rounds[0]:
                values = [r[what, unit] for r in all_rounds]
                w.writerow([re.sub("[^a-z0-9]+", "-", f"{what} {unit}".lower()), what, unit, len(values), *(f"{x:.4g}" for x in (min(values), statistics.median(values), max(values)))])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as BIN:
        PIHC = BIN + "/pihc"
        main(*sys.argv[1:])
