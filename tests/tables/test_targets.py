"""Classes or numbers: what is decided, and that it is said."""

import numpy as np
import pandas as pd
import pytest

from mercer.tables import InputError, as_table, read_table

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 2))


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (rng.normal(size=600), "regression"),
        (rng.integers(0, 2, 600), "classification"),
        (rng.integers(0, 2, 600).astype(float), "classification"),
        (rng.integers(0, 10, 600), "classification"),
        (rng.integers(0, 300, 600), "regression"),
        (rng.integers(0, 25, 600), "classification"),  # letters: 25 of 600 are below 5 %
        (rng.integers(0, 40, 600), "regression"),
        (rng.integers(0, 5, 600) / 2, "classification"),
        (rng.integers(0, 15, 600) / 2, "regression"),
        (rng.integers(0, 2, 600) == 1, "classification"),
        (rng.choice(["x", "y"], 600), "classification"),
        ([f"{v:,.2f}" for v in rng.normal(5000, 900, 600)], "regression"),
    ],
)
def test_the_task_follows_from_the_target(y, task):
    assert as_table(X, y).task == task


def test_the_word_of_the_caller_decides():
    y = rng.integers(0, 3, 600)
    assert as_table(X, y, task="regression").target.tolist() == y.astype(float).tolist()
    numbers = rng.integers(0, 300, 600)
    table = as_table(X, numbers, task="classification")
    assert table.target.tolist() == [str(number) for number in numbers]


def test_many_classes_are_said():
    table = as_table(X, rng.integers(0, 25, 600))
    assert "25 different numbers, which are taken as classes" in table.notices[0]


def test_ages_in_many_rows_are_numbers():
    y = rng.integers(0, 120, 50_000)
    assert as_table(rng.normal(size=(50_000, 1)), y).task == "regression"


def test_numbers_of_classes_have_plain_names():
    assert as_table(X[:6], [1.0, 2.0, 1.0, 2.0, 1.0, 1.0]).class_counts() == {"1": 4, "2": 2}
    assert set(as_table(X[:4], [0.5, 1.5, 0.5, 1.5]).target) == {"0.5", "1.5"}
    assert set(as_table(X[:4], [True, False, True, False]).target) == {"True", "False"}
    assert set(as_table(X[:4], [-1, 1, -1, 1]).target) == {"-1", "1"}


def test_rows_without_a_target_are_left_out():
    y = [1.5, None, 2.5, np.nan, 3.5, 4.25]
    table = as_table(X[:6], y, task="regression")
    assert table.target.tolist() == [1.5, 2.5, 3.5, 4.25]
    np.testing.assert_array_equal(table.frame, X[[0, 2, 4, 5]])
    assert "2 rows without a target left out." in table.notices


def test_words_among_numbers_of_the_target(tmp_path):
    path = tmp_path / "prices.csv"
    cells = [f'"{1000 + 37 * k:,}"' for k in range(30)] + ["unknown", "-", "inf"]
    w = rng.normal(size=33)
    path.write_text("w,price\n" + "".join(f"{a:.3f},{b}\n" for a, b in zip(w, cells)))
    table = read_table(path, "price")
    assert table.task == "regression"
    assert table.target.tolist() == [1000.0 + 37 * k for k in range(30)]
    assert any("'unknown', '-'" in notice for notice in table.notices)
    assert any("'1,000'" in notice for notice in table.notices)
    assert "3 rows without a target left out." in table.notices


def test_decimal_commas_hold_for_the_target_too(tmp_path):
    """Thousands and thousandths look alike; the rest of the file tells them apart."""
    path = tmp_path / "prices.csv"
    w = rng.normal(size=30).round(2)
    y = np.linspace(1.125, 9.375, 30).round(3)
    lines = [f"{a};{b:.3f}\n".replace(".", ",") for a, b in zip(w, y)]
    path.write_text("w;price\n" + "".join(lines))
    table = read_table(path, "price")
    np.testing.assert_allclose(table.target, y)
    np.testing.assert_allclose(table.frame["w"], w)


def test_positive_groups_and_time():
    frame = pd.DataFrame(X[:40], columns=["u", "v"])
    frame["who"] = np.repeat(np.arange(10), 4)
    frame["when"] = pd.date_range("2020-01-01", periods=40)[::-1]
    y = rng.integers(0, 2, 40)
    table = as_table(frame, y, positive=1, groups="who", time="when")
    assert table.positive == "1"
    assert list(table.frame.columns) == ["u", "v"]
    assert table.groups.tolist() == [str(k) for k in frame["who"]]
    assert table.time.tolist() == frame["when"].tolist()
    assert "belong together" in table.left_out["who"]
    assert "orders the rows" in table.left_out["when"]
    beside = as_table(frame[["u", "v"]], y, groups=frame["who"].to_numpy(), time=np.arange(40))
    assert beside.groups.tolist() == table.groups.tolist()
    assert beside.time.tolist() == list(range(40))
    assert beside.left_out == {}


def test_rows_without_a_group_are_left_out():
    frame = pd.DataFrame({"u": X[:6, 0], "who": ["a", "a", None, "b", "b", "b"]})
    table = as_table(frame, [0, 1, 0, 1, 0, 1], groups="who")
    assert table.groups.tolist() == ["a", "a", "b", "b", "b"]
    assert table.target.tolist() == ["0", "1", "1", "0", "1"]
    assert "1 row without a group or a time left out." in table.notices


def test_options_that_name_columns_ask_back():
    frame = pd.DataFrame(X[:20], columns=["length", "width"])
    y = rng.integers(0, 2, 20)
    for option in ("drop", "categorical", "groups", "time"):
        with pytest.raises(InputError, match="did you mean 'width'"):
            as_table(frame, y, **{option: "widht"})
    with pytest.raises(InputError, match="did you mean 'length'"):
        as_table(frame, target="lenght")
    with pytest.raises(InputError, match="did you mean 'malign'"):
        as_table(frame, np.where(y, "malign", "benign"), positive="maling")


def test_drop_and_categorical():
    frame = pd.DataFrame({"u": X[:40, 0], "v": X[:40, 1], "zip": rng.integers(0, 4, 40)})
    table = as_table(frame, rng.integers(0, 2, 40), drop=["v"], categorical=["zip"])
    assert table.left_out == {"v": "asked for"}
    assert set(table.frame["zip"]) == {"0", "1", "2", "3"}
    assert table.frame["u"].dtype == np.float64


def test_targets_beyond_the_range_of_numbers():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InputError, match="numbers beyond ±1e100 only; divide them by a constant"):
        as_table(X, 1e300 * np.arange(1, 21), task="regression")
    y = np.r_[np.arange(18.0), -1e308, np.inf]
    assert len(as_table(X, y, task="regression").target) == 18
