"""What a comparison must have to be drawn and told; `mercer.comparison` has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class TableLike(Protocol):
    """The data of a comparison."""

    @property
    def name(self) -> str: ...
    @property
    def frame(self) -> Any:
        """The features, a data frame of pandas."""

    @property
    def target(self) -> Any:
        """Labels as text, or numbers; a series of pandas."""

    @property
    def task(self) -> str:
        """Either "classification" or "regression"."""

    @property
    def positive(self) -> str | None: ...
    @property
    def groups(self) -> Any: ...
    @property
    def time(self) -> Any: ...
    @property
    def notices(self) -> Sequence[str]: ...
    @property
    def left_out(self) -> Mapping[str, str]:
        """Columns that are not used, with the reason."""

    @property
    def names(self) -> Any:
        """Columns that tell rows apart but are no features; a data frame, or None."""

    def row_numbers(self) -> Any:
        """Numbers of the rows in what was read, counted from 1."""

    def class_counts(self) -> Mapping[str, int]: ...


class InsightsLike(Protocol):
    """What was learned beside the errors; each part may be None or empty."""

    @property
    def features(self) -> Any:
        """Data frame: feature, importance, sd, and perhaps clear: whether it is beyond noise."""

    @property
    def unusual(self) -> Any:
        """Data frame: row (its position in the table, counted from 0), distance."""

    @property
    def hard(self) -> Any:
        """Data frame: row, target, predictions."""

    @property
    def learning(self) -> Any:
        """Data frame: rows, error, error_sd."""

    @property
    def rfe(self) -> Any:
        """Data frame: features, error, error_sd."""


class ComparisonLike(Protocol):
    """Models on the same folds of the same data."""

    @property
    def table(self) -> TableLike: ...
    @property
    def results_(self) -> Any:
        """Data frame with one row for each model, the best first; trained_rows may be missing."""

    @property
    def measure(self) -> str: ...
    @property
    def folds_(self) -> Any:
        """Data frame: model, repeat, fold, the measures, seconds."""

    @property
    def predictions_(self) -> Mapping[str, Any]: ...
    @property
    def scores_(self) -> Mapping[str, Any]: ...
    @property
    def classes_(self) -> Sequence[str]: ...
    @property
    def positive_(self) -> str | None:
        """Of two classes the one that F1 speaks of; None for more, and for numbers."""

    @property
    def best_name_(self) -> str: ...
    @property
    def simplest_name_(self) -> str: ...
    @property
    def partial(self) -> bool: ...
    @property
    def cuts(self) -> tuple[int, int]:
        """Folds into which the rows were cut, and how often."""

    @property
    def left_out_models(self) -> Mapping[str, str]: ...
    @property
    def insights_(self) -> InsightsLike | None: ...
    @property
    def seconds_(self) -> float: ...
    def title(self, name: str) -> str:
        """Return what people call a model, one that was left out, too."""

    def sentences(self) -> Sequence[str]: ...
    def code(self) -> str: ...
