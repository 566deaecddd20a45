"""A short run of random programs with fixed seeds, and the tools that judge them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from copy import copy
from itertools import chain

import numpy as np
import pytest

from .all_classes import check_all_classes
from .crew import Worker
from .descents import check_descent
from .estimators import FIRST, KINDS
from .judge import judge
from .machines import MAKERS, machines_of
from .optimality import check_machines
from .program import draw_program
from .refusals import judge_refusal
from .regions import is_large, region_of


def first_seeds(each: int) -> list[int]:
    """Return the first seeds of small programs outside of known regions, so many of each kind."""
    taken: dict[str, list[int]] = {kind: [] for kind in KINDS}
    seed = FIRST
    while min(map(len, taken.values())) < each:
        program = draw_program(seed)
        own = taken[program.kind]
        if len(own) < each and program.drawn["n"] <= 60 and region_of(program) is None:
            own.append(seed)
        seed += 1
    return sorted(chain.from_iterable(taken.values()))


# What longer runs have found, and what has been mended since.
MENDED = {
    "sums that outgrow their kernel": [1700099],
    "float32 rows without a minimum": [1200556],
    "negative values on the diagonal": [5201539],
    "steps without end": [5200013, 5450139],
    "squares of tiny numbers": [5201776],
    "a sum that the mean magnifies": [5100804],
    "a sum of numbers that were large before": [5601886],
    "kernel values beyond arithmetic": [6001272],
    "weights of a relevance vector machine where nothing curves": [7008386],
    "a sum that rounding puts on its bounds": [20804774, 51005198],
    "rows that lie on the boundary": [30400406],
    "sums beyond arithmetic": [9000159, 9001935, 9001951, 9002097, 9501734],
    "products that tanh hides": [9600060, 9600148],
    "distances of sparse rows": [9500997],
    "a matrix of no numbers whose diagonal is ones": [70200004],
    "weights whose squares overflow": [70010209, 70010967],
    "infinite bounds times zeros": [151000577, 101001577],
    "folds whose numbers overflow": [151005868, 152000345, 154005495, 156004763],
    "rows that are nearly certain": [152002991],
    "a slack beside a huge bound": [103006678],
    "a system too unequal to be solved": [153005321],
    "a repair that leaves nothing": [105002425],
    "a sample of equal rows": [152001298],
    "differences whose squares overflow": [107005018],
    "quotients of infinite values": [155004299],
    "squares of targets whose sum overflows": [260002370],
    "widths of some of the features": [853000391, 856000554],
    "a gap of float32 rows at a high price": [914001103],
    "a ridge below the rounding of the kernel": [902002748],
    "products of tiny sparse numbers": [351002913],
    "functions whose squares have no digits": [353004327],
    "a step of Newton's beyond numbers": [354001617],
    "equal rows too large to be asked about": [304004320],
    "rounding of distances with a width for each feature": [306001027],
    "leaving out one of a row that counts less than once": [1300000033],
    "scores that are no numbers": [1300000041],
    "slopes that are no numbers": [1301000001],
    "sums of rows with little weight": [1302000119],
    "a machine of all classes beyond arithmetic": [1302000203],
    "an error of nothing": [1302000342],
    "distances of no sparse rows": [1102000524],
    "a refusal of a machine without C": [1104002397, 1301004982, 1301014045],
    "tiny kernel values lost in steps": [1301002079, 1301002796, 1301009082, 1301010869],
    "the origin as the only free row": [1301000737, 1301005399, 1301011779],
    "squares of targets beyond numbers": [1301002626, 1301014161],
    "scores of huge rows": [1301006834],
    "evidence of targets that vanish": [1301013698],
    "products that tanh hides from all classes": [1301013717, 1301017142],
    "a loss without a solution in one fold": [1107005944],
    "leaving out the only row": [2101053880, 2101066527],
    "widths beyond the range of numbers": [3301007803],
    "a constant feature that is left alone": [3201000718, 3301029046],
}


def judged_apart(seeds: Iterable[int]) -> list[dict]:
    """Judge in another process, so that a hang is a failure and not the end of all tests."""
    worker = Worker(patience=120.0)
    try:
        return [worker.judge(seed) for seed in seeds]
    finally:
        worker.close()


def test_fixed_seeds() -> None:
    judged = judged_apart(first_seeds(4))
    assert [found for found in judged if found["findings"]] == []
    outcomes = [found["outcome"] for found in judged]
    assert outcomes.count("fitted") > 0.7 * len(outcomes)


def test_what_was_found_stays_mended() -> None:
    judged = judged_apart(chain.from_iterable(MENDED.values()))
    assert [found for found in judged if found["findings"]] == []


def test_a_seed_is_a_program() -> None:
    one, other = judge(3), judge(3)
    assert one == other
    assert one["drawn"] != judge(4)["drawn"]


def _first_fit(kind: str, n: int, first: int = 0) -> tuple:
    for seed in range(first, first + 10_000):
        program = draw_program(seed)
        ordinary = region_of(program) is None and not program.is_extreme
        if program.kind == kind and ordinary and 20 < program.drawn["n"] < n:
            model = program.fit(program.estimator, program.given)
            if kind not in MAKERS:
                return program, model
            machine = next(machines_of(program, model), None)
            if model.converged_ and machine is not None and machine.beta.any():
                return program, model
    raise AssertionError("no such program")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["SVC", "SVR", "OneClassSVM", "SVDD"])
def test_a_wrong_solution_is_found(kind: str) -> None:
    """The checks can fail: a model whose coefficients are changed does not pass."""
    program, model = _first_fit(kind, 150)
    assert list(check_machines(program, model)) == []
    model.dual_coef_ = 1.1 * np.asarray(model.dual_coef_)
    assert list(check_machines(program, model)) != []


def test_a_hang_is_a_finding() -> None:
    worker = Worker(patience=1e-3)
    try:
        found = worker.judge(3)
    finally:
        worker.close()
    assert found["outcome"] == "hung"
    assert found["drawn"] == judge(3)["drawn"]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux only")
def test_what_needs_too_much_memory_is_a_finding() -> None:
    seed = next(s for s in range(10_000) if draw_program(s).drawn["n"] > 400)
    worker = Worker(patience=60.0, gigabytes=1e-3)
    try:
        found = worker.judge(seed)
    finally:
        worker.close()
    assert found["findings"] != []


def test_a_refusal_needs_a_reason() -> None:
    """Large numbers may be refused for their size, ordinary ones not, and none without advice."""
    ordinary = draw_program(first_seeds(1)[0])
    large = next(p for p in map(draw_program, range(10_000)) if is_large(p))
    advice = ValueError("Kernel values are above 1e+250; scale the features.")
    assert not ordinary.is_extreme
    assert judge_refusal(ordinary, advice) != []
    assert judge_refusal(large, advice) == []
    assert judge_refusal(large, ValueError("array must not contain infs or NaNs")) != []


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_solution_of_all_classes_is_found() -> None:
    program, model = _first_fit("CrammerSingerSVC", 150, FIRST)
    assert list(check_all_classes(program, model)) == []
    for name, factor in (("dual_coef_", 1.1), ("objective_", 1.01), ("slack_", 1.1)):
        changed = copy(model)
        setattr(changed, name, factor * np.asarray(getattr(model, name)))
        assert list(check_all_classes(program, changed)) != []


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_search_is_found() -> None:
    program, model = _first_fit("GradientSearch of SVC", 40, FIRST)
    assert list(check_descent(program, model)) == []
    model.best_params_ = model.best_params_ | {"C": 3.0 * model.best_params_["C"]}
    assert any("not those of the best" in finding for finding in check_descent(program, model))
    assert any("differs from that of a fit" in finding for finding in check_descent(program, model))


def test_old_seeds_are_the_programs_they_were() -> None:
    kinds = [draw_program(seed).kind for seed in (3, 1700099, 902002748, FIRST + 5)]
    assert kinds == ["KernelRFECV", "RVC", "SVR", "GradientSearch of one class"]
