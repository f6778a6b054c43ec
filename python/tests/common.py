"""What the tests have in common."""

import pathlib
import re
import signal
import tempfile
import unittest
import warnings

import numpy as np
import pihc

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background

ROOT = pathlib.Path(__file__).parents[2]
SPEC = "diffusion-sorption-demo"
SMALL = {
    "training": {"steps": 12, "validate": 6, "validate_count": 2, "checkpoint": 3, "log": 1},
    "data": {"train": {"count": 8}, "validation": {"count": 2}, "test": {"count": 3}},
    "network": {"width": 6, "layers": 2, "modes": {"t": 2, "x": 2}, "projection": 6, "basis": 4},
}
HEAT = """name: heat
unknown: u
axes:
  t: {range: [0, 0.5], points: 11, boundary: nodes, unit: s}
  x: {range: [0, 1], points: 16, boundary: periodic, unit: m}
constants: {a: 0.02}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_xx: {axis: x, derivative: 2, order: 4}
residual: {expression: u_t - a*u_xx}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
initial: {distribution: random-sines, low: -1, high: 1}
"""


def decay(t, x, a=0.02):
    """The solution of HEAT that begins with sin(2 pi x)."""
    return np.exp(-a * (2 * np.pi) ** 2 * t) * np.sin(2 * np.pi * x)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def raises(self, text, hint, call):
        with self.assertRaises(pihc.Error) as caught:
            call()
        self.assertRegex(str(caught.exception), text)
        self.assertTrue(re.search(hint, caught.exception.hint), caught.exception)
        return caught.exception


class Trained(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lines, cls.records = [], []
        cls.data = pihc.generate(SPEC, cls.folder / "data", set={"data": SMALL["data"]}, progress=cls.lines.append)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pihc.Warning)
            cls.run_ = pihc.train(SPEC, cls.folder / "moe", data=cls.data, method="moe", seed=3, set=SMALL, progress=cls.records.append)
        cls.addClassCleanup(cls.run_.close)
        cls.u0 = np.linspace(0.1, 0.2, 2)[:, None] * np.ones(128)

    def predict(self, *args, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pihc.Warning)
            return self.run_.predict(*args, **options)


def heat(folder):
    """The file of HEAT, and what begins it."""
    path = folder / "heat.yaml"
    path.write_text(HEAT)
    return path, np.sin(2 * np.pi * np.arange(16) / 16)
