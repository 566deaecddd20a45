"""The mean cost as a score for cross-validation and searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from mercer._inputs import class_codes
from mercer._sklearn import check_sample_weight
from mercer.discriminant._costs import checked_costs, checked_priors, mean_cost


@dataclass(frozen=True)
class CostScorer:
    """Minus the mean cost of a classifier's decisions; `cost_scorer` makes one."""

    costs: Any
    priors: Any = None
    reject_cost: float | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the mean cost; the larger the better."""
        classes = np.asarray(estimator.classes_)
        costs = checked_costs(self.costs, classes.size)
        priors = None if self.priors is None else checked_priors(self.priors, classes.size)
        truth = class_codes(y, classes)
        weight = check_sample_weight(sample_weight, X)
        found = column_or_1d(estimator.predict(X))
        known = np.isin(found, classes)
        if not known.all() and self.reject_cost is None:
            raise ValueError(
                f"The classifier returned {found[~known][0]!r}, which is no class; set reject_cost "
                "to count rejected rows."
            )
        decided = np.full(truth.size, classes.size)
        decided[known] = class_codes(found[known].astype(classes.dtype), classes)
        last = np.full((classes.size, 1), self.reject_cost or 0.0)
        return -mean_cost(truth, decided, np.hstack([costs, last]), weight, priors)


def cost_scorer(costs: Any, *, priors: Any = None, reject_cost: float | None = None) -> CostScorer:
    r"""Return a scorer: minus the mean cost of the decisions, for ``scoring=`` of scikit-learn.

    .. math:: -\frac1n \sum_i c(\hat y_i \mid y_i), \qquad \text{with priors} \qquad
              -\sum_k p_k \frac{1}{n_k} \sum_{i:\, y_i = k} c(\hat y_i \mid k)

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes)
        Row i, column j: what it costs to decide for class j where i is true, in the order of
        ``classes_`` of the classifier; 0 on the diagonal.
    priors : array-like of shape (n_classes,), default=None
        Shares of the classes among the rows to be judged in earnest; None takes those of the rows
        that are scored.
    reject_cost : float, default=None
        Cost of a row for which the classifier names none of its classes.

    Returns
    -------
    CostScorer
        A callable ``scorer(estimator, X, y, sample_weight=None)``, which can be pickled.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn.model_selection import cross_val_score
    >>> from mercer.discriminant import MinimumCostClassifier, cost_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> costs = [[0, 10], [1, 0]]  # 0 is malignant: to overlook it costs ten times as much
    >>> lda = LinearDiscriminantAnalysis()
    >>> plain, cheap = (
    ...     -cross_val_score(model, X, y, scoring=cost_scorer(costs)).mean()
    ...     for model in (lda, MinimumCostClassifier(lda, costs)))
    >>> bool(cheap < plain)
    True
    """
    return CostScorer(costs, priors, reject_cost)
