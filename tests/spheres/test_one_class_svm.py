"""The one-class machine takes the place of scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import OneClassSVM
from mercer.kernels import RBF, Linear

RNG = np.random.default_rng(0)
X = 2.0 + RNG.normal(size=(150, 4))
NEW = 2.0 + 2.0 * RNG.normal(size=(60, 4))
WEIGHTS = RNG.uniform(0.2, 3.0, len(X))


def assert_same_machine(ours: Any, theirs: Any, new: Any = NEW) -> None:
    """Every attribute and method that both have."""
    scale = np.abs(theirs.score_samples(new)).max()
    for method in ("decision_function", "score_samples"):
        np.testing.assert_allclose(
            getattr(ours, method)(new), getattr(theirs, method)(new), atol=1e-6 * scale
        )
    clear = np.abs(theirs.decision_function(new)) > 1e-5 * scale
    np.testing.assert_array_equal(ours.predict(new)[clear], theirs.predict(new)[clear])
    assert ours.offset_ == pytest.approx(np.ravel(theirs.offset_)[0], rel=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    assert ours.fit_status_ == theirs.fit_status_
    assert ours.shape_fit_ == theirs.shape_fit_


@pytest.mark.parametrize("nu", [0.03, 0.31, 0.53])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_same_as_scikit_learn(kernel: str, nu: float) -> None:
    """nu n is not whole: with every multiplier at a bound the offset would not be unique."""
    params = {"kernel": kernel, "nu": nu, "coef0": 1.0, "tol": 1e-10}
    ours, theirs = OneClassSVM(**params).fit(X), svm.OneClassSVM(**params).fit(X)
    if kernel == "rbf":
        assert_same_machine(ours, theirs)
    else:  # the multipliers need not be unique
        scale = np.abs(theirs.score_samples(NEW)).max()
        np.testing.assert_allclose(
            ours.decision_function(NEW), theirs.decision_function(NEW), atol=1e-5 * scale
        )
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)


def test_same_with_weights() -> None:
    params = {"gamma": 0.2, "nu": 0.2, "tol": 1e-10}
    ours = OneClassSVM(**params).fit(X, sample_weight=WEIGHTS)
    assert_same_machine(ours, svm.OneClassSVM(**params).fit(X, sample_weight=WEIGHTS))


def test_same_with_sparse_data_and_precomputed_kernels() -> None:
    params = {"nu": 0.2, "tol": 1e-10, "gamma": 0.1}
    theirs = svm.OneClassSVM(**params).fit(X)
    assert_same_machine(OneClassSVM(**params).fit(X), theirs)
    sparse = OneClassSVM(**params).fit(sp.csr_matrix(X))
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_matrix(NEW)), theirs.decision_function(NEW), atol=1e-6
    )
    kernel = RBF(0.1)
    given = OneClassSVM(kernel="precomputed", nu=0.2, tol=1e-10).fit(kernel(X))
    np.testing.assert_allclose(
        given.decision_function(kernel(NEW, X)), theirs.decision_function(NEW), atol=1e-6
    )


@pytest.mark.parametrize("nu", [0.02, 0.1, 0.6])
def test_many_rows_at_the_default_tolerance(nu: float) -> None:
    """The tolerance means the same; the machines agree to it."""
    rows = np.random.default_rng(1).normal(size=(4500, 3))
    ours, theirs = OneClassSVM(nu=nu).fit(rows), svm.OneClassSVM(nu=nu).fit(rows)
    np.testing.assert_allclose(
        ours.decision_function(rows), theirs.decision_function(rows), atol=5e-3
    )
    assert ours.gap_[0] <= 1e-3
    assert abs(ours.support_.size - theirs.support_.size) <= 0.1 * theirs.support_.size


def test_defaults_are_those_of_scikit_learn() -> None:
    theirs = svm.OneClassSVM().get_params()
    ours = OneClassSVM().get_params()
    assert {name: ours[name] for name in theirs} == theirs


def test_kinds_of_support_vector() -> None:
    model = OneClassSVM(nu=0.2, gamma=0.1, tol=1e-10).fit(X)
    values = model.decision_function(X)[model.support_]
    np.testing.assert_allclose(values[model.support_kind_ == "margin"], 0.0, atol=1e-8)
    assert (values[model.support_kind_ == "bound"] <= 1e-8).all()
    np.testing.assert_array_equal(model.dual_coef_[0] == 1.0, model.support_kind_ == "bound")


def test_in_pipelines_and_searches() -> None:
    pipeline = make_pipeline(StandardScaler(), OneClassSVM(nu=0.1))
    assert set(pipeline.fit_predict(X)) == {-1, 1}
    grid = GridSearchCV(
        OneClassSVM(kernel=RBF(1.0)),
        {"kernel__gamma": [0.01, 0.1]},
        scoring=lambda model, X, y=None: (model.predict(X) == 1).mean(),
        cv=3,
    )
    assert grid.fit(X).best_params_["kernel__gamma"] == 0.01


def test_coefficients_need_a_linear_kernel() -> None:
    assert not hasattr(OneClassSVM().fit(X), "coef_")
    model = OneClassSVM(kernel=Linear(), nu=0.1).fit(X)
    np.testing.assert_allclose(NEW @ model.coef_[0] - model.offset_, model.decision_function(NEW))


@pytest.mark.parametrize("nu", [0.0, 1.1, -0.5])
def test_nu_out_of_range(nu: float) -> None:
    with pytest.raises(ValueError, match="'nu'"):
        OneClassSVM(nu=nu).fit(X)


def test_a_limit_is_told() -> None:
    with pytest.warns(ConvergenceWarning, match="max_iter was reached"):
        model = OneClassSVM(nu=0.3, tol=1e-9, max_iter=1).fit(X)
    assert (model.fit_status_, model.converged_) == (1, False)


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.3])
def test_rows_on_the_boundary_are_inside_however_they_are_rounded(nu: float) -> None:
    model = OneClassSVM(nu=nu, tol=1e-13).fit(X)
    edge = model.support_vectors_[model.support_kind_ == "margin"]
    assert len(edge) > 0
    np.testing.assert_array_equal(model.decision_function(edge), 0.0)
    np.testing.assert_array_equal(model.predict(edge), 1)
