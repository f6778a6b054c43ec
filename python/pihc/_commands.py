"""Commands of the program as functions."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from ._errors import Error
from ._process import Progress, ask_json, command, flags
from ._run import Arrays, Path, Run, _numbers, fields


def open(path: Path) -> Run:  # noqa: A001
    """Opens a run folder."""
    return Run(path)


def init(name: Path, out: Path, *, minutes: float | None = None, progress: Progress | None = None, **options: Any) -> pathlib.Path:
    """Writes problem.yaml and spec.yaml to the folder out, from a template or for a PDE file, and returns the path of the spec."""
    said = command(["init", *flags(dict(options, out=out, minutes=minutes)), "--", os.fspath(name)], progress)
    for line in said.splitlines() if progress else ():
        progress({"text": line})
    return pathlib.Path(out) / "spec.yaml"


def generate(spec: Path, out: Path, *, set: Mapping[str, Any] | None = None, progress: Progress | None = None, **options: Any) -> pathlib.Path:
    """Makes the dataset of a spec in the folder out, which is returned."""
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
    progress: Progress | None = None,
    **options: Any,
) -> Run:
    """Trains a spec, a path or the name of a built-in one, in the new folder out, on a dataset. progress receives each record of the
    log: step, loss, seconds and more. Ctrl-C writes a checkpoint, from which resume=RUN goes on."""
    folder = resume if resume is not None else out
    args = flags(dict(options, data=data, out=out, method=method, seed=seed, set=set, resume=resume))
    log = None if folder is None else os.path.join(os.fspath(folder), "log.jsonl")
    command(["train", *args, *([] if spec is None else ["--", os.fspath(spec)])], progress, log)
    assert folder is not None
    return Run(folder)


def reproduce(spec: Path, out: Path | None = None, *, scale: str | None = None, set: Mapping[str, Any] | None = None, progress: Progress | None = None, **options: Any) -> dict[str, Any]:
    """Data, trainings, scores and report.html in the folder out: a spec, or a name of the paper at a scale. Returns the scores.
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
    progress: Progress | None = None,
    **options: Any,
) -> Any:
    """Solves a PDE file as it stands, without training. initial is an array, or a dict of arrays by name; without it initial
    conditions are drawn. Returns what Run.predict returns; attrs has error_estimate, grid, steps and seconds."""
    with _folder() as folder:
        out = os.path.join(folder, "u.npz")
        args = flags(dict(options, out=out, initial=_saved(folder, initial), grid=grid, tolerance=tolerance, set=set, seed=seed))
        said = ask_json(["solve", *args, "--json", "--", os.fspath(problem)], progress)
        with np.load(out) as arrays:
            return fields(dict(arrays), said)


def invert(
    problem: Path,
    observe: Path | Mapping[str, Any],
    free: Sequence[str] | str,
    *,
    initial: Arrays | None = None,
    value: Mapping[str, float] | None = None,
    prior: Mapping[str, str] | Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Fits numbers of a PDE file to observations: a CSV or NPZ file, or a dict of columns (axes, value, sigma; unknown,
    experiment). Returns estimates (value, low, high), chi_squared, unseen and more, as `pihc invert --json`."""
    with _folder() as folder:
        if isinstance(observe, Mapping):
            observe = _columns(os.path.join(folder, "observations.csv"), observe)
        args = flags(dict(options, observe=observe, free=free, initial=_saved(folder, initial), value=value, prior=prior, set=set))
        return ask_json(["invert", *args, "--json", "--", os.fspath(problem)], progress)


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
        arrays: dict[str, Any] = {name: _numbers(name, a) for name, a in initial.items()}
        np.savez(path, **arrays)
    else:
        path = os.path.join(folder, "initial.npy")
        np.save(path, _numbers("initial", initial))
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
