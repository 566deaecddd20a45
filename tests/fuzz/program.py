"""A random program: one estimator, its settings and its data, all from one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from .containers import draw_container, draw_dtype
from .data import Data, Drawn, Random, draw_data, draw_labels
from .estimators import KINDS, kinds_of


@dataclass
class Program:
    """What is fitted to what."""

    seed: int
    kind: str
    estimator: Any
    given: Any
    """The rows, or their kernel matrix, in some container."""
    plain: np.ndarray
    """The same as an array of float64."""
    y: Any
    data: Data
    drawn: Drawn

    @property
    def weight(self) -> np.ndarray | None:
        """The sample weights, where the estimator takes any."""
        return self.data.weight

    def fit(self, estimator: Any, X: Any) -> Any:
        """Fit an estimator to these labels and weights."""
        extra = {} if self.weight is None else {"sample_weight": self.weight}
        return estimator.fit(X, self.y, **extra)

    @property
    def is_extreme(self) -> bool:
        """Whether squares of the numbers given may leave the range of float64."""
        sizes = np.abs(np.concatenate([self.plain.ravel(), self.data.weights, np.ravel(self._t())]))
        sizes = sizes[sizes > 0]
        return bool(sizes.max(initial=1.0) > 1e30 or sizes.min(initial=1.0) < 1e-30)

    @property
    def has_extreme_targets(self) -> bool:
        """Whether squares of the targets may leave the range of float64."""
        sizes = np.abs(self._t())
        return bool(sizes.max(initial=0.0) > 1e75 or sizes[sizes > 0].min(initial=1.0) < 1e-75)

    @property
    def has_targets(self) -> bool:
        """Whether numbers are predicted."""
        return KINDS[self.kind].task == "numbers"

    @property
    def may_be_indefinite(self) -> bool:
        """Whether the kernel is one of those that need not be positive semi-definite."""
        model = getattr(self.estimator, "estimator", self.estimator)
        if model.kernel == "precomputed":
            values = np.linalg.eigvalsh(self.plain)
            return bool(values[0] < -1e-9 * abs(values[-1]))
        return model.kernel == "sigmoid" or (model.kernel == "poly" and model.coef0 < 0)

    def _t(self) -> np.ndarray:
        return self.data.target if self.has_targets else np.ones(1)


def draw_program(seed: int) -> Program:
    """Return the program of a number."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(kinds_of(seed)))
    made = KINDS[kind]
    data = draw_data(rng, made.most_rows)
    estimator, drawn = made.draw(rng, data)
    if not made.takes_weights:
        data.weight = None
        data.drawn["weight"] = "none"
    data.X, dtype = draw_dtype(rng, data.X)
    plain = data.X.astype(np.float64)
    tags = get_tags(estimator)
    if tags.input_tags.pairwise:
        with np.errstate(all="ignore"):
            plain = _square(rng, plain)
        data.X = plain
    given, container = draw_container(rng, data.X, bool(tags.input_tags.sparse) and made.sparse)
    y, labels = _answers(rng, made.task, data)
    drawn = {
        "kind": kind,
        **data.drawn,
        "dtype": dtype,
        "container": container,
        "labels": labels,
        **drawn,
        "estimator": " ".join(repr(estimator).split()),
    }
    return Program(seed, kind, estimator, given, plain, y, data, drawn)


def _square(rng: Random, X: np.ndarray) -> np.ndarray:
    """Return a kernel matrix of the rows."""
    K = X @ X.T
    if rng.random() < 0.5:
        K = np.exp(
            -np.abs(np.diag(K)[:, None] + np.diag(K) - 2 * K) / max(1e-300, np.diag(K).mean())
        )
    return np.where(np.isfinite(K), K, 1.0)


def _answers(rng: Random, task: str, data: Data) -> tuple[Any, str]:
    if task == "classes":
        return draw_labels(rng, data.codes)
    return (data.target, "targets") if task == "numbers" else (None, "none")
