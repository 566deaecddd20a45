"""The simplest model that is as good as the best."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def one_standard_error(cv_results: Any) -> int:
    """Return the simplest candidate whose mean score is within one standard error of the best.

    Candidates count as simpler the smaller their C, and with equal C the smaller their gamma:
    both make the decision function smoother. It serves as ``refit`` of any search of scikit-learn
    and of `PathSearchCV`, for one score.

    Parameters
    ----------
    cv_results : dict
        ``cv_results_`` of a search.

    Returns
    -------
    int
        Position of the candidate.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone, *Classification and Regression Trees* (1984),
    section 3.4.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC, PathSearchCV
    >>> from mercer.model_selection import one_standard_error
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0]}
    >>> search = PathSearchCV(SVC(), grid, refit=one_standard_error).fit(X, y)
    >>> search.best_params_["C"] <= 10.0
    True
    """
    mean = np.asarray(cv_results["mean_test_score"], dtype=float)
    splits = [name for name in cv_results if name.startswith("split") and name.endswith("_score")]
    folds = np.stack([cv_results[name] for name in splits if "_test_" in name])
    best = int(np.nanargmax(mean))
    error = folds[:, best].std(ddof=1) / np.sqrt(len(folds)) if len(folds) > 1 else 0.0
    good = np.flatnonzero(mean >= mean[best] - error)
    order = [(*_complexity(cv_results["params"][k]), -mean[k]) for k in good]
    return int(good[min(range(good.size), key=order.__getitem__)])


def _complexity(params: dict[str, Any]) -> tuple[float, ...]:
    """Return C and gamma, whatever step of a pipeline they belong to."""
    numbers = {name.rpartition("__")[2]: value for name, value in params.items()}
    found = [numbers.get(name) for name in ("C", "gamma")]
    return tuple(float(value) if isinstance(value, Real) else 0.0 for value in found)
