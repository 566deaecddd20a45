"""What a file may cost: trees that are grown, headers, lists of parts, arrays in many parts."""

from __future__ import annotations

import copy
import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import Pipeline

import mercer
from mercer.persistence import ModelFileError
from mercer.persistence._archive import HEADER, SCHEMA, sealed
from mercer.persistence._json import PLAN_GROWS
from mercer.persistence._search_trees import _bytes_of_tree

from .damage import members_of, resealed, with_right_checksum

pytest.importorskip("skops")


def searching(rows: int = 2000, **settings: Any) -> NearestNeighbors:
    model = NearestNeighbors(algorithm="kd_tree", leaf_size=1, **settings)
    return model.fit(np.random.default_rng(0).normal(size=(rows, 1)))


def test_trees_of_the_same_rows_are_one(tmp_path: Path) -> None:
    model = searching()
    other = copy.copy(model)
    other.leaf_size = 7
    steps = [("a", model), ("b", copy.copy(model)), ("c", other)]
    mercer.save(Pipeline(steps), tmp_path / "file")
    again = mercer.load(tmp_path / "file")
    assert again["a"]._tree is again["b"]._tree
    assert again["a"]._tree is not again["c"]._tree
    X = np.linspace(-2.0, 2.0, 50)[:, None]
    for name in "abc":
        np.testing.assert_array_equal(again[name].kneighbors(X)[0], model.kneighbors(X)[0])


def test_many_trees_of_few_rows_are_refused(tmp_path: Path) -> None:
    models = []
    for size in range(1, 120):
        models.append((str(size), copy.copy(searching(20_000) if size == 1 else models[0][1])))
        models[-1][1].leaf_size = size
    with pytest.raises(ModelFileError, match="large beside its rows"):
        mercer.save(Pipeline(models), tmp_path / "file")
    mercer.save(Pipeline(models[:5]), tmp_path / "file")


def test_size_of_a_tree_is_known_before() -> None:
    for rows, leaf_size in ((2000, 1), (2000, 40), (5, 40)):
        model = searching(rows).set_params(leaf_size=leaf_size)
        model.fit(model._fit_X)
        taken = sum(np.asarray(part).nbytes for part in model._tree.get_arrays()[1:])
        assert taken <= _bytes_of_tree(model._fit_X, leaf_size) <= 1.2 * taken + 100


@pytest.mark.parametrize(
    "change",
    [
        {"effective_metric_": "pyfunc", "effective_metric_params_": {"func": accuracy_score}},
        {"effective_metric_": accuracy_score},
        {"effective_metric_": "mahalanobis"},
        {"effective_metric_params_": {"p": accuracy_score}},
        {"effective_metric_params_": {"w": np.array(["a"])}},
        {"effective_metric_params_": None},
        {"leaf_size": 0},
        {"_fit_X": np.array([["a"]])},
    ],
)
def test_trees_are_grown_for_names_and_numbers_only(
    change: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    wrong = searching()
    vars(wrong).update(change)
    with pytest.raises(ModelFileError, match=r"neighbours|metric"):
        mercer.save(wrong, tmp_path / "file")
    monkeypatch.setattr("mercer.persistence.saving.check_sound", lambda parts: None)
    mercer.save(wrong, tmp_path / "file")
    with pytest.raises(ModelFileError, match=r"neighbours|metric"):
        mercer.load(tmp_path / "file")


@pytest.mark.parametrize(
    "settings",
    [
        {"p": 1.5},
        {"metric": "mahalanobis", "metric_params": {"VI": np.eye(2)}},
        {"algorithm": "ball_tree", "metric": "seuclidean", "metric_params": {"V": np.ones(2)}},
    ],
)
def test_metrics_with_numbers(settings: Any, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = KNeighborsClassifier(**settings).fit(X, np.arange(50) % 2)
    mercer.save(model, tmp_path / "file")
    again = mercer.load(tmp_path / "file")
    np.testing.assert_array_equal(again.kneighbors(X), model.kneighbors(X))


def taken_by_refusal(path: Path, words: str) -> int:
    """Return the bytes that a file takes before it is refused."""
    mercer.save(mercer.SVC(), path.with_suffix(".good"))
    mercer.load(path.with_suffix(".good"))  # which imports what is needed
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=words):
            mercer.load(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("names", "words"),
    [([[]] * 50_000, "too many parts"), ([["a long name"]] * 9, "cannot be read")],
)
def test_header_of_many_lists(names: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    mercer.save(mercer.SVC(), path)
    good = members_of(path.read_bytes())
    header = json.loads(good[HEADER]) | {"feature_names": names}
    path.write_bytes(sealed(good | {HEADER: json.dumps(header).encode()}))
    assert taken_by_refusal(path, words) < 2 * path.stat().st_size + 2**19


def test_header_goes_without_names_that_are_too_long(tmp_path: Path) -> None:
    model = mercer.SVC().fit(np.eye(4), [0, 0, 1, 1])
    model.feature_names_in_ = np.array(["," * 2**21 + str(k) for k in range(4)], dtype=object)
    mercer.save(model, tmp_path / "file")
    assert mercer.describe(tmp_path / "file").feature_names is None
    again = mercer.load(tmp_path / "file")
    assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()


def test_list_of_parts_that_are_not_there(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("0.npy", b"")
        for number in range(1, 3000):
            entry = copy.copy(archive.filelist[0])
            entry.filename = f"{number}.npy"
            archive.filelist.append(entry)
    (tmp_path / "file").write_bytes(resealed(buffer.getvalue()))
    size = (tmp_path / "file").stat().st_size
    assert taken_by_refusal(tmp_path / "file", "list of parts is too long") < size + 2**18


def test_archive_of_very_many_parts(tmp_path: Path, monkeypatch: Any) -> None:
    """Beyond 65535 of them the record at the end has another form."""
    path = tmp_path / "file"
    model = mercer.SVC().fit(np.eye(4), [0, 0, 1, 1])
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    mercer.save(model, path)
    assert b"PK\6\6" in path.read_bytes()
    np.testing.assert_array_equal(mercer.load(path).predict(np.eye(4)), model.predict(np.eye(4)))
    lying = bytearray(path.read_bytes())
    at = lying.rfind(b"PK\6\6")
    for place, value in ((at + 40, 2**40), (at + 56 + 8, 0)):  # length, and where it should be
        wrong = bytearray(lying)
        wrong[place : place + 8] = value.to_bytes(8, "little")
        path.write_bytes(with_right_checksum(bytes(wrong)))
        with pytest.raises(ModelFileError, match=r"too long|does not end"):
            mercer.load(path)


def test_array_that_is_read_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    mercer.save(mercer.SVC(class_weight=np.zeros(200_000)), path)
    good = members_of(path.read_bytes())
    schema = json.loads(good[SCHEMA])
    entries = schema["content"]["content"]
    entries["class_weight"] = {
        **{"__loader__": "ListNode", "__class__": "list", "__module__": "builtins"},
        "content": [entries["class_weight"]] * 50,
    }
    path.write_bytes(sealed(good | {SCHEMA: json.dumps(schema).encode()}))
    assert taken_by_refusal(path, "stands in too many places") < 2 * path.stat().st_size


def test_array_of_many_owners_is_gone_through_once(tmp_path: Path, monkeypatch: Any) -> None:
    from mercer.persistence import _sound

    asked = []
    monkeypatch.setattr(_sound, "_is_finite", lambda value: asked.append(value) is None)
    model = mercer.SVC().fit(np.eye(4), [0, 0, 1, 1])
    mercer.save(Pipeline([(str(k), copy.copy(model)) for k in range(9)]), tmp_path / "file")
    at_saving = len(asked)
    assert at_saving == len({id(value) for value in asked}) <= 4
    mercer.load(tmp_path / "file")
    assert len(asked) == 2 * at_saving


def test_plan_that_would_take_much(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "file"
    model = mercer.SVC(class_weight={str(k): 1.0 for k in range(3000)})
    mercer.save(model, path)
    mercer.load(path)
    monkeypatch.setattr("mercer.persistence._json.FREE", 2**21)
    assert taken_by_refusal(path, "plan of objects has") < 2 * path.stat().st_size
    with pytest.raises(ModelFileError, match="plan of objects has"):
        mercer.save(model, tmp_path / "other")
    model.set_params(class_weight={"0": np.zeros(10**6)})  # a plan may take as much as its file
    mercer.save(model, path)
    mercer.load(path)


def test_memory_of_plans_is_known(tmp_path: Path) -> None:
    """Lists of nothing take most."""
    path = tmp_path / "file"
    mercer.save(mercer.SVC(class_weight=[[] for _ in range(3000)]), path)
    mercer.load(path)
    tracemalloc.start()
    mercer.load(path)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    plan = len(members_of(path.read_bytes())[SCHEMA])
    assert 6 * plan < taken < PLAN_GROWS * plan + 2**19
