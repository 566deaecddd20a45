"""Where no multiplier is free, every solver, machine and search takes the same offset."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from mercer import SVC, PathSearchCV
from mercer.model_selection import leave_one_out

WEAK = {"class_weight": "balanced", "C": 0.001}


def overlapping(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two classes of unequal size."""
    return make_classification(
        120, 4, n_informative=4, n_redundant=0, weights=[0.7], flip_y=0.1, random_state=seed
    )


def allowed(model: SVC, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the ends of the interval of optimal offsets: every row is at C, outside the margin."""
    values = model.decision_function(X) - model.intercept_
    signs = np.where(y == 1, 1.0, -1.0)
    ends = signs - values  # y f(x) <= 1 for a row at its bound
    return ends[signs < 0].max(), ends[signs > 0].min()


@pytest.mark.parametrize("seed", range(30))
def test_solvers_and_searches_agree(seed: int) -> None:
    X, y = overlapping(seed)
    model = SVC(**WEAK, tol=1e-6).fit(X, y)
    assert set(model.support_kind_.ravel()) <= {"bound", "margin"}
    low, high = allowed(model, X, y)
    assert low < high
    assert model.intercept_[0] == pytest.approx((low + high) / 2, abs=1e-5)
    exact = SVC(**WEAK, tol=1e-6, solver="exact").fit(X, y)
    assert model.intercept_[0] == pytest.approx(exact.intercept_[0], abs=1e-5)
    np.testing.assert_array_equal(model.predict(X), exact.predict(X))
    assert set(model.predict(X)) == {0, 1}

    grid, folds = {"C": [0.001, 0.01]}, StratifiedKFold(5)
    path = PathSearchCV(SVC(class_weight="balanced"), grid, cv=folds).fit(X, y)
    plain = GridSearchCV(SVC(class_weight="balanced"), grid, cv=folds).fit(X, y)
    for k in range(5):
        name = f"split{k}_test_score"
        np.testing.assert_allclose(path.cv_results_[name], plain.cv_results_[name], atol=1e-12)


def test_rows_left_out_take_it_too() -> None:
    """A machine that is trained without the row decides as the first-order answer does."""
    X, y = overlapping(3)
    found = leave_one_out(SVC(**WEAK, tol=1e-8).fit(X, y), X, y).value
    weight = np.where(y == 1, 120 / (2 * (y == 1).sum()), 120 / (2 * (y == 0).sum()))
    wrong = 0
    for row in range(len(y)):
        kept = np.arange(len(y)) != row
        model = SVC(C=0.001, tol=1e-8, gamma=SVC().fit(X, y).kernel_.gamma)
        model.fit(X[kept], y[kept], sample_weight=weight[kept])
        wrong += int(model.predict(X[row : row + 1])[0] != y[row])
    assert found == pytest.approx(wrong / len(y))
