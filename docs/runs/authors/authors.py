#!/usr/bin/env python3
"""Trains and scores a method of the authors' own program (ASK-Berkeley/physics-NNs-hard-constraints, commit 0330e64, JAX; it has no licence, and
nothing of it is here) on diffusion-sorption data of pihc, on 101 x 128 points (docs/evidence/paper.md):

    authors.py SOURCE DATA METHOD STEPS OUT [SEED]

SOURCE is a clone of that repository. DATA has test-*.npz of `pihc generate diffusion-sorption-demo`: the last 100 solutions are the test samples,
the others are trained on, since the program cuts initial conditions and the right wall's values out of solutions. METHOD is soft, hard or moe.
OUT is CSV: step, seconds of training so far, relative L2 of the test samples (mean, standard deviation, median, worst), the loss of the last step.

Models, constraint, router, loss, optimiser and step are theirs, with their files of settings, but for one number: 2500 points a solve in the place of 20,000, which are more than there
are here. (Four experts of 2500 on 101 x 128 are the part of the grid that theirs are of 101 x 1024.) Their trainer logs to a service and reads
TFRecords; the loop below does neither. Packages: jax 0.4.24, equinox 0.11.4, optimistix 0.0.7, optax 0.2.2, jaxopt, numpy 1.
"""
import csv
import dataclasses
import glob
import os
import sys
import time
from unittest import mock

source, data, method, steps, out = *sys.argv[1:4], int(sys.argv[4]), sys.argv[5]
seed = int(sys.argv[6]) if len(sys.argv) > 6 else 3
os.environ["JAX_ENABLE_X64"] = "false" if method == "soft" else "true"  # as their README says
for name in ("tensorflow", "tensorflow_datasets", "wandb", "matplotlib", "matplotlib.pyplot", "PIL", "imageio", "loguru"):
    sys.modules[name] = mock.MagicMock()
sys.path.insert(0, source)

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from neptune.models import get_model, get_model_config
from neptune.pdes import DiffusionSorption1D
from neptune.trainers.optimizers import construct_optimizer
from neptune.trainers.train_utils import gen_compute_loss, gen_test_step, gen_train_step, load_train_config
from neptune.utils import RNG_Manager

TEST = 100
arrays = [np.load(f) for f in sorted(glob.glob(f"{data}/test-*.npz"))]
solutions = np.concatenate([a["solution"] for a in arrays]).reshape(-1, 101, 128)
assert len(solutions) > TEST, "too few solutions"
nt, nx = solutions.shape[1:]
constants = {"D": 5e-4, "phi": 0.29, "rho_s": 2880.0, "n_f": 0.874, "k": 3.5e-4}


def batch(fields):
    n = len(fields)
    kept = {k: np.full(n, v) for k, v in constants.items()}
    return {k: jnp.array(v) for k, v in (kept | {
        "u": fields, "x": np.tile((np.arange(nx) + 0.5) / nx, (n, 1)), "t": np.tile(np.linspace(0, 500, nt), (n, 1)),
    }).items()}


train, test = solutions[:-TEST], solutions[-TEST:]
config = get_model_config({"soft": f"{source}/configs/models/fno2d-64-8m.yaml", "hard": f"{source}/configs/models/fno2d-64-8m-hard-constraint.yaml",
                           "moe": f"{source}/configs/models/fno2d-64-8m-hard-constraint-moe.yaml"}[method])
if method != "soft":
    config = dataclasses.replace(config, constraint=dataclasses.replace(config.constraint, num_sampled_points=2500))
settings = load_train_config(f"{source}/configs/training/ds.yaml")
pde, keys = DiffusionSorption1D(), RNG_Manager(seed)
optimizer = construct_optimizer(settings.optimizer, settings.num_epochs)
first, _ = pde.process_input({k: v[0] for k, v in batch(train[:1]).items()})
model = get_model(config, pde, rng_key=keys.next_key(), model_input=first)
state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
loss = gen_compute_loss(ic_loss_weight=settings.ic_loss_weight, bc_loss_weight=settings.bc_loss_weight, interior_loss_weight=settings.interior_loss_weight,
                        pde_loss_weight=settings.pde_loss_weight, pde=pde, data_loss_normalize=settings.data_loss_normalize,
                        icbc_loss_normalize=settings.icbc_loss_normalize)
step = gen_train_step(value_and_grad_fn=eqx.filter_value_and_grad(loss, has_aux=True), optimizer=optimizer, jit=True)
check = gen_test_step(compute_loss_fn=loss, jit=True)
size, order, seconds = 6, np.random.default_rng(seed), 0.0
table = csv.writer(open(out, "w"), lineterminator="\n")
table.writerow(["method", "seed", "step", "seconds", "mean", "std", "median", "worst", "loss"])


def score(at, last):
    errors = []
    for i in range(0, TEST, 5):
        _, metrics = check(batch(test[i : i + 5]), model, {"sampler": keys.get_n_keys(5)})
        errors += list(np.asarray(metrics.raw_l2_loss))
    table.writerow([method, seed, at, round(seconds, 1), *(f"{f(errors):.5g}" for f in (np.mean, np.std, np.median, np.max)), f"{last:.5g}"])
    print(method, at, round(seconds), np.mean(errors), flush=True)


waiting = []
for at in range(steps):
    if len(waiting) < size:
        waiting = list(order.permutation(len(train)))
    rows, waiting = waiting[:size], waiting[size:]
    begin = time.perf_counter()
    last, _, model, state = step(batch(train[rows]), model, state, {"sampler": keys.get_n_keys(size)})
    last = float(last)
    seconds += time.perf_counter() - begin
    if at + 1 in (50, 100, 200, 350, 500, 1000, 1500, 2000, 2500) or at + 1 == steps:
        score(at + 1, last)
