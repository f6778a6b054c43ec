"""Commands of the program as functions."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from ._errors import Error
from ._process import ask_json, command, flags
from ._progress import Progress, seen
from ._run import Arrays, Path, Run, _numbers, fields


def open(path: Path) -> Run:  # noqa: A001
    """Opens a run folder, which `train` or `reproduce` made."""
    return Run(path)


def init(name: Path, out: Path, *, minutes: float | None = None, force: bool = False, progress: Progress = None, **options: Any) -> pathlib.Path:
    """Writes problem.yaml and spec.yaml to the folder out, from a template or for a PDE file, and returns the path of the spec.
    Where these files are already, that is an error, unless force=True replaces them.
    What it found out, and how long a training takes, it says to progress as {"text": line}, or shows."""
    said = command(["init", *flags(dict(options, out=out, minutes=minutes, force=force)), "--", os.fspath(name)], progress)
    if callable(progress):
        for line in said.splitlines():
            progress({"text": line})
    elif progress is not False and seen():
        print(said, end="")
    return pathlib.Path(out) / "spec.yaml"


def generate(spec: Path, out: Path, *, set: Mapping[str, Any] | None = None, progress: Progress = None, **options: Any) -> pathlib.Path:
    """Makes the dataset of a spec in the folder out, which is returned. A dataset of this spec that is there is verified and left
    alone, a part of one completed; anything else there is an error. A dataset is never overwritten."""
    _kept(options, "dataset", "the same call completes or verifies one of the same spec; another needs another folder")
    command(["generate", *flags(dict(options, out=out, set=set)), "--", os.fspath(spec)], progress)
    return pathlib.Path(out)


def train(
    spec: Path | None = None,
    out: Path | None = None,
    *,
    data: Path | None = None,
    method: str | None = None,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
    resume: Path | None = None,
    progress: Progress = None,
    **options: Any,
) -> Run:
    """Trains a spec, a path or the name of a built-in one, in the new folder out, on a dataset, and opens the run. A run that is
    there is never overwritten: resume=RUN, alone or with set={"training.steps": N}, goes on with it.

    progress is called with a dict for each record of the log: of a step with step, loss, mean_squares, gradient_norm,
    learning_rate, solver_iterations, seconds; of a validation with step, seconds, validation_residual, validation_rms and, where
    there are solutions, validation_relative_l2 (docs/reference/formats.md has all). What it raises ends the training, after a
    checkpoint. Without it one line shows how far the training is, on a terminal or in a notebook; progress=False shows nothing.

    Ctrl-C writes a checkpoint and is raised as KeyboardInterrupt; resume=RUN goes on to the same result, bit for bit."""
    _kept(options, "run", "resume=RUN goes on with one; another needs another folder")
    folder = resume if resume is not None else out
    args = flags(dict(options, data=data, out=out, method=method, seed=seed, set=set, resume=resume))
    log = None if folder is None else os.path.join(os.fspath(folder), "log.jsonl")
    command(["train", *args, *([] if spec is None else ["--", os.fspath(spec)])], progress, log)
    assert folder is not None
    return Run(folder)


def reproduce(spec: Path, out: Path | None = None, *, scale: str | None = None, set: Mapping[str, Any] | None = None, progress: Progress = None, **options: Any) -> dict[str, Any]:
    """Data, trainings, scores and report.html in the folder out: a spec, or a name of the paper at a scale. Returns the scores.
    What is there of the same spec is kept and completed; force=True replaces a report.html that was changed, never data or runs.
    progress receives lines as {"text": ...}."""
    args = flags(dict(options, out=out, scale=scale, set=set))
    return ask_json(["reproduce", *args, "--json", "--", os.fspath(spec)], progress)


def solve(
    problem: Path,
    initial: Arrays | None = None,
    *,
    grid: Mapping[str, int] | None = None,
    tolerance: float | None = None,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> Any:
    """Solves a PDE file as it stands, without training. initial is an array, or a dict of arrays by name; without it initial
    conditions are drawn. Returns what Run.predict returns; attrs has error_estimate, grid, steps and seconds."""
    if "out" in options:
        raise Error("solve has no argument out", "it returns the fields; `pihc solve` writes files")
    with _folder() as folder:
        out = os.path.join(folder, "u.npz")
        args = flags(dict(options, out=out, initial=_saved(folder, initial), grid=grid, tolerance=tolerance, set=set, seed=seed))
        said = ask_json(["solve", *args, "--json", "--", os.fspath(problem)], progress)
        with np.load(out) as arrays:
            units = said.pop("units", {})
            said["grid"] = ",".join(f"{axis}={n}" for axis, n in said["grid"].items())  # files of fields hold no dicts
            return fields(dict(arrays), said, units)


def invert(
    problem: Path,
    observe: Path | Mapping[str, Any],
    free: Sequence[str] | str,
    *,
    initial: Arrays | None = None,
    value: Mapping[str, float] | None = None,
    prior: Mapping[str, str] | Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,
    progress: Progress = None,
    **options: Any,
) -> dict[str, Any]:
    """Fits numbers of a PDE file to observations: a CSV or NPZ file, or a dict of columns (axes, value, sigma; unknown,
    experiment). Returns estimates (value, low, high), chi_squared, unseen and more, as `pihc invert --json`."""
    with _folder() as folder:
        if isinstance(observe, Mapping):
            observe = _columns(os.path.join(folder, "observations.csv"), observe)
        args = flags(dict(options, observe=observe, free=free, initial=_saved(folder, initial), value=value, prior=prior, set=set))
        return ask_json(["invert", *args, "--json", "--", os.fspath(problem)], progress)


def _kept(options: Mapping[str, Any], what: str, hint: str) -> None:
    for name in ("force", "exist_ok"):
        if name in options:
            raise Error(f"there is no argument {name}: a {what} is never overwritten", hint)


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    """A folder for files of arrays, which errors do not name."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield folder
        except Error as e:
            raise Error(e.message.replace(folder + os.sep, ""), e.hint.replace(folder + os.sep, "")) from None


def _saved(folder: str, initial: Arrays | None) -> str | None:
    """The file of an array or of several."""
    if initial is None:
        return None
    if isinstance(initial, Mapping):
        path = os.path.join(folder, "initial.npz")
        arrays: dict[str, Any] = {name: _numbers(name, a).astype(np.float64) for name, a in initial.items()}
        np.savez(path, **arrays)
    else:
        path = os.path.join(folder, "initial.npy")
        np.save(path, _numbers("initial", initial).astype(np.float64))
    return path


def _columns(path: str, columns: Mapping[str, Any]) -> str:
    """A CSV file of columns of equal length; numbers are written so that they are read as they are."""
    arrays = {name: np.atleast_1d(np.asarray(a)) for name, a in columns.items()}
    lengths = {name: a.shape for name, a in arrays.items() if a.shape != (max(x.size for x in arrays.values()),)}
    if lengths:
        raise Error(f"observe: columns have lengths {lengths}", "one value of each for every observation")
    rows = zip(*(a.tolist() for a in arrays.values()))
    with pathlib.Path(path).open("w", encoding="utf-8") as f:
        print(",".join(arrays), file=f)
        for row in rows:
            print(",".join(x if isinstance(x, str) else repr(x) for x in row), file=f)
    return path
