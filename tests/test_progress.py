"""What takes long says how far it has come, if it is asked to, and else nothing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from mercer import (
    SVC,
    SVDD,
    FuzzyRuleClassifier,
    GradientSearch,
    KernelRFECV,
    OneClassSearch,
    PrunedTreeClassifier,
)
from mercer.trees import ProximityImputer

STAGES: list[tuple[Any, list[str]]] = [
    (
        PrunedTreeClassifier(cv=3, random_state=0),
        [r"fold \d of 3: at best \d+\.\d% right, of \d+ prunings"] * 3
        + [r"\d+ rules at alpha = \S+"],
    ),
    (
        FuzzyRuleClassifier(max_rules=3, n_generations=60, random_state=0),
        [
            r"3 clusters of 149 rows",
            r"generation 0 of 60: cost \S+",
            r"generation 50 of 60: cost \S+",
            r"generation 60 of 60: cost \S+",
            r"3 rules with \d+ antecedents",
        ],
    ),
    (
        KernelRFECV(SVC(), cv=3),
        [rf"fold {k} of 3 ranked and scored" for k in (1, 2, 3)]
        + [r"\d of 4 features, mean score 0\.9\d+"],
    ),
    (
        ProximityImputer(max_iter=2, tol=0.0, random_state=0),
        [rf"round {k} of at most 2: gaps moved by \S+ standard deviations" for k in (1, 2)],
    ),
    (
        OneClassSearch(SVDD(nu=0.1), strategy="support_plateau", n_widths=3),
        [r"sigma = \S+, nu = \S+: \d+\.\d% support vectors"] * 3 + [r"sigma = \S+, .+"],
    ),
    (
        OneClassSearch(SVDD(nu=0.1), strategy="median"),
        [r"sigma = \S+, nu = \S+: \d+\.\d% support vectors", r"sigma = \S+, one over gamma .+"],
    ),
    (
        GradientSearch(SVC(), max_evaluations=6),
        [
            r"together, start 1: criterion \S+ at C = \S+ after \d evaluations",
            r"each on its own, start 1: criterion \S+ at C = \S+ after \d evaluations",
            r"log evidence gained by one parameter for each feature: \S+, (not )?accepted",
        ]
        # C is at its upper bound, so that there is a smaller one to try, but no larger one.
        + [r"hinge at C = \S+: \d+\.\d+ % errors on folds"] * 2
        + [r"score 0\.\d+ on folds; fits 150 rows"],
    ),
]


@pytest.fixture(scope="module", name="iris")
def iris_data() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X, y


@pytest.mark.parametrize(
    ("model", "stages"), STAGES, ids=[type(model).__name__ for model, _ in STAGES]
)
def test_one_line_a_stage(model: Any, stages: list[str], iris: Any, capsys: Any) -> None:
    X, y = iris
    if isinstance(model, ProximityImputer):
        X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    quiet = clone(model).fit(X, y)
    assert capsys.readouterr() == ("", "")
    loud = clone(model).set_params(verbose=1).fit(X, y)
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert len(lines) == len(stages)
    for line, stage in zip(lines, stages):
        assert re.fullmatch(f"{type(model).__name__}: {stage}", line), line
    for name in ("alpha_", "rules_", "support_", "sigma_", "n_iter_", "best_score_"):
        if hasattr(quiet, name):
            np.testing.assert_array_equal(getattr(loud, name), getattr(quiet, name))


def test_artificial_outliers_tell_their_criterion(iris: Any, capsys: Any) -> None:
    settings = {"strategy": "artificial_outliers", "n_widths": 3, "nus": [0.1], "random_state": 0}
    search = OneClassSearch(SVDD(), verbose=True, **settings).fit(iris[0])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(search.history_) + 1
    assert all("% support vectors, criterion " in line for line in lines[:-1])
