"""Rows that are far from the others of their class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from mercer.trees._similarity import similarity


def outlier_measure(forest: Any, X: Any, y: Any, *, kind: str = "all") -> NDArray[np.float64]:
    r"""Tell how far each row lies from the other rows of its class, seen by a forest.

    .. math:: u_i = \frac{n}{\sum_{j:\, y_j = y_i} p_{ij}^2}, \qquad
              o_i = \frac{u_i - \operatorname{median} u}{\operatorname{mad} u},

    with median and mean absolute deviation from it over the rows of the class. Values above about
    10 deserve a look. The matrix of proximities is never held as a whole.

    Parameters
    ----------
    forest : estimator
        A fitted forest of scikit-learn.
    X : array-like of shape (n, n_features)
        For "oob" and "gap" the rows that the forest was fitted to.
    y : array-like of shape (n,)
        Classes.
    kind : {"all", "oob", "gap"}, default="all"
        See `proximity`.

    Returns
    -------
    ndarray of shape (n,)
        Infinite for a row that shares no leaf with its class; 0 in a class whose rows are alike.

    References
    ----------
    L. Breiman, A. Cutler, *Random forests* (software and manual, 2004).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from mercer.trees import outlier_measure
    >>> X, y = load_iris(return_X_y=True)
    >>> y[0] = 2  # a setosa by mistake among virginica
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> measure = outlier_measure(forest, X, y)
    >>> np.argsort(-measure)[:3].tolist()  # 70 and 83 are known to be odd
    [70, 83, 0]
    """
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    classes, codes = np.unique(labels, return_inverse=True)
    pairs = similarity(forest, X, None, kind)
    closeness = np.empty(labels.size)
    for some, block in pairs.blocks():
        rows = np.repeat(codes[some], np.diff(block.indptr))
        block.data = np.where(codes[block.indices] == rows, block.data**2, 0.0)
        closeness[some] = block.sum(axis=1)
    with np.errstate(divide="ignore"):
        raw = labels.size / closeness
    measure = np.zeros(labels.size)
    for code in range(classes.size):
        own = codes == code
        far = raw[own] - np.median(raw[own])
        spread = np.abs(far[np.isfinite(far)]).mean() if np.isfinite(far).any() else 0.0
        measure[own] = far / spread if spread > 0 else np.where(np.isfinite(far), 0.0, np.inf)
    return measure
