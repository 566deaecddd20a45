"""From frames to matrices: without NaN, the same every time, and robust to what is new."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression

from mercer.tables import InputError, Table, as_table, vectorizer


def mixed(rows=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=rows),
            "colour": rng.choice(["red", "green", "blue"], rows),
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, rows), "D"),
            "story": [
                f"the {rng.integers(1000)} of {rng.integers(1000)} in town" for _ in range(rows)
            ],
            "grade": rng.integers(0, 3, rows),
        }
    )
    for name in ("size", "colour", "seen", "story"):
        frame.loc[rng.random(rows) < 0.1, name] = None
    return as_table(frame, rng.choice(["yes", "no"], rows), categorical=["grade"])


def matrix(table, fitted_on=None):
    transformer = vectorizer(table)
    transformer.fit(table.frame if fitted_on is None else fitted_on)
    return transformer, transformer.transform(table.frame)


def test_numbers_are_those_of_the_frame():
    X = np.random.default_rng(0).normal(size=(50, 4))
    table = as_table(X, X[:, 0] > 0)
    _, found = matrix(table)
    np.testing.assert_array_equal(found, X)


def test_gaps_become_medians_of_the_training_rows():
    X = np.random.default_rng(0).normal(size=(51, 6))
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    table = as_table(X, np.arange(51) % 2)
    half = table.frame.iloc[:25]
    transformer, found = matrix(table, half)
    expected = SimpleImputer(strategy="median").fit(half.to_numpy()).transform(X)
    np.testing.assert_allclose(found, expected)
    assert transformer.get_feature_names_out().tolist() == [f"c{k}" for k in range(1, 7)]


def test_mixed_columns_become_finite_numbers():
    table = mixed()
    transformer, found = matrix(table)
    names = transformer.get_feature_names_out().tolist()
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    assert found.shape == (120, len(names))
    assert {"size", "colour_red", "grade_2", "seen_year"} <= set(names)
    red = (table.frame["colour"] == "red").to_numpy()
    np.testing.assert_array_equal(found[:, names.index("colour_red")], red.astype(float))
    known = table.frame["size"].notna().to_numpy()
    np.testing.assert_array_equal(found[known, 0], table.frame["size"][known])
    year = table.frame["seen"].dt.year[table.frame["seen"].notna()]
    rows = table.frame["seen"].notna().to_numpy()
    np.testing.assert_array_equal(found[rows, names.index("seen_year")], year)


def test_the_same_every_time():
    table = mixed()
    transformer, found = matrix(table)
    np.testing.assert_array_equal(clone(transformer).fit(table.frame).transform(table.frame), found)
    again = pickle.loads(pickle.dumps(transformer))
    np.testing.assert_array_equal(again.transform(table.frame), found)
    np.testing.assert_array_equal(matrix(mixed())[1], found)


@pytest.mark.filterwarnings("error")
def test_values_that_are_new_and_columns_that_are_empty_in_a_fold():
    table = mixed()
    train = table.frame.iloc[:60].copy()
    train["size"] = np.nan
    train["colour"] = train["colour"].replace("blue", "red")
    transformer, found = matrix(table, train)
    assert np.isfinite(found).all()
    names = transformer.get_feature_names_out().tolist()
    assert "colour_blue" not in names
    blue = (table.frame["colour"] == "blue").to_numpy()
    columns = [k for k, name in enumerate(names) if name.startswith("colour_")]
    assert (found[blue][:, columns] == 0).all()
    gone = table.frame.assign(colour=None, seen=pd.NaT, story=None, size=np.nan)
    assert np.isfinite(transformer.transform(gone)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["colour", "seen", "story"])
def test_a_column_without_any_value_in_the_training_rows(name):
    table = mixed()
    train = table.frame.iloc[:60].copy()
    train[name] = pd.Series([None] * 60, dtype=train[name].dtype)
    _, found = matrix(table, train)
    assert np.isfinite(found).all()


def test_other_columns_and_another_order_do_not_matter():
    X = np.random.default_rng(0).normal(size=(50, 3))
    for table in (as_table(X, X[:, 0] > 0), mixed()):
        transformer, found = matrix(table)
        other = table.frame[table.frame.columns[::-1]].assign(extra=1.0)
        np.testing.assert_array_equal(transformer.transform(other), found)


def test_columns_that_are_not_there_are_named():
    X = np.random.default_rng(0).normal(size=(50, 3))
    transformer, _ = matrix(as_table(X, X[:, 0] > 0))
    with pytest.raises(InputError, match="lack the column 'c2'"):
        transformer.transform(pd.DataFrame(X[:, [0, 2]], columns=["c1", "c3"]))


def test_names_that_would_clash():
    frame = pd.DataFrame({"a_x": [0.5, 1.5, 2.5, 3.0] * 3, "a": ["x", "y", "z", "x"] * 3})
    table = Table("t", frame, pd.Series(["u", "v"] * 6), "classification")
    names = matrix(table)[0].get_feature_names_out()
    assert len(set(names)) == len(names)


def test_frames_of_words_only():
    frame = pd.DataFrame({"a": ["x", "y", "z", "x"] * 3})
    table = Table("t", frame, pd.Series(["u", "v"] * 6), "classification")
    found = matrix(table)[1]
    assert found.dtype == np.float64
    assert found.sum() == 12


@pytest.mark.filterwarnings("error")
def test_words_stay_words_where_a_fold_holds_only_numbers():
    """A fold decides neither what a column is nor how many columns there are."""
    frame = pd.DataFrame({"level": ["7", "8", "inf", "high"] * 3, "x": np.arange(12) / 7})
    table = Table("t", frame, pd.Series(["u", "v"] * 6), "classification")
    transformer, found = matrix(table, frame[frame["level"] != "high"])
    assert transformer.get_feature_names_out().tolist() == ["x", "level_7", "level_8", "level_inf"]
    assert found[3].tolist() == [3 / 7, 0, 0, 0]
    empty = frame.assign(level=pd.Series([None] * 12, dtype=frame["level"].dtype))
    found = matrix(table, empty)[1]
    assert np.isfinite(found).all()


def test_text_as_a_whole_still_counts():
    """Words of many different rows are read by their letters, not by their equality."""
    rng = np.random.default_rng(0)
    good = rng.random(300) < 0.5
    story = [f"{'splendid' if g else 'terrible'} stay no {k} of ours" for k, g in enumerate(good)]
    table = as_table(pd.DataFrame({"story": story}), np.where(good, "good", "bad"))
    transformer = vectorizer(table).fit(table.frame.iloc[:150])
    train, test = (transformer.transform(table.frame.iloc[k : k + 150]) for k in (0, 150))
    model = LogisticRegression().fit(train, table.target[:150])
    assert model.score(test, table.target[150:]) > 0.95
