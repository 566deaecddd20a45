"""Widrow and Hoff's adaptive element."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from mercer._inputs import fit_context
from mercer._sklearn import Interval
from mercer.discriminant._linear import LinearClassifier, with_constant


class AlphaLMS(LinearClassifier):
    r"""Linear classifier by the α-LMS rule: every row corrects a share of its own error.

    Rows are extended by a component 1 and visited in turn; with targets y of +1 and -1,

    .. math:: w \leftarrow w + \alpha\, \frac{(y_i - \langle w, x_i \rangle)\, x_i}{\|x_i\|^2}

    reduces the error of the row by the share :math:`\alpha`. It tends towards least squares without
    reaching it: as long as rows contradict each other, w wanders in a region that grows with
    :math:`\alpha`. Other than the perceptron it also learns from rows that are on the right side.
    Features should have similar scales. More than two classes are one machine for each class
    against the rest.

    Use it to show how learning row by row behaves; a pass costs one product with the rows. To
    decide, take `PseudoInverseClassifier`, where it is heading, or `mercer.SVC`.

    Parameters
    ----------
    alpha : float, default=0.05
        Share of the error that a row corrects, above 0 and below 2.
    max_iter : int, default=100
        Epochs at most.
    tol : float, default=1e-4
        Ends when no weight moves by more than this share of the largest one in an epoch; 0 goes on
        to `max_iter`.
    shuffle : bool, default=True
        Whether each epoch has another order.
    random_state : int, RandomState or None, default=None
        Seed of the orders.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_machines, n_features)
    intercept_ : ndarray of shape (n_machines,)
    n_iter_ : int
        Epochs.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    mercer.discriminant.PseudoInverseClassifier : The same aim in one step.
    mercer.discriminant.LinearPerceptron : Corrects mistakes only.

    References
    ----------
    B. Widrow, M. A. Lehr, "30 years of adaptive neural networks: perceptron, Madaline, and
    backpropagation", Proceedings of the IEEE 78 (1990).
    A. Hopfgartner, M. Rupp, course text, FH Vorarlberg 2021, section 6.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.discriminant import AlphaLMS
    >>> X, y = load_iris(return_X_y=True)
    >>> AlphaLMS(random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, 2, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        max_iter: int = 100,
        tol: float = 1e-4,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        AlphaLMS
        """
        X, signs = self._signs(X, y)
        rng = check_random_state(self.random_state)
        rows = with_constant(X)
        steps = self.alpha * rows / np.sum(rows**2, axis=1, keepdims=True)
        weights = np.zeros((rows.shape[1], signs.shape[1]))
        order = np.arange(len(rows))
        self.n_iter_ = 0
        while self.n_iter_ < self.max_iter:
            self.n_iter_ += 1
            before = weights.copy()
            if self.shuffle:
                order = rng.permutation(len(rows))
            for i in order:
                weights += np.outer(steps[i], signs[i] - rows[i] @ weights)
            if np.abs(weights - before).max() < self.tol * np.abs(weights).max():
                break
        return self._keep(weights)
