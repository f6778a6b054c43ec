"""pihc: networks that solve a partial differential equation for any initial condition, trained on the equation.

    run = pihc.open("runs/moe")
    u = run(u0)

Functions run the program pihc, which the wheel brings. Arguments are its flags, with _ for -: `pihc help train` describes them.
"""

from importlib.metadata import PackageNotFoundError, version

from ._check import Checked, check
from ._commands import generate, init, invert, open, reproduce, solve, train
from ._errors import Error, Warning
from ._run import Fields, Run

for _public in (Error, Warning, Run, Fields, Checked):
    _public.__module__ = "pihc"

try:
    __version__ = version("pihc")
except PackageNotFoundError:  # used from its sources
    __version__ = "0"

__all__ = ["Checked", "Error", "Fields", "Run", "Warning", "check", "generate", "init", "invert", "open", "reproduce", "solve", "train"]
