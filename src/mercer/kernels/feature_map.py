"""The feature space of a polynomial kernel, written out."""

from __future__ import annotations

from functools import singledispatch
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import Any

import numpy as np

from ._checks import Floats, as_dense
from .algebra import Power, Product, Scaled, Sum
from .base import Kernel
from .coerce import as_kernel
from .dot import Linear, Polynomial
from .wrappers import Constant, Weighted


def explicit_map(kernel: Any, X: Any, max_columns: int = 50_000) -> Floats:
    r"""Return points of a feature space whose dot products are the kernel values.

    .. math:: k(x, y) = \langle \Phi(x), \Phi(y) \rangle

    For :math:`(\gamma \langle x, y \rangle + c)^q` the multinomial theorem gives one column for
    each choice of exponents :math:`\alpha_1 + \dots + \alpha_d = r`, with r from 0 to q (r = q
    alone where c = 0):

    .. math:: \Phi_\alpha(x) = \sqrt{\binom{q}{r} c^{q-r} \gamma^r \,
              \frac{r!}{\alpha_1! \cdots \alpha_d!}} \; x_1^{\alpha_1} \cdots x_d^{\alpha_d}

    Parameters
    ----------
    kernel : Kernel
        `Polynomial`, `Linear`, `Constant`, and their sums, products, powers and positive
        multiples, also on scaled features; or whatever `as_kernel` takes that is one of these.
    X : array-like or sparse matrix of shape (n, d)
    max_columns : int, default=50000
        Most columns to compute.

    Returns
    -------
    ndarray of shape (n, p)
        The columns are in the same order for all data with d features.

    References
    ----------
    A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg 2021, section 5.2.1.

    Examples
    --------
    The six columns 1, √2 x₁, √2 x₂, x₁², √2 x₁x₂, x₂² of :math:`(1 + \langle x, y \rangle)^2`:

    >>> from mercer.kernels import Polynomial, explicit_map
    >>> explicit_map(Polynomial(degree=2, gamma=1.0, coef0=1.0), [[3.0, 5.0]]).round(3)
    array([[ 1.   ,  4.243,  7.071,  9.   , 21.213, 25.   ]])
    """
    kernel, X = as_kernel(kernel), as_dense(X)
    columns = _count(kernel, X.shape[1])
    if columns > max_columns:
        raise ValueError(
            f"The explicit map of {kernel} has {columns} columns for {X.shape[1]} features; "
            f"max_columns allows {max_columns}. Use the kernel itself."
        )
    return _map(kernel, X)


@singledispatch
def _count(kernel: Kernel, n_features: int) -> int:
    """Return the number of columns of the map."""
    raise TypeError(
        f"explicit_map needs a polynomial kernel; {kernel} has no finite map that is known."
    )


@singledispatch
def _map(kernel: Kernel, X: Floats) -> Floats:
    """Return the points in feature space; `_count` has refused other kernels before."""
    raise TypeError(f"{kernel} has no map.")


@_count.register
def _(kernel: Linear, n_features: int) -> int:
    return n_features


@_map.register
def _(kernel: Linear, X: Floats) -> Floats:
    return X.copy()


@_count.register
def _(kernel: Constant, n_features: int) -> int:
    return 1


@_map.register
def _(kernel: Constant, X: Floats) -> Floats:
    return np.full((len(X), 1), np.sqrt(kernel.free_parameters()["value"]))


@_count.register
def _(kernel: Polynomial, n_features: int) -> int:
    return sum(comb(n_features + r - 1, r) for r, _ in _degrees(kernel))


@_map.register
def _(kernel: Polynomial, X: Floats) -> Floats:
    return np.hstack([np.sqrt(weight) * monomials(X, r) for r, weight in _degrees(kernel)])


@_count.register
def _(kernel: Sum, n_features: int) -> int:
    return sum(_count(part, n_features) for part in kernel.parts().values())


@_map.register
def _(kernel: Sum, X: Floats) -> Floats:
    return np.hstack([_map(part, X) for part in kernel.parts().values()])


@_count.register
def _(kernel: Product, n_features: int) -> int:
    first, second = kernel.parts().values()
    return _count(first, n_features) * _count(second, n_features)


@_map.register
def _(kernel: Product, X: Floats) -> Floats:
    first, second = (_map(part, X) for part in kernel.parts().values())
    return (first[:, :, None] * second[:, None, :]).reshape(len(X), -1)


@_count.register
def _(kernel: Power, n_features: int) -> int:
    inner = _count(kernel.parts()["kernel"], n_features)
    exponent = kernel._exponent()
    return comb(inner + exponent - 1, exponent)


@_map.register
def _(kernel: Power, X: Floats) -> Floats:
    return monomials(_map(kernel.parts()["kernel"], X), kernel._exponent())


@_count.register
def _(kernel: Scaled, n_features: int) -> int:
    return _count(kernel.parts()["kernel"], n_features)


@_map.register
def _(kernel: Scaled, X: Floats) -> Floats:
    return np.sqrt(kernel.free_parameters()["factor"]) * _map(kernel.parts()["kernel"], X)


@_count.register
def _(kernel: Weighted, n_features: int) -> int:
    return _count(kernel.parts()["kernel"], n_features)


@_map.register
def _(kernel: Weighted, X: Floats) -> Floats:
    return _map(kernel.parts()["kernel"], kernel._scale(X))


def monomials(X: Floats, degree: int) -> Floats:
    """Return all monomials of one degree, weighted so that their dot product is <x, y>^degree."""
    tuples = list(combinations_with_replacement(range(X.shape[1]), degree))
    choices = np.array(tuples, dtype=np.intp).reshape(len(tuples), degree)
    values = np.ones((len(X), len(choices)))
    # Features are sorted in each choice: the lengths of runs multiply to the product of the
    # factorials of the exponents.
    factorials = np.ones(len(choices))
    run = np.ones(len(choices))
    for place in range(degree):
        values *= X[:, choices[:, place]]
        if place:
            run = np.where(choices[:, place] == choices[:, place - 1], run + 1, 1)
            factorials *= run
    values *= np.sqrt(factorial(degree) / factorials)
    return values


def _degrees(kernel: Polynomial) -> list[tuple[int, float]]:
    """Return the degrees that occur and the weight of each; refuse a negative constant."""
    form = kernel.pairwise_form()
    if form.coef0 < 0:
        raise ValueError(
            f"explicit_map needs coef0 of at least 0; with coef0={form.coef0:g} the polynomial "
            "kernel has no real feature map."
        )
    q = form.degree
    weights = [(r, comb(q, r) * form.coef0 ** (q - r) * form.gamma**r) for r in range(q + 1)]
    return [(r, weight) for r, weight in weights if weight > 0]
