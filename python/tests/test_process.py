"""Tests of processes: kept, ended from outside, interrupted, forked, used by threads."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import unittest.mock
import warnings

import numpy as np
import pihc

from common import SMALL, SPEC, Trained


class Processes(Trained):
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
        pipe = server()._process.stdin
        other = os.dup(pipe.fileno())  # so that the process goes on
        pipe.close()
        self.raises("process of .*moe gave no answer", "next call starts another", lambda: self.run_.predict(self.u0))
        os.close(other)
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
