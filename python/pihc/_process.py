"""Runs a command of the program."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from typing import Any, Mapping, Sequence

import numpy as np

from ._binary import find
from ._errors import Error, Warning
from ._progress import Line, Progress, seen


def in_python(text: str) -> str:
    """Names flags as arguments of this package, except in commands to type."""
    parts = re.sub(r"unknown flag: --([\w-]+)", lambda m: "unknown argument: " + m[1].replace("-", "_"), text).split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<![\w-])--([a-z][a-z-]*)(?=(:| [A-Z]| [\w.]+=| \S+:)?)", lambda m: m[1].replace("-", "_") + ("" if m[2] else "="), parts[i])
    return "`".join(parts)


def error(message: str, hint: str = "") -> Error:
    return Error(in_python(message), in_python(hint))


def flags(options: Mapping[str, Any]) -> list[str]:
    """Arguments as flags of the program: None and False are left out, True has no value, `set` is key=value, `grid` axis=points."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if name == "exist_ok":
            raise Error("there is no argument exist_ok", "help() of the function says what it does with files that are there")
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


def apart() -> dict[str, Any]:
    """Of processes that Ctrl-C does not reach by itself: it is passed on once."""
    if os.name == "nt":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
    return {"start_new_session": True}


def loads(text: str | bytes) -> Any:
    """JSON of the program, in which strings stand for numbers that are not finite."""
    return _floats(json.loads(text))


def _floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _floats(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_floats(v) for v in value]
    return float(value) if isinstance(value, str) and value in ("NaN", "+Inf", "-Inf") else value


def ask_json(args: Sequence[str], progress: Progress = None) -> dict[str, Any]:
    """What a command prints with --json."""
    said: dict[str, Any] = loads(command(args, progress))
    return said


def command(args: Sequence[str], progress: Progress = None, log: str | None = None) -> str:
    """Runs a command to its end, as attempt does, and returns its standard output."""
    text, failed = attempt(args, progress, log)
    if failed:
        raise failed
    return text


def attempt(args: Sequence[str], progress: Progress = None, log: str | None = None) -> tuple[str, Error | None]:
    """Runs a command to its end, and returns its standard output, and the error it ended with. With `log` progress receives the
    lines that are added to this file, otherwise those of standard error, in the thread that called. Ctrl-C, or an exception of
    progress, interrupts the command, which keeps what it can, and is raised again; a second Ctrl-C ends it at once."""
    line = Line(os.path.dirname(log) if log else None) if (progress is None or progress is True) and seen() else None
    tell = progress if callable(progress) else line or (lambda record: None)
    lines: list[str] = []
    new = _Log(log).new if log else _Lines(lines).new

    def listen() -> None:
        for text in process.stderr or ():  # to its end, which is the process's
            lines.append(text.rstrip("\n"))

    def tell_new() -> None:
        for record in new():
            tell(record)

    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        process = subprocess.Popen([find(), *args], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", **apart())
        assert process.stderr is not None
        reader = threading.Thread(target=listen, daemon=True)
        reader.start()
        try:
            while True:
                try:
                    process.wait(0.1)
                    break
                except subprocess.TimeoutExpired:
                    tell_new()
            reader.join()
            tell_new()
        except BaseException:
            _interrupt(process)
            raise
        finally:
            reader.join()
            process.stderr.close()
            if line:
                line.close()
        out.seek(0)
        text = out.read()
    if process.returncode != 0:
        return text, failure(args[0], lines) or Error(f"{args[0]} {ended_by(process.returncode)}" + "".join(f"; {x}" for x in lines[-3:]))
    for x in lines:
        found = re.match(r"pihc: (?:\w+: )?warning: (.*)", x)
        if found:
            warnings.warn(in_python(found[1]), Warning, stacklevel=outside())
    return text, None


def outside() -> int:
    """The level of the stack, for warnings.warn, of the code that uses this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("pihc."):
        level, frame = level + 1, frame.f_back
    return level


def _interrupt(process: subprocess.Popen[str]) -> None:
    """Passes Ctrl-C on, each time there is one, until the process has ended."""
    while process.poll() is None:
        try:
            process.send_signal(signal.CTRL_BREAK_EVENT if os.name == "nt" else signal.SIGINT)  # type: ignore[attr-defined]
            process.wait()
        except KeyboardInterrupt:
            pass


def ended_by(status: int) -> str:
    """How a process ended."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def failure(name: str, lines: list[str]) -> Error | None:
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
        return [loads(line) for line in whole.splitlines() if line]


class _Lines:
    """The lines that are added to standard error, but for errors and warnings."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0

    def new(self) -> list[dict[str, Any]]:
        added = self.lines[self.at :]
        self.at += len(added)
        return [{"text": text} for text in added if not text.startswith(("pihc:", "hint:"))]
