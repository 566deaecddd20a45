"""Classification by the nearest ball."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict

from mercer import SVDD, NearestHypersphereClassifier
from mercer.gram import make_gram
from mercer.kernels import RBF, Polynomial
from mercer.spheres._class_balls import class_tasks

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]


@pytest.mark.parametrize("nu", [0.01, 0.15, 0.5])
def test_multipliers_are_counted_in_units_of_their_bound(nu: float) -> None:
    """So that a gap means the same for any number of rows."""
    codes = np.repeat([0, 1, 2], 50)
    tasks = class_tasks(make_gram(RBF(0.3), IRIS), codes, np.ones(150), 3, nu)
    for task in tasks:
        np.testing.assert_allclose(task.problem.upper, max(1.0, 1.0 / (nu * 50)))
        assert task.problem.delta == pytest.approx(task.unit)


@pytest.mark.parametrize("nu", [0.0, 0.15])
@pytest.mark.parametrize("kernel", [RBF(0.3), "linear", Polynomial(2, 0.1, 1.0)], ids=str)
def test_each_class_has_the_ball_of_svdd(kernel: Any, nu: float) -> None:
    model = NearestHypersphereClassifier(kernel=kernel, nu=nu, tol=1e-10).fit(IRIS, NAMES)
    distances = model.distance(IRIS)
    for code, name in enumerate(model.classes_):
        ball = SVDD(kernel=kernel, nu=nu, tol=1e-10).fit(IRIS[name == NAMES])
        assert model.radii_[code] == pytest.approx(ball.radius_, rel=1e-7)
        np.testing.assert_allclose(distances[:, code], ball.distance(IRIS), rtol=1e-6)
        assert model.objective_[code] == pytest.approx(ball.objective_[0], rel=1e-7)
    kept = np.repeat(model.classes_, model.n_support_)
    np.testing.assert_array_equal(NAMES[model.support_], kept)
    np.testing.assert_array_equal(IRIS[model.support_], model.support_vectors_)


def test_dissimilarities() -> None:
    """Distance over a power of the radius, or whatever a function says."""
    model = NearestHypersphereClassifier(gamma=0.3).fit(IRIS, NAMES)
    distances, radii = model.distance(IRIS), model.radii_
    expected = {
        "relative": distances / radii,
        "absolute": distances,
        "power": distances / radii**0.4,
    }
    for name, values in expected.items():
        model.set_params(dissimilarity=name, power=0.4)
        np.testing.assert_allclose(model.dissimilarities(IRIS), values)
        np.testing.assert_array_equal(model.predict(IRIS), model.classes_[values.argmin(axis=1)])
        np.testing.assert_allclose(model.decision_function(IRIS), -values)
    model.set_params(dissimilarity=lambda distance, radius: distance**2 - radius**2)
    np.testing.assert_allclose(model.dissimilarities(IRIS), distances**2 - radii**2)


def test_two_classes_follow_the_sign() -> None:
    """Document 004, (4.24): positive values mean the second class."""
    part = SPECIES > 0
    model = NearestHypersphereClassifier(gamma=0.1).fit(IRIS[part], NAMES[part])
    values = model.decision_function(IRIS[part])
    np.testing.assert_array_equal(model.predict(IRIS[part]), model.classes_[(values > 0) * 1])


def test_rejection() -> None:
    """Rows outside every ball, beyond the threshold, get the chosen label."""
    rows = np.vstack([IRIS, IRIS + 30.0])
    model = NearestHypersphereClassifier(gamma=0.3, nu=0.1).fit(IRIS, NAMES)
    relative = (model.distance(rows) / model.radii_).min(axis=1)
    plain = model.predict(rows)
    for threshold in (0.5, 1.0, 1.2):
        model.set_params(reject_threshold=threshold, reject_label="none").fit(IRIS, NAMES)
        labels = model.predict(rows)
        np.testing.assert_array_equal(labels == "none", relative > threshold)
        np.testing.assert_array_equal(labels[relative <= threshold], plain[relative <= threshold])
    assert (labels[len(IRIS) :] == "none").all()
    # Labels keep their type beside a label of another one.
    numbers = NearestHypersphereClassifier(gamma=0.3, reject_threshold=1.0, reject_label="none")
    found = numbers.fit(IRIS, SPECIES).predict(rows)
    assert found[0] == 0
    assert found[-1] == "none"


def test_a_class_with_one_member() -> None:
    X = np.vstack([IRIS[:60], [[7.0, 7.0, 7.0, 7.0]]])
    y = [*NAMES[:60], "odd"]
    with pytest.warns(UserWarning, match=r"class 'odd' is a single point.*least radius"):
        model = NearestHypersphereClassifier(gamma=0.3).fit(X, y)
    odd = list(model.classes_).index("odd")
    assert model.radii_[odd] == 0.0
    assert model.predict([[7.0, 7.0, 7.0, 7.1]]) == ["odd"]
    assert np.isfinite(model.dissimilarities(X)).all()
    np.testing.assert_allclose(
        model.dissimilarities(X)[:, odd], model.distance(X)[:, odd] / model.radii_[1:].min()
    )
    assert model.predict_proba(X[-1:])[0, odd] > 0.9


def test_classes_that_are_all_points() -> None:
    with pytest.warns(UserWarning, match=r"classes 0, 1 are a single point.*number 1"):
        model = NearestHypersphereClassifier(kernel="linear").fit(
            [[0.0], [0.0], [4.0], [4.0]], [0, 0, 1, 1]
        )
    np.testing.assert_array_equal(model.predict([[1.0], [3.0]]), [0, 1])
    np.testing.assert_allclose(model.centers_, [[0.0], [4.0]])


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_copies_change_nothing(kernel: str) -> None:
    """A rigid ball around rows given twice is the same."""
    params = {"kernel": kernel, "gamma": 0.3, "tol": 1e-10}
    once = NearestHypersphereClassifier(**params).fit(IRIS, NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twice = NearestHypersphereClassifier(**params).fit(
            np.vstack([IRIS, IRIS]), np.concatenate([NAMES, NAMES])
        )
    np.testing.assert_allclose(twice.radii_, once.radii_, rtol=1e-7)
    np.testing.assert_allclose(
        twice.dissimilarities(IRIS), once.dissimilarities(IRIS), rtol=1e-5, atol=1e-7
    )


@settings(max_examples=20)
@given(
    st.integers(2, 5),
    st.sampled_from(["relative", "absolute", "power"]),
    st.sampled_from([0.0, 0.2]),
    st.integers(0, 1000),
)
def test_probabilities_never_contradict_the_prediction(
    n_classes: int, dissimilarity: str, nu: float, seed: int
) -> None:
    X, y = make_blobs(60, 2, centers=n_classes, cluster_std=4.0, random_state=seed)
    model = NearestHypersphereClassifier(dissimilarity=dissimilarity, power=0.5, nu=nu).fit(X, y)
    rows = np.random.default_rng(seed).uniform(-20, 20, size=(200, 2))
    probability = model.predict_proba(rows)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert (probability >= 0).all()
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(rows))
    if n_classes == 2:
        odds = np.log(probability[:, 1]) - np.log(probability[:, 0])
        np.testing.assert_allclose(
            odds, -model.slope_ * model.decision_function(rows), rtol=1e-5, atol=1e-7
        )


def test_probabilities_come_from_balls_that_have_not_seen_the_row() -> None:
    """The slope fits rows left out: other slopes give them less likelihood."""
    X, y = make_blobs(400, 3, centers=3, cluster_std=3.0, random_state=0)
    model = NearestHypersphereClassifier(gamma=0.05).fit(X, y)
    new, labels = make_blobs(4000, 3, centers=3, cluster_std=3.0, random_state=0)
    new, labels = new[400:], labels[400:]
    losses = []
    for factor in (0.4, 1.0, 2.5):
        model.slope_ *= factor
        losses.append(log_loss(labels, model.predict_proba(new)))
        model.slope_ /= factor
    assert losses[1] < losses[0]
    assert losses[1] < losses[2]


@pytest.mark.parametrize(("n", "nu"), [(150, 0.0), (1200, 0.2)])
def test_probabilities_do_not_depend_on_the_unit(n: int, nu: float) -> None:
    """Of few rows and of many, which are solved only as far as is asked for."""
    X, y = (IRIS, NAMES) if n == 150 else make_blobs(n, 2, centers=2, random_state=0)
    models = [
        NearestHypersphereClassifier(kernel="linear", nu=nu, tol=1e-8).fit(unit * X, y)
        for unit in (1e-3, 1.0, 1e3)
    ]
    for model in models[1:]:
        assert model.slope_ == pytest.approx(models[0].slope_, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_gaps_do_not_depend_on_the_unit(unit: float) -> None:
    model = NearestHypersphereClassifier(kernel="linear", nu=0.15, max_iter=5)
    with pytest.warns(ConvergenceWarning):
        gaps = model.fit(IRIS, NAMES).gap_
    with pytest.warns(ConvergenceWarning):
        np.testing.assert_allclose(model.fit(unit * IRIS, NAMES).gap_, gaps, rtol=1e-3)


def test_converged_means_all_balls() -> None:
    """That of a single point has nothing to do, and those of the others have no time."""
    model = NearestHypersphereClassifier(nu=0.15, max_iter=1, cv=None)
    names = np.where(np.arange(150) == 149, "odd", NAMES)
    with pytest.warns(ConvergenceWarning), pytest.warns(UserWarning, match="single point"):
        model.fit(IRIS, names)
    assert model.gap_[0] == 0.0
    assert not model.converged_


def test_probabilities_can_be_left_out() -> None:
    model = NearestHypersphereClassifier(cv=None).fit(IRIS, NAMES)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "slope_")


def test_probabilities_from_given_folds() -> None:
    """A splitter and its splits calibrate alike; rows that no split leaves out do not count."""
    splitter = StratifiedKFold(4, shuffle=True, random_state=0)
    splits = list(splitter.split(IRIS, NAMES))
    model = NearestHypersphereClassifier(gamma=0.1)
    slopes = [model.set_params(cv=cv).fit(IRIS, NAMES).slope_ for cv in (splitter, splits, 5)]
    assert slopes[0] == slopes[1]
    assert slopes[0] == pytest.approx(slopes[2], rel=0.5)
    first = model.set_params(cv=splits[:1]).fit(IRIS, NAMES).slope_
    assert first < 0
    assert first != slopes[0]
    weights = np.ones(150)
    weights[splits[0][1][::2]] = 0
    assert model.fit(IRIS, NAMES, weights).slope_ < 0


@pytest.mark.parametrize("nu", [0.0, 0.3])
def test_weight_is_repetition(nu: float) -> None:
    counts = np.random.default_rng(0).integers(0, 3, len(IRIS))
    model = NearestHypersphereClassifier(nu=nu, tol=1e-10)
    weighted = model.fit(IRIS, NAMES, sample_weight=counts).predict_proba(IRIS)
    repeated = model.fit(np.repeat(IRIS, counts, axis=0), np.repeat(NAMES, counts))
    np.testing.assert_allclose(weighted, repeated.predict_proba(IRIS), atol=1e-6)


def test_precomputed_kernel() -> None:
    kernel = Polynomial(2, 0.1, 1.0)
    train, new = np.arange(0, 150, 2), np.arange(1, 150, 2)
    direct = NearestHypersphereClassifier(kernel=kernel, tol=1e-10).fit(IRIS[train], NAMES[train])
    given_ = NearestHypersphereClassifier(kernel="precomputed", tol=1e-10)
    given_.fit(kernel(IRIS[train]), NAMES[train])
    K, diagonal = kernel(IRIS[new], IRIS[train]), kernel.diag(IRIS[new])
    np.testing.assert_allclose(given_.distance(K, diagonal), direct.distance(IRIS[new]), rtol=1e-6)
    np.testing.assert_array_equal(given_.predict(K, diagonal), direct.predict(IRIS[new]))
    with pytest.warns(UserWarning, match="no diagonal"):
        given_.predict(K)


def test_zero_weight_with_a_precomputed_kernel() -> None:
    kernel, weights = Polynomial(2, 0.1, 1.0), (np.arange(150) % 4 != 0).astype(float)
    weighted = NearestHypersphereClassifier(kernel="precomputed", tol=1e-10)
    weighted.fit(kernel(IRIS), NAMES, sample_weight=weights)
    plain = NearestHypersphereClassifier(kernel=kernel, tol=1e-10)
    plain.fit(IRIS[weights > 0], NAMES[weights > 0])
    np.testing.assert_allclose(weighted.distance(kernel(IRIS)), plain.distance(IRIS), rtol=1e-6)


def test_sparse_data_and_centres() -> None:
    dense = NearestHypersphereClassifier(kernel="linear", tol=1e-10).fit(IRIS, NAMES)
    sparse = NearestHypersphereClassifier(kernel="linear", tol=1e-10)
    sparse.fit(sp.csr_matrix(IRIS), NAMES)
    np.testing.assert_allclose(sparse.centers_, dense.centers_, atol=1e-6)
    np.testing.assert_array_equal(sparse.predict(sp.csr_matrix(IRIS)), dense.predict(IRIS))
    curved = NearestHypersphereClassifier(gamma=0.1).fit(IRIS, NAMES)
    np.testing.assert_array_equal(curved.predict(curved.centers_), curved.classes_)


def test_same_result_whatever_the_threads() -> None:
    X, y = make_blobs(600, 4, centers=8, cluster_std=3.0, random_state=0)
    one, two = (NearestHypersphereClassifier(n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_warm_start_and_limits() -> None:
    X, y = make_blobs(3000, 5, centers=2, cluster_std=5.0, random_state=0)
    model = NearestHypersphereClassifier(nu=0.2, max_iter=3, warm_start=True, gamma=0.01)
    with pytest.warns(ConvergenceWarning, match=r"2 of 2 solvers.*max_iter"):
        model.fit(X, y)
    model.set_params(max_iter=-1).fit(X, y)
    assert model.converged_
    assert (model.gap_ <= 1e-3).all()
    cold = NearestHypersphereClassifier(nu=0.2, gamma=0.01).fit(X, y)
    np.testing.assert_allclose(model.radii_, cold.radii_, rtol=1e-3)


def test_grid_search_and_pickle() -> None:
    grid = {"gamma": [0.01, 0.1, 1.0], "nu": [0.0, 0.1]}
    search = GridSearchCV(NearestHypersphereClassifier(), grid, cv=3).fit(IRIS, NAMES)
    assert search.best_score_ > 0.94
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(IRIS), search.predict_proba(IRIS))


def test_iris_as_in_the_thesis() -> None:
    """Document 004, section 4.3.4: three species, gamma = 1/4."""
    found = cross_val_predict(NearestHypersphereClassifier(gamma="auto"), IRIS, SPECIES, cv=10)
    assert (found != SPECIES).mean() <= 0.1


def test_many_classes(data_folder: Path) -> None:
    """All 26 letters at once."""
    letters = np.load(data_folder / "speed" / "letter.npz")
    X, y = letters["X"].astype(float), letters["y"]
    model = NearestHypersphereClassifier(gamma=0.1, cv=None).fit(X[:3000], y[:3000])
    assert model.classes_.size == 26
    assert model.score(X[16000:], y[16000:]) > 0.8


BAD = {
    "one class": ({}, {"y": np.zeros(150)}, "at least two classes"),
    "power": ({"power": -1.0}, {}, "'power'"),
    "nu": ({"nu": 2.0}, {}, "'nu'"),
    "folds": ({"cv": 1}, {}, "'cv'"),
    "shape": ({"dissimilarity": lambda d, r: d[:, 0]}, {}, "shape"),
    "values": ({"dissimilarity": lambda d, r: d * np.nan}, {}, "finite"),
    "continuous": ({}, {"y": np.linspace(0, 1, 150)}, "Unknown label type"),
}


@pytest.mark.parametrize(("params", "changes", "words"), BAD.values(), ids=BAD)
def test_bad_input_gets_one_sentence(params: Any, changes: Any, words: str) -> None:
    model = NearestHypersphereClassifier().fit(IRIS, NAMES)
    before = model.decision_function(IRIS)
    with pytest.raises(ValueError, match=words):
        model.set_params(**params).fit(**{"X": IRIS, "y": NAMES, **changes})
    model.set_params(**NearestHypersphereClassifier().get_params())
    np.testing.assert_array_equal(model.decision_function(IRIS), before)
