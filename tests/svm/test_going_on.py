"""A long fit in parts: kept in a file, killed, and brought to its end by another process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import SVC

PARAMETERS: dict[str, Any] = {"C": 10.0, "gamma": 0.5}


def rough_boundary(n: int = 10_000, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of classes that overlap, as many as a product with the matrix is kept for."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    side = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0
    return X, side + (n_classes - 2) * (X[:, 2] > 1.0)


def stopped(X: Any, y: Any, n_steps: int = 2000) -> SVC:
    """Return a machine that is not at its optimum yet."""
    model = SVC(warm_start=True, max_iter=n_steps, **PARAMETERS)
    with pytest.warns(ConvergenceWarning):
        return model.fit(X, y)


def slack(model: SVC) -> np.ndarray:
    """Return the slack of all machines as an array."""
    return np.asarray(model.slack_ if model.slack_.ndim == 1 else model.slack_.toarray())


def looked_at(model: SVC, X: Any, y: Any) -> SVC:
    """Return the machine after a fit of no steps, which only says where it stands."""
    model.set_params(max_iter=0)
    with pytest.warns(ConvergenceWarning):
        return model.fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nothing_is_computed_again(n_classes: int, tmp_path: Path) -> None:
    """Not one digit of the gradient changes, by file or not; computed anew it differs."""
    X, y = rough_boundary(n_classes=n_classes)
    model = stopped(X, y)
    before = slack(model)
    mercer.save(model, tmp_path / "model.mercer")
    for again in (model, mercer.load(tmp_path / "model.mercer")):
        np.testing.assert_allclose(slack(looked_at(again, X, y)), before, rtol=0, atol=1e-12)


@pytest.mark.parametrize("change", ["row", "kernel", "tol", "length", "number"])
def test_what_is_known_is_of_these_rows_only(change: str) -> None:
    """With anything else the gradient is that of the problem at hand, as if nothing were known."""
    X, y = rough_boundary()
    model = stopped(X, y)
    if change == "row":
        X = X.copy()
        X[model.support_[0]] += 1.0
    elif change == "kernel":
        model.set_params(gamma=0.6)
    elif change == "tol":
        model.set_params(tol=1e-8)
    else:  # of a file that somebody changed
        mark, image = model._last_image
        model._last_image = mark, image[1:] if change == "length" else np.full_like(image, np.nan)
    looked_at(model, X, y)
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    expected = np.maximum(0.0, 1.0 - signs * model.decision_function(X))
    atol = 1e-9 if change == "tol" else 2e-4
    np.testing.assert_allclose(slack(model), expected, rtol=0, atol=atol)


def test_few_rows_keep_nothing() -> None:
    """And fits that do not go on keep nothing either."""
    X, y = rough_boundary(500)
    assert stopped(X, y, 100)._last_image is None
    X, y = rough_boundary()
    assert SVC(**PARAMETERS).fit(X, y)._last_image is None


FIT = """
import sys, warnings
import mercer
sys.path.insert(0, {folder!r})
from test_going_on import PARAMETERS, rough_boundary

warnings.simplefilter("ignore")
model = mercer.SVC(warm_start=True, max_iter=500, **PARAMETERS)
while True:
    model.fit(*rough_boundary(3000))
    mercer.save(model, {file!r})
    print(model.gap_[0], flush=True)
"""


def test_killed_in_the_middle(tmp_path: Path) -> None:
    """What was kept before a process was killed is not lost, and leads to the same optimum."""
    file = tmp_path / "model.mercer"
    code = FIT.format(folder=str(Path(__file__).parent), file=str(file))
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        gaps = [float(process.stdout.readline()) for _ in range(3)]
        process.kill()
    X, y = rough_boundary(3000)
    model = mercer.load(file).set_params(max_iter=-1).fit(X, y)
    cold = SVC(**PARAMETERS).fit(X, y)
    assert min(gaps) > 1e-3 >= model.gap_[0]
    assert model.objective_[0] == pytest.approx(cold.objective_[0], rel=1e-5)
    assert 0 < model.n_iter_[0] < cold.n_iter_[0] - 500
