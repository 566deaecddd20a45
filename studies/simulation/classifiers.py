"""The classifiers that the source compares, as far as it says how they were set."""

from __future__ import annotations

from typing import Any

import numpy as np

SEARCHED = "NHC searched"
METHODS = ("LDA", "QDA", "SVM", "NHC 1/p", "NHC opt", SEARCHED)
"""The last is ours: the width is searched for on the training rows, not taken from the table."""

TOL = 1e-6
"""Of all hyperspheres. Where a width is narrow for the data, as 1 is for standardised columns, the
distances to both centres are nearly the same, and the usual tolerance decides which is less."""

COARSE = 2.0 ** np.arange(-15, 16, 3)
"""Widths of the search, in units of 1/p; a round of finer ones follows."""


def make_classifier(
    method: str,
    X: Any,
    gamma: float | None = None,
    *,
    priors: Any = (0.5, 0.5),
    random_state: Any = None,
) -> Any:
    """Return the classifier: C = 1, balls around all rows of each class.

    Parameters
    ----------
    method : str
        One of `METHODS`, or "SVM" and a word for one whose width is given.
    X : ndarray of shape (n_samples, n_features)
        The rows to learn from, which decide on the width of "SVM", "NHC 1/p" and "NHC searched".
    gamma : float, default=None
        The width of "NHC opt" and of a machine whose width is given.
    priors : sequence of float or None, default=(0.5, 0.5)
        Of "LDA" and "QDA"; None takes the shares of the rows.
    random_state : Generator, default=None
        For the width of "SVM", see `automatic_gamma`.

    Returns
    -------
    Pipeline
    """
    from sklearn.discriminant_analysis import (
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if method == "LDA":
        return make_pipeline(LinearDiscriminantAnalysis(priors=priors))
    if method == "QDA":
        return make_pipeline(QuadraticDiscriminantAnalysis(priors=priors))
    if method.startswith("SVM"):
        from mercer.svm import SVC

        width = gamma
        if method == "SVM":
            width = automatic_gamma(StandardScaler().fit_transform(X), random_state)
        return make_pipeline(StandardScaler(), SVC(C=1.0, gamma=width))
    from mercer.model_selection import PathSearchCV
    from mercer.spheres import NearestHypersphereClassifier

    start = 1 / X.shape[1]
    if method == SEARCHED:
        balls = NearestHypersphereClassifier(cv=None, tol=TOL)
        return make_pipeline(PathSearchCV(balls, {"gamma": start * COARSE}, refine=1, cv=5))
    fixed = start if method == "NHC 1/p" else gamma
    return make_pipeline(NearestHypersphereClassifier(gamma=fixed, cv=None, tol=TOL))


def automatic_gamma(X: Any, random_state: Any = None) -> float:
    r"""Return the width that kernlab chooses by itself.

    .. math:: \gamma = \tfrac12 (1/q_{0.9} + 1/q_{0.1})

    with the quantiles q of the squared distances of two rows. kernlab draws half as many pairs as
    there are rows; without a random state it is all pairs here.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    random_state : Generator, default=None
        Where the pairs are drawn from, with replacement; None takes all pairs.

    Returns
    -------
    float

    References
    ----------
    .. [1] B. Caputo et al., Appearance-based object recognition using SVMs: which kernel should I
       use?, NIPS workshop, 2002; the function ``sigest`` of kernlab.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.simulation.classifiers import automatic_gamma
    >>> automatic_gamma(np.array([[0.0], [1.0], [2.0]])) > 0
    True
    """
    from scipy.spatial.distance import pdist

    if random_state is None:
        lengths = pdist(X, "sqeuclidean")
    else:
        first, second = random_state.integers(0, len(X), size=(2, len(X) // 2))
        lengths = ((X[first] - X[second]) ** 2).sum(axis=1)
    low, high = np.quantile(lengths[lengths > 0], [0.1, 0.9])
    return float((1 / high + 1 / low) / 2)
