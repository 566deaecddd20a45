"""Decision functions as kernel expansions, read from any fitted machine."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    r"""Decision functions of one or several machines that share their points.

    .. math:: f_r(x) = \sum_j c_{rj} \, k(x, z_j) + q \, k(x, x) + \text{constant}

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    points : ndarray or sparse matrix of shape (m, d)
        The z_j.
    coefficients : ndarray of shape (n_machines, m)
        The c_rj.
    diagonal_factor : float, default=0.0
        q, which is 0 for all machines but those that measure a distance to a centre.
    """

    kernel: Kernel
    points: Any
    coefficients: Floats
    diagonal_factor: float = 0.0


def kernel_expansion(model: Any) -> KernelExpansion:
    r"""Return the decision functions of a fitted machine.

    A machine has ``kernel_``, ``support_vectors_`` (or ``relevance_vectors_``) and ``dual_coef_``
    with one row of coefficients for each decision function; the rows of one-against-one machines
    in scikit-learn's layout are taken apart. Where it has a ``radius_``, the coefficients are those
    of a centre a, and the decision function is :math:`R^2 - \lVert \phi(x) - a \rVert^2`; where it
    has ``radii_``, there is such a ball for each class, made of its own support vectors. A machine
    of another make has a method ``_kernel_expansion`` that returns a dict with what differs from
    that: any of "points", "coefficients" and "diagonal_factor".
    """
    special = model._kernel_expansion() if hasattr(model, "_kernel_expansion") else {}
    kernel = getattr(model, "kernel_", None)
    points = special.get("points", _points(model))
    coefficients: Any = special.get("coefficients", getattr(model, "dual_coef_", None))
    if not special and hasattr(model, "radii_"):
        coefficients = _rows_of_classes(coefficients, model.n_support_)
    if not isinstance(kernel, Kernel) or points is None or np.ndim(coefficients) != 2:
        raise TypeError(
            "A kernel machine of mercer with a single kernel expansion is needed, such as SVC (of "
            "a pipeline its last step, with X transformed by the steps before; no "
            f"KernelPerceptron with variant='voted'); got {model!r}."
        )
    if kernel.is_pairwise:
        raise ValueError(
            "A precomputed kernel has no features: X is a matrix of kernel values; "
            "fit the machine with a kernel on the data themselves."
        )
    factor = special.get("diagonal_factor", 0.0)
    if not special and (hasattr(model, "radius_") or hasattr(model, "radii_")):
        coefficients, factor = 2.0 * coefficients, -1.0
    elif not special and _is_one_against_one(model, coefficients):
        coefficients = _machines_of_pairs(coefficients, model.n_support_)
    return KernelExpansion(kernel, points, coefficients, factor)


def _points(model: Any) -> Any:
    names = ("support_vectors_", "relevance_vectors_")
    return next((getattr(model, name) for name in names if hasattr(model, name)), None)


def _rows_of_classes(coefficients: Any, n_support: Any) -> Floats:
    """Return one row for each class, which is 0 but for the support vectors of the class."""
    owners = np.repeat(np.arange(len(n_support)), n_support)
    return np.where(owners == np.arange(len(n_support))[:, None], coefficients, 0.0)


def _is_one_against_one(model: Any, coefficients: Floats) -> bool:
    n_classes = len(getattr(model, "classes_", ()))
    return n_classes > 2 and hasattr(model, "n_support_") and len(coefficients) == n_classes - 1


def _machines_of_pairs(coefficients: Floats, n_support: Any) -> Floats:
    """Return one row of coefficients for each pair of classes.

    For a support vector of class i the machine against class j stands in row j - 1 if j > i, else
    in row j.
    """
    ends = np.concatenate([[0], np.cumsum(n_support)])
    own = [slice(*ends[c : c + 2]) for c in range(len(n_support))]
    pairs = list(combinations(range(len(n_support)), 2))
    machines = np.zeros((len(pairs), coefficients.shape[1]))
    for machine, (first, second) in zip(machines, pairs):
        machine[own[first]] = coefficients[second - 1, own[first]]
        machine[own[second]] = coefficients[first, own[second]]
    return machines
