"""The kernels that the compiled engine evaluates, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ._points import Floats

Family = Literal["linear", "polynomial", "rbf", "laplacian", "euclidean_laplacian", "sigmoid"]


@dataclass(frozen=True, eq=False)
class PairwiseForm:
    r"""A kernel written as one of six formulas of scaled points.

    .. math:: k(x, y) = \mathrm{factor} \cdot f(x \odot \mathrm{scales}, y \odot \mathrm{scales})

    ======================  =====================================================
    family                  f(x, y)
    ======================  =====================================================
    "linear"                :math:`\langle x, y \rangle`
    "polynomial"            :math:`(\gamma \langle x, y \rangle + c)^{degree}`
    "rbf"                   :math:`\exp(-\gamma \lVert x - y \rVert_2^2)`
    "laplacian"             :math:`\exp(-\gamma \lVert x - y \rVert_1)`
    "euclidean_laplacian"   :math:`\exp(-\gamma \lVert x - y \rVert_2)`
    "sigmoid"               :math:`\tanh(\gamma \langle x, y \rangle + c)`
    ======================  =====================================================

    Parameters
    ----------
    family : str
        One of the names above.
    gamma, coef0 : float
        :math:`\gamma` and c.
    degree : int
        Power of the polynomial, at least 0.
    factor : float
        Positive multiple.
    scales : ndarray of shape (d,) or None
        One scale for each feature; None means 1.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> form = (2.0 * RBF(0.5)).pairwise_form()
    >>> form.family, form.gamma, form.factor
    ('rbf', 0.5, 2.0)
    """

    family: Family
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3
    factor: float = 1.0
    scales: Floats | None = None

    @property
    def is_stationary(self) -> bool:
        """Whether the value depends on the difference of the points only."""
        return self.family in ("rbf", "laplacian", "euclidean_laplacian")

    def values(self, base: Floats) -> Floats:
        """Return kernel values from what they are made of.

        Parameters
        ----------
        base : ndarray
            Dot products, or for the radial families squared distances; those of "laplacian" are
            distances in the city-block metric.
        """
        if self.family == "linear":
            values = base
        elif self.family == "polynomial":
            values = integer_power(self.gamma * base + self.coef0, self.degree)
        elif self.family == "sigmoid":
            values = np.tanh(self.gamma * base + self.coef0)
        elif self.family == "euclidean_laplacian":
            values = np.exp(-self.gamma * np.sqrt(base))
        else:
            values = np.exp(-self.gamma * base)
        return values if self.factor == 1.0 else self.factor * values

    def diagonal(self, points: Floats) -> Floats:
        """Return k(x, x) of points that have been scaled already."""
        if self.is_stationary:
            return np.full(len(points), self.factor)
        return self.values(np.einsum("ij,ij->i", points, points))

    def times(self, factor: float) -> PairwiseForm:
        """Return the form of a positive multiple."""
        return replace(self, factor=self.factor * factor)

    def scaled(self, scales: Floats) -> PairwiseForm:
        """Return the form for points whose features are multiplied by `scales` beforehand."""
        return replace(self, scales=scales if self.scales is None else scales * self.scales)

    def power(self, exponent: int) -> PairwiseForm | None:
        """Return the form of an integer power, or None where it leaves the six families."""
        raised = replace(self, factor=self.factor**exponent)
        if self.family == "linear":
            return replace(raised, family="polynomial", gamma=1.0, coef0=0.0, degree=exponent)
        if self.family == "polynomial":
            return replace(raised, degree=self.degree * exponent)
        if self.is_stationary:
            return replace(raised, gamma=self.gamma * exponent)
        return None


def integer_power(values: Floats, exponent: int) -> Floats:
    """Raise every entry to an integer power by repeated squaring, much faster than ``pow``."""
    if exponent == 0:
        return np.ones_like(values)
    if exponent == 1:
        return values
    square = integer_power(values, exponent // 2) ** 2
    return square * values if exponent % 2 else square
