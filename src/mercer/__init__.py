"""Kernel machines, end to end: one solver, scikit-learn's interface.

The names that are used every day are loaded when they are first asked for, so that
``import mercer`` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "SVC": "mercer.svm",
    "BoundaryDisplay": "mercer.plotting",
    "is_mercer": "mercer.kernels",
    "explicit_map": "mercer.kernels",
}
_MODULES = ("gram", "kernels", "plotting", "problems", "solvers", "svm")

__all__ = [
    "SVC",
    "BoundaryDisplay",
    "__version__",
    "explicit_map",
    "gram",
    "is_mercer",
    "kernels",
    "plotting",
    "problems",
    "solvers",
    "svm",
]

if TYPE_CHECKING:
    from mercer import gram, kernels, plotting, problems, solvers, svm
    from mercer.kernels import explicit_map, is_mercer
    from mercer.plotting import BoundaryDisplay
    from mercer.svm import SVC


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"mercer.{name}")
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
