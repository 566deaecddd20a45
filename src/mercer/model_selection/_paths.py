"""Classifiers along a path of penalties, one kernel matrix for all folds and all penalties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Gram
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

FEW_FREE = 2
"""So many support vectors for each one between its bounds make a solution mostly bounded."""


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
            rows, gram = np.arange(n), cast(Gram, self.gram)
            inside = self.train[task.rows]
        else:
            rows = self.train[task.rows]
            gram, inside = self.gram.stored(rows, "single"), np.arange(rows.size)
        sign, weight = np.zeros(rows.size), np.zeros(rows.size)
        sign[inside], weight[inside] = task.signs, penalties[task.rows]
        machine = _Machine(gram, sign, weight, models[0], stop)
        if whole and self.start is not None:
            machine.begin(models[0].C, self.start, self.test)
        found = [machine.solve(model.C) for model in models]
        offsets = np.array([offset for _, _, offset in found])[:, None]
        if whole:
            values = np.array([image for _, image, _ in found])
        else:
            betas = np.array([beta for beta, _, _ in found], dtype=np.float32)
            values = (betas @ self.gram.values[rows]).astype(np.float64)
        values += offsets
        weak = [
            k
            for k, (beta, _, offset) in enumerate(found)
            if abs(offset) <= HIDING * float(np.abs(beta).sum())
        ]
        if weak:
            weights = np.array([found[k][0] for k in weak])
            self._mend_distant(values, weak, rows, weights, offsets[weak])
        return values

    def _mend_distant(
        self, values: Floats, weak: list[int], rows: Rows, weights: Floats, offsets: Floats
    ) -> None:
        """Compute in float64 what models whose offset hides nothing say of points far from all."""
        used = weights.any(axis=0)
        rows, weights = rows[used], weights[:, used]
        near = np.abs(self.gram.values[np.ix_(self.test, rows)]).max(axis=1, initial=0.0)
        far = self.test[near < FAINT]
        values[np.ix_(weak, far)] = weights @ self.exact(rows, far) + offsets


class _Machine:
    """A two-class machine that is solved for one C after another."""

    def __init__(
        self,
        gram: Gram,
        sign: Floats,
        weight: Floats,
        model: SVC,
        stop: Callable[[], bool],
    ) -> None:
        self.gram = gram
        self.p = -sign
        self.rising, self.falling = weight * (sign > 0), weight * (sign < 0)
        self.squared = model.loss == "squared_hinge"
        if self.squared:
            self.inverse_weight = np.divide(
                1.0, weight, out=np.zeros_like(weight), where=weight > 0
            )
        self.diagonal, self.no_ridge = self.gram.diag(), np.zeros_like(sign)
        self.beta, self.image = np.zeros_like(sign), np.zeros_like(sign)
        self.last_C = np.inf
        self.mostly_bounded = False
        self.options = {
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

    def begin(self, C: float, start: BoundedStart, closed: Rows) -> None:
        """Let the first solve start with all variables at their bounds, where that is good."""
        if self.squared:
            return
        point = start.point(C * (self.rising - self.falling), closed)
        if point is not None:
            self.beta, self.image = point
            self.last_C = C

    def solve(self, C: float) -> tuple[Floats, Floats, float]:
        """Return beta, K beta and the offset for the next C, starting from the last one."""
        if self.squared:
            lower, upper = np.where(self.falling, -np.inf, 0.0), np.where(self.rising, np.inf, 0.0)
            ridge = self.inverse_weight / C
        else:
            lower, upper, ridge = -C * self.falling, C * self.rising, self.no_ridge
        stretch = self._stretch(ridge, C)
        beta = np.minimum(np.maximum(stretch * self.beta, lower), upper)
        gradient = stretch * self.image
        gradient += self.p
        if self.squared:
            gradient += ridge * beta
        arrays = (self.p, lower, upper, ridge, self.diagonal, beta, gradient)
        self.gram.run_smo(arrays, self.options, "single")
        self.beta, self.image, self.last_C = beta, gradient - self.p, C
        if self.squared:
            self.image -= ridge * beta
        between = gradient[(beta < upper) & (beta > lower)]
        self.mostly_bounded = bool(np.count_nonzero(beta) > FEW_FREE * between.size)
        if between.size:
            return beta, self.image, -float(between.sum()) / between.size
        return beta, self.image, _offset(beta, gradient, lower, upper)

    def _stretch(self, ridge: Floats, C: float) -> float:
        """Return the multiple of the last solution to start from.

        Where most support vectors are at their bounds, those go on to the new ones, and few will
        come back. Elsewhere it is the multiple with the least objective inside the bounds.
        """
        most = np.inf if self.squared else C / self.last_C
        if self.mostly_bounded and not self.squared:
            return most
        curvature = float(self.beta @ self.image)
        if self.squared:
            curvature += float(self.beta @ (ridge * self.beta))
        if curvature <= 0.0:
            return 1.0
        return min(max(-float(self.p @ self.beta) / curvature, 0.0), most)


def _offset(beta: Floats, gradient: Floats, lower: Floats, upper: Floats) -> float:
    """Return the middle of what the conditions allow where no variable is between its bounds."""
    highest = (-gradient[beta < upper]).max(initial=-np.inf)
    lowest = (-gradient[beta > lower]).min(initial=np.inf)
    ends = [end for end in (highest, lowest) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0
