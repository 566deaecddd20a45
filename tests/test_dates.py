"""Dates and spans of time are refused in one sentence, the same for every estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from variants import VARIANTS

from mercer import SVC, PlattClassifier

DAYS = np.array([["2020-01-01", "2020-02-01"], ["2021-01-01", "2020-05-01"]] * 10, "datetime64[D]")
Y = np.arange(20) % 2
EACH_CLASS = list({type(model): model for model in VARIANTS}.values())
MIXED = pd.DataFrame({"size": np.arange(20.0), "when": DAYS[:, 0].astype("datetime64[ns]")})
TABLES: dict[str, tuple[Any, str]] = {
    "array": (DAYS, r"X holds dates or times \(datetime64\[D\]\)"),
    "spans": (DAYS - DAYS[0], r"X holds dates or times \(timedelta64\[D\]\)"),
    "frame": (MIXED, r"Column 'when' of X holds dates or times \(datetime64\[ns\]\)"),
    "objects": (DAYS.astype(object), r"X holds dates or times \(date\)"),
    "objects of a frame": (
        pd.DataFrame({"size": np.arange(20.0), "when": DAYS[:, 0].astype(object)}),
        r"Column 'when' of X holds dates or times \(date\)",
    ),
    "zone": (
        pd.DataFrame({"when": MIXED["when"].dt.tz_localize("UTC")}),
        r"Column 'when' of X holds dates or times \(datetime64\[ns, UTC\]\)",
    ),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("model", EACH_CLASS, ids=lambda model: type(model).__name__)
def test_dates_are_refused(model: Any, kind: str) -> None:
    table, words = TABLES[kind]
    with pytest.raises(ValueError, match=words):
        clone(model).fit(table, Y.astype(float) if is_regressor(model) else Y)


@pytest.mark.parametrize("y", [DAYS[:, 0], pd.Series(MIXED["when"]), DAYS[:, 0] - DAYS[0, 0]])
@pytest.mark.parametrize(
    "model", filter(is_regressor, EACH_CLASS), ids=lambda model: type(model).__name__
)
def test_dates_are_refused_as_targets_of_a_regression(model: Any, y: Any) -> None:
    with pytest.raises(ValueError, match="y holds dates or times"):
        clone(model).fit(np.arange(40.0).reshape(20, 2), y)


def test_dates_may_name_classes() -> None:
    y = DAYS[:, 0]
    model = SVC(C=100.0).fit(np.c_[Y, Y].astype(float), y)
    np.testing.assert_array_equal(model.predict(np.c_[Y, Y].astype(float)), y)


def days_since_the_first(table: Any) -> Any:
    return ((table - table.min()) / np.timedelta64(1, "D")).astype(float)


def test_a_pipeline_may_take_dates() -> None:
    """What stands around it leaves them to it."""
    as_days = FunctionTransformer(days_since_the_first)
    model = PlattClassifier(make_pipeline(as_days, SVC())).fit(DAYS, Y)
    np.testing.assert_array_equal(model.predict(DAYS), Y)


def test_dates_are_refused_by_machines_that_are_fitted() -> None:
    model = SVC().fit(MIXED[["size"]].to_numpy().repeat(2, axis=1), Y)
    with pytest.raises(ValueError, match="X holds dates or times"):
        model.predict(DAYS)


@pytest.mark.parametrize("model", EACH_CLASS, ids=lambda model: type(model).__name__)
def test_a_single_column_is_refused_as_scikit_learn_does(model: Any) -> None:
    """A column taken out of a table has one kind of data, not one for each column."""
    with pytest.raises(ValueError, match=r"2|two|rows and columns|kernel matrix"):
        clone(model).fit(MIXED["size"], Y)
