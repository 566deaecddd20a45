"""Sums over rows, from which machines on few features are solved.

Whoever has rows answers requests: for a block of them with `add`, for several by ``+``. What a
request needs does not depend on the number of rows, and neither does an answer, but for those near
the margin, which are few.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from mercer.lowrank.kinks import Kinks, hinge, squared_hinge

Floats = NDArray[np.float64]

LENGTHS = np.array([1.0, 0.5, 0.25, 0.1, 0.03, 0.01, 0.0])
"""Where along a move the losses are told."""

FEW_PLANES = 4
"""Up to so many hyperplanes one product each is faster than one of all."""


class Answer(Protocol):
    """Sums over some rows."""

    def add(self, rows: Floats, values: list[Floats], kinks: Kinks) -> None:
        """Add a block: features, decision values at each hyperplane asked about, and losses."""

    def __iadd__(self, other: Any) -> Any:
        """Add the sums over others."""


class Request(Protocol):
    """A question about all rows of one machine."""

    @property
    def machine(self) -> int:
        """The number of the machine."""

    @property
    def planes(self) -> list[Floats]:
        """The hyperplanes at which decision values are needed."""

    def empty(self) -> Answer:
        """Return the sums over no rows."""


# ---- a step of Newton's method ------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """Losses along a move, and their derivatives at its end.

    Parameters
    ----------
    machine : int
    start, move : ndarray of shape (d + 1,)
        Weights, and the offset at the end.
    width, next_width : float
        Rounding of the hinge for the losses along the move, and for the derivatives.
    squared : bool
        Whether losses are squared.
    """

    machine: int
    start: Floats
    move: Floats
    width: float
    next_width: float
    squared: bool

    @property
    def planes(self) -> list[Floats]:
        """Start and move."""
        return [self.start, self.move]

    def empty(self) -> Seen:
        """Return the sums over no rows."""
        return Seen(self)


class Seen:
    """The answer to a `Look`.

    Attributes
    ----------
    losses : ndarray
        At each of `LENGTHS`.
    gradient : ndarray of shape (d + 1,)
        Of the losses at the end of the move.
    curvature : ndarray of shape (d + 1, d + 1)
        Second derivatives there; only the lower triangle is filled.
    near : int
        Kinks that are rounded there, or losses above 0 where they are squared.
    reach : float
        The largest change of decision values by the move among rows whose kinks were rounded.
    """

    def __init__(self, request: Look) -> None:
        size = request.start.size
        self.request = request
        self.losses = np.zeros(LENGTHS.size)
        self.gradient = np.zeros(size)
        self.curvature = np.zeros((size, size), order="F")
        self.near = 0
        self.reach = 0.0

    def add(self, rows: Floats, values: list[Floats], kinks: Kinks) -> None:
        """Add a block."""
        request, price = self.request, kinks.price[:, None]
        loss = squared_hinge if request.squared else hinge
        start, change = values
        for place, length in enumerate(LENGTHS):
            u = kinks.excess(start + length * change)
            self.losses[place] += float(np.vdot(price, loss(u, request.width).value.sum(axis=1)))
        self.reach = max(self.reach, self._change(kinks.excess(start), change))
        end = loss(kinks.excess(start + change), request.next_width)
        slope = -(kinks.side * price * end.slope).sum(axis=1)
        self.gradient[:-1] += rows.T @ slope
        self.gradient[-1] += slope.sum()
        self.near += int(np.count_nonzero(end.curvature))
        self._add_curvature(rows, (price * end.curvature).sum(axis=1))

    def _change(self, u: Floats, change: Floats) -> float:
        near = (np.abs(u) < self.request.width).any(axis=1)
        return float(np.abs(change[near]).max(initial=0.0))

    def _add_curvature(self, rows: Floats, curvature: Floats) -> None:
        used = np.flatnonzero(curvature)
        scale = np.sqrt(curvature[used])
        part = np.empty((used.size, self.gradient.size))
        np.multiply(rows[used], scale[:, None], out=part[:, :-1])
        part[:, -1] = scale
        dsyrk(1.0, part.T, beta=1.0, c=self.curvature, lower=1, overwrite_c=1)

    def __iadd__(self, other: Seen) -> Seen:
        """Add the sums over others."""
        self.losses += other.losses
        self.gradient += other.gradient
        self.curvature += other.curvature
        self.near += other.near
        self.reach = max(self.reach, other.reach)
        return self


# ---- rows near the margin -----------------------------------------------------------------------


@dataclass(frozen=True)
class Gather:
    """The rows near their kinks at a hyperplane, and the sums over the others.

    Parameters
    ----------
    machine : int
    plane : ndarray of shape (d + 1,)
    width : float
    """

    machine: int
    plane: Floats
    width: float

    @property
    def planes(self) -> list[Floats]:
        """The hyperplane."""
        return [self.plane]

    def empty(self) -> Near:
        """Return the sums over no rows."""
        return Near(self)


class Near:
    """The answer to a `Gather`.

    Each kink is a variable of the dual program, between 0 and side times price. Those far away are
    at the bound that their side names.

    Attributes
    ----------
    parts : list of (ndarray, Kinks)
        Features of the rows near a kink, one row for each, and what the kinks are.
    image : ndarray of shape (d + 1,)
        Variables of the others times their features and 1, summed.
    linear : float
        The same times their places.
    n_fixed : int
        How many others there are.
    """

    def __init__(self, request: Gather) -> None:
        self.request = request
        self.parts: list[tuple[Floats, Kinks]] = []
        self.image = np.zeros(request.plane.size)
        self.linear = 0.0
        self.n_fixed = 0

    def add(self, rows: Floats, values: list[Floats], kinks: Kinks) -> None:
        """Add a block."""
        u = kinks.excess(values[0])
        near = (np.abs(u) <= self.request.width) & (kinks.price > 0)[:, None]
        at = np.nonzero(near)
        self.parts.append((rows[at[0]], Kinks(kinks.side[at], kinks.place[at], kinks.price[at[0]])))
        fixed = np.where(near | (u < 0), 0.0, kinks.side * kinks.price[:, None])
        of_rows = fixed.sum(axis=1)
        self.image[:-1] += rows.T @ of_rows
        self.image[-1] += of_rows.sum()
        self.linear += float(np.vdot(fixed, kinks.place))
        self.n_fixed += near.size - at[0].size

    def __iadd__(self, other: Near) -> Near:
        """Add the sums over others."""
        self.parts += other.parts
        self.image += other.image
        self.linear += other.linear
        self.n_fixed += other.n_fixed
        return self

    def rows(self) -> Floats:
        """Return the features of all near rows."""
        return np.concatenate([rows for rows, _ in self.parts])

    def kinks(self) -> Kinks:
        """Return their kinks, each as a vector."""
        parts = [kinks for _, kinks in self.parts]
        return Kinks(
            np.concatenate([part.side for part in parts]),
            np.concatenate([part.place for part in parts]),
            np.concatenate([part.price for part in parts]),
        )


# ---- how good a hyperplane is -------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """The losses at a hyperplane, and by how much it contradicts variables known from another.

    Parameters
    ----------
    machine : int
    anchor : ndarray of shape (d + 1,)
        Names the variables: as in `Gather` for those far from their kinks, or for squared losses
        the slopes there.
    width : float
        What is nearer than this is left out.
    plane : ndarray of shape (d + 1,)
    squared : bool
    """

    machine: int
    anchor: Floats
    width: float
    plane: Floats
    squared: bool

    @property
    def planes(self) -> list[Floats]:
        """Both."""
        return [self.anchor, self.plane]

    def empty(self) -> Checked:
        """Return the sums over no rows."""
        return Checked(self)


class Checked:
    """The answer to a `Check`.

    Attributes
    ----------
    loss : float
    dual : float
        Of squared losses: what the variables add to the dual program beside the norm.
    up, down : float
        The largest violation of the conditions of a variable that ought to grow, or fall.
    """

    def __init__(self, request: Check) -> None:
        self.request = request
        self.loss = self.dual = self.up = self.down = 0.0

    def add(self, rows: Floats, values: list[Floats], kinks: Kinks) -> None:
        """Add a block."""
        squared, price = self.request.squared, kinks.price[:, None]
        before, u = kinks.excess(values[0]), kinks.excess(values[1])
        positive = np.maximum(u, 0.0)
        self.loss += float(np.sum(price * (0.5 * positive * positive if squared else positive)))
        counts = np.broadcast_to(price > 0, u.shape)
        if squared:
            wrong = np.where(before > 0, u - before, positive)
            used = price * np.maximum(before, 0.0)
            self.dual += float(np.vdot(used, 0.5 * before - kinks.side * kinks.place))
        else:
            counts = counts & (np.abs(before) > self.request.width)
            wrong = np.where(before > 0, np.minimum(u, 0.0), positive)
        wrong = np.where(counts, kinks.side * wrong, 0.0)
        self.up = max(self.up, float(wrong.max(initial=0.0)))
        self.down = max(self.down, float(-wrong.min(initial=0.0)))

    def __iadd__(self, other: Checked) -> Checked:
        """Add the sums over others."""
        self.loss += other.loss
        self.dual += other.dual
        self.up, self.down = max(self.up, other.up), max(self.down, other.down)
        return self


# ---- answers of blocks --------------------------------------------------------------------------


def empty_answers(requests: Iterable[Request]) -> list[Answer]:
    """Return the sums over no rows."""
    return [request.empty() for request in requests]


def add_block(
    requests: list[Request], answers: list[Answer], rows: Floats, kinks: dict[int, Kinks]
) -> None:
    """Add a block of rows to the answers.

    Parameters
    ----------
    requests : list of Request
    answers : list of Answer
    rows : ndarray of shape (n, d)
        Features.
    kinks : dict
        Losses of the rows, for each machine that is asked about.
    """
    planes = [plane for request in requests for plane in request.planes]
    if len(planes) <= FEW_PLANES:
        values = [rows @ plane[:-1] + plane[-1] for plane in planes]
    else:
        stacked = np.stack(planes, axis=1)
        values = list(np.ascontiguousarray((rows @ stacked[:-1] + stacked[-1]).T))
    used = 0
    for request, answer in zip(requests, answers):
        n = len(request.planes)
        answer.add(rows, values[used : used + n], kinks[request.machine])
        used += n
