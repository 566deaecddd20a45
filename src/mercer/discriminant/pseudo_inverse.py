"""Least squares with labels as targets."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from mercer._inputs import checked_weights, fit_context
from mercer._sklearn import Interval
from mercer._threads import holds_blas
from mercer.discriminant._linear import LinearClassifier, with_constant


class PseudoInverseClassifier(LinearClassifier):
    r"""Linear classifier by least squares, through the pseudo-inverse.

    With rows extended by a component 1 and targets y of +1 and -1,

    .. math:: w = X^{+} y = \arg\min_w \|Xw - y\|^2,

    the shortest such w where there are several (more features than rows). For two classes of equal
    size its plane is parallel to that of linear discriminant analysis. Rows far on the right side
    pull the plane too, so that it may miss rows that could be separated. More than two classes are
    one machine for each class against the rest.

    Use it as the simplest linear machine to compare with: it has nothing to choose and is solved at
    once, in the rows times the square of the columns (of many columns, the other way round).

    Parameters
    ----------
    rtol : float, default=None
        Singular values below this share of the largest count as 0; None is a share of rounding.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_machines, n_features)
    intercept_ : ndarray of shape (n_machines,)
    rank_ : int
        Of the extended rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    mercer.discriminant.AlphaLMS : Row by row.
    mercer.SVC : With a margin, and with any kernel.

    References
    ----------
    A. Hopfgartner, M. Rupp, course text, FH Vorarlberg 2021, section 6.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.discriminant import PseudoInverseClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> PseudoInverseClassifier().fit(X, y == 0).score(X, y == 0)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rtol": [Interval(Real, 0, 1, closed="left"), None],
    }

    def __init__(self, *, rtol: float | None = None) -> None:
        self.rtol = rtol

    @fit_context(prefer_skip_nested_validation=True)
    @holds_blas
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the least-squares problem.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the squared errors.

        Returns
        -------
        PseudoInverseClassifier
        """
        X, signs = self._signs(X, y)
        root = np.sqrt(checked_weights(sample_weight, X))[:, None]
        rows = root * with_constant(X)
        weights, _, self.rank_, _ = np.linalg.lstsq(rows, root * signs, rcond=self.rtol)
        return self._keep(weights)
