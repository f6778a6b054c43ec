"""What is known of a problem before it is trained."""

from __future__ import annotations

import os
import warnings
from typing import Any, Mapping

from ._errors import Error, Warning
from ._process import attempt, flags, loads, outside
from ._progress import Progress
from ._run import Path


class Checked(dict):  # type: ignore[type-arg]
    """What `pihc check --json` prints: description, verdict (faults and notes of the rows), gradient_ok, floor_error, grid_error and
    more. `error` is what check ends with, None where the problem is fit to be trained. str() of it is for people."""

    error: Error | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.error is None

    def __str__(self) -> str:
        verdict = self["verdict"]
        lines = [*self["description"], ""]
        lines += [f"{kind:<15} {text}" for kind in ("fault", "note") for text in verdict.get(kind + "s") or []]
        lines += [f"{name:<15} {self[name]:.3g}" for name in ("gradient_error", "floor_error", "grid_error") if name in self]
        return "\n".join([*lines, f"wrong: {self.error.message}" if self.error else "nothing is wrong"])


def check(
    problem: Path,
    *,
    method: str | None = None,
    seed: int | None = None,
    grid: Mapping[str, int] | None = None,
    set: Mapping[str, Any] | None = None,
    progress: Progress = None,
    **options: Any,
) -> Checked:
    """Checks a PDE file, or a spec (a path, or the name of a built-in one): do the rows determine the solution, is the gradient right,
    what do the rows and the grid cost in accuracy. Returns what `pihc check --json` prints. A problem that should not be trained
    is a pihc.Warning, and `ok` is False; one that cannot be read is an Error."""
    args = flags(dict(options, method=method, seed=seed, grid=grid, set=set))
    said, failed = attempt(["check", *args, "--json", "--", os.fspath(problem)], progress)
    if not said.strip():
        assert failed is not None
        raise failed
    out = Checked(loads(said))
    out.error = failed
    if failed:
        warnings.warn(failed.message, Warning, stacklevel=outside())
    return out
