"""Tests of what needs no run: problems, the guide, arguments and words."""

import contextlib
import importlib.util
import io
import os
import re
import signal
import unittest.mock
import warnings

import numpy as np
import pihc
from pihc import _binary, _process, _progress

from common import HEAT, ROOT, SMALL, Case, decay, heat


class Untrained(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.problem, _ = heat(cls.folder)

    def test_solve(self):
        x = np.arange(16) / 16
        u = pihc.solve(self.problem, np.sin(2 * np.pi * x), tolerance=1e-4)
        self.assertLess(u.attrs["error_estimate"], 1e-4)
        np.testing.assert_allclose(np.asarray(u["u"])[0], decay(np.asarray(u["t"])[:, None], x), atol=2e-4)
        other = pihc.solve(self.problem, {"initial": np.sin(2 * np.pi * x)}, set={"constants.a": 0.05}, tolerance=1e-4)
        np.testing.assert_allclose(np.asarray(other["u"])[0], decay(np.asarray(other["t"])[:, None], x, 0.05), atol=2e-4)
        self.raises("^initial condition: initial.npy has shape 5; want 16", "", lambda: pihc.solve(self.problem, np.ones(5)))
        self.raises("^grid=8: want points by axis", "'x': 256", lambda: pihc.solve(self.problem, grid=8))

    def test_invert(self):
        t, x = (a.ravel() for a in np.meshgrid([0.2, 0.35, 0.5], np.arange(8) / 8 + 0.03, indexing="ij"))
        value = decay(t, x, 0.03) + 0.001 * np.random.default_rng(1).standard_normal(t.size)
        observed = {"t": t, "x": x, "value": value, "sigma": np.full(t.size, 0.001)}
        found = pihc.invert(self.problem, observed, ["a"], initial=np.sin(2 * np.pi * np.arange(16) / 16))
        a = found["estimates"]["a"] if isinstance(found["estimates"], dict) else found["estimates"][0]
        self.assertLess(a["low"], 0.03)
        self.assertGreater(a["high"], 0.03)
        self.assertLess(abs(a["value"] - 0.03), 0.0005)
        self.raises("lengths", "one value", lambda: pihc.invert(self.problem, dict(observed, sigma=[1.0, 2.0]), ["a"]))

    def test_init_and_reproduce(self):
        spec = pihc.init(self.problem, self.folder / "mine", minutes=0.1)
        self.assertEqual(spec.name, "spec.yaml")
        lines = []
        small = {"training.steps": 4, "data.train.count": 4, "data.test.count": 2, "data.validation.count": 2}
        scores = pihc.reproduce(spec, self.folder / "out", methods=["soft"], set=small, progress=lines.append)
        self.assertTrue(any("soft" in str(scores[k]) or k for k in scores))
        self.assertTrue((self.folder / "out" / "report.html").exists())
        self.assertTrue(lines and all(set(line) == {"text"} for line in lines))
        self.raises("holds a spec that was not trained|was not trained", "pihc.train", lambda: pihc.open(self.folder / "mine"))
        spec.write_text(spec.read_text() + "# mine\n")
        self.raises("spec.yaml", "force=", lambda: pihc.init(self.problem, self.folder / "mine", minutes=0.1))
        self.assertIn("# mine", spec.read_text())
        pihc.init(self.problem, self.folder / "mine", minutes=0.1, force=True)
        self.assertNotIn("# mine", spec.read_text())

    def test_check(self):
        found = pihc.check(self.problem, method="hard")
        self.assertTrue(found.ok)
        self.assertIn("nothing is wrong", str(found))
        self.assertTrue(found["gradient_ok"])
        bare = self.folder / "bare.yaml"
        bare.write_text(HEAT.replace("periodic", "nodes").replace("order: 4", "order: 2").replace("u_t - a*u_xx", "u_t - a*u_xx, rows: {x: [1, 1]}"))
        with self.assertWarns(pihc.Warning) as caught:
            found = pihc.check(bare)
        self.assertEqual(caught.filename, __file__)
        self.assertFalse(found.ok)
        self.assertIn("no condition holds at x low, x high", found["verdict"]["faults"][0])
        self.assertIn("fault", str(found))
        bare.write_text(HEAT.replace("u_xx}", "u_yy}"))
        self.raises("bare.yaml", "", lambda: pihc.check(bare))
        self.raises("none.yaml", "", lambda: pihc.check(self.folder / "none.yaml"))


class Guide(Case):
    """The programs of docs/guide/python.md, as they stand there but for less training."""

    def run_block(self, number, **changes):
        text = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "guide" / "python.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[number]
        for old, new in changes.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        names, here = {}, os.getcwd()
        os.chdir(self.folder)
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as said:
                warnings.simplefilter("ignore", pihc.Warning)
                exec(compile(text, "python.md", "exec"), names)
        finally:
            os.chdir(here)
            if "run" in names:
                names["run"].close()
        return names, said.getvalue()

    def test_equation(self):
        names, said = self.run_block(1, **{"minutes=0.5": "minutes=0.1"})
        self.assertIn("nothing is wrong", said)
        self.assertIn("trusted", said)
        self.assertLess(names["error"], 1e-2)  # from the formula; steps are as many as this machine does in the time
        np.testing.assert_allclose(np.asarray(names["v"]["u"])[0], names["exact"], atol=2e-4)

    def test_first_lines_xarray(self):
        if importlib.util.find_spec("xarray") is None or importlib.util.find_spec("matplotlib") is None:
            return  # python/check runs this once more, with them
        import matplotlib

        matplotlib.use("agg")
        names, said = self.run_block(0, **{'"runs/data")': f'"runs/data", set={{"data": {SMALL["data"]}}})', 'method="moe")': f'method="moe", set={SMALL})'})
        self.assertEqual(names["u"]["u"].shape, (1, 101, 128))
        (axes,) = matplotlib.pyplot.gcf().axes[:1]
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("x [m]", "t [s]"))
        self.assertRegex(said, r"^(trusted|doubtful|failed) \[")


class Words(Case):
    def test_no_program(self):
        with unittest.mock.patch.dict(os.environ, {"PIHC_BINARY": str(self.folder / "none")}):
            self.raises("which is no file", "path of the program", lambda: pihc.open("run"))
        with unittest.mock.patch.dict(os.environ, {"PIHC_BINARY": "", "PATH": ""}), unittest.mock.patch.object(_binary, "_folders", list):
            self.raises("not installed", "PIHC_BINARY", lambda: pihc.init("heat", self.folder / "heat"))

    def test_flags(self):
        self.assertEqual(
            _process.flags(dict(grid={"x": 4, "t": 5}, last=True, trust_edits=False, points=0, passes=None, set={"a": {"b": [1, 2], "c": True}, "d": "x", "e": np.float32(0.5)}, free=["D", "k"])),
            ["--grid", "x=4,t=5", "--last", "--points", "0", "--set", "a.b=[1, 2]", "--set", "a.c=true", "--set", "d=x", "--set", "e=0.5", "--free", "D,k"],
        )

    def test_flags_are_named_as_arguments(self):
        self.assertEqual(_process.in_python("--grid changes; `pihc train --resume R`; --remove-mean"), "grid= changes; `pihc train --resume R`; remove_mean=")
        self.assertEqual(_process.in_python("unknown flag: --no"), "unknown argument: no")

    def test_line_of_progress(self):
        run = self.folder / "line"
        run.mkdir()
        (run / "spec.yaml").write_text("network:\n  steps: 3\ntraining:\n  batch: 2\n  steps: 40\n")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            line = _progress.Line(str(run))
            line({"step": 10, "seconds": 20.0, "loss": 0.5})
            line.when = 0
            line({"step": 20, "seconds": 50.0, "validation_residual": 0.25, "validation_relative_l2": 0.0123})
            line({"step": 21, "seconds": 51.0, "loss": 9})  # too soon to be seen
            line({"step": 40, "seconds": 110.4, "loss": 0.125})
            line.close()
        steps = [text.rstrip() for text in said.getvalue().split("\r")[1:]]
        self.assertEqual(steps[0], "step 10 of 40, loss 0.5")
        self.assertEqual(steps[1], "step 20 of 40, loss 0.5, validation residual 0.25 (error 1.23 %), 1 min 0 s left")
        self.assertEqual(steps[2], "step 40 of 40, loss 0.125, validation residual 0.25 (error 1.23 %), 1 min 50 s")
        self.assertEqual(len(steps), 3)
        self.assertFalse(_progress.seen())

    def test_signals_are_not_blocked(self):
        self.assertEqual(signal.getsignal(signal.SIGINT), signal.default_int_handler)
