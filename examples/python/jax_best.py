"""Times the training step of jax_step.py, written as fast as was found.

    pip install jax optimistix
    taskset -c 0 python3 jax_best.py [REPEAT [together]]

The network has channels before points, so that every product is a plain one, and forms
GELU again going backwards. Levenberg-Marquardt by normal equations is written out, with
the implicit adjoint of Gauss and Newton. One thread, to compare with pihc's --workers 1. With "together" steps are also timed
with all samples in one vmap, which takes more than twice as long on a CPU.
On a GPU JAX_DEFAULT_MATMUL_PRECISION=highest has products of float32; its default is TF32.
"""
import functools
import os
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
import jax
import jax.numpy as jnp
import numpy as np

import jax_step as base

T, X, MODES, BASIS = base.T, base.X, base.MODES, base.BASIS
REAL_X = jnp.asarray(base.REAL_X)


def spectral(v, r):
    """The kept modes of (channels, T, X), mixed by r."""
    channels = len(v)
    y = (v.reshape(channels * T, X) @ REAL_X).reshape(channels, T, 2 * MODES)
    s = jnp.einsum("itm,tk->kmi", jax.lax.complex(y[..., :MODES], y[..., MODES:]), base.WAVES_T)
    y = jnp.einsum("kmo,tk->otm", jnp.einsum("kmi,kmio->kmo", s, r), base.WAVES_T.conj()) * base.SHARE_X
    y = jnp.concatenate([y.real, y.imag], 2).reshape(channels * T, 2 * MODES)
    return (y @ REAL_X.T).reshape(channels, T, X)


def network(p, u0):
    """The basis for an initial condition, (outputs, T, X)."""
    gelu = jax.checkpoint(jax.nn.gelu)

    def dense(p, v):
        return (p["w"].T @ v.reshape(len(v), -1)).reshape(-1, T, X) + p["b"][:, None, None]

    v = dense(p["lift"], jnp.transpose(base.inputs(u0), (2, 0, 1)))
    for layer in p["layers"]:
        r = jax.lax.complex(layer["spectral"][0], layer["spectral"][1])
        v = gelu(spectral(v, r) + dense(layer["dense"], v))
    return dense(p["output"], gelu(dense(p["projection"], v)))


def residual_rows(a, u, u_t, u_xx):
    return 0.14 * base.residual(a["t"], u, u_t, u_xx) / len(a["t"]) ** 0.5


def all_rows(w, a):
    return jnp.concatenate([residual_rows(a, *(m @ w for m in a["terms"])), a["conditions"] @ w - a["target"]])


def model_at(w, a):
    """Half the squares of all rows, their gradient and Gauss-Newton matrix."""
    values = [m @ w for m in a["terms"]]
    one = jnp.ones_like(values[0])
    jacobian = 0
    for i, m in enumerate(a["terms"]):
        slope = jax.jvp(lambda z: residual_rows(a, *values[:i], z, *values[i + 1 :]), (values[i],), (one,))[1]
        jacobian = jacobian + slope[:, None] * m
    r, c = residual_rows(a, *values), a["conditions"] @ w - a["target"]
    gram = jacobian.T @ jacobian + a["conditions"].T @ a["conditions"]
    return (r @ r + c @ c) / 2, r @ jacobian + c @ a["conditions"], gram


def cholesky_solve(m, v):
    return jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(m + 1e-12 * jnp.eye(BASIS)), True), v)


def levenberg_marquardt(a, start, iterations):
    def step(_, state):
        w, cost, g, gram, mu = state
        trial = w - cholesky_solve(gram + mu * jnp.diag(jnp.diag(gram)), g)
        there = model_at(trial, a)
        better = there[0] < cost
        kept = [jnp.where(better, new, old) for new, old in zip((trial, *there), state)]
        return *kept, jnp.where(better, mu / 3, 4 * mu)

    w, _, _, gram, _ = jax.lax.fori_loop(0, iterations, step, (start, *model_at(start, a), 1e-3))
    return w, gram


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def solve(a, start, iterations):
    return levenberg_marquardt(a, start, iterations)[0]


def solve_forward(a, start, iterations):
    w, gram = levenberg_marquardt(a, start, iterations)
    return w, (a, w, gram)


def solve_backward(iterations, saved, w_bar):
    a, w, gram = saved
    gradient = lambda a: jax.grad(lambda w: jnp.sum(all_rows(w, a) ** 2) / 2)(w)
    return jax.vjp(gradient, a)[1](-cholesky_solve(gram, w_bar))[0], jnp.zeros_like(w)


solve.defvjp(solve_forward, solve_backward)


def soft_loss(p, u0, points):
    return base.loss_of_field(network(p, u0)[0].astype(jnp.float64), u0)


def solved_loss(p, u0, points):
    """That of moe with as many experts as points has rows; of hard with one."""
    experts = base.EXPERTS = len(points)
    basis = jnp.transpose(network(p, u0), (1, 2, 0))
    a = base.expert_rows(basis, points, u0)
    w = jnp.stack([solve(jax.tree.map(lambda m: m[k], a), jnp.full(BASIS, 0.3), base.ITERATIONS) for k in range(experts)])
    parts = basis.astype(jnp.float64).reshape(T, experts, X // experts, BASIS)
    return base.loss_of_field(jnp.einsum("tkxn,kn->tkx", parts, w).reshape(T, X), u0)


def sampled(experts):
    base.EXPERTS = experts
    return jnp.asarray(base.sample_points(np.random.default_rng(0)))


def main(repeat=5, vmapped=False):
    print(f"jax {jax.__version__}, {jax.devices()[0].platform}")
    p = base.parameters(jax.random.key(0), BASIS)
    want = jnp.transpose(base.network(p, base.inputs(0.1), True), (2, 0, 1))
    assert jnp.linalg.norm(network(p, 0.1) - want) < 1e-4 * jnp.linalg.norm(want)
    cotangent = jnp.asarray(np.random.default_rng(0).standard_normal(want.shape), jnp.float32)
    both = jax.jit(jax.grad(lambda p: jnp.vdot(network(p, 0.1), cotangent)))
    print(f"{'network, one sample':45}{1e3 * base.median_seconds(lambda: both(p), repeat):9.1f} ms", flush=True)
    for name, loss, outputs, experts in (("soft", soft_loss, 1, 1), ("hard", solved_loss, BASIS, 1), ("moe", solved_loss, BASIS, 4)):
        p, points = base.parameters(jax.random.key(0), outputs), sampled(experts)
        step = jax.jit(jax.grad(loss))

        def batch():
            g = None
            for u0 in np.linspace(0, 0.2, base.BATCH):
                s = step(p, u0, points)
                g = s if g is None else jax.tree.map(jnp.add, g, s)
            return g

        samples = jnp.linspace(0, 0.2, base.BATCH)
        together = jax.jit(jax.grad(lambda p: jnp.sum(jax.vmap(lambda u0: loss(p, u0, points))(samples))))
        assert all(bool(jnp.isfinite(m).all()) for m in jax.tree.leaves(batch())), name
        print(f"{'step of ' + name + ', batch ' + str(base.BATCH):45}{1e3 * base.median_seconds(batch, repeat):9.1f} ms", flush=True)
        if vmapped:
            print(f"{'step of ' + name + ', all in one vmap':45}{1e3 * base.median_seconds(lambda: together(p), repeat):9.1f} ms", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), vmapped="together" in sys.argv[2:])
