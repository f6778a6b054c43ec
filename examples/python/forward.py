"""Repeats what the network of a run predicts, with NumPy alone.

    python3 forward.py RUN u0.npy u.npz

u.npz is what `pihc predict RUN --initial u0.npy --out u.npz` wrote. The network has
one pass and no features here (network.passes 1, network.features {}). For soft the
field is offset + multiplier * output * soft_weight; this script wants offset 0,
multiplier 1 and no S (`smooth`, `duhamel`). For hard and moe the field is, in every expert's subdomain, a combination
of the outputs: how far it is from the best one is printed.
"""
import json
import pathlib
import re
import struct
import sys

import numpy as np


def safetensors(path):
    """Returns the tensors of a safetensors file by name."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    out = {}
    for name, t in header.items():
        a, b = t["data_offsets"]
        kind = {"F32": np.float32, "F64": np.float64}[t["dtype"]]
        out[name] = np.frombuffer(data[8 + length + a : 8 + length + b], kind).reshape(t["shape"]).astype(np.float64)
    return out


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def network(p, inputs, last_activation, output_activation):
    """Maps inputs (t, x[, y], fields) to outputs (t, x[, y], basis)."""
    shape, axes = inputs.shape[:-1], tuple(range(inputs.ndim - 1))
    v = inputs @ p["params.lift.weight"] + p["params.lift.bias"]
    layers = sum(name.endswith(".spectral") for name in p)
    for layer in range(layers):
        name = f"params.layers.{layer}."
        r = p[name + "spectral"]  # (2m, ..., m, 2, width, width)
        modes, kept = r.shape[:-3], []
        for axis, m in enumerate(modes):
            if axis < len(modes) - 1:
                kept.append(np.r_[0 : m // 2, shape[axis] - m // 2 : shape[axis]])
            else:
                kept.append(np.arange(m))
        kept = np.ix_(*kept)
        spectrum = np.fft.rfftn(v, axes=axes)
        mixed = np.zeros_like(spectrum)
        r = r[..., 0, :, :] + 1j * r[..., 1, :, :]
        mixed[kept] = np.einsum("...i,...io->...o", spectrum[kept], r)
        v = np.fft.irfftn(mixed, s=shape, axes=axes) + v @ p[name + "weight"] + p[name + "bias"]
        if layer < layers - 1 or last_activation:
            v = gelu(v)
    hidden = gelu(v @ p["params.projection.weight"] + p["params.projection.bias"])
    out = hidden @ p["params.output.weight"] + p["params.output.bias"]
    return gelu(out) if output_activation else out


def main(run, initial, prediction):
    run = pathlib.Path(run)
    spec = (run / "spec.yaml").read_text()

    def value(key):
        return re.search(rf"^ *{key}: (.*)$", spec, re.M).group(1)

    if value("passes") != "1" or value("features") != "{}":
        sys.exit("forward.py: the run has several passes or features")
    center = re.search(r"^ *centers: {\"?\w+\"?: (.*)}$", spec, re.M)
    center = float(center.group(1)) if center else 0
    best = json.loads((run / "checkpoints" / "best.json").read_text())
    p = safetensors(run / "checkpoints" / best["tensors"])

    predicted = np.load(prediction)
    name = next(n for n in predicted.files if predicted[n].ndim > 1)
    fields = predicted[name]  # (sample, t, x[, y])
    of_samples = ("residual_over_rate", "relative_loss", "error_estimate", "grid_error", "rows_error", "passes", "trusted_edits")
    axes = [n for n in predicted.files if predicted[n].ndim == 1 and n not in of_samples]
    u0 = np.load(initial).reshape((fields.shape[0],) + fields.shape[2:])

    # Coordinates, scaled to [0, 1] on the axis's range; best.json has the ends.
    coordinates = []
    omitted = re.findall(r"\w+", value("omit_coordinates"))
    for axis, ends in zip(axes, best["borders"]):
        if axis not in omitted:
            x = (predicted[axis] - ends[0]) / (ends[-1] - ends[0])
            place = [1] * len(axes)
            place[axes.index(axis)] = -1
            coordinates.append(np.broadcast_to(x.reshape(place), fields.shape[1:]))
    worst = 0
    for field, start in zip(fields, u0):
        start = np.broadcast_to((start - center) / float(value("initial_scale")), field.shape)
        inputs = np.stack(coordinates + [start], -1)
        basis = network(p, inputs, value("last_activation") == "true", value("output_activation") == "true")
        if value("method") == "soft":
            error = np.linalg.norm(basis[..., 0] * float(value("soft_weight")) - field) / np.linalg.norm(field)
        else:
            # The subdomains, cut along every axis at the borders.
            error = 0
            parts = [np.searchsorted(b[1:-1], (predicted[a] + 1e-9 * (b[-1] - b[0])), "right") for a, b in zip(axes, best["borders"])]
            owner = np.ravel_multi_index(np.meshgrid(*parts, indexing="ij"), [len(b) - 1 for b in best["borders"]])
            for k in np.unique(owner):
                b, f = basis[owner == k], field[owner == k]
                omega = np.linalg.lstsq(b, f, rcond=None)[0]
                error = max(error, np.linalg.norm(b @ omega - f) / np.linalg.norm(f))
        worst = max(worst, error)
    print(f"{len(fields)} samples, largest relative difference {worst:.1e}")
    return worst


if __name__ == "__main__":
    if main(*sys.argv[1:4]) > 1e-4:
        sys.exit("forward.py: the predictions are not repeated")
