"""Cells whose programs are solved in one call have the machines that single fits give."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, CellSVC, CellSVR
from mercer.cells import _fitting
from mercer.cells._cells import rows_of
from mercer.kernels import Laplacian


@pytest.fixture(name="clouds", scope="module")
def clouds_data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of three classes in the plane, and a number for each."""
    random = np.random.default_rng(3)
    X = random.normal(size=(1500, 2))
    y = (X[:, 0] + 0.5 * np.sin(3 * X[:, 1]) > 0).astype(int) + (X[:, 1] > 1.0)
    flipped = random.random(1500) < 0.05
    return X, np.where(flipped, 0, y), np.sin(2 * X[:, 0]) + 0.1 * random.normal(size=1500)


@pytest.fixture(name="calls")
def counted_calls(monkeypatch) -> list[int]:
    """How many machines each call of the engine has solved together."""
    counts: list[int] = []
    solve = _fitting.solve_together

    def counting(begun, *more):
        counts.append(len(begun))
        solve(begun, *more)

    monkeypatch.setattr(_fitting, "solve_together", counting)
    return counts


def assert_as_alone(model, machine, X, y, weights=None) -> None:
    """The objective and the values of each cell's machine are those of a fit to its rows."""
    members = model.partition_.members(X)
    for cell, found in enumerate(model.estimators_):
        if len(found.classes_) < 2:
            continue
        rows = rows_of(members, cell)
        own = {} if weights is None else {"sample_weight": weights[rows]}
        alone = machine.fit(X[rows], y[rows], **own)
        np.testing.assert_allclose(found.objective_, alone.objective_, rtol=1e-9)
        function = "decision_function" if hasattr(alone, "decision_function") else "predict"
        np.testing.assert_allclose(
            getattr(found, function)(X), getattr(alone, function)(X), atol=1e-5
        )
        np.testing.assert_allclose(found.slack_.sum(), alone.slack_.sum(), rtol=1e-5, atol=1e-5)
        assert found.shape_fit_ == alone.shape_fit_
        assert found.n_features_in_ == 2
        np.testing.assert_array_equal(X[rows][found.support_], found.support_vectors_)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "squared_hinge"},
        {"multi_class": "ovr"},
        {"kernel": Laplacian(0.3)},
        {"class_weight": {0: 2.0, 1: 1.0, 2: 0.5}},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_classifiers(options, weighted, clouds, calls):
    X, y, _ = clouds
    weights = np.random.default_rng(0).integers(1, 4, len(y)) / 2 if weighted else None
    machine = SVC(**{"gamma": 0.7, "tol": 1e-7, **options})
    model = CellSVC(machine, cell_size=200, random_state=0).fit(X, y, weights)
    assert calls == [model.n_cells_ - sum(len(m.classes_) < 2 for m in model.estimators_)]
    assert calls[0] > 3
    # In cells that lack a class the codes are those of the whole, and the weights of classes too.
    assert_as_alone(model, machine, X, y, weights)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("unit", [1.0, 2.0**70], ids=["", "large"])
def test_regressions(loss, epsilon, unit, clouds, calls):
    X, _, t = clouds
    machine = SVR(gamma=0.7, C=3.0 * unit, epsilon=epsilon * unit, loss=loss, tol=1e-7 * unit)
    if loss.startswith("squared"):
        machine.set_params(C=3.0)
    model = CellSVR(machine, cell_size=300, random_state=0).fit(X, unit * t)
    assert calls == [model.n_cells_]
    members = model.partition_.members(X)
    for cell, found in enumerate(model.estimators_):
        rows = rows_of(members, cell)
        alone = machine.fit(X[rows], unit * t[rows])
        np.testing.assert_allclose(found.objective_, alone.objective_, rtol=1e-9)
        np.testing.assert_allclose(found.predict(X), alone.predict(X), atol=1e-5 * unit)


def test_cells_of_one_class_have_no_program(calls):
    X = np.concatenate([np.random.default_rng(k).normal(10 * k, 1, (300, 2)) for k in range(3)])
    y = np.repeat([0, 0, 1], 300)
    y[-150:] = 0
    model = CellSVC(SVC(), cell_size=200, overlap=0.0, metric="euclidean").fit(X, y)
    alone = sum(machine.classes_.size == 1 for machine in model.estimators_)
    assert alone > 0
    assert calls == [model.n_cells_ - alone]


def test_many_cells_go_in_several_calls(clouds, calls, monkeypatch):
    X, y, _ = clouds
    together = CellSVC(SVC(), cell_size=200, random_state=0).fit(X, y)
    monkeypatch.setattr(_fitting, "ENTRIES_TOGETHER", 1000)
    several = CellSVC(SVC(), cell_size=200, random_state=0).fit(X, y)
    assert calls[0] > 3
    assert len(calls) > 3
    assert sum(calls[1:]) == calls[0]
    np.testing.assert_allclose(
        together.decision_function(X), several.decision_function(X), atol=5e-3
    )


@pytest.mark.parametrize(
    "options",
    [
        {"time_limit": 100.0},
        {"probability": True},
        {"solver": "exact"},
        {"kernel": "linear"},
        {"kernel": lambda X, Y: (1.0 + X @ Y.T) ** 3},
        {"warm_start": True},
    ],
    ids=lambda one: next(iter(one)),
)
def test_what_is_asked_of_single_fits_is_done_by_single_fits(options, clouds, calls):
    X, y, _ = clouds
    model = CellSVC(SVC(**options), cell_size=300, metric="euclidean").fit(X[:900], y[:900])
    assert not calls
    assert model.score(X, y) > 0.7


def test_limits_of_steps_are_told(clouds, calls):
    X, y, _ = clouds
    with pytest.warns(ConvergenceWarning, match="max_iter was reached after 3 iterations"):
        CellSVC(SVC(max_iter=3), cell_size=300, metric="euclidean").fit(X, y)
    assert calls


def test_a_cell_without_a_solution_is_refused(clouds, calls):
    X, y, _ = clouds
    X = np.concatenate([X, X[:200]])
    y = np.concatenate([y, (y[:200] + 1) % 3])
    with pytest.raises(ValueError, match="cannot be separated"):
        CellSVC(SVC(C=np.inf, gamma=0.01), cell_size=300, metric="euclidean").fit(X, y)
    assert calls
