"""Machines in cells: what they share with single ones, and what they promise beyond."""

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import make_classification, make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    SVC,
    SVDD,
    SVR,
    CellOneClassSVM,
    CellSVC,
    CellSVR,
    GradientSearch,
    NearestHypersphereClassifier,
    OneClassSVM,
    PathSearchCV,
    PlattClassifier,
)
from mercer.cells._budget import SMALLEST_SIZE, Cost
from mercer.kernels import RBF


@pytest.fixture(scope="module", name="moons")
def moons_data() -> tuple[np.ndarray, np.ndarray]:
    return make_moons(3000, noise=0.3, random_state=0)


@pytest.fixture(scope="module", name="many")
def many_classes() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        3000, 6, n_informative=4, n_classes=5, n_clusters_per_class=2, random_state=0
    )


def cells(**changes) -> CellSVC:
    return CellSVC(SVC(C=5.0), cell_size=400, random_state=0, **changes)


def mean_by_hand(model, X: np.ndarray, value) -> np.ndarray:
    """The weighted mean of the machines' values, one row after the other."""
    weights = model.partition_.members(X).toarray()
    found = np.zeros(len(X))
    for row, point in enumerate(X):
        near = np.flatnonzero(weights[row])
        values = [value(model.estimators_[cell], point[None])[0] for cell in near]
        found[row] = np.average(values, weights=weights[row, near])
    return found


# ---- with one machine ---------------------------------------------------------------------------


def test_one_cell_is_the_machine_itself(moons):
    X, y = moons
    model = CellSVC(SVC(C=5.0, tol=1e-9)).fit(X, y)
    single = SVC(C=5.0, tol=1e-9).fit(X, y)
    assert model.n_cells_ == 1
    np.testing.assert_allclose(model.decision_function(X), single.decision_function(X), atol=1e-7)


def test_values_are_the_mean_of_the_cells(moons):
    X, y = moons
    model = cells().fit(X, y)
    expected = mean_by_hand(model, X[:200], lambda machine, one: machine.decision_function(one))
    np.testing.assert_allclose(model.decision_function(X[:200]), expected, atol=1e-6)


def test_without_blending_values_are_those_of_the_own_cell(moons):
    X, y = moons
    model = cells(blend=False).fit(X, y)
    own = model.partition_.nearest(X[:100])
    expected = [model.estimators_[cell].decision_function([row])[0] for cell, row in zip(own, X)]
    np.testing.assert_allclose(model.decision_function(X[:100]), expected, atol=1e-6)


def test_errors_are_near_those_of_one_machine(moons):
    X, y = moons
    test, labels = make_moons(3000, noise=0.3, random_state=1)
    assert cells().fit(X, y).score(test, labels) > SVC(C=5.0).fit(X, y).score(test, labels) - 0.01


def test_the_function_is_continuous(moons):
    """Along lines through all cells steps shrink with the distance, with blending only."""
    X, y = moons
    line = np.linspace([-1.5, -1.0], [2.5, 1.5], 200_001)
    blended = np.abs(np.diff(cells(overlap=0.5).fit(X, y).decision_function(line))).max()
    apart = np.abs(np.diff(cells(overlap=0.5, blend=False).fit(X, y).decision_function(line))).max()
    assert blended < 1e-3
    assert apart > 10 * blended


def test_width_and_class_weights_are_those_of_all_rows(moons):
    X, y = moons
    X, y = X[(y == 0) | (np.arange(len(y)) % 5 == 0)], y[(y == 0) | (np.arange(len(y)) % 5 == 0)]
    model = CellSVC(SVC(class_weight="balanced"), cell_size=400, random_state=0).fit(X, y)
    machines = [machine for machine in model.estimators_ if isinstance(machine, SVC)]
    kernel = RBF("scale").resolve(X)
    assert len(machines) > 2
    assert all(machine.kernel_.gamma == pytest.approx(kernel.gamma) for machine in machines)
    factors = len(y) / (2 * np.bincount(y))
    for machine in machines:
        assert machine.class_weight == pytest.approx({0: factors[0], 1: factors[1]})


def test_class_weights_are_of_labels(moons):
    X, y = moons
    names = np.where(y > 0, "yes", "no")
    plain, strict = (
        CellSVC(SVC(class_weight=weight), cell_size=400, random_state=0).fit(X, names)
        for weight in (None, {"no": 20.0})
    )
    assert (strict.predict(X) == "no").sum() > (plain.predict(X) == "no").sum()
    with pytest.raises(ValueError, match="not in class_weight"):
        CellSVC(SVC(class_weight={"maybe": 2.0})).fit(X, names)


# ---- classes ------------------------------------------------------------------------------------


def test_many_classes_and_cells_without_some(many):
    X, y = many
    names = np.array(["a", "b", "c", "d", "e"])[y]
    model = CellSVC(SVC(C=5.0), cell_size=200, random_state=0).fit(X[:2000], names[:2000])
    assert {len(machine.classes_) for machine in model.estimators_} != {5}
    values = model.decision_function(X[2000:])
    assert values.shape == (1000, 5)
    assert (model.predict(X[2000:]) == model.classes_[values.argmax(axis=1)]).all()
    single = SVC(C=5.0).fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
    assert model.score(X[2000:], names[2000:]) > single - 0.04


def test_one_cell_of_many_classes_predicts_as_the_machine(many):
    X, y = many
    model, single = CellSVC(SVC()).fit(X, y), SVC().fit(X, y)
    assert (model.predict(X) == single.predict(X)).all()


def test_cells_of_one_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2)) + np.repeat(
        20 * np.eye(2)[:1] * np.arange(4)[:, None], 300, axis=0
    )
    y = np.repeat([0, 1, 0, 1], 300)
    model = CellSVC(SVC(), cell_size=300, overlap=0.0, metric="euclidean", random_state=0)
    model.fit(X, y)
    assert not any(isinstance(machine, SVC) for machine in model.estimators_)
    assert model.score(X, y) == 1.0
    np.testing.assert_array_equal(np.unique(model.decision_function(X)), [-1.0, 1.0])


@pytest.mark.parametrize(
    "machine",
    [
        NearestHypersphereClassifier(),
        SVC(decision_function_shape="ovo"),
        SVC(multi_class="ovr"),
        RandomForestClassifier(20, random_state=0),
        make_pipeline(StandardScaler(), SVC()),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_any_classifier_may_be_in_the_cells(machine, many):
    X, y = many
    model = CellSVC(machine, cell_size=400, random_state=0).fit(X[:2000], y[:2000])
    alone = clone(machine).fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
    assert model.score(X[2000:], y[2000:]) > alone - 0.1


def test_probabilities_come_from_platt(moons):
    X, y = moons
    model = PlattClassifier(cells()).fit(X[:2000], y[:2000])
    probabilities = model.predict_proba(X[2000:])[:, 1]
    for low in (0.0, 0.4, 0.8):
        inside = (probabilities >= low) & (probabilities < low + 0.2)
        assert y[2000:][inside].mean() == pytest.approx(low + 0.1, abs=0.12)


# ---- regression and one class -------------------------------------------------------------------


def test_regression_is_the_mean_of_the_cells():
    X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    model = CellSVR(SVR(C=10.0, gamma=2.0), cell_size=300, random_state=0).fit(X, y)
    expected = mean_by_hand(model, X[:100], lambda machine, one: machine.predict(one))
    np.testing.assert_allclose(model.predict(X[:100]), expected, atol=1e-6)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("machine", [OneClassSVM(nu=0.1), SVDD(nu=0.1)], ids=["nu", "ball"])
def test_one_class_keeps_its_share(machine):
    X = np.random.default_rng(0).normal(size=(4000, 3))
    model = CellOneClassSVM(machine, cell_size=500, random_state=0).fit(X)
    assert model.n_cells_ > 4
    assert (model.predict(X) < 0).mean() == pytest.approx(0.1, abs=0.01)
    assert (model.predict(10 * np.eye(3)) == -1).all()
    np.testing.assert_allclose(model.decision_function(X), model.score_samples(X) - model.offset_)


# ---- searches -----------------------------------------------------------------------------------


def test_a_search_in_every_cell(moons):
    X, y = moons
    search = PathSearchCV(SVC(gamma=1.0), {"C": [0.1, 1.0, 10.0]}, cv=2)
    model = CellSVC(search, cell_size=600, random_state=0).fit(X, y)
    assert all(isinstance(machine, PathSearchCV) for machine in model.estimators_)


@pytest.mark.parametrize(
    "search",
    [GradientSearch(SVC(), max_evaluations=5), PathSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2)],
    ids=["gradient", "path"],
)
def test_a_search_in_some_cells_for_all(search, moons):
    X, y = moons
    model = CellSVC(search, cell_size=600, tune_on=2, random_state=0).fit(X, y)
    machines = [machine for machine in model.estimators_ if hasattr(machine, "kernel_")]
    assert {type(machine) for machine in machines} == {SVC}
    assert len({machine.C for machine in machines}) == 1
    assert model.score(X, y) > 0.88


def test_tuning_needs_a_search(moons):
    with pytest.raises(ValueError, match="tune_on=2 needs a search as estimator"):
        cells(tune_on=2).fit(*moons)


# ---- data and threads ---------------------------------------------------------------------------


def test_sparse_rows_are_as_dense_ones(moons):
    X, y = np.maximum(moons[0], 0), moons[1]
    dense = cells().fit(X, y)
    thin = cells().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(
        dense.decision_function(X), thin.decision_function(sp.csr_array(X)), atol=5e-3
    )


def test_mapped_rows_stay_where_they_are(moons, tmp_path):
    X, y = moons
    mapped = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=X.shape)
    mapped[:] = X
    model = cells().fit(mapped, y)
    inside = cells().fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(model.decision_function(X), inside.decision_function(X))


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_change_nothing(n_jobs, moons):
    X, y = moons
    first, second = (cells(n_jobs=jobs).fit(X, y) for jobs in (1, n_jobs))
    big = np.tile(X, (3, 1))
    np.testing.assert_array_equal(first.decision_function(big), second.decision_function(big))


def test_other_back_ends_are_used(moons):
    X, y = moons
    exact = {"estimator": SVC(C=5.0, tol=1e-6)}  # machines are fitted one by one there
    with parallel_config("loky", n_jobs=2):
        model = cells(n_jobs=2).set_params(**exact).fit(X, y)
    alone = cells(n_jobs=1).set_params(**exact).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-4)


def test_values_in_blocks(moons, monkeypatch):
    X, y = moons
    model = cells().fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr("mercer.cells._cells.ROWS_AT_ONCE", 700)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)


def test_a_failed_fit_changes_nothing(moons):
    X, y = moons
    model = cells().fit(X, y)
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match="needs points, not kernel values"):
        model.set_params(estimator=SVC(kernel="precomputed")).fit(X, y)
    model.set_params(estimator=before["estimator"])
    assert model.__dict__ == before


@pytest.mark.parametrize(
    "machine", [cells(), CellSVR(cell_size=400), CellOneClassSVM(cell_size=400)]
)
def test_files(machine, moons, tmp_path):
    X, y = moons
    model = machine.fit(X, y)
    mercer.save(model, tmp_path / "model")
    values = getattr(model, "decision_function", model.predict)
    loaded = mercer.load(tmp_path / "model")
    again = getattr(loaded, "decision_function", loaded.predict)
    np.testing.assert_array_equal(values(X), again(X))


def test_it_says_how_far_it_is(moons, capsys):
    cells(verbose=1).fit(*moons)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("CellSVC: 3,000 rows in ")
    assert lines[-1].endswith("cells")


# ---- cost ---------------------------------------------------------------------------------------


def clock_of(seconds: list[float]):
    """A clock on which the fits take these seconds."""
    ticks = iter(np.cumsum([step for one in seconds for step in (0.0, one)]))
    return lambda: float(next(ticks))


def test_cost_is_read_from_two_fits():
    rows: list[int] = []
    cost = Cost.measured(rows.append, 100_000, clock_of([5.0, 0.1, 1.6]))
    assert rows == [2500, 2500, 10_000]
    assert cost.power == pytest.approx(2.0)
    assert cost.of_cells(100_000, 10_000, 0.0, 1) == pytest.approx(16.0)
    assert cost.of_cells(100_000, 10_000, 0.0, 4) == pytest.approx(4.0)


def test_size_fits_into_the_budget():
    cost = Cost(10_000, 1.6, 2.0)
    for budget in (0.001, 1.0, 10.0, 1e9):
        size = cost.size_within(budget, 100_000, 0.3, 2)
        seconds = cost.of_cells(100_000, size, 0.3, 2)
        assert seconds <= budget or size == SMALLEST_SIZE
        larger = min(100_000, round(size * 1.3))
        assert cost.of_cells(100_000, larger, 0.3, 2) > budget or size == 100_000


def test_a_budget_of_time_chooses_the_size(moons, capsys):
    X, y = moons
    model = CellSVC(time_budget=1e6, verbose=1).fit(X, y)
    assert model.n_cells_ == 1
    assert "in about" in capsys.readouterr().out
