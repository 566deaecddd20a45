"""Which columns are left out, and that the reasons given are the true ones."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from mercer.tables import InputError, as_table, vectorizer


def table_of(rows=60, seed=0, **columns):
    """A table with an honest feature, beside the given columns, and shuffled classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"honest": rng.normal(size=rows), **columns})
    return as_table(frame, rng.choice(["a", "b"], rows))


def shuffled(values, seed=1):
    return np.random.default_rng(seed).permutation(values)


LEFT_OUT = {
    "row": (np.arange(60), "counts the rows"),
    "backwards": (np.arange(60)[::-1], "counts the rows"),
    "with gaps": (np.delete(np.arange(70), np.arange(5, 65, 6)), "counts the rows"),
    "lot": (shuffled(np.arange(1, 61)), "all different"),
    "patient_id": (shuffled(np.arange(60) * 977 + 10_000), "identifier"),
    "customerID": (shuffled(np.arange(60) * 977 + 10_000), "identifier"),
    "nearly_id": (np.r_[shuffled(np.arange(57) * 977), [0, 0, 977]], "identifier"),
    "code": ([f"P{k * 7:04d}" for k in range(60)], "names of rows"),
    "label of plant": ([f"plant {k}" for k in range(60)], "names of rows"),
    "constant": (np.ones(60), "same value"),
    "constant word": (["x"] * 60, "same value"),
    "empty": ([None] * 60, "no value"),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_columns_that_are_left_out(name):
    values, reason = LEFT_OUT[name]
    table = table_of(**{name: values})
    assert list(table.frame.columns) == ["honest"]
    assert reason in table.left_out[name]
    notice = next(notice for notice in table.notices if "left out" in notice)
    assert repr(name) in notice
    assert reason in notice


rng = np.random.default_rng(2)
KEPT = {
    "measurement": rng.normal(size=60),
    "sorted measurement": np.sort(rng.normal(size=60)),
    "age": rng.integers(20, 90, 60),
    "income": rng.permutation(60) * 977 + 20_000 + rng.integers(0, 900, 60),
    "counts of genes": rng.integers(-500, 20_000, 60),
    "price_index": rng.integers(0, 50_000, 60),
    "group_id": rng.integers(0, 5, 60),
    "remark": [f"seen {k} times, then left the house" for k in range(60)],
    "seen": pd.date_range("2020-01-01", periods=60),
    "decimal ids": np.arange(60) + 0.25,
}


@pytest.mark.parametrize("name", KEPT)
def test_columns_that_are_kept(name):
    table = table_of(**{name: KEPT[name]})
    assert list(table.frame.columns) == ["honest", name]
    assert table.left_out == {}


def test_the_first_of_nameless_columns_may_be_an_identifier():
    """As in breast-cancer-wisconsin, whose numbers of samples have up to nine digits."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(8000, 900_000_000, 200), rng.normal(size=(200, 3))])
    assert "the first column" in as_table(X, np.arange(200) % 2).left_out["c1"]
    counts = rng.integers(8000, 900_000_000, (200, 4))
    assert as_table(counts, np.arange(200) % 2).left_out == {}
    assert as_table(X[:, ::-1], np.arange(200) % 2).left_out == {}


def test_a_lone_column_is_kept_though_it_counts():
    x = np.arange(60)
    table = as_table(x[:, None], np.sin(x / 9.0))
    assert list(table.frame.columns) == ["c1"]
    assert "nothing else is there to learn from" in table.notices[0]


def test_shipped_data_lose_nothing():
    for load in (load_iris, load_wine):
        X, y = load(return_X_y=True, as_frame=True)
        assert as_table(X, y).left_out == {}


def test_wide_whole_numbers_lose_nothing():
    """Expression of genes is counted: in 70 rows hardly any number repeats."""
    X = np.random.default_rng(0).lognormal(7, 1.2, size=(70, 3000)).round()
    assert as_table(X, np.arange(70) % 2).left_out == {}


def test_identifiers_that_repeat_are_kept_with_advice():
    table = table_of(patient_id=np.repeat(np.arange(20), 3))
    assert "patient_id" in table.frame
    assert "name it as `groups` (--groups)" in table.notices[0]


@pytest.mark.parametrize("kind", ["numbers", "gaps", "seconds", "dates"])
def test_columns_that_follow_the_rows_of_sorted_classes(kind):
    rng = np.random.default_rng(0)
    steps = {
        "numbers": np.arange(60),
        "gaps": np.cumsum(rng.integers(1, 500, 60)),
        "seconds": np.arange(60) * 0.25,
        "dates": pd.date_range("2020-01-01", periods=60, freq="3h"),
    }[kind]
    frame = pd.DataFrame({"honest": rng.normal(size=60), "step": steps})
    sorted_classes = np.repeat(["a", "b", "c"], 20)
    assert "while the target is sorted" in as_table(frame, sorted_classes).left_out["step"]
    kept = as_table(frame, rng.permutation(sorted_classes))
    assert ("step" in kept.left_out) == (kind == "numbers")


@pytest.mark.parametrize("step", [1, -1])
def test_dates_that_go_on_are_kept_with_advice(step):
    days = pd.date_range("2020-01-01", periods=60)[::step]
    table = table_of(day=days)
    assert list(table.frame.columns) == ["honest", "day"]
    (notice,) = table.notices
    assert "'day' go on from row to row; if new rows are later, name it as `time`" in notice
    frame = table.frame.assign(day=shuffled(days))
    assert as_table(frame, table.target).notices == ()
    timed = as_table(table.frame, table.target, time="day")
    assert list(timed.frame.columns) == ["honest"]
    assert timed.notices == ()


def test_sorted_rows_with_an_identifier_do_not_betray_the_classes():
    """Learned from, the identifier alone would bring a tree to an error below 0.5 %."""
    rng = np.random.default_rng(0)
    n = 2000
    y = np.repeat(["healthy", "ill"], n // 2)
    noise = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    noise["a"] += np.where(y == "ill", 0.5, 0.0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    for number in (np.arange(n), np.cumsum(rng.integers(1, 9, n)), 10_000 + np.arange(n) * 3):
        frame = noise.assign(number=number)
        assert 1 - cross_val_score(tree, frame, y, cv=folds).mean() < 0.005
        table = as_table(frame, y)
        assert "number" in table.left_out
        model = make_pipeline(vectorizer(table), tree)
        assert 1 - cross_val_score(model, table.frame, table.target, cv=folds).mean() > 0.2


def _codes(numbers):
    return [f"P{number:05d}" for number in numbers]


@pytest.mark.parametrize("spelled", [list, _codes], ids=["numbers", "codes"])
@pytest.mark.parametrize("order", ["as counted", "shuffled"])
@pytest.mark.parametrize("each", [2, 3, "one to three"])
def test_identifiers_with_a_few_rows_each_do_not_betray_the_classes(each, order, spelled):
    """A tree on the number alone is right in all but 0.5 %; what is left has honest errors."""
    rng = np.random.default_rng(0)
    n = 1200
    counts = rng.integers(1, 4, n) if each == "one to three" else np.full(n, each)
    number = np.repeat(np.arange(n), counts)[:n]
    frame = pd.DataFrame({"honest": rng.normal(size=n), "number": number})
    y = np.repeat(["healthy", "ill", "well"], n // 3)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    assert 1 - cross_val_score(tree, frame[["number"]], y, cv=folds).mean() < 0.005
    frame["number"] = spelled(frame["number"])
    place = rng.permutation(n) if order == "shuffled" else np.arange(n)
    table = as_table(frame.iloc[place].reset_index(drop=True), y[place])
    assert list(table.frame.columns) == ["honest"]
    assert "it counts on with the target" in table.left_out["number"]
    assert any("'number' left out: it counts on" in notice for notice in table.notices)


def test_numbers_that_count_on_with_a_sorted_number():
    y = np.sort(np.random.default_rng(0).normal(size=300))
    frame = pd.DataFrame({"honest": np.roll(y, 77), "pair": np.arange(300) // 2})
    assert list(as_table(frame, y).left_out) == ["pair"]
    assert as_table(frame, np.roll(y, 50)).left_out == {}


@pytest.mark.parametrize("kind", ["score", "uneven", "by chance", "measured", "words", "days"])
def test_what_goes_with_the_target_but_is_no_identifier(kind):
    rng = np.random.default_rng(0)
    n = 600
    y = np.repeat(["a", "b"], n // 2)
    column = {
        "score": np.sort(rng.normal(0, 100, n)).round(),  # whole, but its steps are not even
        "uneven": np.repeat(np.arange(n), rng.integers(1, 10, n))[:n],
        "by chance": rng.permutation(n) // 2,
        "measured": np.sort(rng.integers(0, 2 * n, n // 2).repeat(2) / 8),
        "words": np.sort([a + b for a in "abcdefghijklmnopqr" for b in "abcdefghijklmnopqr"])[:300],
        "days": np.arange(n) // 30,  # few values with many rows each
    }[kind]
    column = np.repeat(column, 2) if kind == "words" else column
    assert as_table(pd.DataFrame({"honest": rng.normal(size=n), "x": column}), y).left_out == {}


def test_a_name_tells_of_uneven_counters_too():
    rng = np.random.default_rng(0)
    number = np.repeat(np.arange(600), rng.integers(1, 10, 600))[:600]
    frame = pd.DataFrame({"honest": rng.normal(size=600), "patient_id": number})
    assert list(as_table(frame, np.repeat(["a", "b"], 300)).left_out) == ["patient_id"]
    assert as_table(frame, np.tile(["a", "b"], 300)).left_out == {}


# ---- copies of the target -------------------------------------------------------------------


def test_other_names_of_the_classes_are_left_out():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 60)
    frame = pd.DataFrame({"honest": rng.normal(size=60)})
    frame["number"] = pd.Series(y).map({"a": 3, "b": 1, "c": 2})
    frame["word"] = pd.Series(y).map({"a": "one", "b": "two", "c": "three"})
    frame["coarse"] = np.where(y == "a", 1, 2)
    frame["nearly"] = np.where(np.arange(60) == 7, 2 + (y == "c"), frame["number"])
    table = as_table(frame, y)
    assert list(table.frame.columns) == ["honest", "coarse", "nearly"]
    for name in ("number", "word"):
        assert "tells the target" in table.left_out[name]
        assert any(repr(name) in each and "tells the target" in each for each in table.notices)


def test_few_rows_do_not_accuse_a_column():
    """Among 2000 columns of zeros and ones, some equal the classes of 8 rows by chance."""
    X = np.random.default_rng(0).integers(0, 2, size=(8, 2000))
    table = as_table(X, [0, 1, 0, 1, 1, 0, 1, 0])
    assert not any("tells the target" in reason for reason in table.left_out.values())


def test_copies_of_numbers_are_left_out():
    rng = np.random.default_rng(0)
    y = rng.normal(20, 5, size=80)
    frame = pd.DataFrame({"honest": rng.normal(size=80), "copy": y, "fahrenheit": 32 + 1.8 * y})
    table = as_table(frame.assign(near=y + 1e-3 * rng.normal(size=80)), y)
    assert list(table.frame.columns) == ["honest", "near"]
    assert "tells the target" in table.left_out["copy"]
    assert "tells the target" in table.left_out["fahrenheit"]


def test_nothing_but_a_copy_is_refused():
    y = np.random.default_rng(0).choice(["a", "b"], 50)
    with pytest.raises(InputError, match="tells the target"):
        as_table(pd.DataFrame({"copy": y}), y)


def test_empty_columns_name_no_rows():
    frame = pd.DataFrame({"Unnamed: 0": range(40), "Unnamed: 2": [None] * 40, "id": ["k"] * 40})
    frame = frame.assign(a=np.arange(40) % 7, label=["x", "y"] * 20)
    table = as_table(frame, target="label")
    assert set(table.left_out) == {"Unnamed: 0", "Unnamed: 2", "id"}
    assert list(table.names) == ["Unnamed: 0"]
