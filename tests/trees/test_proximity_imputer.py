"""Missing values: better than medians, and what the definition says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from mercer import ProximityImputer
from mercer.trees import proximity


def with_gaps(X: Any, seed: int, share: float = 0.2) -> tuple[Any, Any]:
    gaps = np.random.default_rng(seed).random(X.shape) < share
    return np.where(gaps, np.nan, X), gaps


def error(X: Any, filled: Any, gaps: Any) -> float:
    """Return the root mean square error in standard deviations of the columns."""
    return float(np.sqrt(np.mean(((filled - X) / X.std(axis=0))[gaps] ** 2)))


@pytest.mark.filterwarnings("ignore:.IterativeImputer. Early stopping")  # its defaults, as they are
def test_iris_without_a_fifth() -> None:
    """Far better than the median, and not worse than IterativeImputer, also as Breiman does it."""
    X, y = load_iris(return_X_y=True)
    found: dict[str, list[float]] = {"linear": [], "mean": [], "median": [], "iterative": []}
    for seed in (0, 1, 2):
        table, gaps = with_gaps(X, seed)
        for value in ("linear", "mean"):
            imputer = ProximityImputer(value=value, max_iter=2, random_state=0)
            found[value].append(error(X, imputer.fit_transform(table, y), gaps))
        peers = {"median": SimpleImputer(strategy="median"), "iterative": IterativeImputer()}
        for name, peer in peers.items():
            found[name].append(error(X, peer.fit_transform(table), gaps))
    mean = {name: np.mean(errors) for name, errors in found.items()}
    assert mean["linear"] < 0.85 * mean["iterative"] < mean["median"]
    assert mean["mean"] <= mean["iterative"]


def test_a_round_is_its_definition() -> None:
    X, y = load_iris(return_X_y=True)
    table, gaps = with_gaps(X, 3)
    start = table.copy()
    for label in range(3):
        own = y == label
        middle = np.nanmedian(table[own], axis=0)
        start[own] = np.where(np.isnan(table[own]), middle, table[own])
    forest = RandomForestClassifier(20, random_state=5)
    P = proximity(forest.fit(start, y), start)
    expected = start.copy()
    for i, j in np.argwhere(gaps):
        weight = np.where(gaps[:, j], 0.0, P[i])
        if weight.sum() > 0:
            expected[i, j] = weight @ np.nan_to_num(table[:, j]) / weight.sum()
    imputer = ProximityImputer(forest, value="mean", max_iter=1)
    np.testing.assert_allclose(imputer.fit_transform(table, y), expected, rtol=1e-5)
    assert imputer.n_iter_ == 1


def test_a_linear_relation_is_found() -> None:
    """Within the rows alike the other columns tell what an average cannot."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    first = rng.normal(size=300) + 4 * y
    X = np.column_stack([first, 2 * first + 0.05 * rng.normal(size=300), rng.normal(size=300)])
    table = X.copy()
    gaps = np.zeros(X.shape, dtype=bool)
    gaps[rng.choice(300, 40, replace=False), 1] = True
    table[gaps] = np.nan
    errors = [
        error(X, ProximityImputer(value=value, random_state=0).fit_transform(table, y), gaps)
        for value in ("mean", "linear")
    ]
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("kind", ["all", "oob", "gap"])
def test_new_rows_without_labels(kind: str) -> None:
    X, y = load_iris(return_X_y=True)
    test = np.arange(len(y)) % 3 == 0
    table, gaps = with_gaps(X, 4, 0.15)
    imputer = ProximityImputer(kind=kind, random_state=0).fit(table[~test], y[~test])
    filled = imputer.transform(table[test])
    np.testing.assert_array_equal(filled[~gaps[test]], X[test][~gaps[test]])
    median = SimpleImputer(strategy="median").fit(table[~test]).transform(table[test])
    assert error(X[test], filled, gaps[test]) < 0.8 * error(X[test], median, gaps[test])


def test_without_labels_and_with_targets() -> None:
    X = load_iris().data
    table, gaps = with_gaps(X, 5)
    filled = ProximityImputer(random_state=0).fit_transform(table)
    median = SimpleImputer(strategy="median").fit_transform(table)
    assert error(X, filled, gaps) < 0.8 * error(X, median, gaps)
    X, target = make_regression(150, 3, random_state=0)
    table, gaps = with_gaps(X, 6, 0.1)
    filled = ProximityImputer(random_state=0).fit_transform(table, target)
    assert error(X, filled, gaps) < 1.0


def test_categories_in_a_data_frame() -> None:
    """Texts and codes are voted for; nothing that was there changes."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    colour = np.array(["blue", "green", "red"], dtype=object)[y]
    frame = pandas.DataFrame({"size": y + 0.2 * rng.normal(size=180), "colour": colour.tolist()})
    missing = rng.random(180) < 0.2
    frame.loc[missing, "colour"] = None
    frame.loc[rng.random(180) < 0.1, "size"] = np.nan
    imputer = ProximityImputer(categorical_features=["colour"], random_state=0)
    filled = imputer.set_output(transform="pandas").fit_transform(frame, y)
    assert filled["colour"].tolist() == colour.tolist()
    assert list(filled.columns) == ["size", "colour"]
    new = pandas.DataFrame({"size": [0.1, 1.9, np.nan], "colour": [None, None, "violet"]})
    filled = imputer.transform(new)
    assert filled["colour"].tolist() == ["blue", "red", "violet"]
    assert filled["size"].notna().all()
    codes = np.column_stack([frame["size"].to_numpy(), np.where(missing, np.nan, y)])
    numbers = ProximityImputer(categorical_features=[1], random_state=0).fit_transform(codes, y)
    np.testing.assert_array_equal(numbers[:, 1].astype(int), y)


def test_in_a_pipeline() -> None:
    X, y = load_iris(return_X_y=True)
    table, _ = with_gaps(X, 7, 0.1)
    forest = RandomForestClassifier(20, random_state=0)
    model = make_pipeline(ProximityImputer(forest, max_iter=2), SVC())
    assert cross_val_score(model, table, y, cv=3).mean() > 0.85


def test_same_seed_same_values() -> None:
    X, y = load_iris(return_X_y=True)
    table, _ = with_gaps(X, 8)
    first, second = (
        ProximityImputer(max_iter=1, random_state=3).fit_transform(table, y) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_bad_input() -> None:
    X, y = load_iris(return_X_y=True)
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match="Column 1 of X has no value"):
        ProximityImputer().fit(X, y)
    with pytest.raises(ValueError, match="names 'shape', which is no column"):
        ProximityImputer(categorical_features=["shape"]).fit(X, y)
    with pytest.raises(ValueError, match="150 rows but y has 149"):
        ProximityImputer().fit(np.nan_to_num(X), y[1:])
