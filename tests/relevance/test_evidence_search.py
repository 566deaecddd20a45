"""Kernel widths of a relevance vector machine by its evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer import RVC, GradientSearch
from mercer.datasets import make_ripley
from mercer.kernels import RBF
from mercer.relevance import relevance_evidence

IRIS = load_iris(return_X_y=True)


@pytest.fixture(scope="module", name="ripley")
def ripley_data() -> tuple[Any, Any]:
    return make_ripley(100, random_state=0)


def test_nothing_on_a_grid_is_much_better(ripley: Any) -> None:
    """Other vectors may be chosen at each width, so that the evidence is not quite smooth."""
    X, y = ripley
    search = GradientSearch(RVC(gamma=1.0), criterion="evidence").fit(X, y)
    model = search.best_estimator_
    assert search.best_params_ == {"gamma": model.gamma}
    assert search.best_criterion_ == pytest.approx(-model.log_evidence_ / len(y), rel=1e-6)
    grid = [RVC(gamma=g).fit(X, y).log_evidence_ for g in np.geomspace(0.1, 100, 13)]
    assert model.log_evidence_ > max(grid) - 2.0
    assert model.log_evidence_ > min(grid) + 3.0
    assert search.n_fits_ == search.n_evaluations_ + 1


def test_a_feature_that_does_not_matter_gets_a_wide_kernel(ripley: Any) -> None:
    X, y = ripley
    noise = np.random.default_rng(0).normal(scale=X.std(), size=(len(y), 1))
    start = RVC(kernel=RBF([2.0, 2.0, 2.0]))
    search = GradientSearch(start, criterion="evidence").fit(np.hstack([X, noise]), y)
    gamma = search.best_params_["kernel"].gamma
    assert gamma[2] < 0.2 * gamma[:2].min()
    assert search.best_estimator_.log_evidence_ > start.fit(np.hstack([X, noise]), y).log_evidence_


@pytest.mark.parametrize("multi_class", ["softmax", "ovr"])
def test_many_classes_and_weights(multi_class: str) -> None:
    X, y = IRIS
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    start = RVC(gamma=0.05, multi_class=multi_class)
    search = GradientSearch(start, "evidence", max_evaluations=6).fit(X, y, weights)
    found = relevance_evidence(search.best_estimator_, X, y, sample_weight=weights)
    assert -found.value / weights.sum() <= search.history_[0]["criterion"] + 1e-9
    assert search.score(X, y) > 0.9


def test_a_search_goes_on_where_it_was_stopped(ripley: Any, tmp_path: Path) -> None:
    checkpoint = tmp_path / "search.npz"
    params: dict[str, Any] = {"criterion": "evidence", "checkpoint": checkpoint}
    GradientSearch(RVC(gamma=1.0), max_evaluations=3, **params).fit(*ripley)
    on = GradientSearch(RVC(gamma=1.0), max_evaluations=8, **params).fit(*ripley)
    whole = GradientSearch(RVC(gamma=1.0), criterion="evidence", max_evaluations=8).fit(*ripley)
    assert on.best_criterion_ == whole.best_criterion_


@pytest.mark.parametrize(
    ("model", "criterion", "words"),
    [
        (RVC(), "press", "evidence"),
        (RVC(basis="columns"), "evidence", "no parameters"),
        (RVC(kernel="linear"), "evidence", "no parameters"),
    ],
)
def test_what_cannot_be_searched(model: Any, criterion: str, words: str, ripley: Any) -> None:
    with pytest.raises(ValueError, match=words):
        GradientSearch(model, criterion).fit(*ripley)
