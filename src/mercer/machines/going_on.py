"""What a fit that goes on from another one need not compute again."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from mercer.machines.kernel_machine import TrainingRows
from mercer.machines.training import TwoClassTasks
from mercer.solvers import StartingPoint

FEWEST_ROWS = 10_000
"""With fewer, nobody notices how long the first gradient takes."""


def mark_of(rows: TrainingRows, tasks: TwoClassTasks, tol: float) -> str | None:
    """Return what tells kernel, rows and machines from all others; None where it is of no use.

    Products with the kernel matrix are known from a fit as exactly as it needed them. A fit to a
    small ``tol`` needs them exactly, and computes them anew.

    Parameters
    ----------
    rows : TrainingRows
    tasks : TwoClassTasks
        The machines.
    tol : float
        Gap at which the fit stops.
    """
    kernel = rows.kernel
    if rows.kept.size < FEWEST_ROWS or kernel.is_pairwise or kernel.pairwise_form() is None:
        return None
    if not rows.gram.allows_single(tol):
        return None
    parts = (kernel, rows.points, tasks.rows if len(tasks) > 1 else None)
    return str(joblib.hash(parts))


def with_image(start: NDArray[np.float64] | None, mark: str, known: Any) -> Any:
    """Return where to start, with its product with the kernel matrix where that is known.

    Without it a fit that goes on begins with the kernel values of all support vectors with all
    rows, which may be half of the work of a whole fit.

    Parameters
    ----------
    start : ndarray or None
        Where the last fit ended, one machine after the other.
    mark : str
        From `mark_of`.
    known : tuple of str and ndarray, or None
        The mark of the last fit, and the product.
    """
    if start is None or known is None or known[0] != mark:
        return start
    image = known[1]
    fits = image.shape == start.shape and np.isfinite(image).all()
    return StartingPoint(start, image) if fits else start
