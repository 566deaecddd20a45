"""The quadratic program that every machine of this package is, one or several of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer import _engine

Vector = NDArray[np.float64]

# Sums of n rounded bounds miss the exact value by this much at most (relative to their size).
_SUM_ROUNDING = 1e-12
_SUM_NOISE = 1e-8


@dataclass(frozen=True, eq=False)
class QuadraticProgram:
    r"""Convex quadratic program with one equality and a box, without its matrix.

    .. math::

        \min_\beta \tfrac12 \beta^\top (K + \operatorname{diag} r) \beta + p^\top \beta
        \quad\text{subject to}\quad \sum_i \beta_i = \Delta,\; l_i \le \beta_i \le u_i

    With labels :math:`y_i = \pm 1` and the usual multipliers, :math:`\beta_i = y_i \alpha_i`: the
    labels vanish into the bounds. The positive semi-definite matrix K is not part of the problem;
    solvers get it separately, as kernel rows or as features Z with K = ZZ'.

    Write :math:`G = K\beta + r \circ \beta + p` for the gradient and b for the multiplier of the
    equality, called the offset. A feasible :math:`\beta` is optimal exactly if some b has

    .. math::

        G_i + b \ge 0 \text{ where } \beta_i = l_i, \quad
        G_i + b \le 0 \text{ where } \beta_i = u_i, \quad
        G_i + b = 0 \text{ in between.}

    Parameters
    ----------
    p : array-like of shape (n,)
        Linear term.
    lower, upper : array-like of shape (n,) or float
        Bounds; may be infinite.
    delta : float, default=0.0
        The sum of the variables.
    ridge : array-like of shape (n,) or float, default=0.0
        Non-negative addition r to the diagonal of K.

    References
    ----------
    R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information for
    training support vector machines", JMLR 6 (2005), for the measure of optimality.

    Examples
    --------
    Two points at -1 and +1 on a line, one of each class, hard margin:

    >>> import numpy as np
    >>> from mercer.problems import hard_margin_svc
    >>> problem = hard_margin_svc(np.array([-1.0, 1.0]))
    >>> K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> beta = np.array([-0.5, 0.5])
    >>> gradient = K @ beta + problem.ridge * beta + problem.p
    >>> problem.kkt(beta, gradient)
    (0.0, 0.0)
    """

    p: Vector
    lower: Vector
    upper: Vector
    delta: float = 0.0
    ridge: Vector = 0.0  # type: ignore[assignment]  # a number is spread over the rows below

    def __post_init__(self) -> None:
        p = _vector(self.p, "p")
        fields = {"p": p}
        for name in ("lower", "upper", "ridge"):
            fields[name] = _vector(getattr(self, name), name, p.shape[0])
        for name, values in fields.items():
            object.__setattr__(self, name, values)
        object.__setattr__(self, "delta", float(self.delta))
        self._check()

    @classmethod
    def known(
        cls, p: Vector, lower: Vector, upper: Vector, delta: float, ridge: Vector
    ) -> QuadraticProgram:
        """Return a program from vectors that have been checked already."""
        program = object.__new__(cls)
        fields = {"p": p, "lower": lower, "upper": upper, "delta": delta, "ridge": ridge}
        program.__dict__.update(fields)
        return program

    def _check(self) -> None:
        if not np.isfinite(self.p).all():
            raise ValueError("The linear term p must be finite.")
        if not (np.isfinite(self.ridge).all() and (self.ridge >= 0).all()):
            raise ValueError("The ridge must be finite and not negative.")
        if np.isnan(self.lower).any() or np.isnan(self.upper).any():
            raise ValueError("The bounds must not be NaN.")
        if not np.isfinite(self.delta):
            raise ValueError(f"The sum delta must be finite, got {self.delta}.")
        if (self.lower > self.upper).any():
            row = int(np.argmax(self.lower > self.upper))
            raise ValueError(
                f"Every lower bound must be at most its upper bound; in row {row} they are "
                f"{self.lower[row]:g} and {self.upper[row]:g}."
            )
        if np.isposinf(self.lower).any() or np.isneginf(self.upper).any():
            raise ValueError("A lower bound must not be +inf, nor an upper bound -inf.")
        least, most = self.lower.sum(), self.upper.sum()
        if self.delta < least - _rounding(self.lower) or self.delta > most + _rounding(self.upper):
            raise ValueError(
                f"The problem is infeasible: the variables must sum to {self.delta:g}, but their "
                f"bounds allow only sums from {least:g} to {most:g}."
            )

    @property
    def n(self) -> int:
        """Number of variables."""
        return int(self.p.shape[0])

    def feasible_point(self) -> Vector:
        """Return a feasible point: zero where possible, else filled up from the first row on.

        With zero inside all bounds and ``delta = 0`` it is zero. With ``delta = 1`` the first rows
        take their upper bound until the sum is reached, as LIBSVM starts its one-class machine.

        Returns
        -------
        beta : ndarray of shape (n,)

        Examples
        --------
        >>> from mercer.problems import one_class
        >>> one_class(5, nu=0.5).feasible_point()
        array([0.4, 0.4, 0.2, 0. , 0. ])
        """
        beta: Vector = np.minimum(np.maximum(0.0, self.lower), self.upper)
        missing = self.delta - beta.sum()
        room = self.upper - beta if missing > 0 else beta - self.lower
        used_before = np.concatenate(([0.0], np.cumsum(room)[:-1]))
        beta += np.sign(missing) * np.minimum(np.maximum(abs(missing) - used_before, 0.0), room)
        return beta

    def repair(self, beta: ArrayLike) -> Vector:
        """Return a feasible point close to ``beta``, for instance for a warm start.

        The point is clipped to the box. What the sum then lacks is shared out in proportion to the
        room that the rows have, first among the rows strictly between their bounds, then among the
        other rows that are not zero, and only then among the rest: so zeros stay zero where
        possible. A feasible point comes back unchanged.

        Parameters
        ----------
        beta : array-like of shape (n,)
            Finite values.

        Returns
        -------
        beta : ndarray of shape (n,)

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.problems import hinge_svc
        >>> problem = hinge_svc(np.array([1.0, 1.0, -1.0, -1.0]), C=1.0)
        >>> problem.repair([2.0, 0.0, -0.5, 0.0])
        array([ 1.,  0., -1.,  0.])
        """
        beta = _vector(beta, "beta", self.n)
        if not np.isfinite(beta).all():
            raise ValueError("A starting point must be finite.")
        beta = np.clip(beta, self.lower, self.upper)
        free = (beta > self.lower) & (beta < self.upper)
        support = beta != 0
        residue = 4 * np.finfo(np.float64).eps * float(np.abs(beta).max(initial=0.0))
        for group in (free, support & ~free, ~support & ~free):
            missing = self.delta - beta.sum()
            if abs(missing) <= _rounding(beta):
                break
            beta[group] += _share(missing, beta[group], self.lower[group], self.upper[group])
            np.clip(beta, self.lower, self.upper, out=beta)
            beta[np.abs(beta) <= residue] = 0.0  # what is left of a value that was taken away
        found: Vector = np.clip(beta, self.lower, self.upper)
        # Of values beside which the sum is nothing, nothing may be left.
        size = abs(self.delta) + np.abs(found).sum()
        is_there = abs(self.delta - found.sum()) <= _SUM_NOISE * size
        return found if is_there else self.feasible_point()

    def contains(self, beta: Vector) -> bool:
        """Say whether ``beta`` lies in the box."""
        return bool((beta >= self.lower).all() and (beta <= self.upper).all())

    def may_diverge(self) -> bool:
        """Tell whether variables could grow without end, as for a hard margin.

        Returns
        -------
        bool
            Whether one may rise and one may fall without a bound and without a ridge of its own,
            so that only the kernel can hold them.
        """
        free_of_cost = self.ridge == 0
        rising = free_of_cost & np.isposinf(self.upper)
        falling = free_of_cost & np.isneginf(self.lower)
        return bool(rising.any() and falling.any())

    def objective(self, beta: Vector, gradient: Vector) -> float:
        """Return the objective at ``beta``, given the gradient there: (gradient + p) . beta / 2.

        Parameters
        ----------
        beta, gradient : ndarray of shape (n,)

        Returns
        -------
        float
        """
        # Not by the BLAS: its threads, woken for so little, would wait busily into the next fit.
        return 0.5 * float(np.einsum("i,i->", gradient + self.p, beta))

    def kkt(self, beta: Vector, gradient: Vector) -> tuple[float, float]:
        r"""Return the offset and the largest violation of the optimality conditions.

        With :math:`M = \max\{-G_i : \beta_i < u_i\}` and :math:`m = \min\{-G_i : \beta_i > l_i\}`
        the gap is :math:`\max(0, M - m)`; it is zero exactly at an optimum. The offset is the mean
        of :math:`-G_i` over the rows between their bounds, or, where there are none, the middle of
        the interval from M to m that the conditions allow (its one end, if the other does not
        exist). For the offset, unlike the gap, a row counts as being at a bound from which it is
        less than 1e-9 of the room between its bounds away, or of the largest variable if that is
        less: what rounding leaves shall not decide.

        Parameters
        ----------
        beta, gradient : ndarray of shape (n,)

        Returns
        -------
        offset, gap : float
        """
        offset, gap, _ = self.verdict(beta, gradient)
        return offset, gap

    def verdict(self, beta: Vector, gradient: Vector) -> tuple[float, float, float]:
        """Return offset, gap and objective at once; see `kkt` and `objective`.

        Parameters
        ----------
        beta, gradient : ndarray of shape (n,)

        Returns
        -------
        offset, gap, objective : float
        """
        ends = np.array([0, self.n])
        found = np.empty((3, 1))
        _engine.judge_programs(self.p, self.lower, self.upper, beta, gradient, ends, found)
        offset, gap, objective = found[:, 0].tolist()
        return offset, gap, objective

    def image(self, beta: Vector, gradient: Vector) -> Vector:
        r"""Return :math:`K\beta`, which is what the gradient has beyond :math:`r\circ\beta + p`.

        Parameters
        ----------
        beta, gradient : ndarray of shape (n,)

        Returns
        -------
        ndarray of shape (n,)
        """
        return gradient - self.p - self.ridge * beta

    def subset(self, indices: ArrayLike, delta: float | None = None) -> QuadraticProgram:
        """Return the same problem on some of the rows.

        Parameters
        ----------
        indices : array-like
            Positions or a Boolean mask.
        delta : float or None, default=None
            The sum of the remaining variables; None keeps the present one.

        Returns
        -------
        QuadraticProgram
        """
        rows = np.asarray(indices)
        return QuadraticProgram(
            self.p[rows],
            self.lower[rows],
            self.upper[rows],
            self.delta if delta is None else delta,
            self.ridge[rows],
        )


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

    @classmethod
    def joined(cls, several: Sequence[Programs]) -> Programs:
        """Return the programs of all, one after the other."""
        names = ("p", "lower", "upper", "ridge", "delta")
        p, lower, upper, ridge, delta = (
            np.concatenate([getattr(one, name) for one in several]) for name in names
        )
        sizes = np.concatenate([np.diff(one.ends) for one in several])
        return cls(p, lower, upper, ridge, delta, np.concatenate([[0], np.cumsum(sizes)]))

    def repeated(self, times: int) -> Programs:
        """Return the same programs so many times, one after the other."""
        vectors = (self.p, self.lower, self.upper, self.ridge, self.delta)
        p, lower, upper, ridge, delta = (np.tile(vector, times) for vector in vectors)
        ends = np.concatenate([[0], np.cumsum(np.tile(np.diff(self.ends), times))])
        return Programs(p, lower, upper, ridge, delta, ends)

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
        if self._is_feasible(given):
            return given.copy()
        pieces = np.split(given, self.ends[1:-1])
        return np.concatenate([program.repair(own) for program, own in zip(self, pieces)])

    def have_their_sums(self, beta: Vector, digits: float = 10 * _SUM_ROUNDING) -> bool:
        """Say whether the sums are those of feasible points but for rounding."""
        missing = np.abs(np.add.reduceat(beta, self.starts) - self.delta)
        sizes = np.add.reduceat(np.abs(beta), self.starts)
        return bool((missing <= digits * sizes).all())

    def _is_feasible(self, beta: Vector) -> bool:
        """Say whether points are feasible as they are, which is cheap to see for all at once."""
        inside = ((beta >= self.lower) & (beta <= self.upper)).all()
        return bool(inside) and self.have_their_sums(beta, _SUM_ROUNDING)

    def image(self, beta: Vector, gradient: Vector) -> Vector:
        r"""Return :math:`K\beta`, which is what the gradient has beyond :math:`r\circ\beta + p`."""
        return gradient - self.p - self.ridge * beta


def _vector(values: ArrayLike, name: str, n: int | None = None) -> Vector:
    """Return ``values`` as a contiguous float64 vector; spread a number over ``n`` rows."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 and n is not None:
        return np.full(n, float(array))
    if array.ndim != 1 or (n is not None and array.shape[0] != n):
        wanted = "a vector" if n is None else f"a number or a vector of {n} values"
        raise ValueError(f"{name} must be {wanted}, got an array of shape {array.shape}.")
    return np.ascontiguousarray(array)


def _rounding(values: Vector) -> float:
    """Return by how much the sum of ``values`` may be off through rounding alone."""
    magnitude = np.abs(values).sum()
    return _SUM_ROUNDING * float(magnitude) if np.isfinite(magnitude) else 0.0


def _share(missing: float, beta: Vector, lower: Vector, upper: Vector) -> Vector:
    """Share ``missing`` out in proportion to the room of each row; endless rooms share equally."""
    room = upper - beta if missing > 0 else beta - lower
    endless = np.isinf(room)
    if endless.any():
        return np.where(endless, missing / endless.sum(), 0.0)
    return room * (missing / max(room.sum(), abs(missing)))
