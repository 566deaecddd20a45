"""A network with one hidden layer, trained by whatever minimises a smooth function."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

TRAININGS = ("SGD", "CG", "BFGS")


class PlainNetwork(ClassifierMixin, BaseEstimator):
    r"""Two classes, one layer of tanh units, logistic loss.

    .. math:: \frac1n \sum_i \log(1 + e^{-y_i f(x_i)}) + \frac\lambda2 (\lVert W \rVert^2 +
              \lVert v \rVert^2), \quad f(x) = v^\top \tanh(W^\top x + b) + c

    It starts from Glorot's uniform numbers. "SGD" walks against the gradient of one row at a time,
    all rows in a new order in each epoch; "CG" and "BFGS" are scipy's minimisers of the whole sum.

    Parameters
    ----------
    training : {"SGD", "CG", "BFGS"}, default="BFGS"
    hidden : int, default=20
        Units.
    penalty : float, default=1e-5
        :math:`\lambda`.
    rate : float, default=0.1
        Step of "SGD".
    epochs : int, default=1000
        Of "SGD"; of the others the most iterations.
    seed : int, default=0
        Of the start and of the order of rows.

    References
    ----------
    .. [1] J. Nocedal, S. J. Wright, Numerical Optimization, 2nd edition, 2006, chapters 5 and 6.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.margins.network import PlainNetwork
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> PlainNetwork("BFGS").fit(X, [-1, -1, 1, 1]).predict(X)
    array([-1, -1,  1,  1])
    """

    def __init__(
        self,
        training: str = "BFGS",
        *,
        hidden: int = 20,
        penalty: float = 1e-5,
        rate: float = 0.1,
        epochs: int = 1000,
        seed: int = 0,
    ) -> None:
        self.training = training
        self.hidden = hidden
        self.penalty = penalty
        self.rate = rate
        self.epochs = epochs
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network on rows with labels -1 and +1."""
        if self.training not in TRAININGS:
            raise ValueError(
                f"training must be one of {', '.join(TRAININGS)}; got {self.training!r}."
            )
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_ = np.array([-1, 1])
        rng = np.random.default_rng(self.seed)
        start = self._start(X.shape[1], rng)
        if self.training == "SGD":
            self.weights_ = self._walk(start, X, np.asarray(y, float), rng)
        else:
            found = minimize(
                self.loss_and_gradient,
                start,
                args=(X, np.asarray(y, float)),
                jac=True,
                method=self.training,
                options={"maxiter": self.epochs},
            )
            self.weights_ = found.x
        return self

    def _start(self, d: int, rng: Any) -> Any:
        first, second = np.sqrt(6 / (d + self.hidden)), np.sqrt(6 / (self.hidden + 1))
        W = rng.uniform(-first, first, d * self.hidden)
        v = rng.uniform(-second, second, self.hidden)
        return np.concatenate([W, np.zeros(self.hidden), v, [0.0]])

    def _walk(self, weights: Any, X: Any, y: Any, rng: Any) -> Any:
        """Take one step for each row of each epoch."""
        for _ in range(self.epochs):
            for i in rng.permutation(len(X)):
                gradient = self.loss_and_gradient(weights, X[i : i + 1], y[i : i + 1])[1]
                weights = weights - self.rate * gradient
        return weights

    def _parts(self, weights: Any) -> tuple[Any, Any, Any, Any]:
        """Return W, b, v and c, which lie in this order in one vector."""
        h = self.hidden
        W, b, v = np.split(weights[:-1], [len(weights) - 1 - 2 * h, len(weights) - 1 - h])
        return W.reshape(-1, h), b, v, weights[-1]

    def loss_and_gradient(self, weights: Any, X: Any, y: Any) -> tuple[float, Any]:
        """Return the loss and its gradient at a vector of weights."""
        W, b, v, c = self._parts(weights)
        units = np.tanh(X @ W + b)
        leads = y * (units @ v + c)
        loss = np.logaddexp(0.0, -leads).mean() + self.penalty / 2 * ((W**2).sum() + v @ v)
        slopes = -y * expit(-leads) / len(y)
        back = np.outer(slopes, v) * (1 - units**2)
        parts = [
            (X.T @ back + self.penalty * W).ravel(),
            back.sum(axis=0),
            units.T @ slopes + self.penalty * v,
            [slopes.sum()],
        ]
        return float(loss), np.concatenate(parts)

    def decision_function(self, X: Any) -> Any:
        """Return f(x), positive for +1."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        W, b, v, c = self._parts(self.weights_)
        return np.tanh(X @ W + b) @ v + c

    def predict(self, X: Any) -> Any:
        """Return -1 or +1 for each row."""
        return np.where(self.decision_function(X) > 0, 1, -1)
