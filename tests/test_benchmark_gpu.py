"""The benchmark of a GPU: its problems, its judgement, and a run on torch's CPU device."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.__main__ import main
from benchmarks.gpu_problems import easy, hard, of_agreement, of_fits
from benchmarks.groups import SUITES
from benchmarks.quality import assess, decision_sums
from mercer import SVC


def test_problems_are_those_that_others_were_measured_on() -> None:
    """The same draws, written down once more: labels first, then rows, then what moves them."""
    X, y = easy(1000).draw()
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(1000) < 0.5, 1.0, -1.0).astype(np.float32)
    rows = rng.standard_normal((1000, 50), dtype=np.float32) + np.float32(0.15) * labels[:, None]
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_array_equal(X, rows)
    X, y = hard(1000).draw(seed=3)
    rng = np.random.default_rng(3)
    which = rng.integers(0, 16, 1000)
    rows = rng.standard_normal((1000, 20), dtype=np.float32)
    centres = np.random.default_rng(123).standard_normal((16, 20)).astype(np.float32) * 0.7
    np.testing.assert_array_equal(X, (rows + centres[which]).astype(np.float32))
    np.testing.assert_array_equal(y == 1, (which % 2 == 0) ^ (rng.random(1000) < 0.05))


def test_only_the_same_data_have_references() -> None:
    assert all(problem.reference for problem in of_fits(quick=False))
    assert easy(20_000).reference.best == 0.039
    assert easy(20_000, 20).reference is None
    assert easy(20_000, shift=0.2).reference is None
    assert hard(20_001).reference is None


def test_agreement_has_twelve_different_problems() -> None:
    problems = of_agreement(quick=True)
    assert len({problem.name for problem in problems}) == 12
    assert {problem.X.shape[1] for problem in problems} == {2, 20, 50, 300, 784}
    assert all(np.isfinite(problem.X).all() for problem in problems)


def test_sums_of_the_card_are_those_of_numpy() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    from benchmarks.card import card_sums

    rng = np.random.default_rng(0)
    X, coef = rng.normal(size=(300, 7)) + 1e3, rng.normal(size=50)
    expected = decision_sums(X - 1e3, X[:50] - 1e3, coef, kernel="rbf", gamma=0.1)
    for block in (0, 8 * 50 * 17):
        found = card_sums(X, X[:50], coef, kernel="rbf", gamma=0.1, block=block)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_a_gap_with_a_price_of_its_own_for_each_row() -> None:
    X, y = hard(300).draw()
    weights = np.random.default_rng(0).integers(0, 4, 300).astype(float)
    model = SVC(C=2.0, gamma=0.05, tol=1e-5).fit(X, y, weights)
    prices = 2.0 * weights
    quality = assess(X, y, _dual(model), C=prices, gamma=0.05)
    assert quality.gap <= 1.1e-5
    assert quality.infeasibility < 1e-9
    assert quality.duality_gap < 1e-4
    assert quality.objective == pytest.approx(model.objective_[0], rel=1e-9)
    assert assess(X, y, _dual(model), C=2.0, gamma=0.05).gap > 0.1  # as if there were no weights


def _dual(model: SVC) -> Any:
    from benchmarks.peers import Dual

    return Dual(model.support_, model.dual_coef_, model.n_support_)


def test_without_a_card_one_sentence_says_so(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    for arguments in (["gpu"], ["gpu", "--quick"]):
        assert main(arguments) == 1
        printed = capsys.readouterr().out
        assert printed.startswith("There is no GPU to measure: it needs torch")
        assert printed.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("group", SUITES["gpu"])
def test_quick_run(group: str, tmp_path: Path, capsys: Any) -> None:
    """Every group runs on torch's CPU device, and its solutions are as good as asked for."""
    pytest.importorskip("torch", reason="torch is not installed")
    file = tmp_path / "out.json"
    few = ["--match", "columns"] if group == "gpu_agreement" else []
    command = ["gpu", "--quick", "--repeats", "1", "--only", group, *few, "--json", str(file)]
    assert main(command) == 0
    assert "torch" in capsys.readouterr().out
    content = json.loads(file.read_text())
    assert "GPU" in content["facts"]
    records = content["groups"][group]["records"]
    assert records
    for record in records:
        assert record.get("converged", True)
        if "truth" in record:
            assert record["truth"]["gap"] <= 1.1e-3
        if "gap" in record:
            assert record["gap"] <= 1.1 * record["tol"]
        if "objective" in record:
            assert record["objective"] < 1e-4
        assert record.get("labels", 100.0) > 99.5
        assert record.get("values", 0.0) < 1e-5
        assert record.get("score", 100.0) > 60.0
        assert record.get("first", 1.0) > 0.0
