"""Fitted machines as sums of kernel values, with everything that the values are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.inspection.expansion import kernel_expansion
from mercer.kernels import Kernel, Linear
from mercer.spheres import SVDD, NearestHypersphereClassifier

Floats = NDArray[np.float64]

ON_THE_SURFACE = 1e-12
"""Share of the largest k(x, x) by which a row may miss a ball's surface and still be on it."""


@dataclass(frozen=True, eq=False)
class Expansion:
    r"""Values of one or several machines.

    .. math:: f_r(x) = \sum_j c_{rj} \, k(x - o, z_j) + q \, k(x - o, x - o) + b_r

    Parameters
    ----------
    kernel : Kernel
    points : ndarray of shape (m, d)
        The z_j, at least one.
    coefficients : ndarray of shape (n_machines, m)
    constants : ndarray of shape (n_machines,)
    diagonal_factor : float
        q; -1 for machines that measure the distance to a centre, else 0. The values of
        `NearestHypersphereClassifier` are minus the squared distances to its centres.
    rounding : float
        Values of one class no larger than this count as 0.
    highest : float
        The value at a ball's centre. With a kernel that is not positive semi-definite some rows
        would come out nearer than that.
    origin : ndarray of shape (d,)
        o, which is 0 but for distances of a linear kernel: near the centres nothing cancels.
    """

    kernel: Kernel
    points: Floats
    coefficients: Floats
    constants: Floats
    diagonal_factor: float
    rounding: float
    highest: float
    origin: Floats

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
        points = dense(found.points)
        coefficients, n_features = found.coefficients, int(model.n_features_in_)
        if not len(points):
            points, coefficients = np.zeros((1, n_features)), np.zeros((len(coefficients), 1))
        rounding, origin = getattr(model, "_rounding", 0.0), np.zeros(n_features)
        highest = np.inf
        if isinstance(model, SVDD | NearestHypersphereClassifier):
            is_one = isinstance(model, SVDD)
            balls = model._balls if is_one else model._centres
            # as they are there: a fit may have found them with rows of single precision
            constants = -balls.squared_norms
            if isinstance(found.kernel, Linear):
                halves = 0.5 * coefficients
                origin = (halves @ points).mean(axis=0)
                points = points - origin
                constants = -_squared_lengths(found.kernel, points, halves)
            if is_one:
                highest = float(model.radius_**2)
                constants = constants + highest
                rounding = ON_THE_SURFACE * balls.scale
        else:
            constants = np.asarray(model.intercept_, dtype=np.float64)
            if isinstance(found.kernel, Linear):  # the weights as they are, rounded once only
                points, coefficients = dense(model.coef_), np.eye(len(constants))
        q = found.diagonal_factor
        return cls(found.kernel, points, coefficients, constants, q, rounding, highest, origin)

    def values(self, X: Any) -> Floats:
        """Return the values in double precision, without the engine: what an export must give."""
        X = X - self.origin
        values = self.kernel(X, self.points) @ self.coefficients.T + self.constants
        return np.asarray(values + self.diagonal_factor * self.kernel.diag(X)[:, None])


def _squared_lengths(kernel: Kernel, points: Floats, coefficients: Floats) -> Floats:
    """Return the squared lengths of sums of points in feature space."""
    return np.einsum("rj,rj->r", coefficients @ kernel(points), coefficients)


def dense(points: Any) -> Floats:
    """Return points as an array."""
    return points.toarray() if sp.issparse(points) else np.asarray(points)
