"""A trained run."""

from __future__ import annotations

import hashlib
import html
import json
import os
import pathlib
import re
import tempfile
import warnings
from typing import Any, Mapping, Union

import numpy as np

from ._errors import Error, Warning
from ._process import ask_json, command, flags, in_python, loads
from ._progress import Progress
from ._server import Server

Path = Union[str, "os.PathLike[str]"]
Arrays = Union[Any, Mapping[str, Any]]


class Fields(dict):  # type: ignore[type-arg]
    """Arrays by name, and what is known of all of them in `attrs`. It takes the place of xarray.Dataset where there is no xarray."""

    def __init__(self, arrays: Mapping[str, np.ndarray], attrs: Mapping[str, Any]) -> None:
        super().__init__(arrays)
        self.attrs = dict(attrs)


_LONG_NAMES = {
    "residual_over_rate": "rms of the residual over rms of the rate of change",
    "error_estimate": "estimate of the relative L2 error",
    "grid_error": "part of error_estimate: the grid",
    "rows_error": "part of error_estimate: rows that do not hold",
    "passes": "passes of the network",
    "relative_loss": "root of the loss over that of initial values kept",
}


def fields(arrays: Mapping[str, np.ndarray], attrs: Mapping[str, Any], units: Mapping[str, str] | None = None) -> Any:
    """An xarray.Dataset of unknowns (sample, axes), coordinates with their units and numbers of samples; Fields without xarray."""
    try:
        import xarray
    except ImportError:
        return Fields(arrays, attrs)
    names = list(arrays)
    full = arrays[names[0]].ndim
    unknowns = [n for n in names if arrays[n].ndim == full]
    axes = names[len(unknowns) : len(unknowns) + full - 1]
    rest = [n for n in names if n not in unknowns and n not in axes]
    samples = arrays[unknowns[0]].shape[0]
    about = {n: {"long_name": _LONG_NAMES[n]} for n in rest if n in _LONG_NAMES}
    return xarray.Dataset(
        {
            **{n: (("sample", *axes), arrays[n]) for n in unknowns},
            **{n: ("sample", arrays[n], about.get(n, {})) for n in rest if arrays[n].shape == (samples,)},
        },
        coords={a: (a, arrays[a], {"units": (units or {})[a]} if (units or {}).get(a) else {}) for a in axes},
        attrs=dict(attrs),
    )


class Run:
    """A run folder, as `pihc.open` opens it, and its network with all that belongs to a prediction: `run(u0)` is `run.predict(u0)`.
    `inputs` has the shape of one sample of each input, `coords` the points of each axis, where inputs are given and fields predicted.
    Predictions come from one process, which is kept until `close` or the end of this object, and begun anew where it died. A Run can
    be pickled and used after a fork: there it begins a process of its own."""

    def __init__(self, path: Path) -> None:
        self.path = pathlib.Path(path).absolute()  # whatever the working directory becomes
        _expect_run(self.path)
        self._server = Server(os.fspath(self.path))
        about, coords = self._server.ask("open")
        self.problem: str = about["problem"]
        self.title: str = about["title"]
        self.coords: dict[str, np.ndarray] = coords
        self.units: dict[str, str] = {axis: unit for axis, unit in zip(about["axes"], about["units"]) if unit}
        self.method: str = about["method"]
        self.unknowns: tuple[str, ...] = tuple(about["unknowns"])
        self.axes: tuple[str, ...] = tuple(about["axes"])
        self.inputs: dict[str, tuple[int, ...]] = {i["name"]: tuple(i["shape"]) for i in about.get("inputs", [])}
        self._page: tuple[Any, str] | None = None

    def __repr__(self) -> str:
        wants = ", ".join(f"{name} {shape}" for name, shape in self.inputs.items())
        return f"pihc.Run({os.fspath(self.path)!r}: {self.method} on {self.problem}, {', '.join(self.unknowns)} over {', '.join(self.axes)}; inputs {wants})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Run, (self.path,)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process of predictions."""
        self._server.close()

    def predict(
        self,
        inputs: Arrays,
        *,
        grid: Mapping[str, int] | None = None,
        passes: int | str | None = None,
        points: int | None = None,
        tolerance: float | None = None,
        until: float | None = None,
        last: bool = False,
        remove_mean: bool = False,
        **options: Any,
    ) -> Any:
        """Fields for inputs: one array of initial conditions, (x[, y]) or (sample, x[, y]), or a dict of arrays by name, as in
        `Run.inputs`: of NumPy, or what converts to it, as tensors of PyTorch on a CPU do. All is computed from float64 values. Returns
        an xarray.Dataset, or Fields, with the unknowns (sample, t, x[, y]), residual_over_rate and error_estimate (sample), and in
        attrs the verdict: trusted, doubtful or failed. One sample has an axis of samples too. There is no gradient with respect to
        inputs. Other options are the flags of `pihc predict`."""
        given = inputs if isinstance(inputs, Mapping) else {"u0": inputs}
        if len(given) == 1 and list(self.inputs) == ["initial"]:
            (name,) = given
            if name not in ("initial", "u0", *(u + "0" for u in self.unknowns)):
                raise Error(f"no input is called {name!r}", f"the one input of this run is {self.unknowns[0]}0, its initial condition")
        for name, a in given.items():
            self._placed(name, a, anywhere=grid is not None)
        args = flags(dict(grid=grid, passes=passes, points=points, tolerance=tolerance, until=until, last=last, remove_mean=remove_mean, **options))
        answer, arrays = self._server.ask("predict", args, {name: _numbers(name, a) for name, a in given.items()})
        for line in answer.get("warnings", []):
            warnings.warn(in_python(line), Warning, stacklevel=2)
        return fields(arrays, {"title": self.title, "verdict": answer["verdict"], "run": os.fspath(self.path)}, self.units)

    __call__ = predict

    def _placed(self, name: str, a: Any, anywhere: bool) -> None:
        """An error for an xarray.DataArray with the axes in another order, or on other points."""
        dims = [d for d in getattr(a, "dims", ()) if d in self.axes] if hasattr(a, "coords") else []
        if dims != [axis for axis in self.axes if axis in dims]:
            raise Error(f"{name} has dimensions {tuple(a.dims)}", f"want the axes last, in the order {', '.join(self.axes)}: transpose it")
        if dims and tuple(a.dims[-len(dims) :]) != tuple(dims):
            raise Error(f"{name} has dimensions {tuple(a.dims)}", f"want the axes last, as in (sample, {', '.join(dims)}): transpose it")
        for d in dims:
            given, own = np.asarray(a.coords[d]) if d in a.coords else None, self.coords[d]
            if given is not None and not anywhere and given.shape == own.shape and not np.allclose(given, own, rtol=0, atol=1e-6 * np.ptp(own)):
                raise Error(f"{name} is given on other points of {d} than those of the run", f"run.coords[{d!r}] has them: {name}.interp({d}=run.coords[{d!r}])")

    def score(self, **options: Any) -> dict[str, Any]:
        """Scores on the test split, as `pihc eval --json`, which writes them to metrics.json in place of earlier ones: relative_l2,
        verdict and more."""
        return ask_json(["eval", *flags(options), "--json", "--", os.fspath(self.path)])

    def parameters(self, last: bool = False) -> dict[str, np.ndarray]:
        """Tensors of the best checkpoint, or of the newest, by their names, in (in, out) order."""
        folder = self.path / "checkpoints"
        found = sorted(folder.glob("step-*.json"))[-1:] if last else [f for f in [folder / "best.json"] if f.exists()]
        if not found:
            raise Error(f"{folder} has no checkpoint" + ("" if last else " best.json"), "the training has not come to its first validation; last=True takes the newest checkpoint")
        about = json.loads(found[0].read_text(encoding="utf-8"))
        path = folder / pathlib.PurePath(about["tensors"]).name
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != about["tensors_hash"]:
            raise Error(f"{path} is not the file that {found[0].name} was written with", "it is damaged or was replaced; last=True takes the newest checkpoint")
        return {name: a for name, a in read_safetensors(data).items() if name.startswith("params.")}

    def log(self) -> list[dict[str, Any]]:
        """The log of the training, a dict for each line."""
        path = self.path / "log.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        return [loads(line) for line in lines if line]

    def report(self, path: Path | None = None, *, force: bool = False, progress: Progress = None, **options: Any) -> str:
        """The report, a page of HTML, also written to path if given, with figures and their data in a folder beside it. It scores the
        run first. An earlier report there is replaced; another file is an error, unless force=True replaces it. Without a path the
        page stands alone: without links to data, and with maps where scripts run."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(path) if path is not None else pathlib.Path(folder) / "report.html"
            command(["report", *flags(dict(options, out=out, force=force)), "--", os.fspath(self.path)], progress)
            page = out.read_text(encoding="utf-8")
            return page if path is not None else _alone(page)

    def _repr_html_(self) -> str:
        if not (self.path / "metrics.json").exists():  # a report may take long
            return f"<pre>{html.escape(repr(self))}\nscore() scores it, after which this is its report</pre>"
        state = [(f.stat().st_mtime_ns, f.stat().st_size) for f in [self.path / "log.jsonl", self.path / "checkpoints"] if f.exists()]
        if self._page is None or self._page[0] != state:
            try:
                self._page = (state, self.report(progress=False))
            except Error as e:
                return f"<pre>{html.escape(repr(self))}\nthere is no report: {html.escape(str(e))}</pre>"
        return f'<iframe srcdoc="{html.escape(self._page[1])}" style="width: 100%; height: 40em; border: 0"></iframe>'


def _alone(page: str) -> str:
    """A page without links to files beside it, and without the images of its maps for browsers that run no scripts."""
    page = re.sub(r"<noscript><img[^>]*></noscript>\n?", "", page)
    return re.sub(r'(?:<p class="fine">)?<a href="report-figures/[^"]*">Data</a>(?:</p>)?', "", page)


def _expect_run(path: pathlib.Path) -> None:
    """An error for folders that are nearly a run: what init made, and a folder of several runs."""
    spec = path / "spec.yaml"
    if spec.exists() and not any((path / name).exists() for name in ("run.json", "log.jsonl", "checkpoints")):
        at = os.fspath(spec)
        raise Error(f"{path} holds a spec that was not trained", f"run = pihc.train({at!r}, RUN, data=pihc.generate({at!r}, DATA)), or pihc.reproduce({at!r}, OUT), which trains and scores every method")
    if path.is_dir() and not spec.exists():
        inside = sorted(f.parent.name for f in path.glob("*/spec.yaml") if (f.parent / "run.json").exists())
        if inside:
            raise Error(f"{path} is not a run folder: it has no spec.yaml", f"it has runs inside: {', '.join(inside)}")


def _numbers(name: str, a: Any) -> np.ndarray:
    """An array of real numbers."""
    if np.ma.is_masked(a):
        raise Error(f"{name} has masked elements", "every point wants a value: fill them")
    try:
        out = np.asarray(a)
    except (ValueError, TypeError, RuntimeError) as e:
        raise Error(f"{name} is no array: {e}", f"{name}.detach().cpu().numpy() is one" if hasattr(a, "detach") else "") from None
    if out.dtype.kind not in "fiu":
        raise Error(f"{name} has elements of type {out.dtype}", "want real numbers, as of numpy.float64")
    if out.size == 0:
        raise Error(f"{name} has shape {out.shape}: there is nothing in it", "want at least one sample")
    return out


def read_safetensors(data: bytes) -> dict[str, np.ndarray]:
    """Tensors of a safetensors file by name."""
    kinds = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}
    length = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + length])
    head.pop("__metadata__", None)
    out = {}
    for name, t in head.items():
        a, b = t["data_offsets"]
        out[name] = np.frombuffer(data[8 + length + a : 8 + length + b], kinds[t["dtype"]]).reshape(t["shape"]).copy()
    return out
