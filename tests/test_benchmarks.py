"""The benchmarks measure what they claim to."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import catalogue, problems
from benchmarks.__main__ import main
from benchmarks.floor import Rates, floor
from benchmarks.groups.growth import exponent
from benchmarks.groups.linear import Ladder, Step
from benchmarks.machine import peak_memory, restart_peak_memory
from benchmarks.measure import Plan, Timing, interleave
from benchmarks.peers import PEERS, Dual, Intelex, UnavailableError
from benchmarks.quality import assess, assess_pairs, decision_sums
from benchmarks.reference import optimal_objective
from benchmarks.report import (
    GroupResult,
    Ratio,
    Table,
    fastest,
    geometric_mean,
    ratio,
    write_json,
)
from benchmarks.worker import TaskError, TimeLimitError, Worker

PEER_PACKAGES = {"sklearn": "sklearn", "intelex": "sklearnex", "libsvm": "libsvm"}
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux keeps the counters")


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


def runs(log: list[str], name: str, seconds: float) -> Callable[[], float]:
    def contender() -> float:
        log.append(name)
        return seconds

    return contender


def test_rounds_are_interleaved_and_start_with_another_contender_each() -> None:
    log: list[str] = []
    contenders = {name: runs(log, name, 1.0) for name in "abc"}
    timings = interleave(contenders, Plan(repeats=3, most=3))
    assert "".join(log) == "abc" + "bca" + "cab"
    assert all(timing.seconds == [1.0] * 3 for timing in timings.values())


def test_cheap_problems_get_more_rounds_and_all_contenders_the_same_number() -> None:
    contenders = {"a": runs([], "a", 0.1), "b": runs([], "b", 0.9)}
    timings = interleave(contenders, Plan(repeats=2, most=9, budget=5.0))
    assert {len(timing.seconds) for timing in timings.values()} == {5}
    timings = interleave(contenders, Plan(repeats=2, most=4, budget=500.0))
    assert {len(timing.seconds) for timing in timings.values()} == {4}
    timings = interleave(contenders, Plan(repeats=3, most=9, budget=0.0))
    assert {len(timing.seconds) for timing in timings.values()} == {3}


def test_slow_contenders_run_once_and_others_go_on() -> None:
    contenders = {"slow": runs([], "slow", 70.0), "fast": runs([], "fast", 1.0)}
    timings = interleave(contenders, Plan(repeats=3, most=3, time_limit=120.0))
    assert len(timings["slow"].seconds) == 1
    assert len(timings["fast"].seconds) == 3


def test_contenders_without_a_time_are_reported_with_the_reason() -> None:
    def raising(error: Exception) -> Callable[[], float]:
        def contender() -> float:
            raise error

        return contender

    timings = interleave(
        {
            "late": raising(TimeLimitError("cut after 7 s")),
            "absent": raising(UnavailableError("no module")),
            "broken": raising(TaskError("out of memory")),
        },
        Plan(time_limit=7.0),
    )
    found = {name: (timing.status, timing.reason) for name, timing in timings.items()}
    assert found == {
        "late": ("cut", "cut after 7 s"),
        "absent": ("unavailable", "no module"),
        "broken": ("failed", "out of memory"),
    }
    assert timings["late"].limit == 7.0
    assert timings["late"].best == math.inf


def test_a_task_can_be_cut_short() -> None:
    worker = Worker()
    assert worker.call(math.sqrt, 9.0, timeout=60.0) == 3.0
    with pytest.raises(TaskError, match="math domain error"):
        worker.call(math.sqrt, -1.0, timeout=60.0)
    start = time.perf_counter()
    with pytest.raises(TimeLimitError, match=r"cut after 0\.2 s"):
        worker.call(time.sleep, 60.0, timeout=0.2)
    assert time.perf_counter() - start < 10.0
    assert not worker.alive


@linux_only
def test_a_worker_keeps_to_its_memory() -> None:
    worker = Worker(memory_limit=2**32)
    try:
        with pytest.raises(TaskError, match="MemoryError"):
            worker.call(np.ones, 2**30, timeout=60.0)
        assert worker.call(math.sqrt, 9.0, timeout=60.0) == 3.0
    finally:
        worker.stop()


@linux_only
def test_peak_memory_counts_what_was_freed_again() -> None:
    before = restart_peak_memory()
    np.ones(16_000_000).sum()
    assert 120e6 < peak_memory() - before < 200e6


def test_ratios_and_bounds() -> None:
    ours, theirs = Timing([2.0, 1.0, 3.0]), Timing([5.0, 4.0])
    cut = Timing(status="cut", limit=60.0)
    absent = Timing(status="unavailable")
    assert ratio(ours, theirs) == Ratio(4.0)
    assert ratio(ours, cut) == Ratio(60.0, ">")
    assert ratio(cut, theirs) == Ratio(4.0 / 60.0, "<")
    assert ratio(ours, absent) is None
    assert ratio(cut, cut) is None
    assert fastest([cut, theirs, absent, Timing([4.5])]) is theirs
    assert fastest([absent, cut]) is cut


def test_geometric_mean_keeps_the_sign_of_a_bound() -> None:
    for second, sign in ((Ratio(8.0), ""), (Ratio(8.0, ">"), ">"), (Ratio(8.0, "<"), "<")):
        mean = geometric_mean([Ratio(2.0), None, second])
        assert mean is not None
        assert mean.value == pytest.approx(4.0)
        assert mean.sign == sign
    mixed = geometric_mean([Ratio(2.0, "<"), Ratio(8.0, ">")])
    assert mixed is not None
    assert mixed.sign == "~"
    assert geometric_mean([None]) is None


def test_exponent_is_that_of_the_larger_sizes() -> None:
    sizes = [1000, 2000, 4000, 8000]
    assert exponent(sizes, [1.0, 1.0, 2.0**1.7, 2.0**3.4]) == pytest.approx(1.7)
    assert exponent(sizes, [1.0, 4.0, math.inf, math.inf]) == pytest.approx(2.0)
    assert exponent(sizes, [1.0, math.inf, math.inf, math.inf]) is None


def test_floor_counts_entries_bytes_and_seconds() -> None:
    least = floor(300, 1000, 20, Rates(gemm=1e9, exp=1e8, read=1e9))
    assert least.entries == 300_000
    assert least.bytes == 1_200_000
    assert least.compute == pytest.approx(300_000 * (40e-9 + 1e-8))
    assert least.traffic == pytest.approx(1.2e-3)


def test_ladder_takes_the_fastest_step_within_the_target() -> None:
    steps = [Step(1e-1, 1.0, 1e-1), Step(1e-2, 3.0, 1e-4), Step(1e-3, 2.0, 1e-6)]
    ladder = Ladder(steps, Timing(status="missed"))
    assert ladder.reaching(1e-3) is steps[2]
    assert ladder.reaching(1e-9) is None


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


def test_table_has_as_many_cells_in_every_line() -> None:
    table = Table("a title", ["name", "value"], notes=["a note"])
    table.add("x", None)
    table.add("longer", 3)
    lines = str(table).splitlines()
    assert lines[0] == "### a title"
    assert {line.count("|") for line in lines if line.startswith("|")} == {3}
    assert lines[4] == "| x      |     - |"
    assert lines[-1] == "- a note"
    with pytest.raises(ValueError, match="2 cells, not 1"):
        table.add("x")


def test_json_knows_no_infinity(tmp_path: Path) -> None:
    group = GroupResult("g", records=[{"a": math.inf, "b": np.float64(2.0), "r": Ratio(1.0, ">")}])
    write_json(tmp_path / "out.json", {"cores": "2"}, [group])
    content = json.loads((tmp_path / "out.json").read_text())
    assert content["groups"]["g"]["records"] == [
        {"a": None, "b": 2.0, "r": {"value": 1.0, "sign": ">"}}
    ]


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


@pytest.mark.slow
def test_every_group_runs_with_scikit_learn_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("clarabel", reason="the group 'linear' needs the extra 'exact'")
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
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
