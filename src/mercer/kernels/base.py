"""What every kernel knows: values, diagonal, parameters, derivatives, features left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from mercer._inputs import RememberedParameters

from ._checks import Floats, as_coefficients, as_contraction, as_dense, as_points, count_rows
from ._left_out import as_left_out_weights, whole_weights
from .blocks import IN_CACHE, row_blocks

Make = TypeVar("Make", bound=Callable[..., Any])

_makers: dict[str, Callable[..., Kernel]] = {}


def makes(name: str) -> Callable[[Make], Make]:
    """Tell the base class of all kernels what makes one of them, which needs that class itself."""

    def remember(make: Make) -> Make:
        _makers[name] = make
        return make

    return remember


Family = Literal["linear", "polynomial", "rbf", "laplacian", "euclidean_laplacian", "sigmoid"]


@dataclass(frozen=True, eq=False)
class PairwiseForm:
    r"""A kernel written as one of six formulas of scaled points.

    .. math:: k(x, y) = \mathrm{factor} \cdot f(x \odot \mathrm{scales}, y \odot \mathrm{scales})

    ======================  =====================================================
    family                  f(x, y)
    ======================  =====================================================
    "linear"                :math:`\langle x, y \rangle`
    "polynomial"            :math:`(\gamma \langle x, y \rangle + c)^{degree}`
    "rbf"                   :math:`\exp(-\gamma \lVert x - y \rVert_2^2)`
    "laplacian"             :math:`\exp(-\gamma \lVert x - y \rVert_1)`
    "euclidean_laplacian"   :math:`\exp(-\gamma \lVert x - y \rVert_2)`
    "sigmoid"               :math:`\tanh(\gamma \langle x, y \rangle + c)`
    ======================  =====================================================

    Parameters
    ----------
    family : str
        One of the names above.
    gamma, coef0 : float
        :math:`\gamma` and c.
    degree : int
        Power of the polynomial, at least 0.
    factor : float
        Positive multiple.
    scales : ndarray of shape (d,) or None
        One scale for each feature; None means 1.

    Attributes
    ----------
    is_stationary : bool
        Whether the value depends on the difference of the points only.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> form = (2.0 * RBF(0.5)).pairwise_form()
    >>> form.family, form.gamma, form.factor
    ('rbf', 0.5, 2.0)
    """

    family: Family
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3
    factor: float = 1.0
    scales: Floats | None = None
    is_stationary: bool = field(init=False)

    def __post_init__(self) -> None:
        stationary = self.family in ("rbf", "laplacian", "euclidean_laplacian")
        object.__setattr__(self, "is_stationary", stationary)

    def values(self, base: Any, library: Any = np) -> Any:
        """Return kernel values from what they are made of.

        Parameters
        ----------
        base : ndarray
            Dot products, or for the radial families squared distances; those of "laplacian" are
            distances in the city-block metric.
        library : module, default=numpy
            Whose functions to use; torch for its tensors.
        """
        if self.family == "linear":
            values = base
        elif self.family == "polynomial":
            values = integer_power(self.gamma * base + self.coef0, self.degree)
        elif self.family == "sigmoid":
            values = library.tanh(self.gamma * base + self.coef0)
        elif self.family == "euclidean_laplacian":
            values = library.exp(-self.gamma * library.sqrt(base))
        else:
            values = library.exp(-self.gamma * base)
        return values if self.factor == 1.0 else self.factor * values

    def times(self, factor: float) -> PairwiseForm:
        """Return the form of a positive multiple."""
        return replace(self, factor=self.factor * factor)

    def scaled(self, scales: Floats) -> PairwiseForm:
        """Return the form for points whose features are multiplied by `scales` beforehand."""
        return replace(self, scales=scales if self.scales is None else scales * self.scales)

    def power(self, exponent: int) -> PairwiseForm | None:
        """Return the form of an integer power, or None where it leaves the six families."""
        raised = replace(self, factor=self.factor**exponent)
        if self.family == "linear":
            return replace(raised, family="polynomial", gamma=1.0, coef0=0.0, degree=exponent)
        if self.family == "polynomial":
            return replace(raised, degree=self.degree * exponent)
        if self.is_stationary:
            return replace(raised, gamma=self.gamma * exponent)
        return None


FAR = 1e100
"""Means beyond this may be off by more than the root of the largest float."""


def column_means(X: Floats) -> Floats:
    """Return the mean of each column, between its least and largest number also after rounding.

    Of a column that is 3e233 throughout, some means are one unit in the last place away from it,
    and the squares of such units are infinite.

    Parameters
    ----------
    X : ndarray of shape (n, d)

    Returns
    -------
    ndarray of shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> column_means(np.full((9, 1), 3e233)).item()
    3e+233
    """
    with np.errstate(over="ignore"):
        means = np.add.reduce(X, axis=0) / len(X)
    far = np.abs(means) > FAR
    if far.any():
        means[far] = np.clip(means[far], X[:, far].min(axis=0), X[:, far].max(axis=0))
    return means


def integer_power(values: Floats, exponent: int) -> Floats:
    """Raise every entry to an integer power by repeated squaring, much faster than ``pow``."""
    if exponent == 0:
        return values**0  # ones, of whatever library
    if exponent == 1:
        return values
    square = integer_power(values, exponent // 2) ** 2
    return square * values if exponent % 2 else square


# Modules with kernels of their own (algebra, coerce, wrappers) begin with this one, so that it
# imports them only where it needs them: a kernel must be there before a sum of two.

LOG_BOUNDS = (float(np.log(1e-8)), float(np.log(1e8)))
"""Default bounds of a log-parameter; they widen to hold the value a kernel already has."""

LOG_STEP = float(np.cbrt(np.finfo(np.float64).eps))
"""Step of central differences in a log-parameter: balances truncation against rounding."""

DIAGONAL_ROWS = 64
"""Rows of one small square matrix from which derivatives of the diagonal are read."""


class Kernel(ABC, RememberedParameters, BaseEstimator):
    r"""A similarity k(x, y) of two points; the base class of all kernels.

    A kernel of your own needs two methods, ``__call__(X, Y=None)`` and ``diag(X)``; it is asked
    for blocks of rows, so that it never has to hold a whole n by n matrix. Positive
    parameters become free for gradient-based selection when `free_parameters` names them.
    Kernels are values: the constructor only stores, and no method changes the kernel.

    They are scikit-learn estimators without ``fit``, so that nested parameters, cloning and grids
    over ``kernel__gamma`` work. ``+``, ``*`` and ``**`` build sums, products and powers, a positive
    number times a kernel its multiple.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Kernel
    >>> class Cosine(Kernel):
    ...     def __call__(self, X, Y=None):
    ...         X = X / np.linalg.norm(X, axis=1, keepdims=True)
    ...         Y = X if Y is None else Y / np.linalg.norm(Y, axis=1, keepdims=True)
    ...         return X @ Y.T
    ...     def diag(self, X):
    ...         return np.ones(len(X))
    >>> kernel = 2.0 * Cosine() + 1.0
    >>> kernel(np.array([[1.0, 0.0], [0.0, 3.0]]))
    array([[3., 1.],
           [1., 3.]])
    """

    # NumPy numbers leave the multiplication to the kernel instead of treating it as an array.
    __array_ufunc__ = None

    part_names: tuple[str, ...] = ()
    """Constructor parameters that are kernels themselves."""

    takes_after_parts: bool = False
    """Whether the kernel is stationary, or known to be a Mercer kernel, where all its parts are."""

    @abstractmethod
    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""

    @abstractmethod
    def diag(self, X: Any) -> Floats:
        """Return k(x_i, x_i) for every row of `X`."""

    # ---- what kind of kernel ----------------------------------------------------------------

    @property
    def is_stationary(self) -> bool:
        """Whether k(x, y) depends on x - y only."""
        return self._takes_after("is_stationary")

    @property
    def is_known_mercer(self) -> bool:
        """Whether the kernel is known to be positive semi-definite for all data.

        False means not known: the sigmoid kernel, functions, given matrices, kernels of your own.

        Examples
        --------
        >>> from mercer.kernels import RBF, Linear, Sigmoid
        >>> (RBF() + 2.0 * Linear()).is_known_mercer, Sigmoid().is_known_mercer
        (True, False)
        """
        return self._takes_after("is_known_mercer")

    def _takes_after(self, trait: str) -> bool:
        parts = self.parts().values() if self.takes_after_parts else ()
        return self.takes_after_parts and all(getattr(part, trait) for part in parts)

    @property
    def is_pairwise(self) -> bool:
        """Whether the kernel takes a matrix of kernel values in place of points."""
        return bool(self.part_names) and any(part.is_pairwise for part in self.parts().values())

    def pairwise_form(self) -> PairwiseForm | None:
        """Return the formula for the compiled engine, or None where it has none."""
        return None

    def parts(self) -> dict[str, Kernel]:
        """Return the kernels this one is made of, by parameter name."""
        return {name: _makers["kernel"](getattr(self, name)) for name in self.part_names}

    # ---- parameters -------------------------------------------------------------------------

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return the same kernel with what depends on the data replaced by numbers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The training data.
        sample_weight : array-like of shape (n,), default=None
            A weight of 2 counts as the row given twice.

        Returns
        -------
        Kernel
            A new kernel without "scale", "auto" or "median", its parameters checked.
        """
        parts = {name: part.resolve(X, sample_weight) for name, part in self.parts().items()}
        resolved = self._replace(**parts)
        resolved.free_parameters()
        return resolved

    def free_parameters(self) -> dict[str, float | Floats]:
        """Return the kernel's own real parameters by name, numbers or vectors, after a check.

        Entries above 0 are free: their logarithms make up `theta`. Others stay fixed.
        """
        return {}

    @property
    def theta(self) -> Floats:
        """Logarithms of all free parameters, those of the parts last."""
        return np.concatenate([self._own_theta(), *(p.theta for p in self.parts().values())])

    @property
    def theta_names(self) -> list[str]:
        """Name of each entry of `theta`, as in ``get_params``; with an index in a vector."""
        names = []
        for name, value in self.free_parameters().items():
            free = np.flatnonzero(np.atleast_1d(value) > 0)
            names += [f"{name}[{k}]" if np.ndim(value) else name for k in free]
        for name, part in self.parts().items():
            names += [f"{name}__{inner}" for inner in part.theta_names]
        return names

    @property
    def bounds(self) -> Floats:
        """Lower and upper bound of each entry of `theta`, an array of shape (p, 2)."""
        own = self._own_theta()
        low, high = np.minimum(own, LOG_BOUNDS[0]), np.maximum(own, LOG_BOUNDS[1])
        parts = (part.bounds for part in self.parts().values())
        return np.vstack([np.column_stack([low, high]), *parts])

    def with_theta(self, theta: Any) -> Self:
        """Return the same kernel with other free parameters."""
        theta = np.asarray(theta, dtype=np.float64)
        if theta.shape != self.theta.shape:
            raise ValueError(
                f"{type(self).__name__} has {self.theta.size} free parameters; "
                f"theta has shape {theta.shape}."
            )
        changes: dict[str, Any] = {}
        for name, value in self.free_parameters().items():
            vector = np.array(value, dtype=np.float64, ndmin=1)
            free = vector > 0
            vector[free], theta = np.exp(theta[: free.sum()]), theta[free.sum() :]
            changes[name] = vector if np.ndim(value) else float(vector[0])
        for name, part in self.parts().items():
            size = part.theta.size
            changes[name], theta = part.with_theta(theta[:size]), theta[size:]
        return self._replace(**changes)

    # ---- contractions -----------------------------------------------------------------------

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        r"""Contract the derivative of the kernel matrix in every log-parameter with a matrix.

        .. math:: g_p = \sum_{ij} W_{ij} \, \partial k(x_i, y_j) / \partial \theta_p

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        W : array-like of shape (n, m)
            Need not be symmetric.
        Y : array-like or sparse matrix of shape (m, d), default=None
            None means `X`.

        Returns
        -------
        ndarray of shape (p,)
            No (n, m, p) array is formed. Unless a kernel knows its derivative, central
            differences are used.
        """
        theta = self.theta
        steps = np.eye(theta.size) * LOG_STEP
        return np.array(
            [
                self.with_theta(theta + step)._contract(X, W, Y)
                - self.with_theta(theta - step)._contract(X, W, Y)
                for step in steps
            ]
        ) / (2 * LOG_STEP)

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        r"""Contract the derivative in the logarithm of every feature's scale with a matrix.

        .. math:: g_k = \sum_{ij} W_{ij} \, \partial k(x_i \odot s, y_j \odot s) / \partial \ln s_k
                  \quad\text{at } s = 1

        It tells how much each feature matters, and is the derivative that `Weighted` needs.

        Returns
        -------
        ndarray of shape (d,)
        """
        X = as_dense(X)
        Y = None if Y is None else as_dense(Y)

        def value(k: int, step: float) -> float:
            scales = np.ones(X.shape[1])
            scales[k] = np.exp(step)
            return self._contract(X * scales, W, None if Y is None else Y * scales)

        differences = [value(k, LOG_STEP) - value(k, -LOG_STEP) for k in range(X.shape[1])]
        return np.array(differences) / (2 * LOG_STEP)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        r"""Return the gradients in the inputs of kernel expansions.

        .. math:: g_{ik} = \sum_j V_{ij} \, \partial k(x_i, z_j) / \partial x_{ik}

        With the support vectors as `Z` and their coefficients as `V` this is the gradient of a
        machine's decision function at every row of `X`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Where to differentiate.
        Z : array-like or sparse matrix of shape (m, d)
            The points of the expansion, held fixed also where they are rows of `X`.
        V : array-like of shape (m,) or (n, m)
            Coefficients, the same for all rows of `X` or others for each.

        Returns
        -------
        ndarray of shape (n, d)
            No (n, m, d) array is formed. Unless a kernel knows its derivative, central
            differences are used. Where a kernel has a kink, it is the mean of the derivatives
            from both sides.

        Examples
        --------
        >>> from mercer.kernels import RBF
        >>> RBF(1.0).contract_input_gradient([[0.5], [-0.5]], [[0.0]], [1.0]).round(4)
        array([[-0.7788],
               [ 0.7788]])
        """
        X, Z = as_dense(X), as_dense(Z)
        V = as_coefficients(V, len(X), len(Z))
        gradient = np.empty(X.shape)
        for k, step in enumerate(_input_steps(X, Z)):
            above, below = X.copy(), X.copy()
            above[:, k] += step
            below[:, k] -= step
            difference = self(above, Z)
            difference -= self(below, Z)
            # What was really added differs from the step by rounding.
            gradient[:, k] = (difference * V).sum(axis=1) / (above[:, k] - below[:, k])
        return gradient

    def diag_input_gradient(self, X: Any) -> Floats:
        r"""Return the derivatives of k(x, x) in x for every row of `X`.

        As a kernel is symmetric they are twice :math:`\partial k(x, z) / \partial x` at z = x.

        Returns
        -------
        ndarray of shape (n, d)

        Examples
        --------
        >>> from mercer.kernels import Linear
        >>> Linear().diag_input_gradient([[1.0, 3.0]])
        array([[2., 6.]])
        """
        X = as_points(X)
        gradient = np.zeros(X.shape)
        if not self.is_stationary:
            for start in range(0, X.shape[0], DIAGONAL_ROWS):
                part = X[start : start + DIAGONAL_ROWS]
                identity = np.eye(part.shape[0])
                gradient[start : start + DIAGONAL_ROWS] = 2.0 * self.contract_input_gradient(
                    part, part, identity
                )
        return gradient

    def leave_feature_out(self, X: Any, W: Any) -> Floats:
        r"""Contract the kernel matrix without each feature in turn with a matrix.

        .. math:: v_i = \sum_{jl} W_{jl} \, k(x_j^{(-i)}, x_l^{(-i)})

        The parameters stay the same; widths and scales given for each feature lose that entry.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        W : array-like of shape (n, n) or (n,)
            A vector b stands for the matrix b b'.

        Returns
        -------
        ndarray of shape (d,)
        """
        W = whole_weights(as_left_out_weights(W, count_rows(X)))
        return np.array([np.vdot(W, K) for K in self.without_features(X)])

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix of `X` without column 0, without column 1, and so on.

        An array may be overwritten when the next one is asked for.
        """
        X = as_dense(X)
        for k in range(X.shape[1]):
            yield self(np.delete(X, k, axis=1))

    def _contract(self, X: Any, W: Any, Y: Any = None) -> float:
        """Return the sum of W_ij k(x_i, y_j), a block of rows at a time."""
        Y = X if Y is None else Y
        W = as_contraction(W, count_rows(X), count_rows(Y))
        blocks = row_blocks(len(W), W.shape[1], IN_CACHE)
        return float(sum(np.vdot(W[rows], self(X[rows], Y)) for rows in blocks))

    # ---- helpers ----------------------------------------------------------------------------

    def _replace(self, **changes: Any) -> Self:
        own = {name: getattr(self, name) for name in self._parameter_names}
        return type(self)(**{**own, **changes})

    def _part(self, name: str = "kernel") -> Kernel:
        return self.parts()[name]

    def _own_theta(self) -> Floats:
        values = [np.atleast_1d(value) for value in self.free_parameters().values()]
        return np.concatenate([np.empty(0), *(np.log(value[value > 0]) for value in values)])

    def _gradient(self, own: dict[str, Any], *parts: Floats) -> Floats:
        """Join the derivatives in the kernel's own free parameters and those of its parts."""
        free = [
            np.atleast_1d(own[name])[np.atleast_1d(value) > 0]
            for name, value in self.free_parameters().items()
        ]
        return np.concatenate([np.empty(0), *free, *parts])

    # ---- algebra ----------------------------------------------------------------------------

    def __add__(self, other: Any) -> Kernel:
        return _makers["sum"](self, _operand(other))

    def __radd__(self, other: Any) -> Kernel:
        return _makers["sum"](_operand(other), self)

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Real):
            return _makers["multiple"](self, float(other))
        return _makers["product"](self, _operand(other))

    def __rmul__(self, other: Any) -> Kernel:
        if isinstance(other, Real):
            return _makers["multiple"](self, float(other))
        return _makers["product"](_operand(other), self)

    def __pow__(self, exponent: Any) -> Kernel:
        return _makers["power"](self, exponent)

    # ---- values ------------------------------------------------------------------------------

    def __eq__(self, other: Any) -> bool:
        """Two kernels are equal when they are of one class and all parameters are equal."""
        if type(self) is not type(other):
            return False
        mine, others = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(mine[name], others[name]) for name in mine)

    def __hash__(self) -> int:
        # The class alone: parameters may be arrays and may be set anew.
        return hash(type(self))


def _input_steps(X: Floats, Z: Floats) -> Floats:
    """Return the step of central differences in each column: a small part of its spread."""
    both = np.concatenate([X, Z])
    size = np.abs(both).max(axis=0, initial=0.0)
    spread = np.ptp(both, axis=0) if len(both) else size
    steps = LOG_STEP * np.where(spread > 0, spread, np.maximum(size, 1.0))
    return np.maximum(steps, 2.0**10 * np.finfo(np.float64).eps * size)


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, str | Kernel) or isinstance(second, str | Kernel):
        return bool(first == second)
    return np.array_equal(first, second)


def _operand(other: Any) -> Kernel:
    """Make a kernel of the other side of ``+`` or ``*``: a number is a constant kernel."""
    if isinstance(other, Real):
        return _makers["constant"](float(other))
    return _makers["kernel"](other)
