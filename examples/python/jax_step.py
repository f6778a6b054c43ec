"""Times a training step of pihc's methods, written with JAX and Optimistix.

    pip install jax optimistix
    python3 jax_step.py [REPEAT]

Prints medians for diffusion-sorption at the paper's size (101 x 1024 points, the
network of diffusion-sorption-paper, 4 experts of 20,000 rows, batch 6), in the order
of `pihc bench network`, `constraint` and `step`. Network in float32 and solves in
float64, as in pihc; parameters are random. The Fourier transforms are those of
jax.numpy, and once more products with the matrices of the 16 x 8 modes that are kept,
which is what pihc does. One sample at a time is differentiated; the last line has all
six in one vmap.
"""
import functools
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
import equinox
import lineax
import optimistix

T, X = 101, 1024
WIDTH, LAYERS, MODES, PROJECTION, BASIS = 64, 5, 8, 128, 16
EXPERTS, POINTS, BATCH, ITERATIONS = 4, 20000, 6, 6
PHI, RHO, NF, D, K = 0.29, 2880, 0.874, 5e-4, 3.5e-4


def parameters(key, outputs):
    def dense(key, n, m):
        return {"w": jax.random.normal(key, (n, m), jnp.float32) / n**0.5, "b": jnp.zeros(m, jnp.float32)}

    keys = jax.random.split(key, 3 + 2 * LAYERS)
    return {
        "lift": dense(keys[0], 3, WIDTH),
        "layers": [
            {
                "spectral": jax.random.normal(keys[3 + 2 * i], (2, 2 * MODES, MODES, WIDTH, WIDTH), jnp.float32) / WIDTH,
                "dense": dense(keys[4 + 2 * i], WIDTH, WIDTH),
            }
            for i in range(LAYERS)
        ],
        "projection": dense(keys[1], WIDTH, PROJECTION),
        "output": dense(keys[2], PROJECTION, outputs),
    }


ROWS = np.r_[0:MODES, T - MODES : T]
WAVES_T = np.exp(-2j * np.pi * np.outer(np.arange(T), ROWS) / T).astype(np.complex64)  # (T, 2 MODES)
WAVES_X = np.exp(-2j * np.pi * np.outer(np.arange(X), np.arange(MODES)) / X)
REAL_X = np.concatenate([WAVES_X.real, WAVES_X.imag], 1).astype(np.float32)  # (X, 2 MODES)
SHARE_X = (np.where(np.arange(MODES) == 0, 1, 2) / (T * X)).astype(np.float32)


def spectral(v, r, matrices):
    """The kept modes of (T, X, WIDTH), mixed by r (2 MODES, MODES, WIDTH, WIDTH)."""
    if not matrices:
        s = jnp.fft.rfftn(v, axes=(0, 1))[ROWS, :MODES]
        s = jnp.zeros((T, X // 2 + 1, WIDTH), jnp.complex64).at[ROWS, :MODES].set(jnp.einsum("txi,txio->txo", s, r))
        return jnp.fft.irfftn(s, s=(T, X), axes=(0, 1))
    y = jnp.einsum("txi,xm->tmi", v, REAL_X)
    s = jnp.einsum("tmi,tk->kmi", jax.lax.complex(y[:, :MODES], y[:, MODES:]), WAVES_T)
    y = jnp.einsum("kmo,tk->tmo", jnp.einsum("kmi,kmio->kmo", s, r), WAVES_T.conj()) * SHARE_X[:, None]
    return jnp.einsum("tmo,xm->txo", jnp.concatenate([y.real, y.imag], 1), REAL_X)


def network(p, a, matrices):
    """The Fourier neural operator: (T, X, 3) to (T, X, outputs)."""

    def dense(p, v):
        return v @ p["w"] + p["b"]

    v = dense(p["lift"], a)
    for layer in p["layers"]:
        r = jax.lax.complex(layer["spectral"][0], layer["spectral"][1])
        v = jax.nn.gelu(spectral(v, r, matrices) + dense(layer["dense"], v))
    return dense(p["output"], jax.nn.gelu(dense(p["projection"], v)))


def terms(u):
    """u_t and u_xx of (T, X, ...), by central differences of order 2."""
    u_t = (u[2:] - u[:-2]) * ((T - 1) / 500 / 2)
    u_t = jnp.concatenate([u_t[:1], u_t, u_t[-1:]])
    u_xx = (u[:, 2:] - 2 * u[:, 1:-1] + u[:, :-2]) * X**2
    return u_t, jnp.concatenate([u_xx[:, :1], u_xx, u_xx[:, -1:]], 1)


def residual(t, u, u_t, u_xx):
    r = 1 + (1 - PHI) / PHI * RHO * K * NF * (jnp.maximum(u, 1e-3) + 1e-6) ** (NF - 1)
    return jnp.sqrt(500 * (t + 40)) * (u_t - D / r * u_xx)


def condition_rows(u, u0):
    """Initial, left and right rows of a field (T, X)."""
    right = 1.5 * u[1:, -1] - 0.5 * u[1:, -2] + D * X * (u[1:, -1] - u[1:, -2])
    return u[0] - u0, 1.5 * u[1:, 0] - 0.5 * u[1:, 1] - 1, right


TIME = jnp.linspace(0, 500, T)


def loss_of_field(u, u0):
    rows = residual(TIME[1:, None], u[1:], *(d[1:] for d in terms(u)))[:, 1:-1]
    initial, left, right = condition_rows(u, u0)
    return 2 * jnp.mean(rows**2) + 10 * (jnp.mean(initial**2) + jnp.mean(left**2) + jnp.mean(right**2))


def rows_of_expert(w, a):
    """Rows of one solve: residuals at sampled points and the conditions, all of weights w."""
    u, u_t, u_xx = (m @ w for m in a["terms"])
    return jnp.concatenate([0.14 * residual(a["t"], u, u_t, u_xx) / POINTS**0.5, a["conditions"] @ w - a["target"]])


def solve(a, start, iterations, linear):
    solver = optimistix.LevenbergMarquardt(rtol=0, atol=0, linear_solver=linear)
    return optimistix.least_squares(
        rows_of_expert, solver, start, a, max_steps=iterations, throw=False, adjoint=optimistix.ImplicitAdjoint(linear_solver=lineax.AutoLinearSolver(well_posed=False))
    ).value


def expert_rows(basis, points, u0):
    """What every expert's solve needs: sampled rows of the terms, and its conditions."""
    b = basis.astype(jnp.float64)
    all_terms = [m.reshape(T * X, BASIS) for m in (b, *terms(b))]
    share = X // EXPERTS
    left, right = 1.5 * b[1:, 0] - 0.5 * b[1:, 1], 1.5 * b[1:, -1] - 0.5 * b[1:, -2] + D * X * (b[1:, -1] - b[1:, -2])
    edge = jnp.arange(EXPERTS)
    conditions = jnp.concatenate(
        [
            b[0].reshape(EXPERTS, share, BASIS),
            jnp.where((edge == 0)[:, None, None], left, 0),
            jnp.where((edge == EXPERTS - 1)[:, None, None], right, 0),
        ],
        1,
    )
    target = jnp.concatenate([jnp.full((EXPERTS, share), u0), jnp.where((edge == 0)[:, None], jnp.ones(T - 1), 0), jnp.zeros((EXPERTS, T - 1))], 1)
    scale = jnp.concatenate([jnp.full(share, share**-0.5), jnp.full(2 * (T - 1), (T - 1) ** -0.5)])
    return {
        "terms": [m[points] for m in all_terms],
        "t": TIME[points // X],
        "conditions": conditions * scale[None, :, None],
        "target": target * scale[None],
    }


def inputs(u0):
    t, x = jnp.linspace(0, 1, T), (jnp.arange(X) + 0.5) / X
    a = jnp.stack([jnp.broadcast_to(t[:, None], (T, X)), jnp.broadcast_to(x[None], (T, X)), jnp.full((T, X), u0 / 0.2)], -1)
    return a.astype(jnp.float32)


def soft_loss(p, u0, points, linear, matrices):
    return loss_of_field(network(p, inputs(u0), matrices)[..., 0].astype(jnp.float64), u0)


def moe_loss(p, u0, points, linear, matrices):
    basis = network(p, inputs(u0), matrices)
    a = expert_rows(basis, points, u0)
    w = jax.vmap(lambda a: solve(a, jnp.full(BASIS, 0.3), ITERATIONS, linear))(a)
    parts = basis.astype(jnp.float64).reshape(T, EXPERTS, X // EXPERTS, BASIS)
    return loss_of_field(jnp.einsum("tkxn,kn->tkx", parts, w).reshape(T, X), u0)


def sample_points(rng):
    """Points of the experts' residual rows, (EXPERTS, POINTS), of interior points from the second time on."""
    grid = np.arange(T * X).reshape(T, X)
    share, out = X // EXPERTS, []
    for k in range(EXPERTS):
        inside = grid[1:, max(1, k * share) : min(X - 1, (k + 1) * share)].ravel()
        out.append(np.sort(rng.choice(inside, POINTS, replace=False)))
    return np.stack(out)


def median_seconds(f, repeat):
    jax.block_until_ready(f())  # compiles
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        jax.block_until_ready(f())
        times.append(time.perf_counter() - start)
    return sorted(times)[repeat // 2]


def main(repeat=5):
    rng = np.random.default_rng(0)
    points = jnp.asarray(sample_points(rng))
    p = parameters(jax.random.key(0), BASIS)
    cotangent = jnp.asarray(rng.standard_normal((T, X, BASIS)), jnp.float32)
    print(f"jax {jax.__version__}, optimistix {optimistix.__version__}, {jax.devices()[0].platform}")
    fields = [network(p, inputs(0.1), matrices) for matrices in (False, True)]
    assert jnp.linalg.norm(fields[1] - fields[0]) < 1e-4 * jnp.linalg.norm(fields[0])
    for matrices in (False, True):
        both = jax.jit(jax.grad(lambda p: jnp.vdot(network(p, inputs(0.1), matrices), cotangent)))
        name = "network, one sample, by " + ("matrices" if matrices else "fft")
        print(f"{name:45}{1e3 * median_seconds(lambda: both(p), repeat):9.1f} ms", flush=True)

    a = jax.jit(expert_rows)(fields[0], points, 0.1)
    one = jax.tree.map(lambda m: m[0], a)
    normal = lineax.Normal(lineax.Cholesky())
    for name, linear in (("QR", lineax.QR()), ("Cholesky", normal)):
        f = equinox.filter_jit(functools.partial(solve, iterations=15, linear=linear))
        w = f(one, jnp.full(BASIS, 0.3))
        assert jnp.linalg.norm(rows_of_expert(w, one)) < jnp.linalg.norm(rows_of_expert(jnp.full(BASIS, 0.3), one)), name
        seconds = median_seconds(lambda: f(one, jnp.full(BASIS, 0.3)), repeat)
        title = f"one solve, {POINTS} rows, 15 iterations, {name}"
        print(f"{title:45}{1e3 * seconds:9.1f} ms", flush=True)

    initial = np.linspace(0, 0.2, BATCH)
    for name, loss, outputs in (("soft", soft_loss, 1), ("moe", moe_loss, BASIS)):
        for matrices in (False, True):
            p = parameters(jax.random.key(0), outputs)
            step = jax.jit(jax.grad(functools.partial(loss, linear=normal, matrices=matrices)))

            def batch():
                g = None
                for u0 in initial:
                    s = step(p, u0, points)
                    g = s if g is None else jax.tree.map(jnp.add, g, s)
                return g

            assert all(bool(jnp.isfinite(m).all()) for m in jax.tree.leaves(batch())), name
            title = f"step of {name}, batch {BATCH}, by " + ("matrices" if matrices else "fft")
            print(f"{title:45}{1e3 * median_seconds(batch, repeat):9.1f} ms", flush=True)
    p = parameters(jax.random.key(0), 1)
    together = jax.jit(jax.grad(lambda p: jnp.sum(jax.vmap(lambda u0: soft_loss(p, u0, points, normal, True))(initial))))
    print(f"{'step of soft by matrices, one vmap':45}{1e3 * median_seconds(lambda: together(p), repeat):9.1f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
