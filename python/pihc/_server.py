"""One process of the program that answers requests."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
import weakref
from typing import IO, Any, Callable, Mapping, Sequence

import numpy as np

from ._binary import find
from ._errors import Error
from ._process import apart, ended_by, error, failure, loads


class Server:
    """A process `pihc serve RUN`. It starts with the first request, and ends with this object or with Python. Threads take turns;
    a forked process starts one of its own."""

    def __init__(self, run: str) -> None:
        self.run = run
        _servers.add(self)
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stop: Callable[[], object] = lambda: None

    def _start(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is None or process.poll() is not None:
            self.close()
            program = find()
            self._said = tempfile.TemporaryFile()
            process = subprocess.Popen([program, "serve", "--quiet", self.run], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, **apart())
            self._process = process
            self._stop = weakref.finalize(self, _end, process, os.getpid(), self._said)
        return process

    def close(self) -> None:
        """Ends the process, after the request it is at; a later request starts another."""
        with self._lock:
            self._process = None  # first: what interrupts the end may not leave it in use
            self._stop()

    def ask(self, call: str, args: Sequence[str] = (), inputs: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The answer to a request, and its arrays."""
        values = {name: np.ascontiguousarray(a, dtype="<f8") for name, a in (inputs or {}).items()}
        head = {
            "call": call,
            "args": list(args),
            "inputs": [{"name": n, "shape": np.shape(inputs[n]) if inputs else []} for n in values],
            "bytes": sum(a.nbytes for a in values.values()),
        }
        line = json.dumps(head).encode() + b"\n"
        with self._lock:
            process = self._start()
            assert process.stdin is not None and process.stdout is not None
            try:
                for part in (line, *(a.data for a in values.values())):
                    _write(process.stdin.fileno(), part)
                answer = loads(process.stdout.readline() or b"null")
                data = bytearray(answer["bytes"] if answer else 0)
                if answer is None or process.stdout.readinto(data) < len(data):  # type: ignore[attr-defined]
                    raise EOFError
            except (OSError, EOFError, ValueError):
                raise self._ended(process) from None
            except BaseException:  # Ctrl-C leaves an answer half read, and nobody wants the rest
                process.kill()
                self.close()
                raise
        if "error" in answer:
            raise error(answer["error"], answer.get("hint", ""))
        arrays, at = {}, 0
        for a in answer["arrays"]:
            count = int(np.prod(a["shape"], dtype=np.int64))
            arrays[a["name"]] = np.frombuffer(data, "<f8", count, at).reshape(a["shape"])
            at += 8 * count
        return answer, arrays

    def _ended(self, process: subprocess.Popen[bytes]) -> Error:
        """What to say of a process that gave no answer; it is ended if it is there still."""
        try:
            how = ended_by(process.wait(2))
        except subprocess.TimeoutExpired:
            process.kill()
            how = "gave no answer"
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").splitlines()
        self.close()
        hint = "the next call starts another process"
        if how == "was ended by SIGKILL":
            hint += "; where memory ran out, give fewer samples at once"
        return failure("serve", lines) or Error(f"the process of {self.run} {how}" + "".join(f"; {x}" for x in lines[-3:]), hint)


_servers: weakref.WeakSet[Server] = weakref.WeakSet()


def _forked() -> None:
    """In a forked process: the lock may be held by a thread that is not here, and the process answers another."""
    for s in list(_servers):
        s._lock, s._process = threading.RLock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _write(pipe: int, part: Any) -> None:
    """Writes all of it, with nothing in a buffer that a forked process would write once more."""
    view = memoryview(part).cast("B")
    while view:
        view = view[os.write(pipe, view[: 1 << 20]) :]


def _end(process: subprocess.Popen[bytes], owner: int, said: IO[bytes]) -> None:
    if owner != os.getpid():
        return  # of a process that this one was forked from
    try:
        said.close()
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe:
                    pipe.close()
            except OSError:
                pass
        end = time.monotonic() + 0.5
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
