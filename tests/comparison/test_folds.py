"""Folds: all rows once, classes in their shares, groups together, only the past."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, TimeSeriesSplit

from mercer.comparison.folds import inner_folds, judgeable, make_folds
from mercer.tables import InputError, as_table


def table(n=60, **options):
    X = np.random.default_rng(0).normal(size=(n, 2))
    y = np.array(["a", "b", "b"] * (n // 3))
    return as_table(X, y, **options)


def each_row_once(folds, n):
    tested = np.concatenate([fold.test for fold in folds])
    return sorted(tested) == list(range(n)) and not any(
        set(fold.train) & set(fold.test) for fold in folds
    )


def test_classes_have_their_shares_and_repeats_differ():
    data = table()
    folds = make_folds(data, 4, 2, seed=3)
    assert [(fold.repeat, fold.fold) for fold in folds] == [
        (r, k) for r in (0, 1) for k in range(4)
    ]
    assert each_row_once(folds[:4], 60)
    assert each_row_once(folds[4:], 60)
    y = data.target.to_numpy()
    assert all((y[fold.test] == "a").sum() == 5 for fold in folds)
    assert any(set(a.test) != set(b.test) for a, b in zip(folds[:4], folds[4:]))
    cut = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3)
    for fold, (train, test) in zip(folds, cut.split(data.frame, y)):
        np.testing.assert_array_equal(fold.train, train)
        np.testing.assert_array_equal(fold.test, test)


def test_numbers_are_shuffled(numbers):
    folds = make_folds(numbers, 4, 1, seed=3)
    assert each_row_once(folds, 80)
    cut = RepeatedKFold(n_splits=4, n_repeats=1, random_state=3)
    for fold, (train, _) in zip(folds, cut.split(numbers.frame)):
        np.testing.assert_array_equal(fold.train, train)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_no_group_is_on_both_sides(task):
    groups = np.repeat(np.arange(15), 4)
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] if task == "regression" else np.array(["a", "b", "b"] * 20)
    data = as_table(X, y, groups=groups)
    folds = make_folds(data, 3, 2, seed=0)
    assert len(folds) == 6
    assert each_row_once(folds[:3], 60)
    for fold in folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])
    assert any(set(a.test) != set(b.test) for a, b in zip(folds[:3], folds[3:]))


def test_times_that_differ_are_cut_as_by_scikit_learn():
    rng = np.random.default_rng(0)
    time = rng.permutation(61)[:60]
    folds = make_folds(table(time=time), 4, 3, seed=0)  # nothing to repeat
    order = np.argsort(time)
    for fold, (train, test) in zip(folds, TimeSeriesSplit(4).split(order), strict=True):
        np.testing.assert_array_equal(fold.train, order[train])
        np.testing.assert_array_equal(fold.test, order[test])


def test_rows_of_one_time_are_on_one_side():
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.repeat(np.arange(12), 5), unit="D")
    data = table(time=days)
    folds = make_folds(data, 4, 1, seed=0)
    time = data.time.to_numpy()
    for fold in folds:
        assert time[fold.train].max() < time[fold.test].min()
    tested = np.concatenate([fold.test for fold in folds])
    assert len(set(tested)) == len(tested)


@pytest.mark.parametrize(
    ("options", "folds", "words"),
    [
        ({"n": 9}, 5, "5 folds need at least 10 rows; the table has 9"),
        ({"groups": np.repeat(["u", "v"], 30)}, 3, "3 folds need at least 3 groups; there are 2"),
        (
            {"groups": np.array(["u", "v", "w"] * 20)},
            3,
            "folds by group, fold 3 has only one class",
        ),
        ({"time": np.repeat([1, 2], 30)}, 3, "Too many rows have the same time for 3 folds"),
    ],
)
def test_what_cannot_be_cut(options, folds, words):
    with pytest.raises(InputError, match=words) as refused:
        make_folds(table(**options), folds, 1, seed=0)
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)


def test_a_past_of_one_class_teaches_nothing():
    X = np.random.default_rng(0).normal(size=(60, 2))
    data = as_table(X, np.repeat(["a", "b"], 30), time=np.arange(60))
    with pytest.raises(InputError, match="fold 1 has only one class to learn from"):
        make_folds(data, 5, 1, seed=0)


def test_a_seed_decides():
    first, again, other = (make_folds(table(), 3, 1, seed) for seed in (0, 0, 1))
    assert all(np.array_equal(a.test, b.test) for a, b in zip(first, again))
    assert any(not np.array_equal(a.test, b.test) for a, b in zip(first, other))


# ---- classes that are too small --------------------------------------------------------------


def test_classes_too_small_to_judge_are_left_out_and_said():
    X = np.random.default_rng(0).normal(size=(46, 1))
    y = np.array([*"ab" * 20, "c", "d", "d", *"eee"])
    groups = np.arange(46) // 2
    data = as_table(np.c_[X, X**2], y, groups=groups)
    kept, folds, said = judgeable(data, 5)
    assert said == (
        "3 rows are left out: of classes 'c', 'd' there are too few to learn them and to judge "
        "them."
    )
    assert folds == 5
    assert kept.class_counts() == {"a": 20, "b": 20, "e": 3}
    assert kept.frame.index.tolist() == kept.target.index.tolist() == list(range(43))
    assert kept.groups.tolist() == [str(one) for one in [*groups[:40], *groups[43:]]]
    assert kept.frame.iloc[40, 0] == X[43, 0]
    plain = as_table(np.c_[X, X**2], y)
    folds = make_folds(judgeable(plain, 5)[0], 5, 1, seed=0)  # no more than a row of e in each
    assert [(kept.target.to_numpy()[fold.test] == "e").sum() for fold in folds].count(1) == 3


def test_what_can_be_judged_stays():
    data = table()
    assert judgeable(data, 4) == (data, 4, "")
    pairs = as_table(np.arange(24.0).reshape(12, 2), [*"abcdef" * 2], task="classification")
    assert judgeable(pairs, 2) == (pairs, 2, "")
    kept, folds, said = judgeable(as_table(np.eye(12), [*"abcd" * 3]), 5)
    assert (folds, said) == (3, "There are 3 folds: the largest class has 3 rows.")
    assert len(make_folds(kept, folds, 1, seed=0)) == 3


def test_too_many_folds_for_the_smaller_class_are_no_obstacle():
    folds = make_folds(table(30), 11, 1, seed=0)
    assert each_row_once(folds, 30)


# ---- folds inside -------------------------------------------------------------------------------


def test_folds_inside_keep_groups_together():
    rng = np.random.default_rng(0)
    y, groups = np.array([*"ab" * 30]), rng.permutation(np.repeat(np.arange(12), 5))
    for labels in (y, None):
        folds = inner_folds(60, labels, groups, None, 4, seed=0)
        assert len(folds) == 4
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(60))
        for train, test in folds:
            assert not set(groups[train]) & set(groups[test])
    assert len(inner_folds(60, y, groups % 2, None, 4, seed=0)) == 2  # no more than groups
    assert inner_folds(60, y, groups * 0, None, 4, seed=0) == []


def test_folds_inside_learn_from_the_past():
    times = np.random.default_rng(0).permutation(np.repeat(np.arange(20), 3))
    y = np.where(times < 5, "a", "b")  # of which the first part has one class only
    folds = inner_folds(60, None, None, times, 4, seed=0)
    assert len(folds) == 4
    for train, test in folds:
        assert times[train].max() < times[test].min()
    with_classes = inner_folds(60, y, None, times, 4, seed=0)
    assert 0 < len(with_classes) < 4
    assert all(set(y[train]) == {"a", "b"} for train, _ in with_classes)
    assert inner_folds(60, y, None, np.zeros(60), 4, seed=0) == []
