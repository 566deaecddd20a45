"""One unit for all columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.preprocessing import StandardScaler


class CommonScaler(StandardScaler):
    r"""Centre the columns, and divide all of them by one number, the root of their mean variance.

    With means :math:`m_j` and variances :math:`v_j` of :math:`d` columns,

    .. math:: x_j \mapsto (x_j - m_j) \big/ \sqrt{\tfrac{1}{d} \sum\nolimits_k v_k} ,

    so that the mean variance is 1 as after a `StandardScaler`, and columns stay as unequal as they
    are. Columns that do not vary, or beyond what numbers can tell, are scaled as there.

    Use it where all columns have one unit, such as pixels, spectra or genes, so that those that
    hardly vary do not become loud. It costs a pass over the rows.

    Parameters
    ----------
    copy : bool, default=True
        As in scikit-learn's `StandardScaler`.
    with_mean : bool, default=True
        As there.
    with_std : bool, default=True
        As there.

    Attributes
    ----------
    mean_, var_, scale_, n_features_in_, n_samples_seen_
        As there; ``scale_`` has the same number for each column.

    See Also
    --------
    mercer.tables.vectorizer : Columns of all kinds, to numbers.

    Examples
    --------
    >>> from mercer.tables import CommonScaler
    >>> CommonScaler().fit([[0.0, 0.0], [2.0, 14.0]]).scale_.tolist()
    [5.0, 5.0]
    """

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows; `fit` is this from the beginning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        CommonScaler
        """
        super().partial_fit(X, y, sample_weight)
        if self.with_std:
            unit = np.sqrt(np.mean(self.var_))
            if 0 < unit < np.inf:
                self.scale_ = np.full_like(self.var_, unit)
        return self
