"""How much each feature matters to a trained two-class machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel, Linear, Weighted
from mercer.machines import Penalty, TwoClassTask
from mercer.machines.kernel_data import KernelData
from mercer.machines.two_class_machine import TwoClassMachine
from mercer.model_selection.criteria.modified_radius_margin import modified_radius_margin_of
from mercer.model_selection.criteria.radius_margin import radius_margin_of
from mercer.model_selection.criteria.span import span_of
from mercer.solvers import Solution

Floats = NDArray[np.float64]

CRITERIA = ("auto", "weights", "objective", "decrease", "gradient", "bound", "span")
JOINTS = ("sum", "max", "variation")


@dataclass(frozen=True, eq=False)
class Trained:
    """A two-class machine on the features that are left.

    Parameters
    ----------
    kernel : Kernel
    points : ndarray of shape (n, d)
        All rows of the round.
    task : TwoClassTask
        Which of them belong to this machine.
    solution : Solution
    penalty : Penalty or None
        How all rows are priced; only the bounds need it.
    memory : dict
        Solutions of the last round that the bounds start from.
    """

    kernel: Kernel
    points: Floats
    task: TwoClassTask
    solution: Solution
    penalty: Penalty | None
    memory: dict[str, Floats]

    def support(self) -> tuple[Floats, Floats]:
        """Return the support vectors and their coefficients."""
        kept = np.flatnonzero(self.solution.beta)
        return self.points[self.task.rows[kept]], self.solution.beta[kept]


def criterion_for(name: str, kernel: Kernel) -> Callable[[Trained], Floats]:
    """Return the criterion of a name, or say that it does not suit the kernel."""
    if name == "auto":
        name = "weights" if isinstance(kernel, Linear) else "objective"
    if name == "weights" and not isinstance(kernel, Linear):
        raise ValueError(
            f"criterion='weights' needs a linear kernel; for {kernel!r} use 'objective' or "
            "'gradient'."
        )
    return {
        "weights": squared_weights,
        "objective": change_of_objective,
        "decrease": decrease_of_objective,
        "gradient": sensitivity,
        "bound": change_of_bound,
        "span": change_of_span,
    }[name]


def squared_weights(machine: Trained) -> Floats:
    """Return the squared weights of a linear machine."""
    points, beta = machine.support()
    return (beta @ points) ** 2


def change_of_objective(machine: Trained) -> Floats:
    r"""Return :math:`\tfrac12|\beta^\top K\beta - \beta^\top K^{(-i)}\beta|`."""
    points, beta = machine.support()
    return objective_change(machine.kernel, points, beta)


def objective_change(kernel: Kernel, points: Floats, beta: Floats) -> Floats:
    """Return the change for a kernel expansion."""
    return np.abs(objective_decrease(kernel, points, beta))


def decrease_of_objective(machine: Trained) -> Floats:
    r"""Return :math:`\tfrac12(\beta^\top K\beta - \beta^\top K^{(-i)}\beta)`, with its sign."""
    points, beta = machine.support()
    return objective_decrease(machine.kernel, points, beta)


def objective_decrease(kernel: Kernel, points: Floats, beta: Floats) -> Floats:
    """Return the decrease for a kernel expansion."""
    if beta.size == 0:
        return np.zeros(points.shape[1])
    if isinstance(kernel, Linear):
        return 0.5 * (beta @ points) ** 2
    whole = float(beta @ kernel(points) @ beta)
    return 0.5 * (whole - kernel.leave_feature_out(points, beta))


def sensitivity(machine: Trained) -> Floats:
    r"""Return :math:`\tfrac12|\partial\,\beta^\top K\beta / \partial\nu_i|` for scales ν at 1."""
    points, beta = machine.support()
    return objective_slope(machine.kernel, points, beta)


def objective_slope(kernel: Kernel, points: Floats, beta: Floats) -> Floats:
    """Return the sensitivity for a kernel expansion."""
    if isinstance(kernel, Linear) or beta.size == 0:
        return (beta @ points) ** 2
    return 0.5 * np.abs(kernel.contract_scale_gradient(points, np.outer(beta, beta)))


def change_of_bound(machine: Trained) -> Floats:
    """Return by how much the radius/margin bound grows without each feature, to first order.

    Minus the slope of the bound in the features' scales: leaving one out takes its scale to 0.
    """
    d = machine.points.shape[1]
    data = KernelData(Weighted(machine.kernel, np.ones(d)), machine.points)
    two_class = _two_class(machine, data)
    bound = modified_radius_margin_of if two_class.loss == "hinge" else radius_margin_of
    first = 0 if two_class.loss == "hard" else 1  # C comes before the scales
    return -np.asarray(bound(two_class).gradient)[first : first + d]


def change_of_span(machine: Trained) -> Floats:
    """Return by how much the span estimate grows without each feature, the solution unchanged.

    The estimate bends too much for its slope to tell what happens when a feature goes.
    """
    data = KernelData(machine.kernel, machine.points)
    present = span_of(_two_class(machine, data), gradient=False).value
    growth = []
    for matrix in machine.kernel.without_features(machine.points):
        data = KernelData(machine.kernel, machine.points)
        data.__dict__["matrix"] = matrix.copy()  # where its cached property keeps it
        growth.append(span_of(_two_class(machine, data), gradient=False).value - present)
    return np.array(growth)


def _two_class(machine: Trained, data: KernelData) -> TwoClassMachine:
    assert machine.penalty is not None
    return TwoClassMachine(
        data,
        machine.task.rows,
        machine.task.signs,
        machine.penalty,
        beta=machine.solution.beta,
        memory=machine.memory,
        tol=1e-6,
    )


def join(values: Floats, how: str, power: float) -> Floats:
    """Return one importance for each feature from those of several machines, one a row.

    "sum" adds the values raised to a power (with their sign), "max" takes the largest, "variation"
    the standard deviation over the mean.
    """
    if how == "max":
        return values.max(axis=0)
    if how == "variation":
        means = np.abs(values.mean(axis=0))
        return np.divide(values.std(axis=0), means, out=np.zeros_like(means), where=means > 0)
    if power == 1.0:
        return values.sum(axis=0)
    return (np.sign(values) * np.abs(values) ** power).sum(axis=0)
