"""Points of length one: in the feature space of a kernel, or in the input space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._checks import Floats, Points, as_coefficients, as_contraction, as_points
from ._distances import squared_norms
from .base import Kernel, PairwiseForm


class Normalized(Kernel):
    r"""A kernel whose points all have length 1 in its feature space.

    .. math:: k(x, y) = \frac{k_0(x, y)}{\sqrt{k_0(x, x) \, k_0(y, y)}}

    It is the dot product of :math:`\Phi(x) / \lVert \Phi(x) \rVert`, so that k(x, x) = 1: the
    smallest enclosing ball and the one-class machine then describe the same region, whatever
    the kernel. A Gaussian kernel is its own normalisation.

    Parameters
    ----------
    kernel : Kernel
        Or whatever `as_kernel` takes; k(x, x) must be above 0.

    See Also
    --------
    unit_rows : The same in input space, enough for polynomial kernels.

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 2.2.1.

    Examples
    --------
    >>> from mercer.kernels import Linear, Normalized
    >>> Normalized(Linear())([[1.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.7071],
           [0.7071, 1.    ]])
    """

    part_names = ("kernel",)
    takes_after_parts = True

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return the (n, m) matrix of k(x_i, y_j); `Y` None means `X`."""
        kernel = self._part()
        lengths = _lengths(kernel.diag(X))
        if Y is None:
            return _normalize(kernel(X), lengths)
        return kernel(X, Y) / np.outer(lengths, _lengths(kernel.diag(Y)))

    def diag(self, X: Any) -> Floats:
        """Return ones."""
        return np.ones_like(_lengths(self._part().diag(X)))

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative of the kernel matrix in every log-parameter with `W`."""
        kernel = self._part()
        terms = [kernel.contract_gradient(*term) for term in self._terms(X, W, Y)]
        return np.add.reduce(terms)

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Contract the derivative in the logarithm of every feature's scale with `W`."""
        kernel = self._part()
        terms = [kernel.contract_scale_gradient(*term) for term in self._terms(X, W, Y)]
        return np.add.reduce(terms)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> Floats:
        r"""Return the gradients in the inputs of kernel expansions.

        .. math:: dk = \frac{dk_0(x, z)}{s t} - \frac{k(x, z)}{2} \frac{d k_0(x, x)}{s^2}, \qquad
                  s^2 = k_0(x, x),\; t^2 = k_0(z, z)
        """
        kernel, values = self._part(), self(X, Z)
        V = as_coefficients(V, *values.shape)
        squares, lengths = kernel.diag(X), _lengths(kernel.diag(Z))
        inner = V / (np.sqrt(squares)[:, None] * lengths)
        along_x = -0.5 * (V * values).sum(axis=1) / squares
        own = along_x[:, None] * kernel.diag_input_gradient(X)
        return kernel.contract_input_gradient(X, Z, inner) + own

    def diag_input_gradient(self, X: Any) -> Floats:
        """Return zeros: k(x, x) = 1 everywhere."""
        return np.zeros(as_points(X).shape)

    def without_features(self, X: Any) -> Iterator[Floats]:
        """Yield the kernel matrix without each column."""
        for values in self._part().without_features(X):
            yield _normalize(values, _lengths(np.diagonal(values)))

    def pairwise_form(self) -> PairwiseForm | None:
        """Return the formula of the inner kernel where its diagonal is constant, else None."""
        form = self._part().pairwise_form()
        return form.times(1.0 / form.factor) if form is not None and form.is_stationary else None

    def _terms(self, X: Any, W: Any, Y: Any) -> list[tuple[Any, Floats, Any]]:
        r"""Return (X, W, Y) of the contractions of the inner kernel that make up this one's.

        With :math:`s_i^2 = k_0(x_i, x_i)` and :math:`t_j^2 = k_0(y_j, y_j)` the derivative is

        .. math:: dk_{ij} = \frac{dk_{0,ij}}{s_i t_j}
                  - \frac{k_{ij}}{2} \Bigl(\frac{ds_i^2}{s_i^2} + \frac{dt_j^2}{t_j^2}\Bigr).
        """
        kernel, values = self._part(), self(X, Y)
        W = as_contraction(W, *values.shape)
        values = W * values
        x_squares = kernel.diag(X)
        along_x = -0.5 * values.sum(axis=1) / x_squares
        if Y is None:
            lengths = np.sqrt(x_squares)
            inner = W / np.outer(lengths, lengths)
            inner[np.diag_indices_from(inner)] += along_x - 0.5 * values.sum(axis=0) / x_squares
            return [(X, inner, None)]
        y_squares = kernel.diag(Y)
        along_y = -0.5 * values.sum(axis=0) / y_squares
        inner = W / np.outer(np.sqrt(x_squares), np.sqrt(y_squares))
        return [(X, inner, Y), (X, np.diag(along_x), None), (Y, np.diag(along_y), None)]


def unit_rows(X: Any, extra: float | None = None) -> Points:
    r"""Scale every row to length 1, perhaps after adding a constant component.

    .. math:: x \mapsto \frac{x}{\lVert x \rVert} \quad\text{or}\quad
              x \mapsto \frac{(x, c)}{\lVert (x, c) \rVert}

    For :math:`\langle x, y \rangle^q` this is the same as `Normalized`, because the lengths can
    be drawn out of the dot product. The added component keeps the length of x from being lost;
    with :math:`c = \sqrt{\mathrm{coef0} / \gamma}` it gives the normalised
    :math:`(\gamma \langle x, y \rangle + \mathrm{coef0})^q`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    extra : float, default=None
        The component c to add as the last column; None adds none.

    Returns
    -------
    ndarray or CSR array of shape (n, d) or (n, d + 1)

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 2.2.1 with its footnote 4.

    Examples
    --------
    >>> from mercer.kernels import unit_rows
    >>> unit_rows([[3.0, 4.0]])
    array([[0.6, 0.8]])
    >>> unit_rows([[2.0, 2.0]], extra=1.0).round(4)
    array([[0.6667, 0.6667, 0.3333]])
    """
    points = as_points(X)
    if extra is not None:
        stack = sp.hstack if sp.issparse(points) else np.hstack
        points = as_points(stack([points, np.full((points.shape[0], 1), float(extra))]))
    lengths = np.sqrt(squared_norms(points))
    if (lengths == 0).any():
        raise ValueError(
            f"Row {np.flatnonzero(lengths == 0)[0]} is zero and has no direction; "
            "give extra=1.0 to add a constant component."
        )
    if not sp.issparse(points):
        return points / lengths[:, None]
    points.data = points.data / np.repeat(lengths, np.diff(points.indptr))
    return points


def _lengths(squares: Floats) -> Floats:
    """Return the lengths in feature space, or name the first row that has none."""
    bad = np.flatnonzero(~(squares > 0))
    if len(bad):
        raise ValueError(
            f"Normalized: k(x, x) must be above 0 for every row; row {bad[0]} has "
            f"{squares[bad[0]]:.6g}. Add a constant to the kernel, as in Normalized(k + 1)."
        )
    return np.sqrt(squares)


def _normalize(values: Floats, lengths: Floats) -> Floats:
    """Divide a square kernel matrix by the lengths; the diagonal is 1 to the last bit."""
    # One product of two lengths, so that the result is symmetric to the last bit.
    result = values / np.outer(lengths, lengths)
    np.fill_diagonal(result, 1.0)
    return result
