"""Evaluating candidates of any machine on common kernel matrices."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.gram import SquaredDistances, make_gram
from mercer.kernels import Kernel, Precomputed
from mercer.model_selection.grid.groups import Group
from mercer.model_selection.grid.shared_search import FoldScores, SharedSearch


class _KernelValues(Precomputed):
    """A matrix of a kernel that is known to be positive semi-definite."""

    is_known_mercer = True


class MachineSearch(SharedSearch):
    """One search of regressors or balls on one set of data.

    The kernel matrix of all rows serves all folds and all candidates with the same kernel, which
    are fitted to its parts as to a precomputed kernel. Along a penalty each machine starts from
    the last one.
    """

    def _matrix(self, kernel: Kernel, points: Any, distances: dict[int, SquaredDistances]) -> Any:
        matrix = make_gram(kernel, points).matrix()
        # Of equal rows narrow kernels see the rounding; balls ask whether all k(x, x) are the same.
        np.fill_diagonal(matrix, kernel.diag(points))
        return matrix

    def _works(self, group: Group, matrices: dict[int, Any]) -> dict[int, Any]:
        return matrices

    def _evaluate(
        self, group: Group, k: int, matrix: Any, done: dict[tuple[str, int], FoldScores]
    ) -> None:
        if self.stopped.is_set():
            return
        start = time.perf_counter()
        train, test = self.splits[k]
        inside, outside = matrix[np.ix_(train, train)], matrix[np.ix_(test, train)]
        given = group.models[0]
        values = _KernelValues() if given._make_kernel().is_known_mercer else Precomputed()
        machine = clone(given).set_params(kernel=values, warm_start=True, n_jobs=1, device="cpu")
        scores = FoldScores([], [], 0.0)
        for model in group.models:
            path = {name: getattr(model, name) for name in ("C", "nu") if hasattr(model, name)}
            try:
                machine.set_params(**path).fit(inside, self.y[train])
            except ValueError as refusal:
                self.refusal = refusal
                self.stopped.set()
                return
            scores.test.append(self.score(machine, outside, self.y[test]))
            if self.train_score:
                scores.train.append(self.score(machine, inside, self.y[train]))
            if self.stopped.is_set():
                return
        seconds = time.perf_counter() - start
        done[group.key, k] = FoldScores(scores.test, scores.train, seconds)
