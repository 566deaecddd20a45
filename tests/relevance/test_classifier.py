"""Relevance vector classification: probabilities, many classes, and data that make trouble."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from mercer import RVC, SVC, feature_sensitivity
from mercer.datasets import load_ida, make_ripley
from mercer.kernels import RBF
from mercer.relevance._likelihood import Softmax
from mercer.relevance._posterior import _Place

IRIS = load_iris(return_X_y=True)


@pytest.fixture(scope="module", name="moons")
def moons_data() -> tuple[Any, Any]:
    return make_moons(150, noise=0.25, random_state=0)


def test_ripley_is_learned_with_few_vectors() -> None:
    """Under 5 % of the rows, and close to the best rule, which errs in 8.9 %."""
    X_test, y_test = make_ripley(2000, random_state=100)
    errors, counts = [], []
    for seed in range(10):
        X, y = make_ripley(random_state=seed)
        model = RVC(gamma=4.0).fit(X, y)
        errors.append(1 - model.score(X_test, y_test))
        counts.append(model.relevance_.size)
    assert np.mean(errors) < 0.115
    assert np.mean(counts) < 0.05 * 250
    assert np.mean(counts) < 0.1 * SVC(gamma=4.0).fit(X, y).support_.size


def test_banana_is_learned_with_few_vectors(data_folder: Any) -> None:
    """Tipping 2001, table 4, prints an error of 10.8 % with 11.4 vectors, of 400 rows."""
    banana = load_ida("banana")
    errors, counts = [], []
    for train, test in banana.splits[:5]:
        model = RVC(gamma=1.0).fit(banana.data[train], banana.target[train])
        errors.append(1 - model.score(banana.data[test], banana.target[test]))
        counts.append(model.relevance_.size)
    assert np.mean(errors) < 0.12
    assert np.mean(counts) < 0.05 * 400


@pytest.mark.parametrize("multi_class", ["softmax", "ovr"])
@pytest.mark.parametrize("output", ["moderated", "map"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_three_answers_never_contradict(multi_class: str, output: str, n_classes: int) -> None:
    X, y = IRIS[0][IRIS[1] < n_classes], IRIS[1][IRIS[1] < n_classes]
    model = RVC(multi_class=multi_class, output=output).fit(X, y)
    grid = np.random.default_rng(0).uniform(X.min(0) - 2, X.max(0) + 2, (300, 4))
    p, values, labels = (
        model.predict_proba(grid), model.decision_function(grid), model.predict(grid)
    )  # fmt: skip
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], labels)
    winner = (values > 0).astype(int) if n_classes == 2 else values.argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[winner], labels)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(grid)), p)


def test_moderated_probability_is_the_average_over_the_posterior(moons: Any) -> None:
    X, y = moons
    model = RVC(gamma=1.0).fit(X, y)
    grid = np.random.default_rng(0).uniform(-2, 3, (200, 2))
    f, covariance = model._latent(grid, spread=True)
    assert covariance is not None
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    draws = f[0][:, None] + np.sqrt(covariance[0, 0])[:, None] * nodes
    exact = expit(draws) @ weights / weights.sum()
    np.testing.assert_allclose(model.predict_proba(grid)[:, 1], exact, atol=0.02)
    plain = model.set_params(output="map").predict_proba(grid)[:, 1]
    np.testing.assert_allclose(plain, expit(f[0]))
    assert np.abs(plain - exact).max() > 0.03


def test_moderated_probabilities_of_many_classes_are_averages() -> None:
    model = RVC().fit(*IRIS)
    grid = np.random.default_rng(0).uniform(IRIS[0].min(0), IRIS[0].max(0), (50, 4))
    f, covariance = model._latent(grid, spread=True)
    assert covariance is not None
    rng = np.random.default_rng(1)
    averages = np.empty((50, 3))
    for i in range(50):
        draws = rng.multivariate_normal(f[:, i], covariance[:, :, i], 20_000, method="svd")
        powers = np.exp(draws - draws.max(axis=1, keepdims=True))
        averages[i] = (powers / powers.sum(axis=1, keepdims=True)).mean(axis=0)
    moderated = model.predict_proba(grid)
    plain = model.set_params(output="map").predict_proba(grid)
    assert np.abs(moderated - averages).max() < 0.06
    assert np.abs(moderated - averages).mean() < 0.3 * np.abs(plain - averages).mean()


def test_names_of_classes_do_not_matter() -> None:
    """Other labels in another order permute the probabilities."""
    X, y = IRIS
    model = RVC().fit(X, y)
    renamed = RVC().fit(X, np.array(["c", "a", "b"])[y])
    assert renamed.log_evidence_ == pytest.approx(model.log_evidence_, rel=0.05)
    p, other = model.predict_proba(X), renamed.predict_proba(X)[:, [2, 0, 1]]
    assert np.abs(p - other).mean() < 0.05


@pytest.mark.parametrize("multi_class", ["softmax", "ovr"])
def test_many_classes(multi_class: str) -> None:
    X, y = IRIS
    model = RVC(multi_class=multi_class).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.93
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < 0.25
    n_weights = model.mu_.size
    assert model.dual_coef_.shape == (3, model.relevance_.size)
    assert model.sigma_.shape == (n_weights, n_weights)
    np.testing.assert_array_equal(np.sort(model.weight_output_), model.weight_output_)
    rebuilt = np.zeros((3, n_weights))
    rebuilt[model.weight_output_, np.arange(n_weights)] = model.mu_
    values = rebuilt @ model._functions(X)
    functions = model.kernel_(X, model.relevance_vectors_) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(values.T, functions, atol=1e-9)


@pytest.mark.parametrize("multi_class", ["softmax", "ovr"])
def test_weight_is_repetition(multi_class: str) -> None:
    X, y = IRIS
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    model = RVC(multi_class=multi_class)
    weighted = model.fit(X, y, sample_weight=counts).predict_proba(X)
    evidence, vectors = model.log_evidence_, model.relevance_vectors_
    repeated = model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert repeated.log_evidence_ == pytest.approx(evidence, rel=1e-9)
    np.testing.assert_array_equal(
        np.unique(repeated.relevance_vectors_, axis=0), np.unique(vectors, axis=0)
    )
    np.testing.assert_allclose(repeated.predict_proba(X), weighted, atol=1e-6)


def test_fractional_weights_lie_between(moons: Any) -> None:
    X, y = moons
    evidences = [RVC(gamma=1.0).fit(X, y, np.full(len(y), w)).log_evidence_ for w in (1, 1.5, 2)]
    assert evidences[0] > evidences[1] > evidences[2]


def test_precomputed_kernel(moons: Any) -> None:
    X, y = moons
    grid = np.random.default_rng(0).uniform(-2, 3, (50, 2))
    kernel = RBF(1.0)
    direct = RVC(kernel=kernel).fit(X, y)
    given = RVC(kernel="precomputed").fit(kernel(X), y)
    # The order of the candidates may decide between equals, so the answers agree, not the paths.
    assert given.log_evidence_ == pytest.approx(direct.log_evidence_, rel=0.02)
    p = given.predict_proba(kernel(grid, X))
    by_hand = kernel(grid, X[given.relevance_]) @ given.dual_coef_[0] + given.intercept_[0]
    np.testing.assert_array_equal(p[:, 1] > 0.5, by_hand > 0)
    assert given.relevance_vectors_.shape == (0, 0)


def test_sparse_rows(moons: Any) -> None:
    X, y = moons
    X = np.where(X > 0, X, 0.0)
    dense, sparse = RVC(gamma=1.0).fit(X, y), RVC(gamma=1.0).fit(sp.csr_matrix(X), y)
    assert sparse.log_evidence_ == pytest.approx(dense.log_evidence_, rel=0.02)
    assert sp.issparse(sparse.relevance_vectors_)
    assert sparse.score(sp.csr_matrix(X), y) == pytest.approx(dense.score(X, y), abs=0.03)


def test_values_need_not_be_kept(moons: Any) -> None:
    """With next to no memory the functions are computed anew, with the same result."""
    X, y = moons
    kept = RVC(gamma=1.0).fit(X, y)
    anew = RVC(gamma=1.0, cache_size=1e-6).fit(X, y)
    np.testing.assert_array_equal(anew.relevance_, kept.relevance_)
    np.testing.assert_allclose(anew.mu_, kept.mu_, rtol=1e-6)


def test_columns_make_a_sparse_linear_model() -> None:
    """Few columns are relevant, and the model is as good as with all of them."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = RVC(basis="columns").fit(X[::2], y[::2])
    assert model.relevance_.size < 15
    assert model.score(X[1::2], y[1::2]) > 0.95
    np.testing.assert_array_equal(np.flatnonzero(model.coef_[0]), model.relevance_)
    values = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.set_params(output="map").decision_function(X), values)
    assert feature_sensitivity(model, X).shape[-1] == 30


def test_centers_are_where_the_functions_sit(moons: Any) -> None:
    X, y = moons
    centers = np.stack(np.meshgrid(np.linspace(-2, 3, 8), np.linspace(-1, 2, 8)), -1).reshape(-1, 2)
    model = RVC(gamma=1.0, centers=centers).fit(X, y)
    np.testing.assert_array_equal(centers[model.relevance_], model.relevance_vectors_)
    assert model.score(X, y) > 0.88


def test_sensitivity_of_features() -> None:
    """Of three features two do not matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 1] ** 2 + 0.3 * rng.normal(size=200) > 0.7).astype(int)
    model = RVC(gamma=0.3).fit(X, y)
    assert feature_sensitivity(model, X).argmax() == 1


# ---- trouble ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["fast", "classic"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_separable_classes_end_in_a_sound_model(method: str, kernel: str) -> None:
    """The evidence keeps the weights finite where the likelihood alone would not."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-3, 0.5, (30, 2)), rng.normal(3, 0.5, (30, 2))])
    y = np.repeat([0, 1], 30)
    model = RVC(kernel=kernel, method=method).fit(X, y)
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.mu_).all()
    assert np.isfinite(model.sigma_).all()
    p = model.predict_proba(X)[np.arange(60), y]
    assert p.min() > 0.8


@pytest.mark.parametrize("method", ["fast", "classic"])
def test_constant_and_repeated_columns_and_rows(method: str, moons: Any) -> None:
    X, y = moons
    plain = RVC(gamma=1.0, method=method).fit(X, y)
    padded = np.column_stack([X, np.full(len(y), 7.0)])
    constant = RVC(gamma=1.0, method=method).fit(padded, y)
    assert constant.log_evidence_ == pytest.approx(plain.log_evidence_, rel=0.02)
    twice = RVC(gamma=1.0, method=method).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert twice.relevance_.size < 30
    assert np.unique(twice.relevance_vectors_, axis=0).shape == twice.relevance_vectors_.shape
    assert twice.score(X, y) > 0.88


@pytest.mark.parametrize("method", ["fast", "classic"])
def test_rows_that_are_all_equal_give_the_share_of_the_classes(method: str) -> None:
    X, y = np.ones((40, 2)), np.repeat([0, 1], [30, 10])
    model = RVC(method=method).fit(X, y)
    p = model.predict_proba(X[:1])[0]
    assert 0.6 < p[0] < 0.85
    assert model.predict(X[:1]) == 0


@pytest.mark.parametrize("method", ["fast", "classic"])
@pytest.mark.parametrize("multi_class", ["softmax", "ovr"])
def test_functions_that_are_all_zero_leave_an_empty_model(method: str, multi_class: str) -> None:
    X, y = np.zeros((12, 2)), np.arange(12) % 3
    model = RVC(kernel="linear", fit_intercept=False, method=method, multi_class=multi_class)
    p = model.fit(X, y).predict_proba(X[:1])[0]
    np.testing.assert_allclose(p, 1 / 3)
    assert model.mu_.size == 0


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_features_of_any_scale(kernel: str, scale: float, moons: Any) -> None:
    X, y = moons
    model = RVC(kernel=kernel, gamma="scale").fit(scale * X + scale, y)
    assert np.isfinite(model.sigma_).all()
    assert model.score(scale * X + scale, y) > 0.75


def test_many_separable_classes_of_large_features() -> None:
    """Probabilities so near 1 that their distance from 1 has no digits left."""
    X, y = make_blobs(40, 20, centers=4, cluster_std=3, random_state=0)
    model = RVC(kernel="linear").fit(10 * X, y)
    np.testing.assert_array_equal(model.predict(10 * X), y)


def test_curvature_of_probabilities_near_one() -> None:
    """Each output's curvature balances those with the others, however small they are."""
    f = np.array([[0.0, 50.0, 200.0], [1.0, 0.0, 0.0], [-1.0, 0.5, -300.0]])
    curvature = Softmax(np.zeros(3, dtype=int), np.ones(3), 3).curvature(f)
    p = np.exp(f - f.max(axis=0))
    p /= p.sum(axis=0)
    for k, others in enumerate([[1, 2], [0, 2], [0, 1]]):
        np.testing.assert_allclose(curvature[k, k], p[k] * p[others].sum(axis=0), rtol=1e-12)
        np.testing.assert_allclose(curvature[k, others], -p[k] * p[others], rtol=1e-12)


def test_a_single_relevance_vector() -> None:
    X = np.linspace(-1, 1, 41)[:, None]
    y = (np.abs(X.ravel()) < 0.4).astype(int)
    y[[5, 20]] = 1 - y[[5, 20]]
    model = RVC(gamma=3.0, fit_intercept=False, centers=[[0.0]]).fit(X, y)
    assert model.relevance_.size == 1
    assert np.isfinite(model.predict_proba(X)).all()


def test_labels_of_pure_noise_give_a_modest_model() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    model = RVC(gamma=0.1).fit(X, y)
    assert model.relevance_.size < 15
    fresh = model.predict_proba(rng.normal(size=(500, 3)))
    assert np.abs(fresh - 0.5).mean() < 0.2


def test_too_few_steps_are_said(moons: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        model = RVC(gamma=1.0, max_iter=3).fit(*moons)
    assert not model.converged_
    assert model.n_iter_ == 3


BAD = {
    "one class": ({}, {"y": np.zeros(150)}, "two classes"),
    "method": ({"method": "slow"}, {}, "'method'"),
    "basis": ({"basis": "rows"}, {}, "'basis'"),
    "centers": ({"centers": [[1.0, 2.0, 3.0]]}, {}, "as many columns as X, 2; got 3"),
    "square": ({"kernel": "precomputed"}, {}, "square"),
    "weights": ({}, {"sample_weight": np.full(150, -1.0)}, "negative"),
}


@pytest.mark.parametrize(("params", "changes", "words"), BAD.values(), ids=BAD)
def test_bad_input_gets_one_sentence(params: Any, changes: Any, words: str, moons: Any) -> None:
    model = RVC(gamma=1.0).fit(*moons)
    before = model.mu_.copy()
    with pytest.raises(ValueError, match=words) as error:
        model.set_params(**params).fit(**({"X": moons[0], "y": moons[1]} | changes))
    assert "\n" not in str(error.value)
    np.testing.assert_array_equal(model.mu_, before)


def test_centers_of_a_precomputed_kernel_are_refused() -> None:
    with pytest.raises(ValueError, match="precomputed"):
        RVC(kernel="precomputed", centers=np.eye(3)).fit(np.eye(3), [0, 1, 1])


def test_verbose_says_one_line(moons: Any, capsys: Any) -> None:
    RVC(verbose=True).fit(*moons)
    assert capsys.readouterr().out.count("\n") == 1


def test_a_row_that_is_nearly_certain_keeps_its_residual() -> None:
    """One minus the probability would have no digits, which a huge weight brings to light."""
    weight, lead = 1e14, np.array([40.0, 60.0, 300.0])
    f = np.vstack([1e3 + lead, np.full((2, 3), 1e3)])
    value, residual = Softmax(np.zeros(3, dtype=int), np.full(3, weight), 3).value_and_residual(f)
    lacking = 2.0 * weight * np.exp(-lead)
    np.testing.assert_allclose(residual, np.outer([1.0, -0.5, -0.5], lacking), rtol=1e-12)
    np.testing.assert_allclose(value, -lacking.sum(), rtol=1e-12)


def test_huge_weights_take_no_more_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's method used to go on in steps that rounding alone let pass."""
    X, y = load_iris(return_X_y=True)
    places = []
    first = _Place.at.__func__

    def counted(cls: Any, *arguments: Any) -> Any:
        places.append(1)
        return first(cls, *arguments)

    monkeypatch.setattr(_Place, "at", classmethod(counted))
    RVC(max_iter=300).fit(X[::3], y[::3], sample_weight=np.full(50, 1e13))
    assert len(places) < 5_000  # 982; 452,766 before
