"""Rows in batches make the machine that they make together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification

from mercer import NystroemSVC, NystroemSVR
from mercer.kernels import RBF
from mercer.lowrank import ArrowBatches, _machine, planning
from mercer.lowrank.batches import survey

X, y = make_classification(1500, 6, n_informative=4, flip_y=0.1, n_classes=3, random_state=0)
X = X / X.std(axis=0)
TARGET = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 3.0
WEIGHTS = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
WORDS = np.array(["wait", "go", "stop"])[y]
KNOWN = {"landmarks": X[:40], "gamma": 0.1, "tol": 1e-6, "random_state": 0}


class InBatches:
    """Rows of some arrays, a few at a time."""

    def __init__(self, *arrays: Any, size: int = 170) -> None:
        self.arrays, self.size, self.passes = arrays, size, 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        for start in range(0, self.arrays[0].shape[0], self.size):
            yield tuple(array[start : start + self.size] for array in self.arrays)


@pytest.fixture(name="in_passes", params=["held", "computed"])
def rows_are_held_or_computed(request: Any, monkeypatch: Any) -> None:
    if request.param == "computed":
        monkeypatch.setattr(_machine, "HELD_BYTES", 0)
        monkeypatch.setattr(planning, "ROWS_OF_SAMPLE", 300)


@pytest.mark.usefixtures("in_passes")
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_batches_make_the_same_classifier(class_weight: Any) -> None:
    whole = NystroemSVC(class_weight=class_weight, **KNOWN).fit(X, WORDS, WEIGHTS)
    parts = NystroemSVC(class_weight=class_weight, **KNOWN)
    parts.fit_batches(InBatches(X, WORDS, WEIGHTS))
    assert parts.classes_.tolist() == ["go", "stop", "wait"]
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(parts.objective_, whole.objective_, rtol=1e-7)


@pytest.mark.usefixtures("in_passes")
def test_batches_make_the_same_regression() -> None:
    few, target = X[:400], TARGET[:400]
    whole = NystroemSVR(**KNOWN).fit(few, target)
    parts = NystroemSVR(**KNOWN).fit_batches(InBatches(few, target, size=1))
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-4)
    np.testing.assert_allclose(parts.objective_, whole.objective_, rtol=1e-7)


def test_sparse_batches() -> None:
    points = sp.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    whole = NystroemSVC(**KNOWN).fit(points, y)
    parts = NystroemSVC(**KNOWN).fit_batches(InBatches(points, y))
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-4)


def test_the_order_of_rows_does_not_matter_to_the_survey() -> None:
    """Every row is as likely as any other to be in the sample."""
    rows = np.arange(4000.0)[:, None]
    means = []
    for seed in range(30):
        batches = ((rows[start : start + 130], rows[start : start + 130, 0], None)
                   for start in range(0, 4000, 130))  # fmt: skip
        seen = survey(batches, 200, np.random.RandomState(seed), counts=False)
        assert seen.n_rows == 4000
        assert len(set(seen.y.tolist())) == 200
        np.testing.assert_array_equal(seen.X[:, 0], seen.y)
        means.append(seen.y.mean())
    assert abs(np.mean(means) - 2000) < 4 * 4000 / np.sqrt(12 * 200 * 30)


def test_a_width_learned_from_the_sample_is_near_that_of_all_rows() -> None:
    model = NystroemSVC(rank=20, random_state=0).fit_batches(InBatches(X, y))
    assert model.kernel_.gamma == pytest.approx(RBF("scale").resolve(X).gamma, rel=1e-9)


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
def test_files(kind: str, tmp_path: Any) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(X, columns=list("abcdef")).assign(kind=WORDS, weight=WEIGHTS)
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    else:
        getattr(frame, f"to_{kind}")(path)
    batches = ArrowBatches(path, "kind", sample_weight="weight", n_rows=200)
    assert batches.columns == list("abcdef")
    parts = NystroemSVC(**KNOWN).fit_batches(batches)
    whole = NystroemSVC(**KNOWN).fit(X, WORDS, WEIGHTS)
    values = parts.decision_function(frame[list("abcdef")])
    np.testing.assert_allclose(values, whole.decision_function(X), atol=1e-4)
    with pytest.raises(ValueError, match="has no column 'colour'; it has"):
        ArrowBatches(path, "colour")


def test_folders_of_files_and_some_of_the_columns(tmp_path: Any) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(X, columns=list("abcdef")).assign(goal=TARGET)
    for part in range(3):
        frame.iloc[part * 500 : (part + 1) * 500].to_parquet(tmp_path / f"{part}.parquet")
    batches = ArrowBatches(tmp_path, "goal", columns=["c", "a"])
    points = X[:, [2, 0]]
    settings = {"landmarks": points[:30], "gamma": 0.1, "tol": 1e-6}
    parts = NystroemSVR(**settings).fit_batches(batches)
    whole = NystroemSVR(**settings).fit(points, TARGET)
    values = parts.predict(frame[["c", "a"]])
    np.testing.assert_allclose(values, whole.predict(points), atol=1e-4)


def test_what_comes_once_is_refused() -> None:
    with pytest.raises(TypeError, match="gone through several times"):
        NystroemSVC().fit_batches((X, y) for _ in range(2))
    with pytest.raises(TypeError, match="gone through several times"):
        NystroemSVR().fit_batches(3)
    with pytest.raises(TypeError, match="Each batch must be a pair"):
        NystroemSVC().fit_batches([X])
    with pytest.raises(ValueError, match="hold no rows with weight"):
        NystroemSVC().fit_batches([(X, y, np.zeros(len(y)))])
    with pytest.raises(ValueError, match="hold no rows"):
        NystroemSVR().fit_batches([])
    with pytest.raises(ValueError, match="is expecting 6 features"):
        NystroemSVC().fit_batches([(X, y), (X[:, :4], y)])
    with pytest.raises(ValueError, match="at least two classes"):
        NystroemSVC().fit_batches([(X, np.zeros(len(y)))])


def test_dates_are_refused() -> None:
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=len(y))})
    with pytest.raises(ValueError, match="'day' of X holds dates"):
        NystroemSVC().fit_batches([(days, y)])
    with pytest.raises(ValueError, match="y holds dates"):
        NystroemSVR().fit_batches([(X, days["day"])])


def test_batches_without_rows_or_weight_change_nothing() -> None:
    odd = [(X[:0], y[:0]), (X, y), (X[:5], np.full(5, 7), np.zeros(5))]
    found = NystroemSVC(**KNOWN).fit_batches(odd)
    whole = NystroemSVC(**KNOWN).fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), whole.decision_function(X), atol=1e-4)


class Fewer:
    """Batches of which less is there each time."""

    def __init__(self) -> None:
        self.passes = 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        yield from [(X, y), (X[:9], y[:9])][: 3 - self.passes]


@pytest.mark.parametrize("held", [1 << 28, 0])
def test_batches_that_change_are_refused(held: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(_machine, "HELD_BYTES", held)
    with pytest.raises(ValueError, match=r"held 1,509 rows .* at first, and 1,500 when"):
        NystroemSVC(rank=5).fit_batches(Fewer())


def test_labels_of_several_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="Some labels of the batches are text and some are not"):
        NystroemSVC().fit_batches([(X, y), (X, WORDS)])
    with pytest.raises(ValueError, match=r"labels of several kinds \(NoneType, str"):
        NystroemSVC().fit_batches([(X, np.array([None, *WORDS[1:]], dtype=object))])


def test_sparse_batches_beside_others() -> None:
    mixed = [(X[:700], y[:700]), (sp.csr_array(X[700:]), y[700:])]
    found = NystroemSVC(**KNOWN).fit_batches(mixed)
    whole = NystroemSVC(**KNOWN).fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), whole.decision_function(X), atol=1e-4)


FRAME = pd.DataFrame(X, columns=list("abcdef")).assign(
    kind=WORDS,
    day=pd.date_range("2020-01-01", periods=len(y)),
    gaps=np.where(X[:, 0] > 2, np.nan, 1.0),
    words_with_gaps=np.where(X[:, 0] > 2, None, WORDS),
    flag=y > 0,
)
REFUSED: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "'kind' of .* holds no numbers": ({"target": "flag", "columns": ["a", "kind"]}, ValueError),
    "'day' of .* holds no numbers": ({"target": "kind"}, ValueError),
    "'kind' of .* no numbers": (
        {"target": "flag", "columns": ["a"], "sample_weight": "kind"},
        ValueError,
    ),
    "'gaps' of .* has missing": ({"target": "kind", "columns": ["a", "gaps"]}, ValueError),
    "'words_with_gaps' of .* has": ({"target": "words_with_gaps", "columns": ["a"]}, ValueError),
    "'a' of .* is named twice": ({"target": "kind", "columns": ["a", "a"]}, ValueError),
    "'flag' of .* is named twice": ({"target": "flag", "columns": ["a", "flag"]}, ValueError),
    "must be a list of names": ({"target": "kind", "columns": "abc"}, TypeError),
    "n_rows must be at least 1": ({"target": "kind", "columns": ["a"], "n_rows": 0}, ValueError),
}


@pytest.mark.parametrize("words", REFUSED)
def test_files_that_cannot_be_learned_from(words: str, tmp_path: Any) -> None:
    pytest.importorskip("pyarrow")
    FRAME.to_parquet(tmp_path / "rows.parquet")
    how, kind = REFUSED[words]
    with pytest.raises(kind, match=words) as error:
        NystroemSVC().fit_batches(ArrowBatches(tmp_path / "rows.parquet", **how))
    assert "\n" not in str(error.value)


def test_names_of_columns_are_kept(tmp_path: Any) -> None:
    pytest.importorskip("pyarrow")
    FRAME.to_parquet(tmp_path / "rows.parquet")
    batches = ArrowBatches(tmp_path / "rows.parquet", "kind", columns=["b", "flag", "a"])
    model = NystroemSVC(rank=5, random_state=0).fit_batches(batches)
    assert model.feature_names_in_.tolist() == ["b", "flag", "a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(FRAME[["b", "flag", "a"]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(FRAME[["a", "b", "flag"]])
    again = NystroemSVR(rank=5).fit_batches([(X, TARGET)])
    assert not hasattr(again, "feature_names_in_")
