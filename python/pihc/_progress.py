"""The line that shows how far a command is, where no callback is given."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from typing import Any, Callable, Union

# What is called with each record of a log, or with {"text": line}; None shows a line on a terminal and in a notebook; False shows nothing.
Progress = Union[Callable[["dict[str, Any]"], object], bool, None]


def seen() -> bool:
    """Whether somebody sees standard output as it is written: a terminal or a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None and hasattr(shell, "kernel"):
        return True
    try:
        return sys.stdout.isatty()
    except (AttributeError, ValueError):  # none, or closed
        return False


def duration(seconds: float) -> str:
    whole = int(seconds + 0.5)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"


class Line:
    """One line on standard output, written over as records come: step, loss, validation and time left. `run` is the folder of
    the training they are of."""

    def __init__(self, run: str | None = None) -> None:
        self.run = run
        self.steps = 0
        self.loss: Any = None
        self.validation = ""
        self.began: tuple[int, float] | None = None
        self.shown = 0
        self.when = 0.0

    def __call__(self, record: dict[str, Any]) -> None:
        text = record["text"] if "text" in record else self._training(record)
        if "text" not in record and record["step"] < self.steps and time.monotonic() - self.when < 0.1:
            return
        self.when = time.monotonic()
        if sys.stdout.isatty():  # where a longer one would take two lines
            text = text[: shutil.get_terminal_size().columns - 1]
        print("\r" + text.ljust(self.shown), end="", flush=True)
        self.shown = len(text)

    def _training(self, record: dict[str, Any]) -> str:
        step, seconds = record["step"], record["seconds"]
        if self.began is None:
            self.began, self.steps = (step, seconds), _steps(self.run)
        self.loss = record.get("loss", self.loss)
        if "validation_residual" in record:
            self.validation = f", validation residual {_number(record['validation_residual'])}"
            error = record.get("validation_relative_l2")
            if error is not None:
                self.validation += f" (error {_number(100 * error)} %)"
        text = f"step {step}" + (f" of {self.steps}" if self.steps else "")
        text += (f", loss {_number(self.loss)}" if self.loss is not None else "") + self.validation
        first, then = self.began
        if step > first and step < self.steps:
            return text + f", {duration((seconds - then) * (self.steps - step) / (step - first))} left"
        return text + (f", {duration(seconds)}" if step >= self.steps > 0 else "")

    def close(self) -> None:
        if self.shown:
            print(flush=True)


def _number(value: float) -> str:
    return f"{value:.3g}"


def _steps(run: str | None) -> int:
    """The steps of a run by its spec, which the program wrote; 0 if it does not say."""
    try:
        with open(os.path.join(run or "", "spec.yaml"), encoding="utf-8") as f:
            found = re.search(r"^training:\n(?:  .*\n)*?  steps: (\d+)$", f.read(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0
