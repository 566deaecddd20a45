"""Files with a right checksum that are not what was saved: a model is tried before it is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import mercer
from mercer.persistence import ModelFileError
from mercer.persistence._archive import HEADER, SCHEMA, sealed
from mercer.persistence._probe import OtherAnswersError, check_probe
from mercer.persistence._sound import parts

from .damage import members_of

pytest.importorskip("skops")


@pytest.fixture(name="fitted")
def fitted_machine() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return make_pipeline(StandardScaler(), mercer.SVC()).fit(X, y), X


def with_header(path: Path, change: dict[str, Any]) -> None:
    good = members_of(path.read_bytes())
    header = json.loads(good[HEADER])
    path.write_bytes(sealed(good | {HEADER: json.dumps(header | change).encode()}))


def with_plan(path: Path, old: str, new: str) -> None:
    good = members_of(path.read_bytes())
    text = good[SCHEMA].decode()
    assert old in text
    path.write_bytes(sealed(good | {SCHEMA: text.replace(old, new).encode()}))


def test_what_is_kept_of_a_model(fitted: Any, tmp_path: Path) -> None:
    model, X = fitted
    mercer.save(model, tmp_path / "file")
    probe = json.loads(members_of((tmp_path / "file").read_bytes())[HEADER])["probe"]
    points = np.array([line.split() for line in probe["rows"]], dtype=float)
    assert points.shape == (48, 4)
    known = X.max(axis=0)
    assert (points[:32] < known + 5.0).all()
    assert (points[32:] > known + 1.0).any()
    told = probe["answers"]
    assert len({label for (label,) in told["predict"]["labels"]}) > 1
    values = np.array([line.split() for line in told["decision_function"]["values"]], dtype=float)
    np.testing.assert_allclose(values, model.decision_function(points), rtol=1e-11)
    assert told["decision_function"]["within"] <= 1e-6
    assert len(json.dumps(probe)) < 5000


def test_missing_attribute(fitted: Any, tmp_path: Path) -> None:
    mercer.save(fitted[0], tmp_path / "file")
    with_plan(tmp_path / "file", '"scale_":', '"scale_of":')
    with pytest.raises(ModelFileError, match=r"predict does not work \(AttributeError: .*scale_"):
        mercer.load(tmp_path / "file")


def test_other_answers(fitted: Any, tmp_path: Path) -> None:
    mercer.save(fitted[0], tmp_path / "file")
    good = members_of((tmp_path / "file").read_bytes())
    for key, wrong in (("classes", [0, 1, 3]), ("n_features", 5), ("feature_names", list("abcd"))):
        with_header(tmp_path / "file", {key: wrong})
        with pytest.raises(ModelFileError, match="is not what it says about itself"):
            mercer.load(tmp_path / "file")
        (tmp_path / "file").write_bytes(sealed(good))
    probe = json.loads(good[HEADER])["probe"]
    probe["answers"]["predict"]["labels"][0] = [9]
    with_header(tmp_path / "file", {"probe": probe})
    with pytest.raises(ModelFileError, match="predict does not give what it gave when it was save"):
        mercer.load(tmp_path / "file")
    others = json.loads(good[HEADER])["versions"] | {"scikit-learn": "1.0"}
    with_header(tmp_path / "file", {"probe": probe, "versions": others})
    with pytest.warns(UserWarning, match=r"saved with scikit-learn 1.0 \(here .*predict does not"):
        mercer.load(tmp_path / "file")


UNTOLD = {"predict": None, "decision_function": None}
WIDE = {"columns": 3, "values": ["0 0 0"], "within": 1e9}


@pytest.mark.parametrize(
    "probe",
    [
        5,
        {},
        {"rows": [], "answers": {}},
        {"rows": ["1 2 3 4"] * 100, "answers": {}},
        {"rows": ["1 2 x"], "answers": {}},
        {"rows": ["1 2", "1"], "answers": {}},
        {"rows": {"a": {"file": ["x"]}}, "answers": {}},
        {"rows": {"a": {"word": [1]}}, "answers": {}},
        {"rows": ["1 2 3 4"], "answers": {"fit": {}}},
        {"rows": ["1 2 3 4"], "answers": UNTOLD | {"predict": {"labels": [[0]]}}},
        {"rows": ["1 2 3 4"], "answers": UNTOLD | {"decision_function": WIDE}},
    ],
)
def test_records_that_are_none(probe: Any, fitted: Any, tmp_path: Path) -> None:
    mercer.save(fitted[0], tmp_path / "file")
    with_header(tmp_path / "file", {"probe": probe})
    with pytest.raises(ModelFileError, match=r"rows to try it on|about itself cannot be read"):
        mercer.load(tmp_path / "file")


def test_files_without_a_record(fitted: Any, tmp_path: Path) -> None:
    """As earlier versions wrote them."""
    model, X = fitted
    mercer.save(model, tmp_path / "file")
    with_header(tmp_path / "file", {"probe": None})
    np.testing.assert_array_equal(mercer.load(tmp_path / "file").predict(X), model.predict(X))


def test_nothing_is_disturbed(tmp_path: Path) -> None:
    """Random numbers go on as they would have; answers that are drawn are not compared."""
    X, y = load_iris(return_X_y=True)
    for seed in (None, np.random.RandomState(3)):
        model = DummyClassifier(strategy="uniform", random_state=seed).fit(X, y)
        np.random.seed(5)
        mercer.save(model, tmp_path / "file")
        again = mercer.load(tmp_path / "file")
        probe = json.loads(members_of((tmp_path / "file").read_bytes())[HEADER])["probe"]
        assert probe["answers"]["predict"] == {"columns": 1}
        assert "values" in probe["answers"]["predict_proba"]
        undisturbed = np.random.RandomState(5 if seed is None else 3)
        expected = DummyClassifier(strategy="uniform", random_state=undisturbed).fit(X, y)
        np.testing.assert_array_equal(again.predict(X), expected.predict(X))


def test_number_of_jobs_in_a_file_is_not_obeyed(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y)
    for each in (model, mercer.SVC().fit(X, y)):
        each.n_jobs = 10**9
        mercer.save(each, tmp_path / "file")
        assert mercer.load(tmp_path / "file").n_jobs == 10**9


def test_answers_that_rounding_decides_are_not_compared(tmp_path: Path) -> None:
    """The terms of this machine are larger than its values by all the digits there are."""
    X = 1e8 + np.random.default_rng(0).normal(size=(60, 3))
    model = mercer.SVC(kernel="poly")
    with pytest.warns(ConvergenceWarning, match="arithmetic allows no smaller gap"):
        model.fit(X, X[:, 0] > 1e8)
    mercer.save(model, tmp_path / "file")
    again = mercer.load(tmp_path / "file")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_rows_beyond_hide_nothing(tmp_path: Path) -> None:
    """Far from its rows a polynomial is larger by far than where a change can be seen."""
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), mercer.SVC(kernel="poly", degree=6, coef0=1.0))
    model.fit(X[50:], y[50:])
    mercer.save(model, tmp_path / "file")
    probe = json.loads(members_of((tmp_path / "file").read_bytes())[HEADER])["probe"]
    values = np.abs([float(line) for line in probe["answers"]["decision_function"]["values"]])
    assert values.max() > 300 * np.median(values)
    machine = model[-1]
    machine.intercept_ = machine.intercept_ + 1e-4 * np.median(values)
    probe["answers"]["predict"] = None  # a label may change with less
    found = list(parts(model))
    with pytest.raises(OtherAnswersError, match="decision_function does not give"):
        check_probe(model, found, probe, 10_000)


def test_wide_answers_are_kept_in_part(tmp_path: Path) -> None:
    model = PolynomialFeatures(4).fit(np.ones((2, 8)))
    mercer.save(model, tmp_path / "file")
    probe = json.loads(members_of((tmp_path / "file").read_bytes())[HEADER])["probe"]
    assert probe["answers"]["transform"]["columns"] == model.n_output_features_ == 495
    assert len(json.dumps(probe)) < 20_000
    mercer.load(tmp_path / "file")


def test_other_processors_may_round_otherwise(tmp_path: Path) -> None:
    """A density that vanishes is not asked for, and single precision has few digits."""
    X = np.random.default_rng(0).normal(size=(150, 8))
    told = {}
    for name, model in {
        "flat": PCA().fit(np.c_[X, X.sum(axis=1)]),
        "single": PCA(3).fit(X.astype(np.float32)),
    }.items():
        mercer.save(model, tmp_path / name)
        header = members_of((tmp_path / name).read_bytes())[HEADER]
        told[name] = json.loads(header)["probe"]["answers"]
    assert told["flat"]["score_samples"] in (None, {"columns": 1})
    assert told["flat"]["transform"]["within"] >= 1e-6
    assert told["single"]["transform"]["within"] >= 1e-3
