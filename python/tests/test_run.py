"""Tests of runs: predictions, scores, parameters and errors."""

import html
import importlib.util
import pickle
import shutil
import subprocess
import sys
import unittest.mock
import warnings

import numpy as np
import pihc
from pihc import _binary

from common import ROOT, SMALL, SPEC, Trained, heat


class Predicted(Trained):
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
