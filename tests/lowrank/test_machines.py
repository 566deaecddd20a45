"""Machines on few features are those of the kernel of low rank, wherever the rows are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, NystroemSVC, NystroemSVR
from mercer.kernels import RBF, Laplacian
from mercer.lowrank import LowRankKernel, _machine, planning

X, y = make_classification(1500, 6, n_informative=4, flip_y=0.1, random_state=0)
X = X / X.std(axis=0)
FEW = X[:700]  # for peers whose time grows with the third power
TARGET = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 3.0
WEIGHTS = np.random.default_rng(0).uniform(0.2, 3.0, len(y))


def matrix_of(model: Any, points: Any = X) -> np.ndarray:
    """The kernel matrix that the machine sees."""
    features = LowRankKernel(model.kernel_, model.landmarks_).features(points)
    return features @ features.T


@pytest.fixture(name="in_passes", params=["held", "computed"])
def rows_are_held_or_computed(request: Any, monkeypatch: Any) -> None:
    """Either all features are in memory, or rows come in passes, after a sample of them."""
    if request.param == "computed":
        monkeypatch.setattr(_machine, "HELD_BYTES", 0)
        monkeypatch.setattr(planning, "ROWS_OF_SAMPLE", 300)


@pytest.mark.usefixtures("in_passes")
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("rank", [12, 60])
def test_hinge_has_the_optimum_of_libsvm_and_of_the_exact_solver(C: float, rank: int) -> None:
    model = NystroemSVC(C=C, rank=rank, gamma=0.1, tol=1e-7, random_state=0).fit(FEW, y[:700])
    K = matrix_of(model, FEW)
    peer = svm.SVC(C=C, kernel="precomputed", tol=1e-5).fit(K, y[:700])
    beta = peer.dual_coef_[0]
    objective = 0.5 * beta @ K[np.ix_(peer.support_, peer.support_)] @ beta - np.abs(beta).sum()
    assert model.objective_[0] == pytest.approx(objective, rel=1e-5)
    assert model.objective_[0] <= objective + 1e-9 * abs(objective)
    exact = SVC(C=C, kernel="precomputed", solver="exact", tol=1e-7).fit(K, y[:700])
    assert model.objective_[0] == pytest.approx(exact.objective_[0], rel=1e-9)
    np.testing.assert_allclose(model.decision_function(FEW), exact.decision_function(K), atol=1e-5)
    assert model.gap_[0] <= model.tol
    assert model.converged_


@pytest.mark.usefixtures("in_passes")
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_squared_hinge_has_the_optimum_of_the_exact_solver(C: float) -> None:
    model = NystroemSVC(
        C=C, rank=40, gamma=0.1, loss="squared_hinge", tol=1e-5, random_state=0
    ).fit(FEW, y[:700], WEIGHTS[:700])
    K = matrix_of(model, FEW)
    peer = SVC(C=C, kernel="precomputed", loss="squared_hinge", solver="exact", tol=1e-6)
    peer.fit(K, y[:700], WEIGHTS[:700])
    np.testing.assert_allclose(model.decision_function(FEW), peer.decision_function(K), atol=1e-4)
    assert model.objective_[0] == pytest.approx(peer.objective_[0], rel=1e-7)


@pytest.mark.usefixtures("in_passes")
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_regression_has_the_optimum_of_svr(loss: str, epsilon: float) -> None:
    model = NystroemSVR(
        C=2.0, rank=40, gamma=0.1, epsilon=epsilon, loss=loss, tol=1e-5, random_state=0
    ).fit(X, TARGET, WEIGHTS)
    K = matrix_of(model)
    peer = SVR(C=2.0, kernel="precomputed", epsilon=epsilon, loss=loss, tol=1e-6)
    peer.fit(K, TARGET, WEIGHTS)
    assert model.objective_[0] == pytest.approx(peer.objective_[0], rel=1e-6)
    np.testing.assert_allclose(model.predict(X), peer.predict(K), atol=2e-3)


@pytest.mark.usefixtures("in_passes")
def test_many_classes_have_a_machine_each() -> None:
    points, digits = load_digits(return_X_y=True)
    model = NystroemSVC(rank=50, gamma=0.002, tol=1e-5, random_state=0).fit(points, digits)
    K = matrix_of(model, points)
    values = model.decision_function(points)
    for digit in (0, 3, 9):
        peer = svm.SVC(kernel="precomputed", tol=1e-6).fit(K, digits == digit)
        np.testing.assert_allclose(values[:, digit], peer.decision_function(K), atol=1e-3)
    np.testing.assert_array_equal(model.predict(points), values.argmax(axis=1))


def test_of_all_rows_as_landmarks_it_is_the_machine_of_the_kernel() -> None:
    some = slice(200)
    model = NystroemSVC(C=3.0, gamma=0.3, tol=1e-6, random_state=0).fit(X[some], y[some])
    same = SVC(C=3.0, gamma=0.3, tol=1e-6).fit(X[some], y[some])
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-5)
    assert model.approximation_error_[1] < 1e-6


@pytest.mark.usefixtures("in_passes")
def test_weights_are_repetition() -> None:
    counts = np.random.default_rng(1).integers(0, 3, len(y))
    landmarks = X[:40]
    model = NystroemSVC(landmarks=landmarks, gamma=0.1, class_weight="balanced", tol=1e-6)
    weighted = model.fit(X, y, counts).decision_function(X)
    repeated = model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-5)


@pytest.mark.usefixtures("in_passes")
@pytest.mark.parametrize("landmarks", ["kmeans", "leverage", "uniform"])
def test_sparse_rows_are_the_same_rows(landmarks: str) -> None:
    points = np.where(np.abs(X) > 0.7, X, 0.0)
    settings = {"rank": 30, "gamma": 0.1, "tol": 1e-6, "landmarks": landmarks, "random_state": 0}
    dense = NystroemSVC(**settings).fit(points, y)
    thin = NystroemSVC(**settings).fit(sp.csr_array(points), y)
    np.testing.assert_allclose(
        thin.decision_function(sp.csr_array(points)), dense.decision_function(points), atol=1e-5
    )


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_gives_the_same(threads: int, monkeypatch: Any) -> None:
    monkeypatch.setattr("mercer.lowrank.rows.ROWS_AT_ONCE", 200)
    one = NystroemSVC(rank=30, n_jobs=1, random_state=0).fit(X, y)
    some = NystroemSVC(rank=30, n_jobs=threads, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), some.decision_function(X))


def test_a_memory_map_is_read_and_not_copied(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(_machine, "HELD_BYTES", 0)
    monkeypatch.setattr(planning, "ROWS_OF_SAMPLE", 300)
    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    settings = {"rank": 30, "gamma": 0.1, "random_state": 0}
    mapped = NystroemSVC(**settings).fit(rows, y)
    there = NystroemSVC(**settings).fit(X.astype(np.float32).astype(np.float64), y)
    np.testing.assert_allclose(mapped.decision_function(rows), there.decision_function(rows))


@pytest.mark.parametrize("kernel", [RBF([0.1] * 6), RBF(0.1) + Laplacian(0.1), "linear", "poly"])
def test_kernels_of_all_kinds(kernel: Any) -> None:
    model = NystroemSVC(kernel=kernel, rank=25, tol=1e-5, random_state=0).fit(X, y)
    K = matrix_of(model)
    peer = svm.SVC(kernel="precomputed", tol=1e-6).fit(K, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(K), atol=2e-3)


def test_limits_end_with_a_warning_that_names_the_gap() -> None:
    with pytest.warns(ConvergenceWarning, match="with an unknown gap, above tol"):
        model = NystroemSVC(rank=30, max_iter=1, random_state=0).fit(X, y)
    assert not model.converged_
    with pytest.warns(ConvergenceWarning, match="raise max_iter or time_limit"):
        NystroemSVR(rank=30, time_limit=0.0, random_state=0).fit(X, TARGET)


def test_what_cannot_be_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="needs points, not kernel values"):
        NystroemSVC(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        NystroemSVC(kernel="sigmoid", gamma=2.0, coef0=-1.0, rank=50).fit(X, y)
    with pytest.raises(ValueError, match="scale the features"):
        NystroemSVC(rank=30, gamma=1.0).fit(X * 1e150, y)
    with pytest.raises(ValueError, match="must have as many columns as X, 6; got 4"):
        NystroemSVC(landmarks=X[:10, :4]).fit(X, y)
    with pytest.raises(ValueError, match="Input landmarks contains NaN"):
        NystroemSVC(landmarks=np.full((2, 6), np.nan)).fit(X, y)
    with pytest.raises(TypeError, match="takes no dual: there is one solver"):
        NystroemSVC(dual=True)
    with pytest.raises(TypeError, match=r"takes no n_components: .* is `rank`"):
        NystroemSVR(n_components=100)


def test_one_class_left_by_weights_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two classes"):
        NystroemSVC().fit(X, y, (y == 0).astype(float))


@pytest.mark.usefixtures("in_passes")
def test_a_class_of_few_rows_and_rows_without_weight() -> None:
    """Rare classes have a machine; rows without weight are as good as absent."""
    labels = np.where(np.arange(len(y)) < 5, "rare", np.where(y == 1, "b", "a"))
    weights = np.ones(len(y))
    weights[::3] = 0.0
    kept = weights > 0
    landmarks = X[:30]
    model = NystroemSVC(landmarks=landmarks, gamma=0.1, tol=1e-6)
    all_rows = model.fit(X, labels, weights).decision_function(X)
    some_rows = model.fit(X[kept], labels[kept]).decision_function(X)
    assert all_rows.shape == (len(y), 3)
    np.testing.assert_allclose(all_rows, some_rows, atol=1e-5)


def test_weights_of_many_orders_of_magnitude() -> None:
    """Which keep the interior-point method of the last steps from the optimum."""
    random = np.random.default_rng(0)
    points, labels, target = X[:600], y[:600], TARGET[:600]
    for span in (5, 8):
        weights = 10.0 ** random.uniform(-span, span, 600)
        model = NystroemSVC(rank=40, random_state=0).fit(points, labels, weights)
        K = matrix_of(model, points)
        peer = SVC(kernel="precomputed").fit(K, labels, weights)
        assert model.converged_
        assert model.objective_[0] == pytest.approx(peer.objective_[0], rel=1e-6)
        curve = NystroemSVR(rank=40, random_state=0).fit(points, target, weights)
        peer = SVR(kernel="precomputed").fit(K, target, weights)
        assert curve.converged_
        assert curve.objective_[0] == pytest.approx(peer.objective_[0], rel=1e-4)


@pytest.mark.parametrize("C", [1e-200, 1e-100, 1e6, 1e12, 1e100])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_prices_beyond_reason_end_without_noise(C: float, loss: str) -> None:
    """At the optimum, or with our warning that tells the gap; never with one of linear algebra."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = NystroemSVC(C=C, loss=loss, rank=40, random_state=0).fit(X[:300], y[:300])
    assert model.converged_ == (not heard)
    assert all("stopped at a gap of" in str(one.message) for one in heard)
    assert np.isfinite(model.decision_function(X)).all()


def test_landmarks_need_no_names() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NystroemSVC(landmarks=X[:9]).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcdef")
