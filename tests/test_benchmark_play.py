"""The benchmark of the page asks what the page asks, and tells every case."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("pandas")

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.__main__ import main
from benchmarks.groups import play
from mercer.play import answer, read_question


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_sliders_go_from_end_to_end_of_those_of_the_page() -> None:
    settings = answer({"ask": "about"})["settings"]
    for case in play.CASES:
        asked = [json.loads(body) for body in play.bodies(case, [9, 7], 20, 5)]
        values = [one["settings"][case.slider] for one in asked]
        assert (values[0], values[-1]) == (
            settings[case.slider]["low"],
            settings[case.slider]["high"],
        )
        assert len(set(asked[0]["labels"])) == case.classes
        assert "fields" in answer(asked[0]) or "curve" in answer(asked[0])
        assert read_question(json.dumps(asked[0]).encode()) == asked[0]


def test_a_quick_run_tells_each_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "play.json"
    assert main(["play", "--quick", "--match", "svc, rbf, 2", "--json", str(file)]) == 0
    said = capsys.readouterr().out
    assert "a change of C: 95 % within" in said
    group = json.loads(file.read_text())["groups"]["play"]
    assert [(one["case"], one["grid"]) for one in group["records"]] == [
        (f"svc, rbf, 2 classes, {slider}", grid)
        for slider in ("C", "gamma")
        for grid in ("moving", "at rest")
    ]
