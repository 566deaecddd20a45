"""What the estimators of one class share: checked data, a kernel matrix, a solved program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from mercer._inputs import checked_rows, given_weights
from mercer.gram import Gram
from mercer.machines import KernelMachine, TrainingRows
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers import Solution, solve_all
from mercer.spheres._start import coarse_start

Floats = NDArray[np.float64]


class OneClassMachine(OutlierMixin, KernelMachine):
    """Base of the estimators of one class."""

    verbose: bool

    def _training_data(self, X: Any, sample_weight: Any, *, translate: bool) -> TrainingRows:
        """Check the data and make the kernel matrix; ``translate`` lets linear data be centred."""
        X = checked_rows(self, X, reset=True, **self._data_format())
        weights = given_weights(sample_weight, X)
        return self._training_rows(X, weights, translate=translate)

    def _solve(
        self, problem: QuadraticProgram, gram: Gram, tol: float, unit: float = 1.0
    ) -> Solution:
        start: Any = self._last_multipliers(problem.n)
        if start is not None:
            start = unit * start
        elif self.solver in ("auto", "smo") and not gram.is_linear:
            start = coarse_start(problem, gram, tol)
        options = replace(self._options(), tol=tol)
        return solve_all(Programs.of([problem]), gram, options, warm_start=start)[0]

    def _last_multipliers(self, n: int) -> Floats | None:
        """Return the solution of the last fit, if it is wanted and has as many rows."""
        last = getattr(self, "_last_solution", None) if self.warm_start else None
        return last if last is not None and last.size == n else None

    def _say(self, n_rows: int, n_support: int, solution: Solution, gap: float) -> None:
        if self.verbose:
            print(
                f"{type(self).__name__}: {n_support} support vectors of {n_rows} rows, "
                f"{solution.n_iter} iterations, gap {gap:.2g}"
            )
