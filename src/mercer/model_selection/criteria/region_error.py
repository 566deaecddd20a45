"""Errors of a one-class machine on targets left out and on artificial outliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from mercer._folds import regression_splits
from mercer._inputs import checked_rows
from mercer._threads import holds_blas
from mercer.machines import KernelData, RegionMachine
from mercer.model_selection.criteria.criterion import Criterion
from mercer.model_selection.criteria.validation_error import (
    HeldOut,
    HeldOutPoints,
    Rate,
    judge,
    on_folds,
)
from mercer.spheres import SVDD, OneClassSVM, artificial_outliers

Floats = NDArray[np.float64]
Splits = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]

N_OUTLIERS = 1000
"""Artificial outliers that are drawn where none are given."""

MIX = 0.5
"""Weight of the error on targets."""

SLOPE = 5.0
"""Of the sigmoid that stands for the step."""


@holds_blas
def region_error(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    outliers: Any = None,
    cv: Any = 5,
    mix: float = MIX,
    slope: float = SLOPE,
    gradient: bool = True,
) -> Criterion:
    r"""Share of targets outside a region and of outliers inside, with sigmoids for the steps.

    .. math::

        T = \frac{\lambda}{N}\sum_{i=1}^N\frac{1}{1 + \exp(A f_i/s)}
            + \frac{1 - \lambda}{M}\sum_{j=1}^M\frac{1}{1 + \exp(-A f_j/s)}, \qquad
        s^2 = \frac1N\sum_{i=1}^N f_i^2

    with the decision values :math:`f_i` of the targets, each by the machine trained without its
    fold, and :math:`f_j` of outliers drawn evenly from the box around the data, of which each
    machine judges its part. Neither sum alone would do: the first calls for a kernel so wide that
    the region holds everything, the second for one so narrow that it holds nothing. Decision values
    are measured by their size on the targets, because that depends on the kernel. The gradient is
    exact as long as no row meets or leaves a bound; nu and C stay as they are.

    Parameters
    ----------
    model : SVDD or OneClassSVM
        Fitted.
    X : array-like
        The training data.
    y : array-like or None, default=None
        For `SVDD`, -1 marks rows that are known outliers; they count with the others.
    outliers : array-like or None, default=None
        Points that the region should not hold; None draws 1000, always the same.
    cv : int, splitter or iterable, default=5
        Folds; a number is that of shuffled folds.
    mix : float, default=0.5
        :math:`\lambda`, the weight of the error on targets.
    slope : float, default=5.0
        A.
    gradient : bool, default=True
        Whether the gradient is wanted.

    Returns
    -------
    Criterion
        With a gradient in the parameters of the kernel.

    References
    ----------
    D. M. J. Tax, R. P. W. Duin, "Uniform object generation for optimizing one-class classifiers",
    Journal of Machine Learning Research 2 (2001).

    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 3.4 and, for the sigmoid, algorithm 6.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OneClassSVM
    >>> from mercer.model_selection import region_error
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 200)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> errors = [
    ...     region_error(OneClassSVM(nu=0.1, gamma=gamma).fit(ring), ring).value
    ...     for gamma in (1e-3, 5.0, 1e5)  # too wide, about right, too narrow
    ... ]
    >>> errors[1] < min(errors[0], errors[2])
    True
    """
    if not isinstance(model, SVDD | OneClassSVM):
        raise TypeError(
            "region_error needs a fitted mercer.SVDD or mercer.OneClassSVM; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)
    X = checked_rows(model, X, **model._data_format())
    if X.shape[0] != model.shape_fit_[0]:
        raise ValueError("A criterion needs the rows on which the model was fitted.")
    signs = np.ones(X.shape[0]) if y is None else np.asarray(y, dtype=np.float64)
    check_consistent_length(X, signs)
    if outliers is None:
        outliers = drawn_outliers(model, X)
    points = checked_rows(model, outliers, **model._data_format())
    machine = region_machine(
        model, KernelData(model.kernel_, X), signs, np.ones(X.shape[0]), tol=min(model.tol, 1e-6)
    )
    group = with_outliers(on_folds(machine, regression_splits(cv, signs)), points)
    rate = region_rate(mix, slope, np.ones(sum(part.targets.size for part in group)))
    return Criterion(*judge(group, rate, gradient), machine.names)


def drawn_outliers(model: Any, X: Any) -> Floats:
    """Return points drawn evenly from the box around the data."""
    if model._is_pairwise():
        raise ValueError(
            "Artificial outliers need the data themselves, not a precomputed kernel; give outliers."
        )
    return artificial_outliers(X, N_OUTLIERS, random_state=0)


def region_machine(
    model: Any, data: KernelData, signs: Floats, weights: Floats, **options: Any
) -> RegionMachine:
    """Return the machine that an estimator stands for, still to be trained."""
    is_ball = isinstance(model, SVDD)
    rows = np.arange(signs.size)
    return RegionMachine(data, rows, signs, weights, model._program, is_ball=is_ball, **options)


def with_outliers(parts: Sequence[HeldOut], outliers: Any) -> list[HeldOut]:
    """Return the rows left out of each machine, and for each machine a part of the outliers."""
    found = list(parts)
    for k, part in enumerate(parts):
        points = outliers[k :: len(parts)]
        if points.shape[0]:
            found.append(HeldOutPoints(part.machine, points, np.full(points.shape[0], -1.0)))
    return found


def region_rate(mix: float, slope: float, weights: Floats) -> Rate:
    """Return the criterion as a function of decision values; each counts with its weight."""

    def rate(decision: Floats, signs: Floats, gradient: bool) -> tuple[float, Floats]:
        inside = signs > 0
        share = np.where(inside, weights, 0.0) / weights[inside].sum()
        scale = float(np.sqrt(share @ decision**2)) or 1.0
        margins = decision / scale
        outside = np.where(inside, 0.0, weights) / max(float(weights[~inside].sum()), 1e-300)
        factors = mix * share + (1.0 - mix) * outside
        wrong = expit(-slope * signs * margins)
        pull = -slope * signs * wrong * (1.0 - wrong) * factors
        through_scale = float(pull @ margins) * share * decision / scale**2
        return float(factors @ wrong), pull / scale - through_scale

    return rate
