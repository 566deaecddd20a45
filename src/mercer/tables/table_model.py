"""A fitted model that knows the table it comes from."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from mercer._numbers import number
from mercer.tables._columns import DATE_FORMS
from mercer.tables._left_out import naming
from mercer.tables.table import Table
from mercer.tables.vectorizer import date_forms

KINDS: dict[str, Any] = {
    "number": np.float64,
    "date": "datetime64[us]",
    "category": "category",
    "text": object,
}
YEARS = (-6.2e10, 2.53e11)
"""From the first to the ten thousandth, in seconds since 1970."""

MOST_KNOWN = 200
"""Different words of a column that are remembered; more are text rather than categories."""


def _model_has(name: str) -> Any:
    return available_if(lambda whole: hasattr(whole.model, name))


class TableModel(BaseEstimator):
    """A fitted model with what it takes to read new rows for it from a file.

    It is what `mercer compare --save` and its like write: use it where new rows come as files or as
    frames in the form in which the table came. Reading costs next to nothing beside the model.

    Parameters
    ----------
    model : estimator
        Fitted to the frame of a table, such as `mercer.comparison.Comparison.best_`.
    columns : dict of str to str
        The kind of each column of the frame: "number", "date", "category" or "text".
    known : dict of str to list of str
        The words that a column had at fitting, where they are few.
    ranges : dict of str to list of float
        The least and the largest number that a column had at fitting; of dates the first and the
        last, in seconds since 1970.
    target : str or None
        Name of the column that is predicted; None where there is none.
    task : {"classification", "regression", "description"}
    names : list of str
        Columns that are no features but tell rows apart, such as an identifier.
    about : dict
        What else shall be kept: numbers and words. What the model is called ("title"), what it
        was fitted to ("table", "rows") and its error on folds ("measure", "error", "folds",
        "baseline_error") are told where the model is printed.

    See Also
    --------
    mercer.tables.read_table : Reads a table.
    mercer.compare : Makes such a model.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from mercer.tables import TableModel, named_table
    >>> table = named_table("moons")
    >>> tree = DecisionTreeClassifier(random_state=0).fit(table.frame, table.target)
    >>> model = TableModel.of(tree, table)
    >>> model.columns, model.target, model.task
    ({'x': 'number', 'y': 'number'}, 'target', 'classification')
    >>> model.predict(table.frame[:3]).tolist() == table.target[:3].tolist()
    True
    >>> model
    TableModel: DecisionTreeClassifier for 'target' (classification)
    """

    def __init__(
        self,
        model: Any,
        columns: dict[str, str],
        known: dict[str, list[str]],
        ranges: dict[str, list[float]],
        target: str | None,
        task: str,
        names: list[str],
        about: dict[str, Any],
    ) -> None:
        self.model = model
        self.columns = columns
        self.known = known
        self.ranges = ranges
        self.target = target
        self.task = task
        self.names = names
        self.about = about

    @classmethod
    def of(cls, model: Any, table: Table, about: dict[str, Any] | None = None) -> Self:
        """Return a model together with what its table tells of new rows.

        Parameters
        ----------
        model : estimator
            Fitted to ``table.frame``.
        table : Table
        about : dict, default=None
            What else shall be kept.
        """
        columns = {str(name): _kind(table.frame[name]) for name in table.frame}
        known = {name: _words(table.frame[name]) for name in columns if _few(table.frame[name])}
        target = None if table.task == "description" else str(table.target.name or "target")
        names = naming(table.left_out)
        ordered = [name for name, kind in columns.items() if kind in ("number", "date")]
        ranges = {name: _range(table.frame[name]) for name in ordered}
        return cls(model, columns, known, ranges, target, table.task, names, about or {})

    def like(self) -> pd.DataFrame:
        """Return a frame with the columns and kinds of the old rows, and the words they had.

        How dates were written stands among its `attrs`.
        """
        longest = max((len(words) for words in self.known.values()), default=0)
        columns = {}
        for name, kind in self.columns.items():
            words = [*self.known.get(name, []), *[None] * longest][:longest]
            columns[name] = pd.Series(words, dtype=KINDS[kind], index=range(longest))
        frame = pd.DataFrame(columns)
        frame.attrs[DATE_FORMS] = date_forms(self.model)
        return frame

    def beside(self) -> pd.DataFrame:
        """Return an empty frame with the columns that new rows may have besides: target, names."""
        columns = {name: pd.Series(dtype=object) for name in self.names}
        if self.target is not None:
            is_number = self.task == "regression"
            columns[self.target] = pd.Series(dtype=np.float64 if is_number else object)
        return pd.DataFrame(columns)

    def new_words(self, frame: pd.DataFrame) -> dict[str, list[str]]:
        """Return the words of new rows that the old ones did not have, by column.

        Parameters
        ----------
        frame : DataFrame
        """
        found = {}
        for name, known in self.known.items():
            new = sorted(set(frame[name].dropna().astype(str)) - set(known))
            if new:
                found[name] = new
        return found

    def far_numbers(self, frame: pd.DataFrame) -> dict[str, list[float]]:
        """Return the numbers of new rows that lie far outside of what the old ones had, by column.

        Far is by more than the whole range at fitting, as where a unit or a decimal sign is another
        one.

        Parameters
        ----------
        frame : DataFrame
        """
        found = {}
        for name in self._of_kind("number"):
            low, high = self.ranges[name]
            values = frame[name].to_numpy(dtype=np.float64)
            span = high - low
            far = values[(values < low - span) | (values > high + span)]
            if far.size:
                found[name] = far.tolist()
        return found

    def foreign_dates(self, frame: pd.DataFrame) -> dict[str, list[pd.Timestamp]]:
        """Return the columns of which all dates lie after those at fitting, or all before them.

        A model has learned nothing of such rows from their dates.

        Parameters
        ----------
        frame : DataFrame

        Returns
        -------
        dict of str to list of Timestamp
            By column, the first and the last date at fitting.
        """
        found = {}
        for name in self._of_kind("date"):
            values = _numbers(frame[name].dropna())
            low, high = self.ranges[name]
            if len(values) and (values.min() > high or values.max() < low):
                found[name] = [_date(low), _date(high)]
        return found

    def _of_kind(self, kind: str) -> list[str]:
        return [name for name in self.ranges if self.columns[name] == kind]

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns."""
        return np.array(list(self.columns), dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of the columns."""
        return len(self.columns)

    @property
    def classes_(self) -> Any:
        """Class names of the model."""
        return self.model.classes_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model anew to a frame with these columns; what `about` tells is then past.

        Parameters
        ----------
        X : DataFrame
        y : array-like or None, default=None

        Returns
        -------
        TableModel
        """
        self.model = clone(self.model).fit(X, y)
        return self

    @_model_has("predict")
    def predict(self, X: Any) -> Any:
        """Return what the model predicts for a frame of rows."""
        return self.model.predict(X)

    @_model_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities that the model gives to its classes."""
        return self.model.predict_proba(X)

    @_model_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decision values of the model."""
        return self.model.decision_function(X)

    @_model_has("score")
    def score(self, X: Any, y: Any) -> float:
        """Return the score of the model."""
        return float(self.model.score(X, y))

    def __repr__(self) -> str:
        kept = self.about
        name = kept.get("title") or type(getattr(self.model, "steps", [("", self.model)])[-1][1])
        name = name if isinstance(name, str) else name.__name__
        text = f"TableModel: {name}" + (f" for {self.target!r}" if self.target else "")
        text += f" ({self.task})"
        if "rows" in kept:
            text += f", fitted to {kept['rows']} rows of {kept.get('table')!r}"
        if "error" in kept:
            measure = str(kept.get("measure", "error"))
            name = "RMSE" if measure == "rmse" else measure.replace("_", " ")
            text += f"; {name} {_number(kept['error'], measure)} on folds"
            text += f" (baseline: {_number(kept.get('baseline_error'), measure)})"
        return text

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.model)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags = inner.target_tags
        return tags


def _number(value: Any, measure: str) -> str:
    """Return an error as people read it: a share in percent, or a number of the target's kind."""
    if not isinstance(value, float):
        return "unknown"
    return f"{100 * value:.1f} %" if measure.endswith("error") else number(value)


def _kind(column: pd.Series) -> str:
    if column.dtype == np.float64:
        return "number"
    if types.is_datetime64_any_dtype(column.dtype):
        return "date"
    return "category" if isinstance(column.dtype, pd.CategoricalDtype) else "text"


def _range(column: pd.Series) -> list[float]:
    known = _numbers(column.dropna())
    return [float(known.min()), float(known.max())] if len(known) else [-np.inf, np.inf]


def _numbers(column: pd.Series) -> Any:
    """Return numbers as they are, and dates in seconds since 1970."""
    if _kind(column) == "date":
        column = column.astype("datetime64[us]").astype(np.int64) / 1e6
    return column.to_numpy(dtype=np.float64)


def _date(seconds: float) -> pd.Timestamp:
    first, last = YEARS
    return pd.Timestamp(np.datetime64(int(1e6 * min(max(seconds, first), last)), "us"))


def _few(column: pd.Series) -> bool:
    return _kind(column) in ("category", "text") and column.nunique() <= MOST_KNOWN


def _words(column: pd.Series) -> list[str]:
    return sorted(str(word) for word in column.dropna().unique())
