"""Kernels of the distance: Gaussian (RBF) and Laplacian."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from . import _checks as checks
from ._checks import Floats, Points, as_coefficients, as_contraction, as_dense, as_pair, as_points
from ._distances import (
    centred_pair,
    contract_squared_differences,
    dense_rows,
    distances_without_features,
    scale_columns,
    squared_distances,
)
from ._left_out import (
    as_left_out_weights,
    contracted,
    gaussian_left_out,
    with_the_rest,
)
from .base import Kernel, PairwiseForm
from .width import resolve_gamma

DATA_WIDTHS = ("scale", "auto", "median")


class RadialKernel(Kernel):
    """A kernel that depends on a distance only and is 1 where the distance is 0."""

    @property
    def is_stationary(self) -> bool:
        """True: only the difference of the points counts."""
        return True

    is_known_mercer = True
    """True: Gaussians and exponentials have positive Fourier transforms."""

    def diag(self, X: Any) -> Floats:
        """Return ones."""
        self.free_parameters()
        return np.ones(as_points(X).shape[0])


_MUCH = 1e100


class RBF(RadialKernel):
    r"""Gaussian radial basis function kernel.

    .. math:: k(x, y) = \exp\bigl(-\gamma \lVert x - y \rVert^2\bigr) \quad\text{or}\quad
              k(x, y) = \exp\Bigl(-\sum_k \gamma_k (x_k - y_k)^2\Bigr)

    Use it where nothing better is known: boundaries are smooth, of any form, and sharper with a
    larger gamma. Scale the columns before. A value costs one product of two rows.

    Parameters
    ----------
    gamma : float, "scale", "auto", "median" or array-like of shape (d,), default="scale"
        A positive number, or one for each feature. "scale" is 1 / (d var(X)), "auto" is 1 / d,
        "median" is one over the median squared distance of two rows; all three become numbers in
        `resolve`.

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, sections 1.4 and 3.3.2 (one width for each feature).

    A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg 2021, equation (5.10).

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> RBF(0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    >>> RBF([1.0, 0.001])([[0.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([[0.999]])
    """

    def __init__(self, gamma: Any = "scale") -> None:
        self.gamma = gamma

    @classmethod
    def from_sigma(cls, sigma: Any) -> Self:
        r"""Return the kernel :math:`\exp(-\lVert x - y \rVert^2 / (2 \sigma^2))`.

        Parameters
        ----------
        sigma : float or array-like of shape (d,)
            Standard deviation of the Gaussian, or one for each feature.

        Examples
        --------
        >>> from mercer.kernels import RBF
        >>> RBF.from_sigma(2.0)
        RBF(gamma=0.125)
        """
        if np.ndim(sigma):
            return cls(0.5 / checks.vector(cls(), "sigma", sigma) ** 2)
        return cls(0.5 / checks.positive(cls(), "sigma", sigma) ** 2)

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        gamma, left, right = self._isotropic(X, Y)
        return _exponential(gamma, squared_distances(left, right))

    def from_squared_distances(self, D2: Any) -> Floats:
        """Return the kernel values for given squared distances; needs one gamma for all."""
        return np.exp(-checks.resolved_gamma(self, self.gamma) * np.asarray(D2, dtype=np.float64))

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return the same kernel with gamma as a number or an array of numbers."""
        gamma = self.gamma
        if isinstance(gamma, str):
            checks.choice(self, "gamma", gamma, DATA_WIDTHS)
            gamma = resolve_gamma(gamma, X, sample_weight)
        resolved = self._replace(gamma=gamma)
        widths = resolved._gamma()
        if not isinstance(widths, float):
            checks.fits_columns(self, "gamma", widths, as_points(X).shape[1])
        return resolved

    def free_parameters(self) -> dict[str, float | Floats]:
        """Return gamma."""
        return {"gamma": self._gamma()}

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        r"""Contract the derivative in :math:`\ln \gamma` (each, where there are several) with `W`.

        .. math:: \partial k / \partial \ln \gamma_k = -\gamma_k (x_k - y_k)^2 \, k(x, y)
        """
        if np.ndim(self.gamma):
            # Scaling feature k by s_k multiplies its gamma by s_k squared.
            return 0.5 * self.contract_scale_gradient(X, W, Y)
        gamma, left, right = self._isotropic(X, Y)
        exponents = -gamma * squared_distances(left, right)
        W = as_contraction(W, *exponents.shape)
        return np.array([np.vdot(W, exponents * np.exp(exponents))])

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in the logarithm of every feature's scale with `W`."""
        gamma, left, right = self._isotropic(as_dense(X), None if Y is None else as_dense(Y))
        values = _exponential(gamma, squared_distances(left, right))
        values *= as_contraction(W, *values.shape)
        return -2.0 * gamma * contract_squared_differences(left, right, values)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        r"""Return the gradients in the inputs of kernel expansions.

        .. math:: \partial k / \partial x_k = -2 \gamma_k (x_k - z_k) \, k(x, z)
        """
        gamma, left, right = self._isotropic(X, Z)
        values = _exponential(gamma, squared_distances(left, right))
        values *= as_coefficients(V, *values.shape)
        factors = gamma if isinstance(self._gamma(), float) else np.sqrt(self._gamma())
        return -2.0 * factors * _contract_differences(left, right, values)

    def leave_feature_out(self, X: Any, W: Any) -> Floats:
        """Contract the kernel matrix without each feature with `W`, by a series where it is short.

        Where a feature makes up much of the distances it is left out by itself.
        """
        gamma, points, _ = self._isotropic(as_dense(X), None)
        W = as_left_out_weights(W, len(points))
        if len(points) == 0:
            return np.zeros(points.shape[1])
        values = _exponential(gamma, squared_distances(points))
        sums = gaussian_left_out(points, W, gamma, values)
        inner = RBF(gamma)
        return with_the_rest(
            sums,
            lambda k: contracted(W, inner(np.delete(points, k, axis=1))),
            lambda: super(RBF, self).leave_feature_out(X, W),
        )

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix without each column, by a downdate of the distances."""
        gamma, points, _ = self._isotropic(as_dense(X), None)
        for distances in distances_without_features(points):
            yield _exponential(gamma, distances)

    def pairwise_form(self) -> PairwiseForm:
        """Return the formula for the compiled engine."""
        gamma = self._gamma()
        if isinstance(gamma, float) and 1 / _MUCH < gamma < _MUCH:
            return PairwiseForm("rbf", gamma)
        # Squares of tiny or huge points leave the range of numbers where the points scaled do not.
        return PairwiseForm("rbf", scales=np.atleast_1d(np.sqrt(gamma)))

    def _gamma(self) -> float | Floats:
        if np.ndim(self.gamma):
            return checks.vector(self, "gamma", self.gamma)
        return checks.resolved_gamma(self, self.gamma)

    def _isotropic(self, X: Any, Y: Any) -> tuple[float, Points, Points]:
        """Return one gamma, and both point sets scaled so that it holds for all features."""
        gamma = self._gamma()
        left, right = as_pair(X, Y)
        if isinstance(gamma, float):
            return gamma, left, right
        checks.fits_columns(self, "gamma", gamma, left.shape[1])
        widths = np.sqrt(gamma)
        left, right = centred_pair(left, right)
        scaled = scale_columns(left, widths)
        return 1.0, scaled, scaled if left is right else scale_columns(right, widths)


class Laplacian(RadialKernel):
    r"""Laplacian kernel, in the city-block or in the Euclidean distance.

    .. math:: k(x, y) = \exp(-\gamma \lVert x - y \rVert_1) \quad\text{or}\quad
              k(x, y) = \exp(-\gamma \lVert x - y \rVert_2)

    Use it where the boundary has corners or a few far values must not count much; functions are
    rougher than those of `RBF`. In the city-block distance a value costs up to twice as much.

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median", default="scale"
        Positive factor of the distance. "scale" is 1 / (d var(X)), "auto" is 1 / d, "median" is
        one over the median distance of two rows; all three become numbers in `resolve`.
    metric : {"l1", "euclidean"}, default="l1"
        The distance.

    References
    ----------
    S. van der Westhuizen, *Nearest Hypersphere Classification*, Stellenbosch University 2014,
    table 3.1 (the Euclidean form).

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> Laplacian(0.5)([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.0302]])
    >>> Laplacian(0.5, metric="euclidean")([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.0821]])
    """

    def __init__(self, gamma: Any = "scale", metric: str = "l1") -> None:
        self.gamma = gamma
        self.metric = metric

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        return _exponential(self._gamma(), self._distance()(*as_pair(X, Y)))

    def from_squared_distances(self, D2: Any) -> Floats:
        """Return the kernel values for given squared distances; needs the Euclidean metric."""
        checks.choice(self, "metric", self.metric, ("euclidean",))
        return _exponential(self._gamma(), np.sqrt(np.asarray(D2, dtype=np.float64)))

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """Return the same kernel with gamma as a number."""
        if isinstance(self.gamma, str):
            checks.choice(self, "gamma", self.gamma, DATA_WIDTHS)
        gamma = resolve_gamma(self.gamma, X, sample_weight, self._distance())
        resolved = self._replace(gamma=gamma)
        resolved.free_parameters()
        return resolved

    def free_parameters(self) -> dict[str, float | Floats]:
        """Return gamma."""
        self._distance()
        return {"gamma": self._gamma()}

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in ln gamma with `W`."""
        exponents = -self._gamma() * self._distance()(*as_pair(X, Y))
        W = as_contraction(W, *exponents.shape)
        return np.array([np.vdot(W, exponents * np.exp(exponents))])

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in the logarithm of every feature's scale with `W`."""
        gamma = self._gamma()
        left, right = as_pair(as_dense(X), None if Y is None else as_dense(Y))
        distances = self._distance()(left, right)
        terms = as_contraction(W, *distances.shape) * np.exp(-gamma * distances)
        if self.metric == "euclidean":
            # d|x - y| / d ln s_k = (x_k - y_k)^2 / |x - y|, and 0 where the points are equal.
            np.divide(terms, distances, out=terms, where=distances > 0)
            return -gamma * contract_squared_differences(left, right, terms)
        columns = zip(left.T, right.T, strict=True)
        return -gamma * np.array([np.vdot(terms, _column_distances(x, y)) for x, y in columns])

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        r"""Return the gradients in the inputs of kernel expansions.

        .. math:: \frac{\partial k}{\partial x_k} = -\gamma \, \mathrm{sign}(x_k - z_k) \, k(x, z)
                  \quad\text{or}\quad
                  -\gamma \, \frac{x_k - z_k}{\lVert x - z \rVert_2} \, k(x, z)

        The kernel has a kink where :math:`x_k = z_k` (city-block distance) or where x = z
        (Euclidean distance). The derivative is taken as 0 there: the mean of both sides.
        """
        gamma = self._gamma()
        left, right = as_pair(X, Z)
        distances = self._distance()(left, right)
        terms = as_coefficients(V, *distances.shape) * np.exp(-gamma * distances)
        if self.metric == "euclidean":
            np.divide(terms, distances, out=terms, where=distances > 0)
            return -gamma * _contract_differences(left, right, terms)
        left, right = dense_rows(left), dense_rows(right)
        gradient = np.empty(left.shape)
        for k, (x, z) in enumerate(zip(left.T, right.T, strict=True)):
            signs = x[:, None] - z
            gradient[:, k] = np.einsum("ij,ij->i", terms, np.sign(signs, out=signs))
        return -gamma * gradient

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix without each column, by a downdate of the distances."""
        gamma, X = self._gamma(), as_dense(X)
        if self.metric == "euclidean":
            for squares in distances_without_features(X):
                yield _exponential(gamma, np.sqrt(squares, out=squares))
            return
        distances = self._distance()(X, X)
        for column in X.T:
            rest = distances - _column_distances(column, column)
            yield _exponential(gamma, np.maximum(rest, 0.0, out=rest))

    def pairwise_form(self) -> PairwiseForm:
        """Return the formula for the compiled engine."""
        self._distance()
        gamma = self._gamma()
        if self.metric == "euclidean":
            return PairwiseForm("euclidean_laplacian", gamma)
        return PairwiseForm("laplacian", gamma)

    def _gamma(self) -> float:
        return checks.resolved_gamma(self, self.gamma)

    def _distance(self) -> Callable[..., Floats]:
        metric = checks.choice(self, "metric", self.metric, ("l1", "euclidean"))
        return city_block_distances if metric == "l1" else euclidean_distances


def euclidean_distances(X: Points, Y: Any = None) -> Floats:
    """Return the Euclidean distances of the rows."""
    distances = squared_distances(X, Y)
    return np.sqrt(distances, out=distances)


def city_block_distances(X: Points, Y: Any = None) -> Floats:
    """Return the sums of absolute differences of the rows."""
    left, right = as_pair(X, Y)
    if 0 in (*left.shape, right.shape[0]):
        return np.zeros((left.shape[0], right.shape[0]))
    if sp.issparse(left):
        return manhattan_distances(_short_indices(left), _short_indices(right))
    return cdist(left, right, "cityblock")


def _short_indices(X: Points) -> Points:
    """Return the matrix with 32-bit indices, the only ones that scikit-learn's loop takes."""
    short = X.copy()
    short.indices, short.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return short


def _column_distances(x: Floats, y: Floats) -> Floats:
    differences = x[:, None] - y
    return np.abs(differences, out=differences)


def _contract_differences(X: Points, Z: Points, T: Floats) -> Floats:
    """Return the sums over j of T_ij (x_i - z_j), an array of the shape of `X`."""
    left, right = centred_pair(X, Z)
    return T.sum(axis=1)[:, None] * dense_rows(left) - T @ right


def _exponential(gamma: float, distances: Floats) -> Floats:
    """Return exp(-gamma distances), in the place of the distances."""
    distances *= -gamma
    return np.exp(distances, out=distances)
