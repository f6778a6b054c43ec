"""Test samples and scores of three public benchmarks without data (PI-CViT, arXiv 2606.06164).

    python3 benchmark.py make NAME DIR        reference.npz and initial.npz for `pihc predict --initial`
    python3 benchmark.py score NAME DIR PREDICTION.npz

NAME is vector-burgers, varying-waves or rotating-shallow-water. References are spectral on 64 x 64 points (advection by the 2/3
rule), by Runge-Kutta of order 4 in time, steps of 0.001 and for the waves 0.0005. 100 samples of one seed: fields of power spectrum
exp(-k^2 l^2 / 2), l = 0.1, without their mean, each divided by its own standard deviation. The score of a component of a sample is
its relative L2 error over the times 0, 0.2, 0.5, 0.8 and 1 together; of a sample the mean of its components. Predictions may be
of the first samples alone; those on fewer points are interpolated by trigonometric polynomials. median_without_means
is the median of what is left where the error's means over space, one for each time, are taken away. Needs NumPy."""

import json
import pathlib
import sys

import numpy as np

POINTS, SAMPLES, SEED = 64, 100, 0
TIMES = [0, 0.2, 0.5, 0.8, 1]
K = 2 * np.pi * np.fft.fftfreq(POINTS, 1 / POINTS)
KX, KY = np.meshgrid(K, K, indexing="ij")
K2 = KX**2 + KY**2
KEEP = (abs(KX) <= abs(K).max() * 2 / 3) & (abs(KY) <= abs(K).max() * 2 / 3)
X = np.arange(POINTS) / POINTS
C2 = (1 + 0.5 * np.outer(np.sin(2 * np.pi * X), np.sin(2 * np.pi * X))) ** 2


def spectrum(f):
    return np.fft.fft2(f)


def values(f):
    return np.fft.ifft2(f).real


def draw(rng, deviation):
    noise = rng.standard_normal((SAMPLES, POINTS, POINTS)) + 1j * rng.standard_normal((SAMPLES, POINTS, POINTS))
    f = values(noise * np.exp(-0.25 * 0.1**2 * K2))
    f -= f.mean((1, 2), keepdims=True)
    return deviation * f / f.std((1, 2), keepdims=True)


def burgers(state):
    u, v = state
    rates = []
    for w in state:
        w = spectrum(w)
        advection = spectrum(u * values(1j * KX * w) + v * values(1j * KY * w)) * KEEP
        rates.append(values(-advection - 0.01 * K2 * w))
    return np.stack(rates)


def waves(state):
    u, rate = state
    return np.stack([rate, C2 * values(-K2 * KEEP * spectrum(u))])


def shallow(state):
    h, u, v = state
    height = spectrum(h)
    divergence = values(1j * KX * spectrum(u) + 1j * KY * spectrum(v))
    return np.stack([-divergence, 10 * v - values(1j * KX * height), -10 * u - values(1j * KY * height)])


def start(name):
    rng = np.random.default_rng(SEED)
    if name == "vector-burgers":
        return np.stack([draw(rng, 0.2), draw(rng, 0.2)]), burgers, 0.001, ["u", "v"]
    if name == "varying-waves":
        return np.stack([draw(rng, 0.2), np.zeros((SAMPLES, POINTS, POINTS))]), waves, 0.0005, ["u"]
    h = draw(rng, 0.5)
    return np.stack([h, 0 * h, 0 * h]), shallow, 0.001, ["h", "u", "v"]


def make(name, folder):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    state, rates, step, unknowns = start(name)
    drawn = {"vector-burgers": 2}.get(name, 1)
    np.savez(f"{folder}/initial.npz", **{u + "0": state[i, :, ::2, ::2] for i, u in enumerate(unknowns[:drawn])})
    kept = [state]
    for begin, end in zip(TIMES, TIMES[1:]):
        for _ in range(round((end - begin) / step)):
            a = rates(state)
            b = rates(state + step / 2 * a)
            c = rates(state + step / 2 * b)
            d = rates(state + step * c)
            state = state + step / 6 * (a + 2 * b + 2 * c + d)
        kept.append(state)
    kept = np.stack(kept, 2)
    np.savez(f"{folder}/reference.npz", **{u: kept[i] for i, u in enumerate(unknowns)})


def finer(f):
    """Fields (..., n, n) on POINTS x POINTS points."""
    n = f.shape[-1]
    if n == POINTS:
        return f
    s = np.fft.fftshift(np.fft.fft2(f), (-2, -1))
    s[..., 0, :] = s[..., 0] = 0  # of the highest wave number only half is known
    pad = (POINTS - n) // 2
    s = np.pad(s, [(0, 0)] * (f.ndim - 2) + [(pad, pad)] * 2)
    return values(np.fft.ifftshift(s, (-2, -1))) * (POINTS / n) ** 2


def score(name, folder, prediction):
    reference, found = np.load(f"{folder}/reference.npz"), np.load(prediction)
    at = [int(np.argmin(abs(found["t"] - t))) for t in TIMES]
    assert np.allclose(found["t"][at], TIMES)
    errors, varying = [], []
    for u in start(name)[3]:
        guess = finer(found[u][:, at])
        truth = reference[u][: len(guess)]
        wrong, size = guess - truth, (truth**2).sum((1, 2, 3))
        errors.append(np.sqrt((wrong**2).sum((1, 2, 3)) / size))
        wrong = wrong - wrong.mean((2, 3), keepdims=True)
        varying.append(np.sqrt((wrong**2).sum((1, 2, 3)) / size))
    mean = np.mean(errors, 0)
    print(json.dumps({
        "benchmark": name, "samples": len(mean), "median": float(np.median(mean)), "mean": float(mean.mean()), "worst": float(mean.max()),
        "median_without_means": float(np.median(np.mean(varying, 0))), "components": [float(np.median(e)) for e in errors], "errors": [float(f"{e:.4g}") for e in mean],
    }))


if __name__ == "__main__":
    {"make": make, "score": score}[sys.argv[1]](*sys.argv[2:])
