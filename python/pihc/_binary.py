"""Finds the program pihc, which the wheel brings into the folder of scripts."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from typing import Iterator

from ._errors import Error


def _folders() -> Iterator[str]:
    yield sysconfig.get_path("scripts")
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else ("nt_user" if os.name == "nt" else "posix_user")
    yield sysconfig.get_path("scripts", user)
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(beside, "bin")  # pip install --target
    yield os.path.join(beside, "Scripts")


def find() -> str:
    """The path of the program: $PIHC_BINARY, else that of this installation, else one of the search path."""
    given = os.environ.get("PIHC_BINARY")
    if given:
        if not os.path.isfile(given):
            raise Error(f"PIHC_BINARY names {given}, which is no file", "the path of the program pihc")
        return given
    name = "pihc.exe" if os.name == "nt" else "pihc"
    for folder in _folders():
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which(name)
    if found is None:
        raise Error("the program pihc is not installed beside this package", "install the wheel of this platform, or set PIHC_BINARY to the path of the program")
    return found
