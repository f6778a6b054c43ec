"""Runs the program: a command at a time, or one process that answers requests."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import warnings
import weakref
from typing import IO, Any, Callable, Mapping, Sequence

import numpy as np

from ._binary import find
from ._errors import Error, Warning

Progress = Callable[["dict[str, Any]"], object]


def _in_python(text: str) -> str:
    """Names flags as arguments of this package, except in commands to type."""
    parts = text.replace("unknown flag: --", "unknown argument: ").split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<![\w-])--([a-z][a-z-]*)(?=(:| [A-Z]| [\w.]+=| \S+:)?)", lambda m: m[1].replace("-", "_") + ("" if m[2] else "="), parts[i])
    return "`".join(parts)


def error(message: str, hint: str = "") -> Error:
    return Error(_in_python(message), _in_python(hint))


def flags(options: Mapping[str, Any]) -> list[str]:
    """Arguments as flags of the program: None and False are left out, True has no value, `set` is key=value, `grid` axis=points."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(flag)
        elif name == "grid":
            if not isinstance(value, Mapping):
                raise Error(f"grid={value!r}: want points by axis", "as in grid={'t': 101, 'x': 256}")
            out += [flag, ",".join(f"{k}={n}" for k, n in value.items())]
        elif isinstance(value, Mapping):
            out += [x for k, v in _leaves(value) for x in (flag, f"{k}={v}")]
        elif name in ("free", "methods") and not isinstance(value, str):
            out += [flag, ",".join(value)]
        elif isinstance(value, (list, tuple)):
            out += [x for v in value for x in (flag, str(v))]
        else:
            out += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return out


def _leaves(values: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            out += _leaves(value, f"{above}{key}.")
        else:
            if isinstance(value, (np.generic, np.ndarray)):
                value = value.tolist()
            out.append((above + key, value if isinstance(value, str) else json.dumps(value)))
    return out


def _apart() -> dict[str, Any]:
    """Of processes that Ctrl-C does not reach by itself: it is passed on once."""
    if os.name == "nt":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
    return {"start_new_session": True}


def ask_json(args: Sequence[str], progress: Progress | None = None) -> dict[str, Any]:
    """What a command prints with --json."""
    said: dict[str, Any] = json.loads(command(args, progress))
    return said


def command(args: Sequence[str], progress: Progress | None = None, log: str | None = None) -> str:
    """Runs a command to its end and returns its standard output. With `log` progress receives the lines that are added to this
    file, otherwise those of standard error. Ctrl-C interrupts the command, which keeps what it can, and is raised again."""
    lines: list[str] = []
    follow = _Log(log) if log else None

    def listen() -> None:
        for line in process.stderr or ():  # to its end, which is the process's
            lines.append(line.rstrip("\n"))
            if progress and not follow and not line.startswith(("pihc:", "hint:")):
                progress({"text": lines[-1]})

    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        process = subprocess.Popen([find(), *args], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", **_apart())
        assert process.stderr is not None
        reader = threading.Thread(target=listen, daemon=True)
        reader.start()
        try:
            while True:
                try:
                    process.wait(0.1 if progress and follow else None)
                    break
                except subprocess.TimeoutExpired:
                    _tell(progress, follow)
        except BaseException:  # Ctrl-C, or what progress raised
            process.send_signal(signal.CTRL_BREAK_EVENT if os.name == "nt" else signal.SIGINT)  # type: ignore[attr-defined]
            process.wait()
            raise
        finally:
            reader.join()
            process.stderr.close()
        _tell(progress, follow)
        out.seek(0)
        text = out.read()
    failed = _failure(args[0], lines)
    if process.returncode != 0:
        raise failed or Error(f"{args[0]} ended with status {process.returncode}: " + "; ".join(lines[-3:]))
    for line in lines:
        found = re.match(r"pihc: (?:\w+: )?warning: (.*)", line)
        if found:
            warnings.warn(_in_python(found[1]), Warning, stacklevel=3)
    return text


def _failure(name: str, lines: list[str]) -> Error | None:
    """The error that standard error ends with."""
    starts = [i for i, line in enumerate(lines) if line.startswith(f"pihc: {name}: ") and ": warning: " not in line]
    if not starts:
        return None
    text = lines[starts[-1] :]
    hint = text.pop()[len("hint: ") :] if text[-1].startswith("hint: ") else ""
    return error("\n".join(text)[len(f"pihc: {name}: ") :], hint)


class _Log:
    """The lines that are added to a log of JSON."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.at = os.path.getsize(path) if os.path.exists(path) else 0

    def new(self) -> list[dict[str, Any]]:
        if not os.path.exists(self.path):
            return []
        with open(self.path, "rb") as f:
            f.seek(self.at)
            whole = f.read().rpartition(b"\n")[0]
        self.at += len(whole) + 1 if whole else 0
        return [json.loads(line) for line in whole.splitlines() if line]


def _tell(progress: Progress | None, log: _Log | None) -> None:
    if progress and log:
        for record in log.new():
            progress(record)


class Server:
    """A process `pihc serve RUN`. It starts with the first request, and ends with this object or with Python."""

    def __init__(self, run: str) -> None:
        self.run = run
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._stop: Callable[[], object] = lambda: None

    def _start(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is None or self._owner != os.getpid() or process.poll() is not None:
            self.close()
            self._said = tempfile.TemporaryFile()
            process = subprocess.Popen([find(), "serve", "--quiet", self.run], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, **_apart())
            self._process, self._owner = process, os.getpid()
            self._stop = weakref.finalize(self, _end, process, self._owner, self._said)
        return process

    def close(self) -> None:
        """Ends the process; a later request starts another."""
        self._stop()
        self._process = None

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
                process.stdin.write(line)
                for a in values.values():
                    process.stdin.write(a.data.cast("B") if a.size else b"")
                process.stdin.flush()
                answer = json.loads(process.stdout.readline() or b"null")
                data = bytearray(answer["bytes"] if answer else 0)
                if answer is None or process.stdout.readinto(data) < len(data):  # type: ignore[attr-defined]
                    raise EOFError
            except (OSError, EOFError, ValueError):
                raise self._ended() from None
            except BaseException:  # Ctrl-C leaves an answer half read
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

    def _ended(self) -> Error:
        process = self._process
        assert process is not None
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").splitlines()
        self.close()
        return _failure("serve", lines) or Error(f"the process of {self.run} has ended: " + ("; ".join(lines[-3:]) or f"status {process.returncode}"))


def _end(process: subprocess.Popen[bytes], owner: int, said: IO[bytes]) -> None:
    if owner != os.getpid():
        return  # of a process that this one was forked from
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
    if process.poll() is None:
        process.kill()
    process.wait()
