"""Models that know their table, new rows with what stands beside them, tables without a target."""

import numpy as np
import pandas as pd
import pytest
from odd_inputs import people

pytest.importorskip("skrub")

from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

import mercer
from mercer.tables import (
    InputError,
    TableModel,
    as_unlabelled,
    read_new_rows,
    read_table,
    read_unlabelled,
    vectorizer,
)


@pytest.fixture
def old(tmp_path):
    frame = people().assign(day=pd.date_range("2020-03-01", periods=40)[::-1], grade=[1, 2] * 20)
    frame.insert(0, "person_id", [f"n{k}" for k in range(40)])
    frame.to_csv(tmp_path / "old.csv", index=False)
    return read_table(tmp_path / "old.csv", "label", categorical=["grade"])


@pytest.fixture
def model(old):
    tree = make_pipeline(vectorizer(old), DecisionTreeClassifier(random_state=0))
    return TableModel.of(tree.fit(old.frame, old.target), old, {"title": "a tree"})


def test_it_is_a_fitted_model_of_the_kind_inside(model, old):
    check_is_fitted(model)
    assert is_classifier(model)
    assert model.classes_.tolist() == sorted(set(old.target))
    assert model.feature_names_in_.tolist() == list(old.frame)
    assert model.score(old.frame, old.target) == 1.0
    assert not hasattr(model, "decision_function")
    assert repr(model) == "TableModel: a tree for 'label' (classification)"
    again = model.fit(old.frame, old.target[::-1])
    assert again.score(old.frame, old.target[::-1]) > 0.9


def test_what_it_keeps_reads_the_old_rows_again_after_a_round_trip(model, old, tmp_path):
    pytest.importorskip("skops")
    mercer.save(model, tmp_path / "m.mercer")
    model = mercer.load(tmp_path / "m.mercer")
    assert [kind.kind for kind in model.like().dtypes] == [kind.kind for kind in old.frame.dtypes]
    rows = read_new_rows(tmp_path / "old.csv", model.like(), model.beside())
    assert rows.frame.isna().equals(old.frame.isna())
    assert (model.predict(rows.frame) == old.target).all()
    assert rows.beside["label"].tolist() == old.target.tolist()
    assert rows.beside["person_id"].tolist() == [f"n{k}" for k in range(40)]
    assert rows.others == []
    assert model.new_words(rows.frame) == {}
    assert model.far_numbers(rows.frame) == {}


def test_what_is_new(model, old):
    frame = old.frame[:3].copy()
    frame["age"] = [1e6, -1e6, frame["age"].median()]
    frame["town"] = ["Atlantis", None, frame["town"].dropna().iloc[0]]
    assert model.new_words(frame) == {"town": ["Atlantis"]}
    assert model.far_numbers(frame) == {"age": [1e6, -1e6]}


def test_dates_that_all_lie_beyond_those_at_fitting(model, old):
    frame = old.frame[:3].copy()
    assert model.foreign_dates(frame) == {}
    first, last = pd.Timestamp("2020-03-01"), pd.Timestamp("2020-04-09")
    for days in (["2020-04-10", None, "2021-01-01"], ["2019-04-10", "2020-02-29", "0001-02-03"]):
        frame["day"] = np.array(days, dtype="datetime64[us]")
        assert model.foreign_dates(frame) == {"day": [first, last]}
    frame["day"] = pd.to_datetime(["2020-04-09", "2020-05-01", "2020-05-02"])
    assert model.foreign_dates(frame) == {}
    frame["day"] = pd.NaT
    assert model.foreign_dates(frame) == {}
    assert model.far_numbers(frame) == {}


def test_numbers_among_dates_and_words_among_numbers_are_told(old, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("grade,town,day,höhe,age\n1,Oslo,never,tall,30\n2,Bergen,2021-04-06,?,31\n")
    found = read_new_rows(path, old.frame, old.target.to_frame())
    assert found.notices == [
        "In column 'höhe', 'tall' is no number and is taken as missing.",
        "In column 'day', 'never' is no date and is taken as missing.",
    ]
    assert found.beside.shape == (2, 0)


def test_svmlight_rows_keep_their_target(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:0.5 2:1\n-1 1:0.25 2:3\n")
    like = pd.DataFrame({"c1": [0.0], "c2": [0.0]})
    found = read_new_rows(tmp_path / "a.svm", like, pd.DataFrame({"target": [0.0]}))
    assert found.frame["c1"].tolist() == [0.5, 0.25]
    assert found.beside["target"].tolist() == [1.0, -1.0]


def test_a_table_without_a_target(tmp_path):
    frame = people().drop(columns="label").assign(same=1, grade=[1, 2] * 20)
    frame.to_csv(tmp_path / "a.csv", index=False)
    table = read_unlabelled(tmp_path / "a.csv", categorical=["grade"], drop=["town"])
    assert table.task == "description"
    assert table.class_counts() == {}
    assert table.target.isna().all()
    assert len(table.frame) == 40
    assert {"town", "same"} <= set(table.left_out)
    assert isinstance(table.frame["grade"].dtype, pd.CategoricalDtype)
    assert np.isfinite(vectorizer(table).fit_transform(table.frame)).all()
    (tmp_path / "b.csv").write_text("x,y\n1,a\n1,a\n")
    with pytest.raises(InputError, match="differs between rows"):
        read_unlabelled(tmp_path / "b.csv")
    with pytest.raises(InputError, match="no column 'z' for drop"):
        read_unlabelled(tmp_path / "a.csv", drop=["z"])


rng = np.random.default_rng(3)
DAYS = pd.date_range("2024-03-01", periods=30, freq="h")
SECONDS = 1_709_251_200 + 3600 * np.arange(30)
MOMENTS = {
    "timestamp": DAYS,
    "shuffled dates": rng.permutation(DAYS),
    "days with gaps": [None, *DAYS[:28], None],
    "written": DAYS.strftime("%d.%m.%Y %H:%M"),
    "t": SECONDS,
    "newest first": 1000 * SECONDS[::-1],
    "with repeats": np.repeat(SECONDS[:15], 2),
    "elapsed_s": 0.5 * np.arange(30),
    "Time": np.delete(0.5 * np.arange(32), [7, 20]),
    "am and pm": DAYS.strftime("%m/%d/%Y %I:%M %p"),
    "months in words": DAYS.strftime("%d %b %Y %H:%M"),
    "as in letters": DAYS.strftime("%a, %d %b %Y %H:%M:%S +0000"),
    "digits": DAYS.strftime("%Y%m%d%H%M").astype(float),
    "shuffled seconds": rng.permutation(SECONDS),
    "of a spreadsheet": (45352 + np.arange(30) / 24).round(5),
    "steps": np.arange(30) * 0.5,
    "day": 1.0 + np.arange(30) // 3,
}


@pytest.mark.parametrize("name", MOMENTS)
def test_what_tells_when_rows_were_names_them(name, tmp_path):
    frame = pd.DataFrame({name: MOMENTS[name], "speed": rng.normal(size=30)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    table = read_unlabelled(tmp_path / "a.csv")
    assert list(table.frame) == ["speed"]
    assert list(table.names) == [name]
    said = "when a row was is not what it is like; `dates` (--dates) takes such columns in"
    assert table.left_out == {name: said}
    assert f"Column {name!r} left out: {said}." in table.notices
    assert TableModel.of(None, table).names == [name]
    kept = read_unlabelled(tmp_path / "a.csv", dates=True)
    assert list(kept.frame) == [name, "speed"]
    assert "dates=True" in kept.source


NO_MOMENTS = {
    "reaction time": rng.normal(size=30),
    "sorted": np.sort(rng.normal(size=30)),
    "time of sorted rows": np.sort(rng.normal(size=30)),
    "large": rng.integers(1_000_000_000, 2_000_000_000, 30).repeat(1),
    "sum": 1.5e9 + np.cumsum(rng.exponential(size=30)),
    "few": np.arange(10) * 0.5,
    "levels": np.repeat(np.arange(5), 6),
    "amounts": rng.integers(10_000_000, 99_999_999, 30),
}


@pytest.mark.parametrize("name", NO_MOMENTS)
def test_what_does_not_tell_when_rows_were(name, tmp_path):
    from mercer.tables._left_out import moments

    assert moments(pd.DataFrame({name: np.asarray(NO_MOMENTS[name], dtype=float)})) == {}


def test_a_table_of_dates_only_is_described_by_them(tmp_path):
    pd.DataFrame({"id": range(30), "day": DAYS}).to_csv(tmp_path / "a.csv", index=False)
    table = read_unlabelled(tmp_path / "a.csv")
    assert list(table.frame) == ["id", "day"]
    assert any("nothing else is there to describe" in one for one in table.notices)


def test_categories_that_are_asked_for_are_no_dates(tmp_path):
    frame = pd.DataFrame({"day": np.repeat(DAYS[:3], 10), "speed": rng.normal(size=30)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert list(read_unlabelled(tmp_path / "a.csv", categorical=["day"]).frame) == ["day", "speed"]


def test_a_frame_without_a_target_is_as_its_file(tmp_path):
    frame = people().drop(columns="label").assign(day=pd.date_range("2024-01-01", periods=40))
    frame.to_csv(tmp_path / "a.csv", index=False)
    read, given = read_unlabelled(tmp_path / "a.csv"), as_unlabelled(frame, name="a")
    pd.testing.assert_frame_equal(read.frame, given.frame)
    assert (given.name, given.task, given.left_out) == (read.name, read.task, read.left_out)
    assert given.names["day"].tolist() == frame["day"].tolist()
    assert list(as_unlabelled(frame, dates=True, drop=["town"]).frame) == [
        name for name in frame if name != "town"
    ]
    with pytest.raises(InputError, match="no rows"):
        as_unlabelled(frame[:0])
