"""The benchmarks judge every solver alike and say who did not take part."""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.svm import SVC

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import catalogue, problems, worker
from benchmarks.__main__ import main
from benchmarks.peers import PEERS, Dual, Intelex, UnavailableError
from benchmarks.quality import assess, assess_pairs, decision_sums
from benchmarks.reference import optimal_objective

PEER_PACKAGES = {"sklearn": "sklearn", "intelex": "sklearnex", "libsvm": "libsvm"}


def available(peer: str) -> str:
    """Return the peer, or skip the test with the reason."""
    package = PEER_PACKAGES[peer]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed (extra 'bench')")
    return peer


# The smallest machine: x = ±1 with labels ±1 and a linear kernel. With beta = (a, -a) the dual is
# 2 a² - 2 a, least at a = 1/2.
PAIR_X = np.array([[1.0], [-1.0]])
PAIR_Y = np.array([1, -1])


def pair(a: float) -> Dual:
    return Dual(np.array([0, 1]), np.array([[a, -a]]), np.array([1, 1]))


def test_quality_at_the_optimum_of_a_problem_solved_by_hand() -> None:
    quality = assess(PAIR_X, PAIR_Y, pair(0.5), C=10.0, kernel="linear")
    assert quality.gap == 0
    assert quality.objective == -0.5
    assert quality.duality_gap == 0
    assert (quality.n_support, quality.n_bound) == (2, 0)


def test_quality_away_from_the_optimum_of_a_problem_solved_by_hand() -> None:
    # G = K beta - y = (-1/2, 1/2), both rows free; w = 1/2, both slacks 1/2.
    quality = assess(PAIR_X, PAIR_Y, pair(0.25), C=10.0, kernel="linear")
    assert quality.gap == 1.0
    assert quality.objective == -0.375
    assert quality.duality_gap == pytest.approx((10.125 - 0.375) / 10.125)


def test_quality_at_the_bound_of_a_problem_solved_by_hand() -> None:
    # C = 1/4 makes the same point optimal: both rows at their bound.
    quality = assess(PAIR_X, PAIR_Y, pair(0.25), C=0.25, kernel="linear")
    assert quality.gap == 0
    assert quality.duality_gap == 0
    assert quality.n_bound == 2


def test_quality_sees_what_is_infeasible() -> None:
    unbalanced = Dual(np.array([0, 1]), np.array([[0.5, -0.2]]), np.array([1, 1]))
    assert assess(PAIR_X, PAIR_Y, unbalanced, C=1.0, kernel="linear").infeasibility == (
        pytest.approx(0.3)
    )
    over = assess(PAIR_X, PAIR_Y, pair(0.5), C=0.4, kernel="linear")
    assert over.infeasibility == pytest.approx(0.25)


def test_decision_sums_do_not_depend_on_the_block_size() -> None:
    generator = np.random.default_rng(0)
    X, vectors, coef = generator.normal(size=(40, 3)), generator.normal(size=(7, 3)), np.arange(7.0)
    distances = ((X[:, None] - vectors) ** 2).sum(axis=2)
    for block in (1, 600, 10**6):
        found = decision_sums(X, vectors, coef, kernel="rbf", gamma=0.3, block=block)
        np.testing.assert_allclose(found, np.exp(-0.3 * distances) @ coef, rtol=1e-12)
    with pytest.raises(ValueError, match="'rbf' or 'linear', not 'poly'"):
        decision_sums(X, vectors, coef, kernel="poly", gamma=0.3)


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4])
@pytest.mark.parametrize("peer", ["sklearn", "intelex", "libsvm"])
def test_recomputed_gap_is_what_the_solver_was_asked_for(peer: str, tol: float) -> None:
    adapter = PEERS[available(peer)]
    problem = replace(catalogue.clustered(200), tol=tol)
    data = problem.load()
    model = adapter.fit(problem, data, adapter.prepare(problem, data))
    quality = assess(data.X, data.y, adapter.dual(model), C=problem.C, gamma=data.gamma)
    assert quality.gap <= 1.1 * tol
    assert 0 <= quality.duality_gap <= 10 * tol
    assert quality.infeasibility < 1e-9


@pytest.mark.parametrize("peer", ["sklearn", "intelex", "libsvm"])
def test_mostly_empty_rows_give_the_same_solution_in_compressed_form(peer: str) -> None:
    adapter = PEERS[available(peer)]
    generator = np.random.default_rng(0)
    X = np.where(generator.random((120, 30)) < 0.1, generator.normal(size=(120, 30)), 0.0)
    y = np.where(X @ generator.normal(size=30) > 0, 1, -1)
    assert issparse(adapter.rows(X))
    problem = problems.Problem("mostly empty", "", gamma=0.5)
    data = problems.Data(X, y, 0.5, X[:0], y[:0])
    dual = adapter.dual(adapter.fit(problem, data, adapter.prepare(problem, data)))
    assert assess(X, y, dual, C=1.0, gamma=0.5).gap <= 1.1e-3


@pytest.mark.parametrize("peer", ["sklearn", "intelex", "libsvm"])
def test_all_pairs_of_a_multiclass_model_are_judged(peer: str) -> None:
    adapter = PEERS[available(peer)]
    generator = np.random.default_rng(0)
    y = generator.integers(0, 4, 160)
    X = generator.normal(size=(160, 2)) + np.stack([y % 2, y // 2], axis=1)
    data = problems.Data(X, y, 0.5, X[:0], y[:0])
    problem = problems.Problem("four classes", "", C=2.0, gamma=0.5)
    dual = adapter.dual(adapter.fit(problem, data, adapter.prepare(problem, data)))
    pairs = []
    for a in range(4):
        for b in range(a + 1, 4):
            rows = (y == a) | (y == b)
            single = PEERS["sklearn"].dual(SVC(C=2.0, gamma=0.5).fit(X[rows], y[rows]))
            pairs.append(assess(X[rows], y[rows], single, C=2.0, gamma=0.5).gap)
    assert max(pairs) <= 1.1e-3
    assert assess_pairs(X, y, dual, C=2.0, gamma=0.5) <= 1.1e-3
    spoilt = replace(dual, coef=0.5 * dual.coef)
    assert assess_pairs(X, y, spoilt, C=2.0, gamma=0.5) > 0.1


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_reference_optimum_of_the_problem_solved_by_hand(loss: str) -> None:
    pytest.importorskip("clarabel", reason="the reference optimum needs the extra 'exact'")
    # hinge: w = 1, no slack. Squared, C = 1: 1/2 w² + 2 (1 - w)² is least at w = 4/5.
    expected = {"hinge": 0.5, "squared_hinge": 0.4}[loss]
    for regularised in (False, True):  # the bias is 0 by symmetry
        found = optimal_objective(
            PAIR_X, PAIR_Y.astype(float), C=1.0, loss=loss, regularised_bias=regularised
        )
        assert found == pytest.approx(expected, abs=1e-7)


def test_generators_have_the_support_vectors_that_the_catalogue_states() -> None:
    for problem in (catalogue.gaussians(2000, 20), catalogue.clustered(2000)):
        data = problem.load()
        assert data.gamma == pytest.approx(1 / (20 * data.X.var()))
        model = SVC(C=problem.C, gamma=data.gamma).fit(data.X, data.y)
        assert 0.20 < len(model.support_) / len(data.y) < 0.52


def test_a_solver_that_does_not_import_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mercer.svm", None)
    problem = catalogue.gaussians(100, 3)
    with pytest.raises(UnavailableError, match=r"mercer\.svm\.SVC does not import"):
        PEERS["mercer"].fit(problem, problem.load(), None)


def test_a_fit_that_fell_back_to_scikit_learn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Intelex, "estimator", lambda self, problem, gamma: SVC())
    problem = catalogue.gaussians(100, 3)
    adapter = Intelex()
    data = problem.load()
    with pytest.raises(UnavailableError, match="fell back"):
        adapter.fit(problem, data, adapter.prepare(problem, data))


@pytest.mark.parametrize("peer", ["sklearn", "intelex", "libsvm"])
def test_quick_run_gives_a_table_and_records(
    peer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "out.json"
    chosen = ["--only", "speed", "--peers", available(peer), "--repeats", "2", "--json", str(file)]
    assert main(["svc", "--quick", "--match", "Gaussians", *chosen]) == 0
    printed = capsys.readouterr().out
    assert "interleaved" in printed
    assert "| Gaussians 300×20 " in printed
    (record,) = json.loads(file.read_text())["groups"]["speed"]["records"]
    timing, quality = record["timings"][peer], record["qualities"][peer]
    assert len(timing["seconds"]) >= 2
    assert min(timing["seconds"]) > 0
    assert quality["gap"] <= 1.1e-3
    assert record["floor"]["entries"] == quality["n_support"] * 300


def start_from_a_template(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the workers copies of one process that has imported what they need.

    Each is still a process of its own. How workers start otherwise, other tests see.
    """
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["benchmarks.tasks", "sklearn.svm", "clarabel"])
        stand_in = SimpleNamespace(get_context=lambda kind: context)
        monkeypatch.setattr(worker, "multiprocessing", stand_in)


@pytest.mark.slow
def test_every_group_runs_with_scikit_learn_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("clarabel", reason="the group 'linear' needs the extra 'exact'")
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    start_from_a_template(monkeypatch)
    problems._load.cache_clear()
    file = tmp_path / "out.json"
    peers = ["sklearn", "liblinear"]
    assert main(["svc", "--quick", "--repeats", "1", "--peers", *peers, "--json", str(file)]) == 0
    groups = json.loads(file.read_text())["groups"]
    assert [record["status"] for record in groups["multiclass"]["records"]] == [
        "data not present: speed/letter.npz",
        "data not present: usps.npz",
    ]
    assert "data not present: usps.npz" in capsys.readouterr().out
    for record in groups["linear"]["records"]:
        assert record["timings"]["liblinear"]["status"] == "ok"
        last = record["steps"]["liblinear"][-1]
        assert -1e-7 <= last["excess"] <= 1e-5
    assert groups["growth"]["summary"]["exponents"]["sklearn"] is not None
    assert all(record["quality"]["gap"] <= 1.1e-3 for record in groups["large"]["records"])
    assert all(
        record["timings"]["sklearn"]["status"] == "ok" for record in groups["predict"]["records"]
    )
