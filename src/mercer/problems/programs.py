"""Several quadratic programs, laid end to end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.problems.quadratic_program import QuadraticProgram, Vector, offsets_and_gaps


@dataclass(frozen=True, eq=False)
class Programs:
    r"""Quadratic programs that have nothing in common but that they are solved together.

    Their vectors lie end to end, so that what is done to all of them is done once: the pairs of
    classes of a classifier, the folds of a cross-validation, the balls of several classes.

    Parameters
    ----------
    p, lower, upper, ridge : ndarray of shape (n,)
        As in `QuadraticProgram`, of one program after the other.
    delta : ndarray of shape (m,)
        The sum of the variables of each program.
    ends : ndarray of int of shape (m + 1,)
        Program k has the variables from ``ends[k]`` to ``ends[k + 1]``.

    Examples
    --------
    >>> from mercer.problems import Programs, hinge_svc
    >>> programs = Programs.of([hinge_svc([1, -1], C=1.0), hinge_svc([1, -1, 1], C=2.0)])
    >>> len(programs), programs[1].upper
    (2, array([2., 0., 2.]))
    """

    p: Vector
    lower: Vector
    upper: Vector
    ridge: Vector
    delta: Vector
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, programs: Sequence[QuadraticProgram]) -> Programs:
        """Lay programs end to end."""
        if len(programs) == 1:
            return cls.split(programs[0], np.array([0, programs[0].n]))
        ends = np.concatenate([[0], np.cumsum([program.n for program in programs])])
        return cls(
            np.concatenate([program.p for program in programs]),
            np.concatenate([program.lower for program in programs]),
            np.concatenate([program.upper for program in programs]),
            np.concatenate([program.ridge for program in programs]),
            np.array([program.delta for program in programs]),
            ends,
        )

    @classmethod
    def split(cls, program: QuadraticProgram, ends: ArrayLike) -> Programs:
        """Cut one program into several, each of which has the sum of the whole for its own.

        Parameters
        ----------
        program : QuadraticProgram
            Formulated for the rows of all of them.
        ends : array-like of int of shape (m + 1,)
            From 0 to the number of variables; no part may be empty.
        """
        cuts = np.asarray(ends, dtype=np.int64)
        delta = np.full(cuts.size - 1, program.delta)
        return cls(program.p, program.lower, program.upper, program.ridge, delta, cuts)

    def __len__(self) -> int:
        return self.delta.size

    def __getitem__(self, k: int) -> QuadraticProgram:
        part = slice(self.ends[k], self.ends[k + 1])
        vectors = (self.p[part], self.lower[part], self.upper[part])
        return QuadraticProgram.known(*vectors, float(self.delta[k]), self.ridge[part])

    def __iter__(self) -> Iterator[QuadraticProgram]:
        return (self[k] for k in range(len(self)))

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first variable of each program."""
        return self.ends[:-1]

    @property
    def largest(self) -> int:
        """The number of variables of the largest program."""
        return int(np.diff(self.ends).max())

    def feasible_point(self) -> Vector:
        """Return a feasible point of each program, see `QuadraticProgram.feasible_point`."""
        if self.delta.any() or (self.lower > 0).any() or (self.upper < 0).any():
            return np.concatenate([program.feasible_point() for program in self])
        return np.zeros_like(self.p)

    def repair(self, beta: ArrayLike) -> Vector:
        """Return feasible points close to ``beta``, see `QuadraticProgram.repair`."""
        given = np.asarray(beta, dtype=np.float64)
        if given.shape != self.p.shape:
            raise ValueError(
                f"beta must be a vector of {self.p.size} values, got an array of shape "
                f"{given.shape}."
            )
        pieces = np.split(given, self.ends[1:-1])
        return np.concatenate([program.repair(own) for program, own in zip(self, pieces)])

    def kkt(self, beta: Vector, gradient: Vector) -> tuple[Vector, Vector]:
        """Return the offset and the gap of each program, see `QuadraticProgram.kkt`."""
        return offsets_and_gaps(self.lower, self.upper, beta, gradient, self.starts)

    def objective(self, beta: Vector, gradient: Vector) -> Vector:
        """Return the objective of each program, see `QuadraticProgram.objective`."""
        return 0.5 * np.add.reduceat((gradient + self.p) * beta, self.starts)

    def image(self, beta: Vector, gradient: Vector) -> Vector:
        r"""Return :math:`K\beta`, which is what the gradient has beyond :math:`r\circ\beta + p`."""
        return gradient - self.p - self.ridge * beta
