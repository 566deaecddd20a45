"""The regression benchmark judges every solver alike."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import catalogue
from benchmarks.__main__ import main
from benchmarks.peers import PEERS, Dual
from benchmarks.quality import assess_regression

PACKAGES = {"mercer": "mercer", "sklearn": "sklearn", "intelex": "sklearnex", "libsvm": "libsvm"}

# x = ±1 with targets ±1 and a linear kernel; w = 2a for beta = (a, -a). A tube of 1/4 holds both
# for w = 3/4, the least that does.
X, Y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])


def pair(a: float) -> Dual:
    return Dual(np.array([0, 1]), np.array([[a, -a]]), np.array([2]))


def test_optimum_of_a_problem_solved_by_hand() -> None:
    quality = assess_regression(X, Y, pair(0.375), C=10.0, epsilon=0.25, kernel="linear")
    assert quality.gap == 0
    assert quality.objective == -0.28125
    assert quality.duality_gap == 0
    assert (quality.n_support, quality.n_bound) == (2, 0)


@pytest.mark.parametrize(("a", "gap"), [(0.25, 0.5), (0.0, 1.5), (0.5, 0.5)])
def test_distance_from_the_optimum_of_a_problem_solved_by_hand(a: float, gap: float) -> None:
    """The residuals are ±(1 - 2a); the gap is twice their distance from the edge of the tube."""
    quality = assess_regression(X, Y, pair(a), C=10.0, epsilon=0.25, kernel="linear")
    assert quality.gap == pytest.approx(gap)
    assert quality.duality_gap > 0


def test_bounds_of_a_problem_solved_by_hand() -> None:
    """With C = 1/4 both rows stay outside the tube, at their bounds, and that is optimal."""
    quality = assess_regression(X, Y, pair(0.25), C=0.25, epsilon=0.25, kernel="linear")
    assert quality.gap == 0
    assert quality.duality_gap == 0
    assert quality.n_bound == 2
    over = assess_regression(X, Y, pair(0.3), C=0.25, epsilon=0.25, kernel="linear")
    assert over.infeasibility == pytest.approx(0.2)


@pytest.mark.parametrize("peer", PACKAGES)
@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_recomputed_gap_is_what_the_solver_was_asked_for(peer: str, tol: float) -> None:
    if importlib.util.find_spec(PACKAGES[peer]) is None:
        pytest.skip(f"{PACKAGES[peer]} is not installed (extra 'bench')")
    adapter = PEERS[peer]
    for problem in (each for each in catalogue.regression(quick=True) if each.source != "table"):
        asked = replace(problem, tol=tol)
        data = asked.load()
        model = adapter.fit(asked, data, adapter.prepare(asked, data))
        quality = assess_regression(
            data.X,
            data.y,
            adapter.dual(model),
            C=asked.C,
            epsilon=asked.epsilon,
            gamma=data.gamma,
            kernel=asked.kernel,
        )
        assert quality.gap <= 1.1 * tol
        assert 0 <= quality.duality_gap <= 10 * tol
        assert quality.infeasibility < 1e-9


def test_quick_run_gives_tables_and_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "out.json"
    chosen = ["--peers", "mercer", "sklearn", "--match", "waves"]
    assert main(["svr", "--quick", "--repeats", "1", *chosen, "--json", str(file)]) == 0
    assert "| waves 300×2 " in capsys.readouterr().out
    records = json.loads(file.read_text())["groups"]["svr"]["records"]
    assert len(records) == 2
    for record in records:
        gaps = {peer: quality["gap"] for peer, quality in record["qualities"].items()}
        assert gaps.keys() == {"mercer", "sklearn"}
        assert max(gaps.values()) <= 1.1e-3
