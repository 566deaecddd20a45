"""Optimality conditions of rows that a machine was not fitted to.

All machines are the program of `mercer.problems`. Rows without a coefficient have β = 0, so that
G + b of any row follows from its decision value, and the gap of `QuadraticProgram.kkt` over all
rows is the sum of two maxima: of -(G + b) where β may grow, and of G + b where it may fall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.distributed._rows import Part
from mercer.machines import Penalty, class_factors, decompose, machine_coefficients
from mercer.machines.tube import tube_program, tube_rows, tube_start
from mercer.problems import QuadraticProgram
from mercer.spheres import OneClassSVM
from mercer.svm import SVC, SVR

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

AT_BOUND = 1.0 - 1e-9
"""Share of a bound from which on a variable is at it."""


@dataclass(frozen=True, eq=False)
class Variables:
    """The variables that some rows have in a program, several machines one after the other.

    Parameters
    ----------
    rows : ndarray of int of shape (n_variables,)
    ends : ndarray of int of shape (n_machines + 1,)
    program : QuadraticProgram
        Of all machines as if they were one.
    values : ndarray of shape (n_variables,)
        Decision values.
    beta : ndarray of shape (n_variables,)
    """

    rows: Indices
    ends: Indices
    program: QuadraticProgram
    values: Floats
    beta: Floats

    def violations(self) -> tuple[Floats, Floats]:
        """Return by how much each variable would have to grow, and to fall; -inf where it cannot.

        Examples
        --------
        >>> from mercer.problems import hinge_svc
        >>> program = hinge_svc(np.array([1.0, -1.0]), 2.0)
        >>> each = np.arange(2)
        >>> rows = Variables(each, np.array([0, 2]), program, np.array([0.5, -3.0]), np.zeros(2))
        >>> [some.tolist() for some in rows.violations()]
        [[0.5, -inf], [-inf, -2.0]]
        """
        program, beta = self.program, self.beta
        gradient = self.values + program.ridge * beta + program.p
        with np.errstate(invalid="ignore"):  # half an infinite bound is one
            may_grow = beta < np.where(beta > 0, AT_BOUND, 1.0) * program.upper
            may_fall = beta > np.where(beta < 0, AT_BOUND, 1.0) * program.lower
        return np.where(may_grow, -gradient, -np.inf), np.where(may_fall, gradient, -np.inf)


class Conditions:
    """What the cascade must know of a kind of machine."""

    near: ClassVar[float] = 0.0
    """Rows that keep the conditions by less than this are likely to break them next."""

    def for_part(self, template: Any, weight: float, total: float) -> Any:
        """Return the machine of rows of some weight, on behalf of others with a total."""
        return clone(template)

    def variables(self, model: Any, part: Part, places: Indices, inside: Indices) -> Variables:
        """Return the variables of rows; those ``inside`` are the support vectors ``places``."""
        raise NotImplementedError

    def finish(self, model: Any, up: Floats) -> None:
        """Let the offset heed all rows; that of most is known from vectors between bounds."""


def _at_rows(places: Indices, inside: Indices, coefficients: Any, n: int) -> Floats:
    """Return coefficients of rows: those of support vectors, and zero."""
    found = np.zeros(n)
    found[inside] = coefficients[places]
    return found


class OfClasses(Conditions):
    """Those of `SVC`, two classes or many."""

    near = 0.1

    def variables(self, model: Any, part: Part, places: Indices, inside: Indices) -> Variables:
        """Return the variables of rows, machine after machine."""
        n, k = part.X.shape[0], model.classes_.size
        weights = np.ones(n) if part.weights is None else part.weights
        tasks = decompose(part.y, k, model.multi_class)
        factors = class_factors(model.class_weight, model.classes_, part.y, weights)
        program = Penalty.of(model, factors, weights).program(tasks)
        values = model.set_params(decision_function_shape="ovo").decision_function(part.X)
        one_vs_one = k > 2 and model.multi_class == "ovo"
        known = machine_coefficients(model.dual_coef_, model.n_support_, one_vs_one)
        beta = np.stack([_at_rows(places, inside, one, n) for one in known], axis=1)
        at = (tasks.rows, tasks.machine)
        return Variables(tasks.rows, tasks.ends, program, values.reshape(n, -1)[at], beta[at])


class OfTargets(Conditions):
    """Those of `SVR`, whose rows are taken twice."""

    def variables(self, model: Any, part: Part, places: Indices, inside: Indices) -> Variables:
        """Return the variables of rows."""
        n = part.X.shape[0]
        prices = model.C * (np.ones(n) if part.weights is None else part.weights)
        squared = model.loss == "squared_epsilon_insensitive"
        program = tube_program(np.asarray(part.y, float), prices, model.epsilon, squared=squared)
        rows = tube_rows(program, n)
        rows = np.arange(n) if rows is None else rows
        coefficients = _at_rows(places, inside, model.dual_coef_[0], n)
        beta = tube_start(program, coefficients)
        assert beta is not None
        return Variables(rows, np.array([0, rows.size]), program, model.predict(part.X)[rows], beta)


class OfOneClass(Conditions):
    """Those of `OneClassSVM`, whose nu is a share of all rows."""

    def for_part(self, template: Any, weight: float, total: float) -> Any:
        """Return the machine of rows that reject as much as all shall."""
        return clone(template).set_params(nu=min(1.0, template.nu * total / weight))

    def variables(self, model: Any, part: Part, places: Indices, inside: Indices) -> Variables:
        """Return the variables of rows."""
        n = part.X.shape[0]
        weights, zero = np.ones(n) if part.weights is None else part.weights, np.zeros(n)
        program = QuadraticProgram.known(zero, zero, weights, 0.0, zero)
        beta = _at_rows(places, inside, model.dual_coef_[0], n)
        values = model.decision_function(part.X)
        return Variables(np.arange(n), np.array([0, n]), program, values, beta)

    def finish(self, model: Any, up: Floats) -> None:
        """Leave no row outside that could have a larger multiplier."""
        model.intercept_ = model.intercept_ + np.maximum(up, 0.0)
        model.offset_ = -float(model.intercept_[0])


KINDS: dict[type, Conditions] = {SVC: OfClasses(), SVR: OfTargets(), OneClassSVM: OfOneClass()}


def conditions_of(model: Any) -> Conditions:
    """Return what the cascade must know of a machine."""
    return next(known for kind, known in KINDS.items() if isinstance(model, kind))
