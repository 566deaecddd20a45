"""A quadratic program on a device, and a point of it."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import torch

from mercer.gram.base import Indices
from mercer.gram.device import DeviceGram
from mercer.problems import QuadraticProgram

SINGLE_ROUNDING = 1.5e-7
"""Of a fast product, relative to the length of its vector: what was measured of pairs of halves."""


class DeviceProgram:
    """A program's vectors on a device, and products with its matrix.

    Parameters
    ----------
    problem : QuadraticProgram
    gram : DeviceGram
    rows : ndarray of int of shape (n,) or None
        The row of the matrix that each variable has; None stands for all in turn.
    """

    def __init__(self, problem: QuadraticProgram, gram: DeviceGram, rows: Indices | None) -> None:
        self.problem, self.n, self.delta = problem, problem.n, problem.delta
        self.points, self.products = gram.there.points, gram.there.products
        self.device = gram.device
        self.p, self.ridge = self.sent(problem.p), self.sent(problem.ridge)
        self.lower, self.upper = self.sent(problem.lower), self.sent(problem.upper)
        self.is_exact, self.has_ridge = False, bool(problem.ridge.any())
        view = gram.view if rows is None else rows if gram.view is None else gram.view[rows]
        self.view = None if view is None else torch.as_tensor(view, device=self.device)
        self._all_rows: Any = None
        self._twins: Any = None
        if view is not None and np.unique(view).size < len(view):  # points with two variables
            own, places = np.unique(view, return_inverse=True)
            self._twins = torch.as_tensor(own, device=self.device), self.sent(places, torch.long)

    def sent(self, values: Any, dtype: Any = torch.double) -> Any:
        """Return an array as a tensor on the device."""
        return torch.as_tensor(np.asarray(values), dtype=dtype, device=self.device)

    def scaled(self, scale: float) -> DeviceProgram:
        """Return the program with all bounds multiplied, which shares everything else."""
        if scale == 1.0:
            return self
        other = copy(self)
        other.lower, other.upper = scale * self.lower, scale * self.upper
        return other

    def exactly(self) -> DeviceProgram:
        """Return the same program with products in float64."""
        other = copy(self)
        other.is_exact = True
        return other

    def point_of(self, at: Any) -> Any:
        """Return the points of variables; None stands for all, and for all points in turn."""
        return at if self.view is None else self.view if at is None else self.view[at]

    def columns(self, at: Any) -> Any:
        """Return the columns of variables for a product."""
        return self.point_of(at) if self.is_exact else self.products.columns(self.point_of(at))

    def rows(self, at: Any = None) -> Any:
        """Return the rows of variables for a product, or of all."""
        if self.is_exact:
            return self.point_of(at)
        if at is not None:
            return self.products.rows(self.point_of(at))
        if self._all_rows is None:
            own = self.view if self._twins is None else self._twins[0]
            self._all_rows = self.products.rows(own)
        return self._all_rows

    def times(self, rows: Any, columns: Any, v: Any) -> Any:
        """Return K v for rows and columns that were prepared before."""
        if self.is_exact:
            return self.points.exact_times(rows, columns, v)
        return self.products.times(rows, columns, v)

    def image(self, columns: Any, v: Any) -> Any:
        """Return K v of all variables."""
        if self.is_exact or self._twins is None:
            return self.times(self.rows(), columns, v)
        return self.times(self.rows(), columns, v)[self._twins[1]]

    def told(self, change: Any) -> Any:
        """Return a change as products see it, so that no other one is made."""
        return change if self.is_exact else change.float().double()

    def block(self, at: Any) -> Any:
        """Return the matrix of some variables, in float64."""
        points = self.points.take(self.point_of(at))
        return self.points.values(points, points)

    @cached_property
    def room(self) -> float:
        """The sum of all rooms, relative to what the variables have to move against.

        That is p, for kernel values of one; infinite where some room is, or p is zero.
        """
        size = float(self.p.abs().mean())
        room = float((self.upper - self.lower).sum()) * float(self.points.diagonal.mean())
        return room / size if size > 0.0 else float("inf")

    def gap(self, beta: Any, gradient: Any) -> tuple[Any, Any, Any]:
        """Return the gap, and the two ends of the interval of offsets, as tensors."""
        rising = torch.where(beta < self.upper, -gradient, -torch.inf).max()
        falling = torch.where(beta > self.lower, -gradient, torch.inf).min()
        return rising - falling, rising, falling


class State:
    """A point, its gradient, and the guess where each variable of the solution stands.

    Some rows may wait for their part of the gradient: those far from what would change their guess.

    Parameters
    ----------
    program : DeviceProgram
    beta : tensor of shape (n,)
    free, raised : tensor of bool of shape (n,)
        Guessed between the bounds, and at the upper one; the others are at the lower.
    offset : tensor
    gradient : tensor of shape (n,) or None, default=None
        None computes it.
    """

    def __init__(
        self,
        program: DeviceProgram,
        beta: Any,
        free: Any,
        raised: Any,
        offset: Any,
        gradient: Any = None,
    ) -> None:
        self.beta, self.free, self.raised, self.offset = beta, free, raised, offset
        self.moved = 0.0
        self.is_judged = False  # whether the gradient is exact wherever it determines the gap
        self.near: Any = None  # rows that are up to date; None means all
        self.waiting: list[tuple[Any, Any]] = []  # the others, with steps that they have not seen
        self.gradient = gradient
        if gradient is None:
            self.renew(program)

    @classmethod
    def at(cls, program: DeviceProgram, point: Any) -> State:
        """Return the state of a feasible point, given as an array."""
        beta = program.sent(point).clone()  # an array of the processor would be shared
        nowhere = torch.zeros_like(beta, dtype=torch.bool)
        state = cls(program, beta, nowhere, nowhere, program.p.new_zeros(()))
        moved, state = state.moved, cls.of(program, beta, state.gradient)
        state.moved = moved
        return state

    @classmethod
    def of(cls, program: DeviceProgram, beta: Any, gradient: Any) -> State:
        """Return the state of a feasible point, with the guess that its bounds suggest."""
        _, rising, falling = program.gap(beta, gradient)
        free = (beta > program.lower) & (beta < program.upper)
        raised = (beta >= program.upper) & ~free
        return cls(program, beta, free, raised, 0.5 * (rising + falling), gradient)

    def copy(self) -> State:
        """Return a copy that shares nothing that changes."""
        other = copy(self)
        for name in ("beta", "free", "raised", "gradient"):
            setattr(other, name, getattr(self, name).clone())
        other.waiting = [(rows, missed.clone()) for rows, missed in self.waiting]
        return other

    def renew(self, program: DeviceProgram) -> None:
        """Compute the gradient anew."""
        at = self.beta.nonzero()[:, 0]
        self.near, self.waiting, self.is_judged = None, [], False
        self.gradient = program.p + program.ridge * self.beta
        self.moved = 0.0
        if len(at):
            self.gradient += program.image(program.columns(at), self.beta[at])
            self.moved = float(self.beta @ self.beta)

    def rounding(self) -> float:
        """Return about how far off the gradient of a row is by rounding of fast products."""
        return float(SINGLE_ROUNDING * self.moved**0.5)

    def move(self, program: DeviceProgram, at: Any, change: Any, everywhere: bool = True) -> None:
        """Change some variables; rows that wait see it now if ``everywhere``."""
        self.is_judged = False
        self.beta[at] += change
        self.gradient[at] += program.ridge[at] * change
        self.moved += float(change @ change)
        columns = program.columns(at)
        if self.near is None:
            self.gradient += program.image(columns, change)
            return
        self.gradient[self.near] += program.times(program.rows(self.near), columns, change)
        for _, missed in self.waiting:
            missed[at] += change
        if everywhere:
            self.catch_up(program)

    def let_wait(self, stays: Any) -> None:
        """Keep only some rows up to date from now on, where that spares half of the work."""
        seen = torch.ones_like(stays)
        if self.near is not None:
            seen = torch.zeros_like(stays).index_fill_(0, self.near, True)
        near, others = (stays & seen).nonzero()[:, 0], (~stays & seen).nonzero()[:, 0]
        if len(near) < len(others):
            self.near = near
            self.waiting.append((others, torch.zeros_like(self.beta)))

    def catch_up(self, program: DeviceProgram) -> None:
        """Bring all rows up to date."""
        for rows, missed in self.waiting:
            at = missed.nonzero()[:, 0]
            if len(at):
                product = program.times(program.rows(rows), program.columns(at), missed[at])
                self.gradient[rows] += product
        self.near, self.waiting = None, []
