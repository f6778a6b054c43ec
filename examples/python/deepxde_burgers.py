"""Trains a network of DeepXDE on single samples of examples/burgers.

    pip install deepxde flax optax jax
    pihc generate examples/burgers/spec.yaml --out data
    python3 deepxde_burgers.py data/test-00000.npz [SAMPLES] [STEPS]

A physics-informed network knows one initial condition: each sample is a training. The
network and rate are those of DeepXDE's own example of this equation (three layers of
20, Adam at 1e-3, 15,000 steps, 2540 points), with twice the width and points, periodic
inputs, the initial condition at 128 points in the place of its formula, a weight of 10
on it, and no L-BFGS at the end, which this backend has not.
"""
import os
import sys
import time

os.environ["DDE_BACKEND"] = "jax"
import deepxde as dde
import jax.numpy as jnp
import numpy as np


def equation(x, u):
    du, f = dde.grad.jacobian(u, x, i=0), u[0]
    u_xx, _ = dde.grad.hessian(u, x, i=0, j=0)
    return du[0][:, 1:2] + f * du[0][:, 0:1] - 0.01 / np.pi * u_xx


def train(u0, steps):
    x = np.linspace(-1, 1, len(u0), endpoint=False)
    domain = dde.geometry.GeometryXTime(dde.geometry.Interval(-1, 1), dde.geometry.TimeDomain(0, 1))
    start = dde.icbc.PointSetBC(np.stack([x, 0 * x], 1), u0[:, None])
    data = dde.data.TimePDE(domain, equation, [start], num_domain=5080, num_initial=0, num_boundary=0)
    net = dde.nn.FNN([3] + [40] * 3 + [1], "tanh", "Glorot normal")
    net.apply_feature_transform(
        lambda a: jnp.concatenate([jnp.cos(jnp.pi * a[..., :1]), jnp.sin(jnp.pi * a[..., :1]), a[..., 1:]], -1)
    )
    model = dde.Model(data, net)
    model.compile("adam", lr=1e-3, loss_weights=[1, 10])
    model.train(iterations=steps, display_every=steps, verbose=0)
    return model


def main(path, samples=3, steps=15000):
    f = np.load(path)
    errors = []
    for u0, truth in list(zip(f["initial"], f["solution"]))[:samples]:
        begun = time.perf_counter()
        model = train(u0, steps)
        seconds = time.perf_counter() - begun
        t, x = np.linspace(0, 1, truth.shape[0]), np.linspace(-1, 1, truth.shape[1], endpoint=False)
        points = np.stack(np.broadcast_arrays(x[None], t[:, None]), -1).reshape(-1, 2)
        u = np.asarray(model.predict(points)).reshape(truth.shape)
        errors.append(np.linalg.norm(u - truth) / np.linalg.norm(truth))
        print(f"sample {len(errors) - 1}: {100 * errors[-1]:.2f} % after {steps} steps in {seconds:.0f} s", flush=True)
    print(f"mean {100 * np.mean(errors):.2f} %")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:4]))
