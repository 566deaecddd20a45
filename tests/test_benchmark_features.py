"""The group of the benchmarks that chooses features compares what is the same."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

# The benchmarks are no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.groups import features
from benchmarks.groups.options import Options
from benchmarks.measure import Plan
from mercer.kernels import RBF


@pytest.fixture(scope="module", name="result")
def quick_result() -> features.GroupResult:
    return features.run(Options(plan=Plan(repeats=1, most=1), quick=True))


def test_peers_choose_the_same_features(result: features.GroupResult) -> None:
    shared = {
        record["elimination"]: record["shared"]
        for record in result.records
        if "one by one" in record["problem"]
    }
    assert shared["KernelRFE"] == shared["RFE(SVC)"] == "50"
    assert int(shared["RFE(LinearSVC)"]) > 40  # its offset is penalised


def test_selections_by_folds_are_the_same(result: features.GroupResult) -> None:
    shared = [record["shared"] for record in result.records if "5 folds" in record["problem"]]
    assert shared == ["3 of 3"] * 4


def test_every_line_has_a_time(result: features.GroupResult) -> None:
    assert len(result.records) == len(result.tables[0].rows) == 11
    assert all(seconds > 0 for record in result.records for seconds in record["seconds"])


def test_match_leaves_the_others_out() -> None:
    plan = Plan(repeats=1, most=1)
    result = features.run(Options(plan=plan, quick=True, match="polynomial"))
    assert {record["problem"].split(",")[0] for record in result.records} == {
        "criterion of Polynomial"
    }


def test_squared_hinge_is_that_of_liblinear() -> None:
    """The machines of both libraries have the same weights, up to the penalty on the offset."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0, 1, -1)
    problem = features.Problem("", X - X.mean(axis=0), y, 1, "squared_hinge")
    makers = features._contenders(problem, quick=False)
    ours, peer = (makers[key]() for key in ("KernelRFE", "RFE(LinearSVC)"))
    weights = ours.estimator.fit(problem.X, y).coef_.ravel()
    np.testing.assert_allclose(weights, peer.estimator.fit(problem.X, y).coef_.ravel(), atol=1e-2)


def test_recomputed_matrices_give_the_same_sums() -> None:
    rng = np.random.default_rng(0)
    X, beta = rng.normal(size=(30, 4)), rng.normal(size=30)
    kernel = RBF(0.2)
    expected = [beta @ kernel(np.delete(X, k, axis=1)) @ beta for k in range(4)]
    np.testing.assert_allclose(kernel.leave_feature_out(X, beta), expected)
