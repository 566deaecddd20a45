"""Fitted machines as sums of kernel values, with everything that the values are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.inspection.expansion import kernel_expansion
from mercer.kernels import Kernel
from mercer.spheres import SVDD, NearestHypersphereClassifier

Floats = NDArray[np.float64]

ON_THE_SURFACE = 1e-12
"""Share of the largest k(x, x) by which a row may miss a ball's surface and still be on it."""


@dataclass(frozen=True, eq=False)
class Expansion:
    r"""Values of one or several machines.

    .. math:: f_r(x) = \sum_j c_{rj} \, k(x, z_j) + q \, k(x, x) + b_r

    Parameters
    ----------
    kernel : Kernel
    points : ndarray of shape (m, d)
        The z_j.
    coefficients : ndarray of shape (n_machines, m)
    constants : ndarray of shape (n_machines,)
    diagonal_factor : float
        q; -1 for machines that measure the distance to a centre, else 0. The values of
        `NearestHypersphereClassifier` are minus the squared distances to its centres.
    rounding : float
        Values of one class no larger than this count as 0.
    """

    kernel: Kernel
    points: Floats
    coefficients: Floats
    constants: Floats
    diagonal_factor: float
    rounding: float

    @classmethod
    def of(cls, model: Any) -> Expansion:
        """Return the expansion of a fitted machine of ours."""
        check_is_fitted(model)
        if model.kernel_.is_pairwise:
            raise ValueError(
                "A precomputed kernel is not known at new rows; fit the machine with a kernel on "
                "the data themselves."
            )
        found = kernel_expansion(model)
        points = found.points.toarray() if sp.issparse(found.points) else np.asarray(found.points)
        rounding = getattr(model, "_rounding", 0.0)
        if isinstance(model, SVDD | NearestHypersphereClassifier):
            balls = model._balls if isinstance(model, SVDD) else model._centres
            halves = 0.5 * found.coefficients
            constants = -_squared_lengths(found.kernel, points, halves)
            if isinstance(model, SVDD):
                constants += model.radius_**2
                rounding = ON_THE_SURFACE * balls.scale
        else:
            constants = np.asarray(model.intercept_, dtype=np.float64)
        return cls(
            found.kernel, points, found.coefficients, constants, found.diagonal_factor, rounding
        )

    def values(self, X: Any) -> Floats:
        """Return the values in double precision, without the engine: what an export must give."""
        values = self.kernel(X, self.points) @ self.coefficients.T + self.constants
        return np.asarray(values + self.diagonal_factor * self.kernel.diag(X)[:, None])


def _squared_lengths(kernel: Kernel, points: Floats, coefficients: Floats) -> Floats:
    """Return the squared lengths of sums of points in feature space."""
    return np.einsum("rj,rj->r", coefficients @ kernel(points), coefficients)
