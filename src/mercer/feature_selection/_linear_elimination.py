"""Elimination from a linear two-class machine, all rounds in the engine."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.feature_selection._kernel_ranker import NOT_SEPARABLE, KernelRanker
from mercer.feature_selection.elimination import EliminationTrace, Log, Units, eliminate
from mercer.feature_selection.steps import RoundState, step_sizes
from mercer.gram import StoredGram
from mercer.solvers import Options
from mercer.solvers.elimination import Elimination, eliminate_features

Floats = NDArray[np.float64]
Features = NDArray[np.intp]

LARGEST = 2000
"""Rows up to which the engine holds the matrix and the inverse."""

FACTORS = {"weights": 1.0, "gradient": 1.0, "objective": 0.5, "decrease": 0.5}
"""What the criteria are for a linear kernel, in squared weights."""


def suits_engine(ranker: KernelRanker, units: Units, step: Any) -> bool:
    """Say whether the engine can do these rounds of a linear kernel."""
    return (
        ranker.n_classes == 2
        and ranker.criterion in FACTORS
        and ranker.sampler.share is None
        and ranker.warm_start
        and units.are_features
        and len(ranker.X) <= LARGEST
        and not getattr(step, "needs_importances", True)
    )


def eliminate_linear(
    ranker: KernelRanker,
    units: Units,
    step: Callable[[RoundState], int],
    least: int,
    report: Callable[[int], None],
) -> EliminationTrace:
    """Drop features until ``least`` are left; as `eliminate`, but much faster."""
    run = _Run(ranker, units, step_sizes(step, units.n, least))
    while run.rounds_left():
        report(run.left.size)
        if run.advance() != "converged":  # rounding kept the gap above the tolerance
            break
    return eliminate(ranker, units, step, least, report, run.log, run.left)


class _Run:
    """The rounds, in pieces after each of which the matrix is computed anew."""

    def __init__(self, ranker: KernelRanker, units: Units, sizes: list[int]) -> None:
        self.ranker, self.units = ranker, units
        self.counts = [a - b for a, b in pairwise(sizes)]
        self.left = np.arange(units.n)
        self.log = Log()
        self.problem = ranker.program()
        self.columns = np.ascontiguousarray(ranker.X.T)
        self.beta: Floats | None = None

    def rounds_left(self) -> bool:
        """Say whether there is more to do."""
        return len(self.log.sizes) < len(self.counts)

    def advance(self) -> str:
        """Do rounds until half of the features are gone, and return how that ended."""
        counts = self._next_counts()
        columns = np.ascontiguousarray(self.columns[self.left])
        kernel = columns.T @ columns
        if self.beta is None:
            self.beta = self.ranker.train_all(StoredGram(kernel)).solutions.beta.copy()
        problem = self.problem
        gradient = kernel @ self.beta + problem.ridge * self.beta + problem.p
        found = eliminate_features(
            columns,
            counts,
            kernel,
            problem,
            self.beta,
            gradient,
            Options(tol=self.ranker.options.tol, cache_bytes=0.0),
            fixed=self.units.protected[self.left].astype(np.uint8),
            row_weights=self.ranker.weights,
        )
        self._keep(found, counts[: found.n_rounds])
        if found.status == "unbounded":
            raise ValueError(NOT_SEPARABLE)
        self.ranker.start_from([self.beta])
        return found.status

    def _next_counts(self) -> NDArray[np.int64]:
        counts = np.array(self.counts[len(self.log.sizes) :], dtype=np.int64)
        enough = np.searchsorted(np.cumsum(counts), self.left.size // 2) + 1
        return counts[:enough]

    def _keep(self, found: Elimination, counts: NDArray[np.int64]) -> None:
        """Write the rounds that were done into the log."""
        before = self.log.seconds[-1] if self.log.seconds else 0.0
        n, total = len(self.ranker.X), float(self.ranker.weights.sum())
        values = FACTORS[self.ranker.criterion] * found.importances
        done, ends = found.n_rounds, np.cumsum(counts)
        total_dropped = int(ends[-1]) if done else 0
        gone = self.left[found.dropped[:total_dropped]]
        log = self.log
        log.sizes += (self.left.size - ends + counts).tolist()
        log.removed += _pieces(gone, counts, ends)
        log.importances += _pieces(values[:total_dropped], counts, ends)
        log.accuracy += (found.fitted[:done] / total).tolist()
        log.gap += found.gaps[:done].tolist()
        log.n_rows += [n] * done
        log.seconds += (before + found.seconds[:done]).tolist()
        self.left = np.delete(self.left, found.dropped[:total_dropped])
        self.ranker.n_fits += len(counts)


def _pieces(values: NDArray[Any], counts: NDArray[np.int64], ends: Any) -> list[NDArray[Any]]:
    """Cut an array into one piece for each round."""
    if values.size == counts.size:  # much faster than to split, and the usual case
        return list(values[:, None])
    return np.split(values, ends[:-1])
