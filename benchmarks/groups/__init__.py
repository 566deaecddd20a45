"""The groups of the SVC benchmark: each runs its problems and returns tables and records."""

from __future__ import annotations

from collections.abc import Callable

from ..report import GroupResult
from . import fits, growth, large, linear, multiclass, predict
from .options import Options

GROUPS: dict[str, Callable[[Options], GroupResult]] = {
    "speed": fits.speed,
    "hard": fits.hard,
    "multiclass": multiclass.run,
    "linear": linear.run,
    "predict": predict.run,
    "growth": growth.run,
    "large": large.run,
}

__all__ = ["GROUPS", "Options"]
