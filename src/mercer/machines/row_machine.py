"""What the machines that criteria look at have in common: kernel data, and themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.gram import StoredGram, make_gram
from mercer.kernels import RBF, Kernel, contract_squared_differences, squared_distances
from mercer.kernels.blocks import submatrix
from mercer.machines.bordered_system import BorderedSystem
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers import Options, Solution, solve_all

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class KernelData:
    """A kernel on fixed points; other parameters of the same kernel share what they can.

    Parameters
    ----------
    kernel : Kernel
        Without "scale" and the like.
    points : ndarray or sparse matrix of shape (n, d)
        For a precomputed kernel the matrix of kernel values.
    """

    def __init__(self, kernel: Kernel, points: Any, shared: _Shared | None = None) -> None:
        self.kernel = kernel
        self.points = points
        self._shared = _Shared(points) if shared is None else shared

    def with_kernel(self, kernel: Kernel) -> KernelData:
        """Return another kernel on the same points."""
        return KernelData(kernel, self.points, self._shared)

    @cached_property
    def matrix(self) -> Floats:
        """The whole kernel matrix."""
        return make_gram(self.kernel, self.points).matrix()

    def block(self, rows: Rows, columns: Rows) -> Floats:
        """Return some rows and columns of the matrix."""
        return submatrix(self.matrix, rows, columns)

    def contract(self, weights: Floats, rows: Rows, columns: Rows) -> Floats:
        r"""Return :math:`\sum_{ij} W_{ij}\,\partial K_{ij}/\partial\theta_p` over a block."""
        kernel = self.kernel
        if isinstance(kernel, RBF) and not (np.ndim(kernel.gamma) and sp.issparse(self.points)):
            return self._contract_widths(weights, rows, columns)
        if kernel.theta.size == 0:
            return np.empty(0)
        if kernel.is_pairwise:
            return kernel.contract_gradient(submatrix(self.points, rows, columns), weights)
        right = None if columns is rows else self.points[columns]
        return kernel.contract_gradient(self.points[rows], weights, right)

    def _contract_widths(self, weights: Floats, rows: Rows, columns: Rows) -> Floats:
        r"""Use the matrix at hand: :math:`dK / d\ln\gamma_k = -\gamma_k D_k K`."""
        gamma = self.kernel.gamma
        terms = weights * _part(self.matrix, rows, columns)
        if not np.ndim(gamma):  # the distances do not depend on the width
            return np.array([-gamma * np.vdot(terms, _part(self._shared.distances, rows, columns))])
        left = self.points[rows]
        right = left if columns is rows else self.points[columns]
        return -np.asarray(gamma) * contract_squared_differences(left, right, terms)


class _Shared:
    """What all widths of a radial kernel have in common."""

    def __init__(self, points: Any) -> None:
        self._points = points

    @cached_property
    def distances(self) -> Floats:
        return squared_distances(self._points)


def _part(matrix: Floats, rows: Rows, columns: Rows) -> Floats:
    """Return some rows and columns; of the whole matrix without a copy."""
    is_whole = rows.size == len(matrix) == columns.size
    return matrix if is_whole else submatrix(matrix, rows, columns)


class RowMachine(ABC):
    r"""One machine on some rows of the data, trained when it is asked for its solution.

    Its function is :math:`f(x) = \sum_i\beta_i k(x_i, x) + b`. With :math:`\tilde K = K + R` the
    rows strictly between their bounds fulfil :math:`\tilde K\beta + b = t`, where t does not depend
    on :math:`\beta`.

    Parameters
    ----------
    data : KernelData
        Kernel and points of all rows.
    rows : ndarray of int
        Those of this machine.
    targets : ndarray of float
        What the machine is told about each of them: +1 or -1, or a number.
    memory : dict or None, default=None
        Solutions of neighbouring problems by name, from which solvers start and to which they
        add; shared by machines that differ in their parameters only.
    name : str, default="machine"
        The name of this machine's own solution there.
    tol : float, default=1e-6
        Gap at which the solver stops.
    n_threads : int or None, default=1
    """

    subtracts_length = False
    r"""Whether the decision value is :math:`f(x) - \tfrac12 k(x, x)`, as that of a ball."""

    def __init__(
        self,
        data: KernelData,
        rows: Rows,
        targets: Floats,
        *,
        memory: dict[str, Floats] | None = None,
        name: str = "machine",
        tol: float = 1e-6,
        n_threads: int | None = 1,
    ) -> None:
        self.data = data
        self.rows = rows
        self.targets = targets
        self.tol = tol
        self.memory = {} if memory is None else memory
        self.name = name
        self.n_threads = n_threads
        self.n_fits = 0

    # ---- the problem ------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.size)

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """How often each row counts."""

    @property
    @abstractmethod
    def ridge(self) -> Floats:
        """What squared slack adds to the diagonal."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The parameters in whose logarithms derivatives are taken."""

    @cached_property
    def matrix(self) -> Floats:
        """Kernel matrix of the rows, without the ridge; not to be changed."""
        whole = self.data.matrix
        return whole if self.n == len(whole) else self.data.block(self.rows, self.rows)

    # ---- its solution -----------------------------------------------------------------------

    @property
    @abstractmethod
    def solution(self) -> Solution:
        """The trained machine."""

    @property
    @abstractmethod
    def beta(self) -> Floats:
        """Coefficient of each row."""

    @property
    @abstractmethod
    def free(self) -> Rows:
        """Positions strictly between the bounds."""

    def solve(
        self,
        problem: QuadraticProgram,
        name: str,
        tol: float | None = None,
        rows: Rows | None = None,
    ) -> Solution:
        """Solve a problem on these rows, starting where the last one of this name ended."""
        whole = self.data.matrix
        if rows is None and self.n < len(whole):
            rows = self.rows
        found = solve_all(
            Programs.of([problem]),
            StoredGram(whole),
            Options("smo", self.tol if tol is None else tol, n_threads=self.n_threads),
            rows=rows,
            warm_start=self.memory.get(name),
        )[0]
        self.memory[name] = found.beta
        return found

    @cached_property
    def support(self) -> Rows:
        """Positions of the support vectors."""
        return np.flatnonzero(self.beta)

    @cached_property
    def bound(self) -> Rows:
        """Positions of the support vectors at a bound."""
        return np.setdiff1d(self.support, self.free, assume_unique=True)

    @cached_property
    def free_system(self) -> BorderedSystem:
        """The equations that the free rows fulfil."""
        return BorderedSystem(self.ridged_matrix(self.free))

    def ridged_matrix(self, rows: Rows | None = None) -> Floats:
        """Return a new array with the kernel matrix of some rows (or all), ridge included."""
        if rows is None or rows.size == self.n:
            rows, matrix = np.arange(self.n), self.matrix.copy()
        else:
            matrix = submatrix(self.matrix, rows, rows)
        matrix[np.diag_indices_from(matrix)] += self.ridge[rows]
        return matrix

    # ---- derivatives ------------------------------------------------------------------------

    def contract(self, weights: Floats, rows: Rows | None = None, columns: Any = None) -> Floats:
        """Contract the derivative of a block of the matrix in the kernel's parameters."""
        left = self.rows if rows is None else self.rows[rows]
        right = left if columns is rows else self.rows[columns]
        return self.data.contract(weights, left, right)

    @abstractmethod
    def gradient(self, in_log_C: float, in_kernel: Floats) -> Floats:
        """Join the derivatives in the order of `names`."""

    @abstractmethod
    def target_gradient(self, pull: Floats) -> Floats:
        """Return the derivative of ``pull @ t``, over the free rows, in the order of `names`."""

    @abstractmethod
    def part(self, kept: Rows, name: str) -> Self:
        """Return the machine of some of the rows, still to be trained."""

    def _shared(self, name: str) -> dict[str, Any]:
        """Return what the machine of some of the rows has in common with this one."""
        options: dict[str, Any] = {"tol": self.tol, "n_threads": self.n_threads}
        return {"memory": self.memory, "name": name, **options}


def refuse_weights(machines: Sequence[RowMachine], name: str) -> None:
    """Say that a criterion that leaves out rows has no meaning for weighted ones."""
    if any((machine.weights != 1.0).any() for machine in machines):
        raise ValueError(
            f"{name} leaves out rows one by one and takes no sample_weight; use evidence, press, "
            "radius_margin or modified_radius_margin."
        )


def marked(n: int, rows: Rows) -> NDArray[np.bool_]:
    """Say of each of n rows whether it is among some of them.

    To look up others there takes a tenth of the time of `numpy.isin`, which counts where machines
    are small and many.

    Examples
    --------
    >>> marked(4, np.array([2, 0]))[np.array([0, 1, 2])]
    array([ True, False,  True])
    """
    marks = np.zeros(n, dtype=bool)
    marks[rows] = True
    return marks
