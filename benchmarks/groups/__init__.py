"""The groups of the benchmarks: each runs its problems and returns tables and records.

A group is imported when it runs: what one needs, another must not ask for, and the instruction set
of mercer's engine is chosen before any of them loads it.
"""

from __future__ import annotations

from importlib import import_module

from ..report import GroupResult
from .options import Options

HOMES = {
    "speed": "fits.speed",
    "hard": "fits.hard",
    "multiclass": "multiclass.run",
    "linear": "linear.run",
    "predict": "predict.run",
    "growth": "growth.run",
    "large": "large.run",
    "svr": "svr.run",
    "spheres": "spheres.run",
    "probability": "probability.run",
    "tuning": "tuning.run",
    "features": "features.run",
    "relevance": "relevance.run",
    "forests": "forests.run",
    "small": "small.run",
    "busy": "busy.run",
    "threads": "threads.run",
    "play": "play.run",
    "compare": "compare.run",
    "scale": "scale.run",
    "distributed": "distributed.run",
    "gpu_fits": "gpu.fits",
    "gpu_first": "gpu.first",
    "gpu_predict": "gpu_use.predict",
    "gpu_machines": "gpu.machines",
    "gpu_agreement": "gpu.agreement",
    "gpu_classes": "gpu.classes",
    "gpu_search": "gpu_use.search",
    "gpu_large": "gpu.large",
}
"""The module and the function of each group."""

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
            "small",
            "busy",
            "threads",
            "play",
            "compare",
            "scale",
            "distributed",
        )
    },
    "gpu": [name for name in HOMES if name.startswith("gpu_")],
}
"""The commands, and the groups that each runs."""


def run_group(name: str, options: Options) -> GroupResult:
    """Import a group and run it."""
    module, function = HOMES[name].split(".")
    return getattr(import_module(f".{module}", __name__), function)(options)


__all__ = ["HOMES", "SUITES", "Options", "run_group"]
