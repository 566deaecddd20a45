"""What a feature is worth to the trees of a forest, on rows that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, column_or_1d

from mercer._inputs import class_codes
from mercer.trees._forest import Floats, check_forest, in_bag_counts


@dataclass(frozen=True, eq=False)
class OobImportance:
    """Importances of features, tree by tree.

    Attributes
    ----------
    per_tree : ndarray of shape (n_trees, n_features)
        The loss of each tree; 0 where it does not use the feature.
    importances : ndarray of shape (n_features,)
        Mean over the trees.
    standard_error : ndarray of shape (n_features,)
        Deviation over the trees divided by the root of their number.
    """

    per_tree: Floats

    @property
    def importances(self) -> Floats:
        """Mean over the trees."""
        return self.per_tree.mean(axis=0)

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean over the trees."""
        n_trees = len(self.per_tree)
        ddof = 1 if n_trees > 1 else 0
        return self.per_tree.std(axis=0, ddof=ddof) / np.sqrt(n_trees)


def oob_importance(
    forest: Any, X: Any, y: Any, *, random_state: Any = None, n_jobs: int | None = None
) -> OobImportance:
    r"""Return how many out-of-bag rows each tree gets wrong when a feature is permuted.

    .. math:: \bar D_j = \frac{1}{B} \sum_{b=1}^B \bigl(R_b - R_{b,j}\bigr)

    where :math:`R_b` counts the correct classifications of tree b among its out-of-bag rows, and
    :math:`R_{b,j}` those after the values of feature j have been permuted among these rows. For a
    forest of regression trees R is minus the sum of squared errors. Unlike
    ``feature_importances_`` it does not favour features with many values, and unlike
    ``permutation_importance`` it needs no rows beside the training rows.

    Parameters
    ----------
    forest : estimator
        A forest of scikit-learn, fitted with ``bootstrap=True``.
    X : array-like of shape (n, n_features)
        The rows that it was fitted to.
    y : array-like of shape (n,)
        Their labels or targets.
    random_state : int, RandomState or None, default=None
        Seed of the permutations, one for each pair of a tree and a feature.
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    OobImportance

    References
    ----------
    A. Verikas, *Some other techniques*, lecture, Halmstad University 2013, equation (10).
    L. Breiman, "Random forests", Machine Learning 45 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from mercer.trees import oob_importance
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> y = X[:, 1] > 0
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> found = oob_importance(forest, X, y, random_state=0)
    >>> int(found.importances.argmax()), bool(found.importances[1] > 10 * found.standard_error[1])
    (1, True)
    """
    check_forest(forest)
    rows = np.ascontiguousarray(X, dtype=np.float32)
    outside = in_bag_counts(forest, rows) == 0
    check_consistent_length(rows, y)
    target = column_or_1d(y)
    target = class_codes(target, forest.classes_) if is_classifier(forest) else target
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    losses = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_losses)(tree, rows[out], target[out], [seed, place])
        for place, (tree, out) in enumerate(zip(forest.estimators_, outside.T))
    )
    return OobImportance(np.array(losses))


def permuted(n: int, seed: list[int], feature: int) -> NDArray[np.int64]:
    """Return the order of rows for a tree (which has a seed) and a feature."""
    return np.random.default_rng([*seed, feature]).permutation(n)


def _losses(tree: Any, X: Any, target: Any, seed: list[int]) -> Floats:
    losses = np.zeros(X.shape[1])
    if not len(X):
        return losses
    before = _correct(tree, X, target)
    for feature in np.unique(tree.tree_.feature[tree.tree_.feature >= 0]):
        values = X[:, feature].copy()
        X[:, feature] = values[permuted(len(X), seed, int(feature))]
        losses[feature] = before - _correct(tree, X, target)
        X[:, feature] = values
    return losses


def _correct(tree: Any, X: Any, target: Any) -> float:
    """Return the number of correct classifications, or minus the sum of squared errors."""
    # Trees of a forest know classes by their codes, and predict these as floats.
    found = tree.predict(X)
    if is_classifier(tree):
        return float(np.sum(found.astype(np.int64) == target))
    return -float(np.sum((found - target) ** 2))
