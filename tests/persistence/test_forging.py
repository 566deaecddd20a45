"""A short run of forged files with fixed seeds, and the judge of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

import mercer

from .damage import members_of
from .forge import Forger
from .forge_judge import answers, outcome_of
from .forging import forged

pytest.importorskip("skops")
pytest.importorskip("skrub")

SOUND = ("refused", "same", "another")


@pytest.fixture(name="forger", scope="module")
def started_forger() -> Iterator[Forger]:
    forger = Forger(patience=60.0)
    yield forger
    forger.close()


def test_forged_files(forger: Forger) -> None:
    """Refused, or a model that works; another one where a number is another one."""
    found = [forger.judge(seed) for seed in range(40)]
    assert [one for one in found if one["outcome"] not in SOUND] == []
    counts = Counter(one["outcome"] for one in found)
    assert min(counts["refused"], counts["same"]) > 5 * counts["another"]
    assert len({one["model"] for one in found}) > 30


def test_a_hang_is_found() -> None:
    forger = Forger(patience=1e-3)
    try:
        assert forger.judge(3)["outcome"] == "hung"
    finally:
        forger.close()


@pytest.fixture(name="neighbours")
def neighbours_in_a_file(tmp_path: Path, monkeypatch: Any) -> tuple[bytes, Any, Any]:
    """Return a file whose last classes are not there, rows, and what the sound model says."""
    X, y = load_iris(return_X_y=True)
    model = KNeighborsClassifier(3).fit(X, y)
    expected = answers(model, X)
    model._y = model._y + (model._y == 2)
    monkeypatch.setattr("mercer.persistence.saving.check_sound", lambda parts: None)
    monkeypatch.setattr("mercer.persistence.saving.probe_of", lambda *given: None)
    mercer.save(model, tmp_path / "file")
    return (tmp_path / "file").read_bytes(), X, expected


def test_a_model_that_does_not_work_is_found(neighbours: Any, monkeypatch: Any) -> None:
    outcome, said, _ = outcome_of(*neighbours)
    assert outcome == "refused"
    assert "_y of a KNeighborsClassifier and its classes_ do not fit together" in said
    monkeypatch.setattr("mercer.persistence.loading.check_sound", lambda parts: None)
    outcome, said, _ = outcome_of(*neighbours)
    assert (outcome, said[:20]) == ("raises", "predict: IndexError:")


def test_another_model_is_found(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    for C, outcome in ((1.0, "same"), (1e-3, "another")):
        mercer.save(mercer.SVC(C=C).fit(X, y), tmp_path / "file")
        expected = answers(mercer.SVC().fit(X, y), X)
        assert outcome_of((tmp_path / "file").read_bytes(), X, expected)[0] == outcome


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_one_thing_is_changed(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    mercer.save(mercer.SVC().fit(X, y), tmp_path / "file")
    good = members_of((tmp_path / "file").read_bytes())
    names = set()
    for seed in range(200):
        name, changed = forged(good, np.random.default_rng(seed))
        assert set(changed) <= set(good)
        assert len(changed) <= 1 + ("exchanged" in name)
        assert (name, changed) == forged(good, np.random.default_rng(seed))
        names.add(name)
    assert len(names) > 100
