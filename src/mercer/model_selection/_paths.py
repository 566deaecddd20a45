"""Classifiers along a path of penalties, one kernel matrix for all folds and all penalties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mercer.gram.stored import StoredGram
from mercer.model_selection._bounded_start import BoundedStart
from mercer.svm import SVC
from mercer.svm._decomposition import TwoClassTask, decompose

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Kernel values are float32, so that the gap aimed at must be a little smaller.
_MARGIN = 0.95

FAINT = 1e-30
"""Kernel values below this are lost beside others in float32."""

HIDING = FAINT / np.finfo(np.float64).eps
"""An offset larger than this, for each unit of weight, leaves nothing of faint kernel values."""


class Decided(SVC):
    """A classifier whose decision values are known, for one set of rows."""

    values: Floats

    @classmethod
    def of(cls, model: SVC, classes: Any, values: Floats) -> Decided:
        """Return a classifier with the parameters of ``model`` and the values of its machines."""
        decided = copy(model)
        decided.__class__ = cls
        assert isinstance(decided, cls)
        decided.classes_ = classes
        decided._one_vs_one = len(classes) > 2 and model.multi_class == "ovo"
        decided.values = values
        return decided

    def _machine_values(self, X: Any) -> Any:
        return self.values


@dataclass(frozen=True, eq=False)
class Path:
    """The machines of one kernel and one fold.

    Parameters
    ----------
    gram : StoredGram
        Of all rows, float32.
    codes : ndarray of int of shape (n,)
        Classes, 0, 1, ...
    n_classes : int
    train, test : ndarray of int
        The fold.
    exact : callable
        Returns float64 kernel values of some rows and columns, for kernels so narrow that float32
        would call all distant points equally distant; asked for points that are far from all.
    start : BoundedStart or None, default=None
        Where machines of all rows begin, if not at zero.
    """

    gram: StoredGram
    codes: Rows
    n_classes: int
    train: Rows
    test: Rows
    exact: Callable[[Rows, Rows], Floats]
    start: BoundedStart | None = None

    def values(
        self, models: Sequence[SVC], penalties: Floats, stop: Callable[[], bool]
    ) -> tuple[Floats, Floats]:
        """Return decision values of all rows of the fold for models with rising C.

        Parameters
        ----------
        models : sequence of SVC
            Equal but for C.
        penalties : ndarray of shape (n_train,)
            Factor of C for each training row.
        stop : callable
            Asked now and then whether to give up.

        Returns
        -------
        train, test : ndarray of shape (n_models, n_rows, n_machines)
        """
        tasks = decompose(self.codes[self.train], self.n_classes, models[0].multi_class)
        values = np.stack([self._machine(models, task, penalties, stop) for task in tasks], axis=-1)
        return values[:, self.train], values[:, self.test]

    def _machine(
        self,
        models: Sequence[SVC],
        task: TwoClassTask,
        penalties: Floats,
        stop: Callable[[], bool],
    ) -> Floats:
        """Return decision values of all rows for one machine along the path."""
        n = self.codes.size
        whole = task.rows.size + self.test.size == n
        if whole:  # the rows left out stay in the problem, closed, and get their values for nothing
            rows, gram = np.arange(n), self.gram
            inside = self.train[task.rows]
        else:
            rows = self.train[task.rows]
            gram = cast(StoredGram, self.gram.stored(rows, "single"))
            inside = np.arange(rows.size)
        sign, weight = np.zeros(rows.size), np.zeros(rows.size)
        sign[inside], weight[inside] = task.signs, penalties[task.rows]
        squared = models[0].loss == "squared_hinge"
        start = None
        if whole and self.start is not None and not squared:
            start = self.start.point(models[0].C * weight * sign, self.test)
        nothing = np.zeros(rows.size)
        betas, images, offsets, _ = gram.run_path(
            (sign, weight, gram.diag(), squared),
            np.array([model.C for model in models], dtype=np.float64),
            (nothing, nothing, np.inf) if start is None else (*start, models[0].C),
            _options(models[0], stop),
        )
        if whole:
            values = images
        else:
            values = (betas.astype(np.float32) @ self.gram.values[rows]).astype(np.float64)
        values += offsets[:, None]
        weights = np.abs(betas).sum(axis=1)
        weak = np.flatnonzero(np.abs(offsets) <= HIDING * weights)
        if weak.size:
            self._mend_distant(values, weak, rows, betas[weak], offsets[weak, None])
        return values

    def _mend_distant(
        self, values: Floats, weak: Rows, rows: Rows, weights: Floats, offsets: Floats
    ) -> None:
        """Compute in float64 what models whose offset hides nothing say of points far from all."""
        used = weights.any(axis=0)
        rows, weights = rows[used], weights[:, used]
        near = np.abs(self.gram.values[np.ix_(self.test, rows)]).max(axis=1, initial=0.0)
        far = self.test[near < FAINT]
        values[np.ix_(weak, far)] = weights @ self.exact(rows, far) + offsets


def _options(model: SVC, stop: Callable[[], bool]) -> dict[str, Any]:
    """Return what the engine is told; each fold has one thread."""
    return {
        "callback": lambda n_iter, gap: stop(),
        "n_threads": 1,
        "cache_bytes": int(model.cache_size * 1e6),
        "block": 2048,
        "shrinking": model.shrinking,
        "unbounded_below": -np.inf,
        "tol": _MARGIN * model.tol,
        "max_iter": model.max_iter,
        "time_limit": -1.0,
    }
