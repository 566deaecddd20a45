"""Which machine is fitted in which way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.cells import CellOneClassSVM, CellSVC, CellSVR
from mercer.distributed._cascade import fit_cascade
from mercer.distributed._cells import fit_cells
from mercer.distributed._low_rank import fit_low_rank
from mercer.lowrank import NystroemSVC, NystroemSVR
from mercer.spheres import OneClassSVM
from mercer.svm import SVC, SVR

WAYS: dict[type, Callable[..., None]] = {
    CellSVC: fit_cells,
    CellSVR: fit_cells,
    CellOneClassSVM: fit_cells,
    NystroemSVC: fit_low_rank,
    NystroemSVR: fit_low_rank,
    SVC: fit_cascade,
    SVR: fit_cascade,
    OneClassSVM: fit_cascade,
}
"""A way is given an unfitted copy, Blocks, Facts, Cluster and a function that prints a line."""


def way_of(estimator: Any) -> Callable[..., None]:
    """Return how a machine is fitted to rows on many computers.

    Examples
    --------
    >>> way_of(SVC()).__name__
    'fit_cascade'
    """
    for kind, way in WAYS.items():
        if isinstance(estimator, kind):
            return way
    names = [kind.__name__ for kind in WAYS]
    raise TypeError(
        f"Distributed takes {', '.join(names[:-1])} or {names[-1]}; got {type(estimator).__name__}."
    )
