"""What the program says is wrong, and what it warns of."""

from __future__ import annotations


class Error(RuntimeError):
    """What the program says is wrong, in one line or, of mistakes in files, with their lines. `hint` is what to do, or ""."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message + (f"\nhint: {hint}" if hint else ""))
        self.message = message
        self.hint = hint


class Warning(UserWarning):  # noqa: A001
    """What the program warns of."""
