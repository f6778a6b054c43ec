"""Tests of the installed package: python -m unittest discover -s python/tests"""

import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import unittest.mock
import warnings

import numpy as np

import pihc
from pihc import _binary, _process

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
  t: {range: [0, 0.5], points: 11, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
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

    def test_progress_is_the_log(self):
        self.assertEqual(self.records, self.run_.log())
        self.assertEqual(sorted({r["step"] for r in self.records}), list(range(1, 13)))

    def test_predictions_are_those_of_the_command(self):
        initial, out = self.folder / "u0.npy", self.folder / "u.npz"
        np.save(initial, self.u0)
        for args, options in [([], {}), (["--points", "40", "--grid", "t=51"], {"points": 40, "grid": {"t": 51}}), ([], {})]:
            subprocess.run([_binary.find(), "predict", self.run_.path, "--initial", initial, "--out", out, "--force", *args], check=True, capture_output=True)
            got = self.predict(self.u0, **options)
            with np.load(out) as want:
                self.assertEqual(set(want), {"u", "t", "x", "residual_over_rate", "error_estimate", "grid_error", "rows_error"})
                for name in want:
                    np.testing.assert_array_equal(np.asarray(got[name]), want[name], name)
        one = self.predict({"initial": self.u0[0]})
        self.raises("no input is called 'zz'", "u0", lambda: self.predict({"zz": self.u0[0]}))
        self.assertEqual(one["u"].shape, (1, 101, 128))
        self.assertIn(one.attrs["verdict"], ("trusted", "doubtful", "failed"))

    def test_other_types_of_arrays(self):
        want = np.asarray(self.predict(np.zeros((1, 128)))["u"])
        for u0 in (np.zeros(128, np.float32), [0] * 128, np.zeros((1, 256))[:, ::2], np.zeros((1, 128), ">f8")):
            np.testing.assert_array_equal(np.asarray(self.predict(u0)["u"]), want)

    def test_xarray_and_none(self):
        with unittest.mock.patch.dict(sys.modules, {"xarray": None}):
            plain = self.predict(self.u0)
        self.assertIs(type(plain), pihc.Fields)
        self.assertEqual(plain["u"].shape, (2, 101, 128))
        self.assertIn("verdict", plain.attrs)
        if importlib.util.find_spec("xarray") is None:
            return  # python/check runs this once more, with it
        u = self.predict(self.u0)
        self.assertEqual(u["u"].dims, ("sample", "t", "x"))
        self.assertEqual(u["error_estimate"].dims, ("sample",))
        np.testing.assert_array_equal(u["t"], plain["t"])
        np.testing.assert_array_equal(u["u"], plain["u"])

    def test_parameters(self):
        spec = importlib.util.spec_from_file_location("forward", ROOT / "examples" / "python" / "forward.py")
        forward = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(forward)
        (best,) = (self.run_.path / "checkpoints").glob("best-*.safetensors")
        want, got = forward.safetensors(best), self.run_.parameters()
        self.assertEqual(list(got), list(want))
        for name in want:
            np.testing.assert_array_equal(got[name], want[name])
        self.assertEqual(got["params.lift.weight"].dtype, np.float32)
        self.assertEqual(set(self.run_.parameters(last=True)), set(want))
        damaged = best.read_bytes()
        try:
            best.write_bytes(damaged[:-1] + bytes([damaged[-1] ^ 1]))
            self.raises("is not the file", "last", self.run_.parameters)
        finally:
            best.write_bytes(damaged)

    def test_score_and_report(self):
        fresh = shutil.copytree(self.run_.path, self.folder / "fresh", ignore=shutil.ignore_patterns("metrics.json"))
        self.assertIn("score()", pihc.open(fresh)._repr_html_())
        m = self.run_.score(samples=2)
        self.assertEqual(m["samples"], 2)
        self.assertGreater(m["relative_l2"]["mean"], 0)
        page = self.run_.report(self.folder / "report.html")
        self.assertEqual(page, (self.folder / "report.html").read_text(encoding="utf-8"))
        self.assertIn("<iframe srcdoc=", self.run_._repr_html_())

    def test_errors(self):
        run = self.run_
        self.raises("^u0 has shape 2 x 100; want 128, or samples of it", "grid= changes the number of points", lambda: run.predict(np.ones((2, 100))))
        self.raises("^u0 has shape 128 x 2", "numpy.transpose", lambda: run.predict(np.ones((128, 2))))
        self.raises("u0: value at index", "", lambda: run.predict(np.full(128, np.nan)))
        self.raises("u0 has elements of type complex128", "real numbers", lambda: run.predict(np.ones(128, complex)))
        self.raises("u0 is no array", "", lambda: run.predict([[1, 2], [3]]))
        self.raises("2 arrays", "one array, of initial conditions", lambda: run.predict({"u0": np.ones(128), "nu": 1.0}))
        self.raises("unknown argument: pases", "", lambda: run.predict(self.u0, pases=3))
        self.raises("^passes many: want", "", lambda: run.predict(self.u0, passes="many"))
        self.raises("nowhere is not a run folder: it has no spec.yaml", "", lambda: pihc.open("nowhere"))
        e = self.raises('unknown key "stepz" in training', 'did you mean "steps"', lambda: pihc.train(SPEC, self.folder / "no", data=self.data, set={"training": {"stepz": 3}}))
        self.assertIn("training.stepz=3", e.message)
        self.raises("nodata: not a dataset", "pihc generate", lambda: pihc.train(SPEC, self.folder / "no", data="nodata"))
        self.raises("data DIR missing", "", lambda: pihc.train(SPEC, self.folder / "no"))
        self.raises("exists already", "", lambda: pihc.train(SPEC, run.path, data=self.data, set=SMALL))
        self.raises("nothing.yaml", "pihc init", lambda: pihc.train("nothing.yaml", self.folder / "no", data=self.data))
        self.assertFalse((self.folder / "no").exists())
        self.assertEqual(self.predict(self.u0)["u"].shape, (2, 101, 128))

    def test_warnings(self):
        with self.assertWarnsRegex(pihc.Warning, "unlike those of training"):
            run = self.run_.predict(np.full(128, 150.0))
        self.assertNotEqual(run.attrs["verdict"], "trusted")

    def test_processes(self):
        here = os.getcwd()
        os.chdir(self.run_.path.parent)
        try:
            run = pihc.open("moe")
        finally:
            os.chdir(here)
        first = run._server._process
        self.predict(self.u0)
        self.raises("shape", "", lambda: run.predict(np.ones(3)))
        self.assertIs(run._server._process, first)
        threads = [threading.Thread(target=lambda: run.score(samples=1)) for _ in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        first.kill()
        first.wait()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pihc.Warning)
            self.assertEqual(run.predict(self.u0)["u"].shape, (2, 101, 128))
        second = run._server._process
        self.assertIsNot(second, first)
        del run
        self.assertIsNotNone(second.poll())

    def test_resume(self):
        copy, records = shutil.copytree(self.run_.path, self.folder / "copy"), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pihc.Warning)
            run = pihc.train(resume=copy, set={"training.steps": 14}, progress=records.append)
        self.assertEqual(sorted({r["step"] for r in records}), [13, 14])
        self.assertEqual(run.log()[-len(records) :], records)

    @unittest.skipIf(os.name == "nt", "signals of Unix")
    def test_ends_with_its_parent(self):
        script = "import pihc, sys, time; run = pihc.open(sys.argv[1]); print(run._server._process.pid, flush=True); time.sleep(60)"
        parent = subprocess.Popen([sys.executable, "-c", script, self.run_.path], stdout=subprocess.PIPE, text=True)
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
        parent.kill()
        parent.wait()
        parent.stdout.close()
        for _ in range(200):
            try:
                os.kill(pid, 0)
                with open(f"/proc/{pid}/stat") as f:
                    if f.read().rpartition(")")[2].split()[0] == "Z":
                        return
            except OSError:
                return
            time.sleep(0.02)
        self.fail("the process goes on after its parent was killed")

    @unittest.skipIf(os.name == "nt", "signals of Unix")
    def test_interrupt(self):
        script = textwrap.dedent(
            """
            import os, pihc, signal, sys
            def progress(record):
                if record["step"] == 20:
                    os.kill(os.getpid(), signal.SIGINT)
            try:
                pihc.train(sys.argv[1], sys.argv[2], data=sys.argv[3], method="soft", set={**eval(sys.argv[4]), "training.steps": 100000}, progress=progress)
            except KeyboardInterrupt:
                print("interrupted")
            """
        )
        small = {k: v for k, v in SMALL.items() if k != "training"}
        small["training"] = {k: v for k, v in SMALL["training"].items() if k != "steps"}
        out = self.folder / "long"
        said = subprocess.run([sys.executable, "-c", script, SPEC, out, self.data, repr(small)], capture_output=True, text=True, timeout=120)
        self.assertEqual(said.stdout.strip(), "interrupted", said.stderr)
        self.assertTrue(list((out / "checkpoints").glob("step-*.json")))
        pihc.open(out).close()


class Untrained(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.problem = cls.folder / "heat.yaml"
        cls.problem.write_text(HEAT)

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
        self.assertEqual(_process._in_python("--grid changes; `pihc train --resume R`; --remove-mean"), "grid= changes; `pihc train --resume R`; remove_mean=")
        self.assertEqual(_process._in_python("unknown flag: --no"), "unknown argument: no")

    def test_signals_are_not_blocked(self):
        self.assertEqual(signal.getsignal(signal.SIGINT), signal.default_int_handler)


if __name__ == "__main__":
    unittest.main()
