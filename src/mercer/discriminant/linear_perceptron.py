"""Rosenblatt's perceptron."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mercer._inputs import fit_context
from mercer._sklearn import Interval
from mercer._warnings import warn
from mercer.discriminant._linear import Floats, LinearClassifier, with_constant


class LinearPerceptron(LinearClassifier):
    r"""The perceptron in its primal form: learn from mistakes until there are none.

    Rows are extended by a component 1 and visited in turn. Wherever :math:`y_i \langle w, x_i
    \rangle \le 0`,

    .. math:: w \leftarrow w + \eta\, y_i x_i.

    It ends after an epoch without a mistake, which comes if a plane separates the classes. Any such
    plane will do; its distance from the rows does not matter. More than two classes are one machine
    for each class against the rest. For other kernels, and for averaged and voted perceptrons, see
    `mercer.KernelPerceptron`.

    Use it where a plane is known to separate the classes, or to show what a margin adds; a pass
    costs one product with the rows. `mercer.SVC` finds the plane of widest margin.

    Parameters
    ----------
    eta : float, default=1.0
        Step; it changes nothing but the scale of w.
    max_iter : int, default=1000
        Epochs at most.
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
        Epochs of the machine that took longest.
    n_mistakes_ : ndarray of int of shape (n_machines,)
        Mistakes in the last epoch; 0 where the classes are separated.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    mercer.KernelPerceptron : The dual form, with any kernel.
    mercer.discriminant.AlphaLMS : Corrects every error by a share.

    References
    ----------
    K. Smets, thesis, Universiteit Antwerpen 2006, algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.discriminant import LinearPerceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearPerceptron(random_state=0).fit(X, y == 0).score(X, y == 0)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "eta": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        eta: float = 1.0,
        *,
        max_iter: int = 1000,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.eta = eta
        self.max_iter = max_iter
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
        LinearPerceptron
        """
        X, signs = self._signs(X, y)
        rng = check_random_state(self.random_state)
        runs = [self._learn(with_constant(X), column, rng) for column in signs.T]
        self.n_iter_ = max(epochs for _, epochs, _ in runs)
        self.n_mistakes_ = np.array([mistakes for _, _, mistakes in runs])
        if self.n_mistakes_.any():
            warn(
                f"The classes were not separated in {self.max_iter} epochs; the last one had "
                f"{self.n_mistakes_.max()} mistakes. Raise max_iter, or use a machine for classes "
                "that overlap, such as mercer.SVC.",
                ConvergenceWarning,
            )
        return self._keep(np.column_stack([weights for weights, _, _ in runs]))

    def _learn(self, X: Floats, signs: Floats, rng: Any) -> tuple[Floats, int, int]:
        """Return the weights, the epochs, and the mistakes in the last of them."""
        signed = signs[:, None] * X
        w = np.zeros(X.shape[1])
        mistakes, epochs = 1, 0
        while mistakes and epochs < self.max_iter:
            epochs += 1
            rows = signed[rng.permutation(len(signed))] if self.shuffle else signed
            mistakes = 0
            for row in rows:
                if row @ w <= 0:
                    w += self.eta * row
                    mistakes += 1
        return w, epochs, mistakes
