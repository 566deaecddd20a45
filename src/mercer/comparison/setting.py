"""What a model is built for: the rows, their classes and how they are to be cut."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from mercer.comparison.folds import inner_folds, some_rows
from mercer.discriminant import MinimumCostClassifier


@dataclass(frozen=True)
class Setting:
    """What a model is built for."""

    n_rows: int
    n_columns: int
    n_classes: int
    n_largest: int
    """Rows of the largest class, or all."""
    balanced: bool
    seed: int
    n_jobs: int | None
    y: Any = None
    """Targets of these rows, and where there are any their groups and times."""
    groups: Any = None
    times: Any = None

    @property
    def has_order(self) -> bool:
        """Whether rows depend on each other, so that no random part of them is a fair judge."""
        return self.groups is not None or self.times is not None

    @property
    def class_weight(self) -> str | None:
        """Equal say for all classes where they are unbalanced."""
        return "balanced" if self.balanced else None

    @property
    def scoring(self) -> str | None:
        """What parameters are chosen by; None stands for the model's own score."""
        return "balanced_accuracy" if self.balanced else None

    def parts(self, number: int, most: int | None = None) -> Any:
        """Return folds to choose parameters on, cut as those that models are compared on.

        They are folds of ``most`` of the rows, where there are more.
        """
        if most is not None and self.n_rows > most:
            return self._parts_of_some(number, most)
        number = max(2, min(number, self.n_largest))
        y = self.y if self.n_classes else None
        if self.has_order:
            found = inner_folds(self.n_rows, y, self.groups, self.times, number, self.seed)
            if found:
                return found
        kind: Any = StratifiedKFold if self.n_classes else KFold  # people sort their tables
        return kind(number, shuffle=True, random_state=self.seed)

    def _parts_of_some(self, number: int, most: int) -> Any:
        labels = self.y if self.n_classes else None
        rows = some_rows(np.arange(self.n_rows), most, labels, self.seed)
        counts = np.unique(self.y[rows], return_counts=True)[1] if self.n_classes else [len(rows)]
        beside = [None if one is None else one[rows] for one in (self.groups, self.times)]
        part = replace(self, n_rows=len(rows), n_largest=int(max(counts)), y=self.y[rows])
        parts = replace(part, groups=beside[0], times=beside[1]).parts(number)
        if not isinstance(parts, list):
            parts = list(parts.split(np.zeros(len(rows)), labels if labels is None else part.y))
        return [(rows[train], rows[test]) for train, test in parts]

    def even(self, model: Any) -> Any:
        """Return a model that decides as if all classes were equally frequent, if they shall be.

        With probabilities p and shares s of the classes, the mean error of all classes is least
        where the largest p / s decides.
        """
        if not self.balanced:
            return model
        return MinimumCostClassifier(model, priors=[1 / self.n_classes] * self.n_classes)
