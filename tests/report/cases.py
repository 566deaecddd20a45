"""The comparisons that the tests report on, each of another kind of data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_classification
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression

from .stand_in import CLASSIFIERS, StandIn, Table, compared, pipeline, splits


def _frame(X: Any, names: Any = None) -> pd.DataFrame:
    names = [f"x{column}" for column in range(X.shape[1])] if names is None else names
    columns = pd.Index(list(names), dtype=object)  # PyArrow refuses halves of pairs
    return pd.DataFrame(np.asarray(X, dtype=np.float64), columns=columns)


def _labels(values: Any, name: str = "class") -> pd.Series:
    return pd.Series([str(value) for value in values], name=name, dtype=object)


def binary() -> StandIn:
    data = load_breast_cancer()
    table = Table(
        "breast_cancer",
        _frame(data.data, data.feature_names),
        _labels(data.target_names[data.target], "diagnosis"),
        "classification",
        positive="malignant",
        source="from sklearn.datasets import load_breast_cancer\n\n"
        "X, y = load_breast_cancer(return_X_y=True, as_frame=True)",
    )
    comparison = compared(table)
    assert comparison.insights_ is not None
    comparison.insights_.rfe = _elimination(table)
    return comparison


def _elimination(table: Table) -> pd.DataFrame:
    """Return errors of logistic regression with the features that elimination leaves in a fold."""
    X, y = table.frame.to_numpy(), table.target.to_numpy()
    lines = []
    for size in (1, 2, 4, 8, 16, 30):
        errors = []
        for repeat, _, train, test in splits(table):
            if repeat:
                break
            chosen = RFE(LogisticRegression(), n_features_to_select=size, step=0.5)
            model = pipeline(chosen).fit(X[train], y[train])
            errors.append(np.mean(model.predict(X[test]) != y[test]))
        lines.append({"features": size, "error": np.mean(errors), "error_sd": np.std(errors)})
    return pd.DataFrame(lines)


def many_classes() -> StandIn:
    """Ten digits, and two of them under new names, so that there are twelve classes."""
    data = load_digits()
    labels = data.target.astype(object)
    rng = np.random.default_rng(0)
    for old, new in ((3, "three, another hand"), (8, "eight, another hand")):
        labels[(data.target == old) & (rng.random(len(labels)) < 0.5)] = new
    table = Table("digits", _frame(data.data), _labels(labels, "digit"), "classification")
    return compared(table)


def hundred_classes() -> StandIn:
    X, y = make_classification(
        1500, 12, n_informative=10, n_redundant=0, n_classes=60, n_clusters_per_class=1,
        class_sep=3.0, random_state=0,
    )  # fmt: skip
    names = [f"species number {code}" for code in y]
    table = Table("species", _frame(X), _labels(names, "species"), "classification")
    return compared(table, models={key: CLASSIFIERS[key] for key in ("tree", "dummy")})


def regression() -> StandIn:
    data = load_diabetes()
    target = pd.Series(data.target.astype(np.float64), name="progression")
    table = Table(
        "diabetes",
        _frame(data.data, data.feature_names),
        target,
        "regression",
        notices=("Column s3: 2 values like '1,234' were read as numbers.",),
        left_out={"patient": "its values are all different and sorted: an identifier"},
    )
    return compared(table)


def long_regression() -> StandIn:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = 1e6 * (X[:, 0] + 0.3 * rng.normal(size=4000) * (1 + X[:, 1] ** 2))
    table = Table("prices", _frame(X), pd.Series(y, name="price"), "regression")
    return compared(table)


def unbalanced() -> StandIn:
    X, y = make_classification(2000, 8, weights=[0.98], flip_y=0.01, random_state=1)
    labels = _labels(np.where(y == 1, "fraud", "normal"), "kind")
    table = Table(
        "payments",
        _frame(X),
        labels,
        "classification",
        positive="fraud",
        notices=("The classes are unbalanced: 2.4 % of the rows are fraud.",),
    )
    return compared(table)


def partial() -> StandIn:
    data = load_breast_cancer()
    target = _labels(data.target_names[data.target], "diagnosis")
    table = Table("breast_cancer", _frame(data.data[:, :6]), target, "classification")
    failing = {"svc": ("SVC by gradient search", "the kernel matrix did not fit into memory")}
    return compared(table, partial_folds=3, failing=failing)


def without_insights() -> StandIn:
    data = load_breast_cancer()
    target = _labels(data.target_names[data.target], "diagnosis")
    table = Table("breast_cancer", _frame(data.data[:, :6]), target, "classification")
    comparison = compared(table, with_insights=False)
    comparison.scores_ = dict.fromkeys(comparison.scores_)
    return comparison


EVIL = "<script>alert('x')</script>"


def odd_names() -> StandIn:
    """Signs that mean something in HTML, in formulas and nowhere, and names without an end."""
    data = load_breast_cancer()
    names = [
        EVIL,
        "a & b < c > \"d\" 'e'",
        "$\\alpha_1$ costs $5",
        "control \x00\x07\x1b and\nnew line\ttab",
        "half of a pair \ud83d",
        "年齢と身長と体重の三つの列を合わせた非常に長い名前",
        "العمر",
        "a" * 300,
        " ".join(["how satisfied are you with the service, question"] * 6) + " 1",
        " ".join(["how satisfied are you with the service, question"] * 6) + " 2",
        "{{ 7 * 7 }}{% raw %}",
    ]
    labels = np.where(data.target == 1, f"{EVIL} & co", "b</svg></style><img src=x onerror=y>")
    table = Table(
        f"{EVIL}.csv",
        _frame(data.data[:, : len(names)], names),
        _labels(labels, f"target {EVIL}"),
        "classification",
        notices=(f"Column {EVIL} was cleaned.",),
        left_out={f"{EVIL} {'long ' * 40}": "constant & <b>empty</b>"},
        source=f"X = read('{EVIL}')  # </code></pre>",
    )
    return compared(table, failing={"svc": (f"SVC {EVIL}", f"failed: {EVIL}")})


def wide() -> StandIn:
    """As many features as gene expressions have, most of them left out for a reason."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(62, 7000))
    y = rng.integers(0, 2, 62)
    X[:, :5] += 2 * y[:, None]
    names = [f"gene {column:04d} expression" for column in range(7000)]
    table = Table(
        "genes",
        _frame(X, names),
        _labels(np.where(y, "tumour", "normal"), "tissue"),
        "classification",
        left_out={f"probe {column}": "constant" for column in range(3000)},
    )
    return compared(table, models={k: CLASSIFIERS[k] for k in ("neighbours", "tree", "dummy")})


CASES = {
    case.__name__: case
    for case in (
        binary,
        many_classes,
        hundred_classes,
        regression,
        long_regression,
        unbalanced,
        partial,
        without_insights,
        odd_names,
        wide,
    )
}
