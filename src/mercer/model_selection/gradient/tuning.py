"""What a gradient search must know about the kind of machine that it tunes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from mercer._folds import deal_folds
from mercer.kernels import Kernel
from mercer.model_selection.gradient.objective import (
    Evaluations,
    Prices,
    RememberedObjective,
    Sample,
)
from mercer.model_selection.gradient.search import DescentStep, Search

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tuning(ABC):
    """One kind of machine under a gradient search.

    Parameters
    ----------
    model : estimator
        The machine; its parameters are where the search starts.
    criterion : str or callable
    cv : int, splitter or iterable
    n_threads : int or None
    """

    model: Any
    criterion: Any
    cv: Any
    n_threads: int | None

    criteria: ClassVar[tuple[str, ...]] = ()
    """Names of criteria, beside "auto"."""

    kind: ClassVar[str] = "a machine"
    """What the machine is called in messages."""

    takes_sparse: ClassVar[bool] = True
    """Whether rows may be sparse."""

    @property
    def prices(self) -> Prices:
        """Where the prices of the machine start."""
        return {"C": np.inf}

    @abstractmethod
    def checked_targets(self, y: Any, kept: Rows) -> Any:
        """Return what the rows are labelled with, checked; only rows that are kept have weight."""

    @abstractmethod
    def objective(
        self, kernel: Kernel, sample: Sample, evaluations: Evaluations
    ) -> RememberedObjective:
        """Return the criterion as a function of the parameters."""

    def strata(self, y: Any) -> Any:
        """Return the classes whose shares a part of the rows should keep, or None."""
        return None

    def minimise(self, search: Search, kernel: Kernel, n_starts: int, random: Any) -> DescentStep:
        """Go from the start to a minimum."""
        return search.plain(kernel, self.prices, n_starts, random)

    @abstractmethod
    def chosen(self, search: Search, best: DescentStep) -> dict[str, Any]:
        """Return the parameters of the machine that stand for the best step."""

    @abstractmethod
    def step_params(self, step: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the machine that stand for one evaluation.

        ``own`` are those that stand for its kernel.
        """

    @abstractmethod
    def score(self, search: Search, best: DescentStep, sample: Sample) -> float:
        """Return how good the machine is on folds; larger is better."""

    def check_criterion(self) -> None:
        """Say so where the criterion is one of other machines."""
        if not callable(self.criterion) and self.criterion not in ("auto", *self.criteria):
            raise ValueError(
                f"The parameters of {self.kind} are chosen by "
                f"{', '.join(map(repr, ('auto', *self.criteria)))} or a function; got "
                f"{self.criterion!r}."
            )


def kernel_params(model: Any, kernels: Sequence[Kernel]) -> list[dict[str, Any]]:
    """Return the parameters of a machine that stand for kernels of one kind."""
    if isinstance(model.kernel, str):
        found = [kernel.free_parameters() for kernel in kernels]
        if found[0].keys() <= {"gamma", "coef0"}:
            return found
    return [{"kernel": kernel} for kernel in kernels]


def splits_of_rows(cv: Any, sample: Sample, codes: Rows) -> list[tuple[Rows, Rows]]:
    """Return folds; a number stands for so many that keep all copies of a row together."""
    if isinstance(cv, int | np.integer):
        fold = deal_folds(sample.points, codes, int(cv), copies_together=True)
        held = [np.flatnonzero(fold == number) for number in np.unique(fold)]
        if len(held) < 2:
            raise ValueError("All rows are equal: there is nothing to choose parameters by.")
        return [(np.setdiff1d(np.arange(sample.n), out), out) for out in held]
    return given_splits(cv, sample, codes)


def given_splits(cv: Any, sample: Sample, labels: Any) -> list[tuple[Rows, Rows]]:
    """Return the folds of a splitter, or those of a list, which speaks of all rows of the data."""
    if hasattr(cv, "split"):
        return list(cv.split(np.zeros(sample.n), labels))
    return [
        (np.flatnonzero(np.isin(sample.rows, train)), np.flatnonzero(np.isin(sample.rows, test)))
        for train, test in check_cv(cv).split()
    ]
