"""Machines as LIBSVM and scikit-learn know them: support vectors, coefficients, a plain kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.calibration import PairSigmoids, PlattClassifier
from mercer.exchange._searches import found_by
from mercer.kernels import Kernel, Precomputed
from mercer.spheres import OneClassSVM
from mercer.svm import SVC, SVR

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

NAMES = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid"}
"""The names of LIBSVM and scikit-learn for our families of kernels."""


@dataclass(frozen=True)
class PlainKernel:
    """A kernel by its name, with those numbers that belong to it.

    Parameters
    ----------
    name : {"linear", "poly", "rbf", "sigmoid", "precomputed"}
    gamma, coef0 : float or None
    degree : int or None
    """

    name: str
    gamma: float | None = None
    coef0: float | None = None
    degree: int | None = None

    @classmethod
    def of(cls, name: str, gamma: float, coef0: float, degree: int) -> PlainKernel:
        """Return the kernel with the numbers that kernels of this name have."""
        return cls(
            name,
            None if name in ("linear", "precomputed") else float(gamma),
            float(coef0) if name in ("poly", "sigmoid") else None,
            int(degree) if name == "poly" else None,
        )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of an estimator with this kernel."""
        numbers = {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}
        return {"kernel": self.name} | {k: v for k, v in numbers.items() if v is not None}


@dataclass(frozen=True, eq=False)
class DualMachine:
    r"""One machine, or one for each pair of classes.

    .. math:: f(x) = \sum_i c_i k(x, z_i) + b

    The f of a pair is positive for the first of the two classes, of two classes too.

    Parameters
    ----------
    kind : {"svc", "svr", "one_class"}
    kernel : PlainKernel
    vectors : ndarray or sparse matrix of shape (m, d), or None
        The z_i, sorted by class; None for a precomputed kernel.
    support : ndarray of int of shape (m,)
        The rows of the training data that they were, where that is known.
    n_support : ndarray of int
        How many each class has.
    coefficients : ndarray of shape (max(1, n_classes - 1), m)
        In the layout of `mercer.machines.DualModel`.
    intercepts : ndarray
        b of each machine.
    n_features : int
        Columns of the data; of a precomputed kernel the number of training rows.
    classes : ndarray or None
    order_of_ties : ndarray of int or None
        The order in which classes with equal votes win, where it is not theirs.
    sigmoids : ndarray of shape (2, n_pairs) or None
        A and B of each pair, :math:`P(\text{first}) = 1 / (1 + \exp(A f + B))`.
    """

    kind: str
    kernel: PlainKernel
    vectors: Any
    support: Indices
    n_support: Indices
    coefficients: Floats
    intercepts: Floats
    n_features: int
    classes: Any = None
    order_of_ties: Any = None
    sigmoids: Floats | None = None

    def in_order(self, order: Any) -> DualMachine:
        """Return the same machine with its classes in another order."""
        assert self.classes is not None
        order = np.asarray(order)
        rank = np.argsort(order)
        ends = np.concatenate([[0], np.cumsum(self.n_support)])
        parts = [np.arange(ends[c], ends[c + 1]) for c in range(order.size)]
        columns = np.concatenate([parts[c] for c in order])
        pairs = list(combinations(range(order.size), 2))
        places = {pair: k for k, pair in enumerate(pairs)}
        coefficients = np.zeros_like(self.coefficients)
        constants = np.vstack([self.intercepts, *([] if self.sigmoids is None else self.sigmoids)])
        moved = np.zeros_like(constants)
        for k, (a, b) in enumerate(pairs):
            i, j = rank[a], rank[b]
            sign = 1.0 if i < j else -1.0
            for old, other, new, new_other in ((a, b, i, j), (b, a, j, i)):
                line, new_line = _line(old, other), _line(new, new_other)
                coefficients[new_line, parts[old]] = sign * self.coefficients[line, parts[old]]
            # 1 - 1 / (1 + exp(A f + B)) = 1 / (1 + exp(A (-f) - B)): A stays as it is.
            signs = np.array([sign, 1.0, sign])[: len(constants)]
            moved[:, places[min(i, j), max(i, j)]] = signs * constants[:, k]
        return replace(
            self,
            vectors=None if self.vectors is None else self.vectors[columns],
            support=self.support[columns],
            n_support=self.n_support[order],
            coefficients=coefficients[:, columns],
            intercepts=moved[0],
            classes=self.classes[order],
            order_of_ties=rank if self.order_of_ties is None else rank[self.order_of_ties],
            sigmoids=None if self.sigmoids is None else moved[1:],
        )


def _line(own: int, other: int) -> int:
    """Return the row in which a vector of a class has its coefficient against another class."""
    return other - 1 if other > own else other


def dual_machine_of(model: Any, form: str) -> DualMachine:
    """Return a fitted machine of ours in this form, or say why there is none.

    Parameters
    ----------
    model : SVC, SVR, OneClassSVM or PlattClassifier of an SVC
    form : str
        What it is wanted for, for messages.
    """
    model = found_by(model)
    check_is_fitted(model)
    sigmoids = getattr(model, "sigmoids_", None)
    if isinstance(model, PlattClassifier):
        sigmoids = PairSigmoids(model.A_, model.B_, model.classes_.size)
        model = model.estimator_
    kinds = {SVC: "svc", SVR: "svr", OneClassSVM: "one_class"}
    kind = next((name for cls, name in kinds.items() if isinstance(model, cls)), None)
    if kind is None:
        raise TypeError(
            f"{form} holds an SVC, an SVR, a OneClassSVM or a PlattClassifier of an SVC (of a "
            f"pipeline give the last step, and scale the data yourself); got {_named(model)}."
        )
    if kind == "svc" and model.classes_.size > 2 and not model._one_vs_one:
        raise ValueError(
            f"{form} knows many classes as pairs only; fit the SVC with multi_class='ovo'."
        )
    kernel, vectors, factor = _plain(model.kernel_, model.support_vectors_, form)
    sign = -1.0 if kind == "svc" and model.classes_.size == 2 else 1.0
    return DualMachine(
        kind,
        kernel,
        vectors,
        np.asarray(model.support_, dtype=np.int64),
        np.asarray(model.n_support_, dtype=np.int64),
        sign * factor * model.dual_coef_,
        sign * np.asarray(model.intercept_),
        int(model.n_features_in_),
        model.classes_ if kind == "svc" else None,
        getattr(model, "_order_of_ties", None),
        None if sigmoids is None else np.stack([sigmoids.A, -sigmoids.B]),
    )


def _plain(kernel: Kernel, vectors: Any, form: str) -> tuple[PlainKernel, Any, float]:
    """Return the kernel by name, the vectors that go with it, and a factor of all values."""
    if type(kernel) is Precomputed:
        return PlainKernel("precomputed"), None, 1.0
    found = None if kernel.is_pairwise else kernel.pairwise_form()
    if found is None or found.family not in NAMES:
        raise ValueError(
            f"{form} knows linear, polynomial, RBF, sigmoid and precomputed kernels only; got "
            f"{kernel!r}."
        )
    gamma, scales = found.gamma, found.scales
    if scales is not None and found.family == "rbf" and scales.size == 1:
        gamma, scales = gamma * float(scales[0] ** 2), None  # a huge or tiny one
    if scales is not None:
        if found.is_stationary:
            raise ValueError(
                f"{form} knows RBF kernels with one width for all features only; got {kernel!r}."
            )
        # <s x, s z> = <x, s^2 z>
        squares = scales**2
        vectors = (
            sp.csr_array(vectors.multiply(squares)) if sp.issparse(vectors) else vectors * squares
        )
    plain = PlainKernel.of(NAMES[found.family], gamma, found.coef0, found.degree)
    return plain, vectors, found.factor


def estimator_of(machine: DualMachine, **parameters: Any) -> Any:
    """Return the machine as a fitted estimator of ours.

    Parameters
    ----------
    machine : DualMachine
        Its classes in rising order.
    **parameters
        Of the estimator, beside its kernel; `kernel` too where it has no name.
    """
    estimators = {"svc": SVC, "svr": SVR, "one_class": OneClassSVM}
    model: Any = estimators[machine.kind](**(machine.kernel.parameters() | parameters))
    kernel = model._make_kernel()
    kernel.free_parameters()  # which looks at its numbers
    support = machine.support.astype(np.int32)
    vectors = np.empty((0, 0)) if machine.vectors is None else machine.vectors
    coefficients, intercepts = machine.coefficients, machine.intercepts
    if machine.kind == "svc":
        assert machine.classes is not None
        counts, classes = machine.n_support.astype(np.int32), machine.classes
        sign = -1.0 if classes.size == 2 else 1.0
        model._set_machines(classes, kernel, support, vectors, counts, sign * coefficients)
        model.intercept_ = sign * intercepts
        order = machine.order_of_ties
        if order is not None and (np.diff(order) < 0).any():
            model._order_of_ties = order
        if machine.sigmoids is not None:
            A, B = machine.sigmoids
            model.sigmoids_ = PairSigmoids(A, -B, classes.size)
    elif machine.kind == "svr":
        model._set_machine(kernel, support, vectors, coefficients)
        model.intercept_ = intercepts
    else:
        largest = 1.0 if machine.vectors is None else np.abs(kernel.diag(vectors)).max(initial=0.0)
        scale = float(largest * np.abs(coefficients).sum())
        intercept = float(intercepts[0])
        model._set_machine(kernel, support, vectors, coefficients, intercept, scale)
    model.n_features_in_ = machine.n_features
    return model


def _named(model: Any) -> str:
    return type(model).__name__
