"""Tests of the installed package: python -m unittest discover -s python/tests"""

import contextlib
import html
import importlib.util
import io
import os
import pathlib
import pickle
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
from pihc import _binary, _process, _progress

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
        self.assertEqual(u.attrs, plain.attrs)
        self.assertIn("relative L2 error", u["error_estimate"].attrs["long_name"])
        start = u["u"].isel(t=0)
        np.testing.assert_array_equal(self.predict(start)["u"], self.predict(start.values)["u"])
        turned, moved = start.transpose("x", "sample"), start.assign_coords(x=start.x + 0.1)
        self.raises("^u0 has dimensions .*'x', 'sample'", "transpose", lambda: self.run_.predict(turned))
        self.raises("^u0 is given on other points of x", "interp", lambda: self.run_.predict(moved))
        solved = pihc.solve(*heat(self.folder))
        self.assertEqual([solved[a].attrs for a in ("t", "x")], [{"units": "s"}, {"units": "m"}])

    def test_object(self):
        self.assertEqual((self.run_.method, self.run_.unknowns, self.run_.axes, self.run_.inputs, self.run_.units), ("moe", ("u",), ("t", "x"), {"initial": (128,)}, {"t": "s", "x": "m"}))
        want = self.predict(self.u0)
        for axis in self.run_.axes:
            np.testing.assert_array_equal(self.run_.coords[axis], np.asarray(want[axis]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pihc.Warning)
            with pickle.loads(pickle.dumps(self.run_)) as other:
                np.testing.assert_array_equal(np.asarray(other(self.u0)["u"]), np.asarray(want["u"]))
        self.assertEqual((want.attrs["title"], want.attrs["run"]), (self.run_.title, str(self.run_.path)))

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
        self.assertIn('href="report-figures/', page)
        shown = self.run_._repr_html_()
        self.assertIn("<iframe srcdoc=", shown)
        for beside in ("report-figures/", "<noscript><img"):  # files that a notebook does not have
            self.assertNotIn(beside, html.unescape(shown))
        with (self.folder / "report.html").open("a") as f:
            f.write("changed")
        self.raises("report.html", "force=", lambda: self.run_.report(self.folder / "report.html"))
        self.assertEqual(self.run_.report(self.folder / "report.html", force=True), (self.folder / "report.html").read_text(encoding="utf-8"))

    def test_errors(self):
        run = self.run_
        self.raises("^u0 has shape 2 x 100; want 128, or samples of it", "grid= changes the number of points", lambda: run.predict(np.ones((2, 100))))
        self.raises("^u0 has shape 128 x 2", "numpy.transpose", lambda: run.predict(np.ones((128, 2))))
        self.raises("u0: value at index", "", lambda: run.predict(np.full(128, np.nan)))
        self.raises("u0 has elements of type complex128", "real numbers", lambda: run.predict(np.ones(128, complex)))
        self.raises("u0 is no array", "", lambda: run.predict([[1, 2], [3]]))
        self.raises("u0 has masked elements", "fill", lambda: run.predict(np.ma.masked_less(np.arange(128.0), 3)))
        self.raises("u0 has shape \\(0, 128\\)", "at least one", lambda: run.predict(np.ones((0, 128))))
        self.raises("no argument exist_ok", "resume=RUN", lambda: pihc.train(SPEC, run.path, data=self.data, exist_ok=True))
        self.raises("no argument force", "another folder", lambda: pihc.generate(SPEC, self.data, force=True))
        self.raises("no argument exist_ok", "", lambda: run.score(exist_ok=True))
        self.raises("2 arrays", "one array, of initial conditions", lambda: run.predict({"u0": np.ones(128), "nu": 1.0}))
        self.raises("unknown argument: pases", "", lambda: run.predict(self.u0, pases=3))
        self.raises("^passes many: want", "", lambda: run.predict(self.u0, passes="many"))
        self.raises("nowhere is not a run folder: it has no spec.yaml", "", lambda: pihc.open("nowhere"))
        self.raises("is not a run folder", "runs inside: .*moe", lambda: pihc.open(run.path.parent))
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

    def test_one_process(self):
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
        del run
        self.assertIsNotNone(first.poll())

    def test_another_process_after_one_that_ended(self):
        """Whatever ends it is one error, and the next call is right."""
        want = np.asarray(self.predict(self.u0)["u"])

        def wait(end):  # until the process has ended, so that the request goes nowhere
            end()
            self.run_._server._process.wait()

        def during(end):  # the prediction of many samples, which takes seconds
            def call():
                threading.Timer(0.3, end).start()
                self.run_.predict(np.tile(self.u0, (2000, 1)))

            return call

        server = lambda: self.run_._server
        wait(lambda: server()._process.kill())  # between calls: nobody notices
        np.testing.assert_array_equal(np.asarray(self.predict(self.u0)["u"]), want)
        self.raises("process of .*moe was ended by SIGKILL", "next call starts another", during(lambda: server()._process.kill()))
        np.testing.assert_array_equal(np.asarray(self.predict(self.u0)["u"]), want)
        server()._process.stdin.close()
        self.raises("process of .*moe ended with status 0", "next call starts another", lambda: self.run_.predict(self.u0))
        np.testing.assert_array_equal(np.asarray(self.predict(self.u0)["u"]), want)
        process = server()._process
        with self.assertRaises(KeyboardInterrupt):  # as the button of a notebook does it
            during(lambda: signal.raise_signal(signal.SIGINT) if os.name == "nt" else os.kill(os.getpid(), signal.SIGINT))()
        self.assertIsNotNone(process.poll())
        np.testing.assert_array_equal(np.asarray(self.predict(self.u0)["u"]), want)
        self.run_.close()
        self.run_.close()
        np.testing.assert_array_equal(np.asarray(self.predict(self.u0)["u"]), want)

    def test_threads(self):
        inputs = [np.full((k % 3 + 1, 128), 0.1 + 0.01 * k) for k in range(6)]
        want, got = [np.asarray(self.predict(u0)["u"]) for u0 in inputs], [[] for _ in inputs]
        threads = [threading.Thread(target=lambda k=k: got[k].extend(np.asarray(self.run_._server.ask("predict", [], {"u0": inputs[k]})[1]["u"]) for _ in range(4))) for k in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for k, u in enumerate(want):
            np.testing.assert_array_equal(np.reshape(got[k], (4, *u.shape)), np.stack([u] * 4))

    @unittest.skipUnless(hasattr(os, "fork"), "fork of Unix")
    def test_fork(self):
        script = textwrap.dedent(
            """
            import numpy as np, os, pihc, sys, threading, warnings
            warnings.simplefilter("ignore")
            run = pihc.open(sys.argv[1])
            own = run._server._process
            ask = lambda u0: np.asarray(run(u0)["u"])
            u0, other = np.full(128, 0.1), np.full(128, 0.2)
            want = ask(u0)
            thread = threading.Thread(target=ask, args=(np.tile(other, (300, 1)),))  # holds the lock and the pipe
            thread.start()
            child = os.fork()
            if child == 0:
                os._exit(0 if (ask(u0) == want).all() and run._server._process is not own else 1)
            assert os.waitpid(child, 0)[1] == 0
            thread.join()
            assert (ask(u0) == want).all() and run._server._process is own
            print("same")
            """
        )
        said = subprocess.run([sys.executable, "-c", script, self.run_.path], capture_output=True, text=True, timeout=120)
        self.assertEqual(said.stdout.strip(), "same", said.stderr)

    def test_progress_that_fails(self):
        def stop(record):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            pihc.init("heat", self.folder / "stopped", progress=stop)
        self.assertFalse((self.folder / "stopped").exists())
        with self.assertRaisesRegex(LookupError, "enough"):
            pihc.train(SPEC, self.folder / "stopped-run", data=self.data, method="soft", set={"data": SMALL["data"], "training.log": 1}, progress=stop)
        self.assertTrue(list((self.folder / "stopped-run" / "checkpoints").glob("step-*.json")))

    @unittest.skipIf(os.name == "nt", "signals of Unix")
    def test_command_that_is_killed(self):
        begun = []

        class Kept(subprocess.Popen):
            def __init__(self, *args, **options):
                super().__init__(*args, **options)
                begun.append(self)

        with unittest.mock.patch.object(subprocess, "Popen", Kept):
            self.raises("^train was ended by SIGKILL", "", lambda: pihc.train(SPEC, self.folder / "killed", data=self.data, method="soft", set={"data": SMALL["data"], "training.log": 1}, progress=lambda record: begun[-1].kill()))

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


def heat(folder):
    """The file of HEAT, and what begins it."""
    path = folder / "heat.yaml"
    path.write_text(HEAT)
    return path, np.sin(2 * np.pi * np.arange(16) / 16)


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
        self.assertEqual(_process._in_python("--grid changes; `pihc train --resume R`; --remove-mean"), "grid= changes; `pihc train --resume R`; remove_mean=")
        self.assertEqual(_process._in_python("unknown flag: --no"), "unknown argument: no")

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


if __name__ == "__main__":
    unittest.main()
