"""The groups of the SVM benchmark: each runs its problems and returns tables and records."""

from __future__ import annotations

from collections.abc import Callable

from ..report import GroupResult
from . import (
    busy,
    features,
    fits,
    forests,
    growth,
    large,
    linear,
    multiclass,
    predict,
    probability,
    relevance,
    spheres,
    svr,
    tuning,
)
from .options import Options

GROUPS: dict[str, Callable[[Options], GroupResult]] = {
    "speed": fits.speed,
    "hard": fits.hard,
    "multiclass": multiclass.run,
    "linear": linear.run,
    "predict": predict.run,
    "growth": growth.run,
    "large": large.run,
    "svr": svr.run,
    "spheres": spheres.run,
    "probability": probability.run,
    "tuning": tuning.run,
    "features": features.run,
    "relevance": relevance.run,
    "forests": forests.run,
    "busy": busy.run,
}

SUITES = {
    "svc": ["speed", "hard", "multiclass", "linear", "predict", "growth", "large"],
    **{
        name: [name]
        for name in (
            "probability",
            "svr",
            "spheres",
            "tuning",
            "features",
            "relevance",
            "forests",
            "busy",
        )
    },
}
"""The commands, and the groups that each runs."""

__all__ = ["GROUPS", "SUITES", "Options"]
