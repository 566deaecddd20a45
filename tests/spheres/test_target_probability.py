"""Probabilities of being a target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer import SVDD, OneClassSearch, OneClassSVM
from mercer.spheres import TargetProbability, artificial_outliers

X = np.random.default_rng(0).normal(size=(400, 2))


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
@pytest.mark.parametrize("estimator", [SVDD(nu=0.05), OneClassSVM(nu=0.1), SVDD(nu=0)], ids=str)
def test_methods_agree(estimator: Any, method: str) -> None:
    model = TargetProbability(estimator, method=method).fit(X)
    grid = np.random.default_rng(1).uniform(-4, 4, size=(300, 2))
    probability = model.predict_proba(grid)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(
        model.classes_[(probability[:, 1] >= 0.5).astype(int)], model.predict(grid)
    )
    assert model.offset_ == 0.0  # where the sign of the decision function changes
    odds = model.decision_function(grid)
    np.testing.assert_allclose(np.log(probability[:, 1] / probability[:, 0]), odds, rtol=1e-6)
    order = np.argsort(model.estimator_.decision_function(grid))
    assert (np.diff(probability[order, 1]) >= 0).all()


@pytest.mark.parametrize("share", [0.1, 0.4])
@pytest.mark.parametrize("region", ["box", "ball"])
def test_probabilities_are_frequencies(share: float, region: str) -> None:
    """Where outliers are spread as assumed, rows given 70 % are targets in about 70 % of cases."""
    rng = np.random.default_rng(2)
    train = rng.normal(size=(1000, 2))
    model = TargetProbability(SVDD(nu=0.05), outlier_share=share, region=region).fit(train)
    outliers = artificial_outliers(train, 20_000, region=region, random_state=3)
    n_targets = int(len(outliers) * (1 - share) / share)
    rows = np.vstack([rng.normal(size=(n_targets, 2)), outliers])
    is_target = np.arange(len(rows)) < n_targets
    probability = model.predict_proba(rows)[:, 1]
    assert probability.mean() == pytest.approx(is_target.mean(), abs=0.01)
    for low, high in ((0.0, 0.5), (0.5, 0.8), (0.8, 1.0)):
        part = (probability >= low) & (probability < high)
        if part.sum() > 500:
            assert is_target[part].mean() == pytest.approx(probability[part].mean(), abs=0.05)


def test_rows_are_judged_by_balls_that_have_not_seen_them() -> None:
    """A narrow ball around its own rows looks safe; out of fold it does not."""
    narrow = SVDD(gamma=50.0, nu=0)
    model = TargetProbability(narrow).fit(X)
    inside = narrow.fit(X).decision_function(X)
    assert (inside >= 0).all()
    held_out = np.random.default_rng(5).normal(size=(400, 2))
    # Most new targets lie outside the narrow ball, and must not be called outliers for that.
    assert (narrow.predict(held_out) == 1).mean() < 0.6
    assert (model.predict(held_out) == 1).mean() > 0.9


def test_same_seed_same_result() -> None:
    first, second = (TargetProbability(SVDD(), random_state=7).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    third = TargetProbability(SVDD(), random_state=8).fit(X)
    assert (first.predict_proba(X) != third.predict_proba(X)).any()


def test_a_search_inside() -> None:
    model = TargetProbability(OneClassSearch(SVDD(), strategy="median")).fit(X)
    assert model.predict_proba([[0.0, 0.0]])[0, 1] > 0.9
    assert model.predict_proba([[9.0, 9.0]])[0, 1] < 0.1


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_shares_must_leave_room_for_both(share: float) -> None:
    with pytest.raises(ValueError, match="outlier_share"):
        TargetProbability(SVDD(), outlier_share=share).fit(X)
