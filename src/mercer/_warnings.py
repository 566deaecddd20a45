"""Warnings that point at the line of the user."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_BETWEEN = {"mercer", "sklearn", "joblib"}
"""Packages whose lines tell a user nothing."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning for the line outside these packages from which the call came.

    Parameters
    ----------
    message : str
    category : type, default=UserWarning
    """
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _package(frame) in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.split(".")[0]
