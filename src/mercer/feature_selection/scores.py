"""Scores of single features, for scikit-learn's ``SelectKBest`` and as baselines."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import kendalltau, rankdata
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import type_of_target

Floats = NDArray[np.float64]


def fisher_score(X: Any, y: Any) -> Floats:
    r"""Score each feature by the squared distance of the class means over the variances.

    .. math:: F_i = \frac{(\mu_i^+ - \mu_i^-)^2}{(\sigma_i^+)^2 + (\sigma_i^-)^2}

    for two classes, whatever their sizes. Of more than two, numerators and denominators are each
    summed over all pairs of classes.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Any number of classes.

    Returns
    -------
    ndarray of shape (n_features,)
        0 for a constant feature, infinity where only the variances are 0.

    Notes
    -----
    The source has the difference of the variances below the line, which must be their sum, and the
    distance of the means without the square, which would make the score depend on the unit of a
    feature; the program that it used, Gist, has both as here.

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 4.1.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.feature_selection import fisher_score
    >>> fisher_score(*load_iris(return_X_y=True)).round(2)
    array([ 2.43,  1.  , 24.08, 19.59])
    """
    X, y = _checked(X, y)
    means, variances, _ = _class_moments(X, y)
    n_classes = len(means)
    # The sum over pairs of squared differences is so many times that of deviations from the mean.
    between = n_classes * ((means - means.mean(axis=0)) ** 2).sum(axis=0)
    return _ratio(between, max(1, n_classes - 1) * variances.sum(axis=0))


def golub_score(X: Any, y: Any) -> Floats:
    r"""Score each feature by the signal-to-noise ratio of two classes.

    .. math:: G_i = \frac{|\mu_i^+ - \mu_i^-|}{\sigma_i^+ + \sigma_i^-}

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes; with more, the largest ratio of one class against the rest counts.

    Returns
    -------
    ndarray of shape (n_features,)

    References
    ----------
    T. R. Golub et al., "Molecular classification of cancer", Science 286 (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import golub_score
    >>> golub_score([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0], [6.0, 1.0]], [0, 0, 1, 1])
    array([2., 0.])
    """
    X, y = _checked(X, y)
    classes = np.unique(y)
    sides = [y == c for c in (classes[1:] if classes.size == 2 else classes)]
    scores = []
    for side in sides:
        means, variances, _ = _class_moments(X, side)
        scores.append(_ratio(np.abs(means[0] - means[1]), np.sqrt(variances).sum(axis=0)))
    return np.max(scores, axis=0)


def pearson_score(X: Any, y: Any) -> Floats:
    r"""Score each feature by its correlation with the target.

    .. math:: R_i = \frac{|\mathrm{cov}(x_i, y)|}{\sqrt{\mathrm{var}(x_i)\,\mathrm{var}(y)}}

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Numbers (floating point) or classes (anything else). With more than two classes it is the
        multiple correlation with them: the root of the share of variance that they explain.

    Returns
    -------
    ndarray of shape (n_features,)
        Between 0 and 1.

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 4.1.3.

    Examples
    --------
    >>> from mercer.feature_selection import pearson_score
    >>> pearson_score([[0.0, 3.0], [1.0, 1.0], [2.0, 3.0]], [10.0, 20.0, 30.0])
    array([1., 0.])
    """
    X, y = _checked(X, y)
    if y.dtype.kind == "f" or (y.dtype.kind in "biu" and type_of_target(y) == "binary"):
        target = y.astype(np.float64) - y.mean()
        centred = X - X.mean(axis=0)
        products = np.abs(target @ centred)
        return _ratio(products, np.sqrt((centred**2).sum(axis=0) * (target @ target)))
    means, variances, shares = _class_moments(X, y)
    between = shares @ (means - shares @ means) ** 2
    return np.sqrt(_ratio(between, between + shares @ variances))


def spearman_score(X: Any, y: Any) -> Floats:
    r"""Score each feature by its rank correlation with the target.

    .. math:: \rho_i = \frac{|\mathrm{cov}(\mathrm{rank}(x_i), \mathrm{rank}(y))|}
       {\sqrt{\mathrm{var}(\mathrm{rank}(x_i))\,\mathrm{var}(\mathrm{rank}(y))}}

    Equal values have the mean of their ranks. So any rising function of a feature has its score,
    and outliers count no more than others.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Numbers (floating point) or classes (anything else). With more than two classes it is the
        multiple correlation of the ranks with them, as in `pearson_score`.

    Returns
    -------
    ndarray of shape (n_features,)
        Between 0 and 1.

    References
    ----------
    C. Spearman, "The proof and measurement of association between two things", American Journal of
    Psychology 15 (1904).

    Examples
    --------
    >>> from mercer.feature_selection import spearman_score
    >>> spearman_score([[0.0, 3.0], [1.0, 1.0], [20.0, 3.0]], [10.0, 20.0, 21.0])
    array([1., 0.])
    """
    X, y = _checked(X, y)
    return pearson_score(rankdata(X, axis=0), rankdata(y) if y.dtype.kind == "f" else y)


def kendall_score(X: Any, y: Any) -> Floats:
    r"""Score each feature by how many pairs of rows it orders as the target does.

    .. math:: \tau_i = \frac{|P - Q|}{\sqrt{(P + Q + T_x)(P + Q + T_y)}}

    with the numbers P of pairs in the same order, Q of those in the opposite one, and T of those
    that are equal in the feature only or in the target only (Kendall's tau-b).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Numbers (floating point) or classes (anything else). With more than two classes, which have
        no order, the largest value of one class against the rest counts.

    Returns
    -------
    ndarray of shape (n_features,)
        Between 0 and 1.

    References
    ----------
    M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945).

    Examples
    --------
    >>> from mercer.feature_selection import kendall_score
    >>> kendall_score([[0.0, 3.0], [1.0, 1.0], [20.0, 2.0]], [10.0, 20.0, 21.0]).round(2)
    array([1.  , 0.33])
    """
    X, y = _checked(X, y)
    targets = [y]
    if y.dtype.kind != "f":
        classes = np.unique(y)
        targets = [y == c for c in (classes[1:] if classes.size == 2 else classes)]
    # SciPy has no answer for a constant, which orders nothing.
    taus = [[kendalltau(column, target).statistic for column in X.T] for target in targets]
    return np.nan_to_num(np.abs(np.array(taus, dtype=np.float64))).max(axis=0)


def _checked(X: Any, y: Any) -> tuple[Floats, Any]:
    X, y = check_X_y(X, y, accept_sparse=True, y_numeric=False)
    return (X.toarray() if sp.issparse(X) else X).astype(np.float64, copy=False), np.asarray(y)


def _class_moments(X: Floats, y: Any) -> tuple[Floats, Floats, Floats]:
    """Return means and variances of each class, and its share of the rows."""
    classes, counts = np.unique(y, return_counts=True)
    means = np.array([X[y == c].mean(axis=0) for c in classes])
    variances = np.array([X[y == c].var(axis=0) for c in classes])
    return means, variances, counts / len(y)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return the quotient; 0 / 0 is 0."""
    rounding = np.finfo(np.float64).eps * np.abs(above).max(initial=0.0)
    quotient = np.full(above.shape, np.inf)
    np.divide(above, below, out=quotient, where=below > 0)
    quotient[(above <= rounding) & (below == 0)] = 0.0
    return quotient
