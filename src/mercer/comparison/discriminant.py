"""The linear discriminant with shrinkage, for tables that are wider than long too."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis


class WideDiscriminant(LinearDiscriminantAnalysis):
    r"""Return what ``LinearDiscriminantAnalysis("lsqr", "auto")`` does, at a price for wide tables.

    Shrunk covariances of the classes add up to :math:`D + U^\top U` with a diagonal matrix D and
    one row of U for each of the table. With fewer rows than columns that is solved by the matrix
    :math:`I + U D^{-1} U^\top` (Woodbury), with :math:`O(n^2 d)` operations in place of
    :math:`O(d^3)`. The amount of shrinkage is that of Ledoit and Wolf, "A well-conditioned
    estimator for large-dimensional covariance matrices" (2004). Wide models have no
    ``covariance_``, which would be a matrix of all pairs of columns.

    Parameters
    ----------
    priors : sequence of float or None
        Of the classes; None takes their shares of the rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(20, 50)), np.repeat([0, 1], 10)
    >>> wide, usual = WideDiscriminant(), LinearDiscriminantAnalysis("lsqr", "auto")
    >>> bool(np.allclose(wide.fit(X, y).coef_, usual.fit(X, y).coef_))
    True
    """

    def __init__(self, priors: Any = None) -> None:
        super().__init__("lsqr", "auto", priors=priors)

    def _solve_lstsq(self, X: Any, y: Any, **settings: Any) -> None:
        """Find the coefficients; the class above calls this from its ``fit``."""
        parts = [_shrunk(X[y == name]) for name in self.classes_] if len(X) < X.shape[1] else []
        shares = list(zip(self.priors_, parts))
        diagonal = sum(share * part.diagonal for share, part in shares)
        if not parts or not np.all(diagonal > 0):  # nothing is shrunk where rows are all equal
            super()._solve_lstsq(X, y, **settings)
            return
        self.means_ = np.array([X[y == name].mean(axis=0) for name in self.classes_])
        rows = np.vstack([np.sqrt(share) * part.rows for share, part in shares])
        over, scaled = self.means_ / diagonal, rows / diagonal
        inner = np.eye(len(rows)) + scaled @ rows.T
        self.coef_ = over - np.linalg.solve(inner, rows @ over.T).T @ scaled
        self.intercept_ = np.log(self.priors_) - 0.5 * (self.means_ * self.coef_).sum(axis=1)


class _Shrunk(NamedTuple):
    """The covariance of one class: a diagonal, and rows whose products are added to it."""

    diagonal: NDArray[np.float64]
    rows: NDArray[np.float64]


def _shrunk(X: Any) -> _Shrunk:
    """Shrink the covariance of columns of unit variance, and give them back their own."""
    centred = X - X.mean(axis=0)
    n, d = X.shape
    scale = centred.std(axis=0)
    # What is left of equal numbers is rounding.
    scale[scale <= 10 * np.finfo(np.float64).eps * np.abs(X).max(axis=0)] = 1.0
    Z = centred / scale
    mean_variance = (Z**2).sum() / (n * d)
    squares = ((Z @ Z.T) ** 2).sum() / n**2  # of all elements of the covariance
    fourth = ((Z**2).sum(axis=1) ** 2).sum() / n
    noise = (fourth - squares) / (n * d)
    spread = squares / d - mean_variance**2
    noise = min(noise, spread)
    amount = 0.0 if noise <= 0 else noise / spread
    return _Shrunk(amount * mean_variance * scale**2, np.sqrt((1 - amount) / n) * centred)
