"""More than 200 odd or damaged inputs: a sound table or one sentence, never anything else."""

import os
import tracemalloc

import numpy as np
import odd_contents
import odd_inputs
import odd_limits
import pandas as pd
import pytest
from scipy import sparse
from soundness import check_matrix, check_sentence, check_table

from mercer.tables import InputError, as_table, read_table

CASES = [
    *odd_inputs.spellings(),
    *odd_inputs.other_kinds(),
    *odd_inputs.damaged(),
    *odd_contents.cases(),
    *odd_limits.cases(),
]


def read(path, options):
    """Return the table, or the sentence with which it is refused; let anything else through."""
    try:
        return read_table(path, **options), None
    except InputError as refusal:
        return None, refusal


def test_there_are_enough():
    assert len({case.name for case in CASES}) == len(CASES) > 300


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_sound_table_or_one_sentence(case, tmp_path):
    path = case.write(tmp_path)
    before = path.read_bytes()
    table, refusal = read(path, case.options)
    if refusal is not None:
        check_sentence(refusal)
        assert case.outcome is None or isinstance(case.outcome, str), str(refusal)
        assert case.outcome is None or case.outcome in str(refusal)
    else:
        assert not isinstance(case.outcome, str), table.notices
        check_table(table)
        if table.frame.shape[1] < 100:
            check_matrix(table)
        if case.outcome is not None:
            case.outcome(table)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_damage_by_chance_has_both_ends(tmp_path):
    """Neither all is refused nor all is read, or chance would test nothing."""
    chance = [case for case in odd_inputs.damaged() if case.outcome is None]
    tables = [read(case.write(tmp_path), case.options)[0] for case in chance]
    assert 0.2 < sum(table is not None for table in tables) / len(chance) < 0.8


def test_a_long_line_takes_little_memory(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(odd_limits.long_line())
    tracemalloc.start()
    with pytest.raises(InputError, match="16 MiB"):
        read_table(path, "label")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 << 20


def refused(part, *arguments, **options):
    with pytest.raises(InputError) as caught:
        read_table(*arguments, **options)
    check_sentence(caught.value)
    assert part in str(caught.value)
    return True


def test_places_that_are_no_files(tmp_path):
    assert refused("is a folder", tmp_path, "y")
    assert refused("There is no file", tmp_path / "nowhere.csv", "y")
    assert refused("not an ordinary file", "/dev/null", "y")
    os.mkfifo(tmp_path / "pipe.csv")
    assert refused("not an ordinary file", tmp_path / "pipe.csv", "y")
    assert refused("There is no file", tmp_path / ("x" * 200 + ".csv"), "y")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    assert refused("loop.csv", tmp_path / "loop.csv", "y")
    assert refused("There is no file", "a\0b.csv", "y")
    assert refused("cannot be read", tmp_path / ("x" * 3000 + ".csv"), "y")


def test_forbidden_files(tmp_path, monkeypatch):
    def forbid(path, *mode):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "secret.csv"
    path.write_text("a,y\n1,2\n")
    monkeypatch.setattr(type(path), "open", forbid)  # root may read whatever chmod says
    assert refused("permission denied", path, "y")


X = np.random.default_rng(0).normal(size=(20, 3))
y = np.array(["a", "b"] * 10)
ODD_DATA = {
    "no target": (X, None, {}, "either `y`"),
    "two targets": (X, y, {"target": "c1"}, "either `y`"),
    "another length": (X, y[:-1], {}, "19 values for 20 rows"),
    "one dimension": (X[:, 0], y, {}, "1 dimension"),
    "three dimensions": (X[:, :, None], y, {}, "3 dimensions"),
    "a scalar": (3.0, y, {}, "dimension"),
    "ragged lists": ([[1, 2], [3]], [0, 1], {}, "same length"),
    "no rows": (X[:0], y[:0], {}, "no rows"),
    "no columns": (X[:, :0], y, {}, "no columns"),
    "one row": (X[:1], y[:1], {}, "only one row"),
    "one class": (X, ["a"] * 20, {}, "two classes"),
    "one number": (X, np.ones(20), {"task": "regression"}, "in every row"),
    "no known target": (X, [None] * 20, {}, "nothing to predict"),
    "a matrix as target": (X, X, {}, "one value for each row"),
    "a name as target": (X, "outcome", {}, "named by target="),
    "complex numbers": (X.astype(complex), y, {}, "complex"),
    "complex target": (X, X[:, 0].astype(complex), {}, "no target"),
    "dates as target": (X, pd.date_range("2020", periods=20), {}, "dates"),
    "all missing": (np.full((20, 3), np.nan), y, {}, "left to learn from"),
    "groups of another length": (X, y, {"groups": [1, 2]}, "2 values for 20 rows"),
    "time of words": (X, y, {"time": ["x"] * 20}, "neither dates nor numbers"),
    "positive for numbers": (X, X[:, 0] + X[:, 1], {"positive": 1}, "holds numbers"),
    "positive of three": (X, ["a", "b", "c", "a"] * 5, {"positive": "a"}, "two classes"),
    "drop of everything": (X, y, {"drop": ["c1", "c2", "c3"]}, "left to learn from"),
    "a number for drop": (X, y, {"drop": 3.5}, "names of columns"),
    "a wide sparse matrix": (
        sparse.csr_matrix((20, 50_000_000)),
        y,
        {},
        "more than 100,000,000 cells",
    ),
    "nothing": (None, y, {}, "dimension"),
    "a word": ("people.csv", y, {}, "dimension"),
}


@pytest.mark.parametrize("name", ODD_DATA)
def test_odd_data_in_memory(name):
    data, labels, options, part = ODD_DATA[name]
    with pytest.raises(InputError) as caught:
        as_table(data, labels, **options)
    check_sentence(caught.value)
    assert part in str(caught.value)
