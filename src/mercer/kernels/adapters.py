"""Kernels that come from elsewhere: matrices, functions, Gaussian-process kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from mercer._inputs import as_outside

from ._checks import Floats, as_contraction, as_dense, count_rows
from ._featureless import FeaturelessKernel
from .base import Kernel
from .blocks import row_blocks

GRADIENT_BYTES = 64 * 2**20
"""Memory for one block of derivatives of a Gaussian-process kernel."""

DIAGONAL_ROWS = 64
"""Rows of one small square matrix from which a diagonal is read."""


class Precomputed(FeaturelessKernel):
    """A kernel given by its values: the "points" are rows of a kernel matrix.

    ``X`` holds k(x_i, z_j) for the training points z_j, as in scikit-learn's
    ``kernel="precomputed"``; there are no features and no ``Y``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Precomputed
    >>> (2.0 * Precomputed())(np.array([[1.0, 0.5], [0.5, 1.0]]))
    array([[2., 1.],
           [1., 2.]])
    """

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the matrix itself."""
        if Y is not None and Y is not X:
            raise ValueError(
                "Precomputed takes one matrix of kernel values as X, and no Y; "
                "compute the values between X and Y beforehand."
            )
        return as_dense(X)

    def diag(self, X: Any) -> Floats:
        """Return the diagonal of the square matrix `X`."""
        values = as_dense(X)
        if values.shape[0] != values.shape[1]:
            raise ValueError(
                f"Precomputed: the diagonal needs a square kernel matrix; got {values.shape}."
            )
        return np.diagonal(values).copy()

    is_pairwise = True
    """X is a matrix of kernel values."""

    why_no_features = (
        "A precomputed kernel has no features: X is a matrix of kernel values; "
        "use a kernel on the data themselves."
    )
    """What those are told who ask for features."""


class CallableKernel(Kernel):
    """A kernel given by a function of two sets of points.

    Parameters
    ----------
    function : callable
        ``function(X, Y, **params)`` returns the matrix of shape (n, m). The kernels of
        `sklearn.metrics.pairwise` are such functions. To be saved with a model it must be
        defined at the top level of a module. What NumPy warns of in it is heard in a fit as it is
        outside.
    params : dict, default=None
        Further arguments of the function.

    Examples
    --------
    >>> from sklearn.metrics.pairwise import chi2_kernel
    >>> from mercer.kernels import CallableKernel
    >>> CallableKernel(chi2_kernel, {"gamma": 0.5})([[1.0, 3.0]], [[3.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    def __init__(self, function: Callable[..., Any], params: dict[str, Any] | None = None) -> None:
        self.function = function
        self.params = params

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        Y = X if Y is None else Y
        with as_outside():
            values = self.function(X, Y, **(self.params or {}))
        return _as_matrix(values, self.function, (count_rows(X), count_rows(Y)))

    def diag(self, X: Any) -> Floats:
        """Return k(x_i, x_i) for every row of `X`, from small square matrices."""
        n = count_rows(X)
        parts = [X[start : start + DIAGONAL_ROWS] for start in range(0, n, DIAGONAL_ROWS)]
        return np.concatenate([np.empty(0), *(np.diagonal(self(part)) for part in parts)])


class GaussianProcessKernel(Kernel):
    """A kernel of `sklearn.gaussian_process.kernels`, with its own parameters and bounds.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import Matern
    >>> from mercer.kernels import GaussianProcessKernel
    >>> kernel = GaussianProcessKernel(Matern(length_scale=2.0, nu=1.5))
    >>> kernel([[0.0], [1.0]]).round(4)
    array([[1.    , 0.7849],
           [0.7849, 1.    ]])
    >>> kernel.theta_names
    ['kernel__length_scale']
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        X, Y = _plain(X), None if Y is None else _plain(Y)
        return _as_matrix(self.kernel(X, Y), self.kernel, (len(X), len(X if Y is None else Y)))

    def diag(self, X: Any) -> Floats:
        """Return k(x_i, x_i) for every row of `X`."""
        return np.asarray(self.kernel.diag(_plain(X)), dtype=np.float64)

    @property
    def is_stationary(self) -> bool:
        """Whether the inner kernel says so."""
        return bool(self.kernel.is_stationary())

    is_known_mercer = True
    """True: those are covariances."""

    @property
    def theta(self) -> Floats:
        """Logarithms of the parameters that the kernel does not hold fixed."""
        return np.asarray(self.kernel.theta, dtype=np.float64)

    @property
    def theta_names(self) -> list[str]:
        """Name of each entry of `theta`."""
        names = []
        for parameter in self.kernel.hyperparameters:
            if not parameter.fixed:
                name, size = f"kernel__{parameter.name}", parameter.n_elements
                names += [f"{name}[{k}]" for k in range(size)] if size > 1 else [name]
        return names

    @property
    def bounds(self) -> Floats:
        """Lower and upper bound of each entry of `theta`."""
        return np.asarray(self.kernel.bounds, dtype=np.float64).reshape(-1, 2)

    def with_theta(self, theta: Any) -> Self:
        """Return the same kernel with other free parameters."""
        return self._replace(kernel=self.kernel.clone_with_theta(np.asarray(theta, dtype=float)))

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative of the kernel matrix in every log-parameter with `W`.

        The kernel only differentiates the square matrix of one set of points. Blocks of rows
        are joined in pairs and the off-diagonal parts read off, so that memory stays bounded.
        """
        X = _plain(X)
        other = X if Y is None else _plain(Y)
        W = as_contraction(W, len(X), len(other))
        gradient = np.zeros(self.theta.size)
        if gradient.size == 0:
            return gradient
        most = int(np.sqrt(GRADIENT_BYTES / (8 * gradient.size)))
        if Y is None and len(X) <= most:
            return np.tensordot(W, self._derivatives(X), axes=2)
        rows, columns = (list(row_blocks(len(part), 1, most // 2)) for part in (X, other))
        for a, i in enumerate(rows):
            for b, j in enumerate(columns):
                if Y is None and a == b:
                    gradient += np.tensordot(W[i, i], self._derivatives(X[i]), axes=2)
                elif Y is not None or a < b:
                    size = i.stop - i.start
                    cube = self._derivatives(np.concatenate([X[i], other[j]]))[:size, size:]
                    weights = W[i, j] if Y is not None else W[i, j] + W[j, i].T
                    gradient += np.tensordot(weights, cube, axes=2)
        return gradient

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix with each column set to 0.

        To these kernels a column that is 0 everywhere is one that is not there, and the length
        scales of the other features keep their places.
        """
        X = as_dense(X)
        for k in range(X.shape[1]):
            rest = X.copy()
            rest[:, k] = 0.0
            yield self(rest)

    def _derivatives(self, X: Any) -> Floats:
        return np.asarray(self.kernel(X, eval_gradient=True)[1])


def _plain(X: Any) -> Any:
    """Return an array of whatever the foreign kernel compares; only its rows matter here."""
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def _as_matrix(values: Any, source: Any, shape: tuple[int, int]) -> Floats:
    """Return the values of a foreign kernel as a float64 array of the right shape."""
    matrix = np.asarray(_plain(values), dtype=np.float64)
    if matrix.shape != shape:
        name = getattr(source, "__name__", repr(source))
        raise ValueError(
            f"The kernel {name} must return a matrix of shape {shape}, one row for each row of X "
            f"and one column for each row of Y; got {matrix.shape}."
        )
    return matrix
