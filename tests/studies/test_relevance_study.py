"""The study of relevance vector machines: what it runs, prints and draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer.studies import get_study, run_study
from studies.relevance.report import draw_calibration, draw_reliability, report


@pytest.fixture(scope="module", name="study")
def relevance_study() -> Any:
    return get_study("relevance")


def test_ripley_without_any_data_folder(study: Any) -> None:
    results = run_study(study, repetitions=3, only=["ripley/RVM", "ripley/SVM"])
    assert not results.failures
    rows = {row["method"]: row for row in results.table()}
    assert rows["RVM"]["printed_mean"] == 9.3
    assert rows["RVM"]["mean"] < 13
    assert rows["RVM"]["vectors"] < 8 < rows["SVM"]["vectors"]
    text = report(results)
    assert "| ripley | RVM | 9.3 |" in text
    assert "Brier" not in text  # none of the sets of that table was run


def test_all_methods_of_a_small_set(study: Any, data_folder: Path) -> None:
    results = run_study(study, repetitions=1, only=["thyroid"])
    assert not results.failures
    rows = results.table()
    assert [row["method"] for row in rows] == list(study.methods)
    assert all(row["log_loss"] < 0.5 and row["brier"] < 0.15 for row in rows)
    assert report(results).count("**") == 4  # the best of each score
    assert [ax.get_ylabel() for ax in draw_calibration(results).axes] == ["log loss", "brier"]
    (ax,) = draw_reliability(results).axes
    assert [line.get_label() for line in ax.lines[1:]] == ["RVM", "SVM", "GP"]
    for line in ax.lines[1:]:
        assert np.all((line.get_ydata() >= 0) & (line.get_ydata() <= 1))
