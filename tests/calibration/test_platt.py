"""Probabilities: honest folds, no contradictions, no failures on small data."""

from __future__ import annotations

import threading
import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    load_breast_cancer,
    load_iris,
    load_wine,
    make_blobs,
    make_classification,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mercer import SVC, PlattClassifier
from mercer._folds import deal_folds
from mercer.calibration import fit_sigmoid
from mercer.kernels import RBF


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_shared_folds_equal_separate_fits(loss: str, kernel: str) -> None:
    """The cheap decision values are those of machines fitted without the fold."""
    X, y = make_classification(300, 6, flip_y=0.1, random_state=0)
    model = SVC(kernel=kernel, gamma=0.2, loss=loss, tol=1e-6)
    fold = np.random.default_rng(0).integers(0, 4, 300)
    values = clone(model)._fit_out_of_fold(X, y, None, fold)[:, 0]
    for number in range(4):
        rest = fold != number
        expected = clone(model).fit(X[rest], y[rest]).decision_function(X[~rest])
        np.testing.assert_allclose(values[~rest], expected, atol=2e-4)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_shared_folds_of_many_classes_equal_separate_fits(multi_class: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = SVC(gamma=0.3, multi_class=multi_class, tol=1e-7)
    fold = np.random.default_rng(1).integers(0, 3, 150)
    weight = np.random.default_rng(2).integers(1, 3, 150).astype(float)
    values = clone(model)._fit_out_of_fold(X, y, weight, fold)
    pairs = [(0, 1), (0, 2), (1, 2)]
    for number in range(3):
        rest = fold != number
        machine = clone(model).fit(X[rest], y[rest], weight[rest])
        expected = machine._pair_decision_function(X[~rest])
        for pair, classes in enumerate(pairs):
            own = np.isin(y[~rest], classes)
            got = values[~rest][own, pair]
            np.testing.assert_allclose(got, expected[own, pair], atol=2e-5)


@pytest.mark.parametrize(("C", "n"), [(1.0, 1600), (10.0, 1600), (100.0, 1100)])
def test_folds_on_near_rows_only_are_nearly_those_of_separate_fits(C: float, n: int) -> None:
    """With many rows those far beyond the margin take no part, unless they would come inside."""
    X, y = make_classification(n, 8, n_informative=5, flip_y=0.05, random_state=0)
    fold = np.random.default_rng(0).integers(0, 5, n)
    model = SVC(C=C)
    values = clone(model)._fit_out_of_fold(X, y, None, fold)[:, 0]
    expected = np.empty(n)
    for number in range(5):
        rest = fold != number
        machine = SVC(C=C, gamma=1.0 / (8 * X.var()), tol=1e-5).fit(X[rest], y[rest])
        expected[~rest] = machine.decision_function(X[~rest])
    error = np.abs(values - expected)
    assert error.mean() < 0.015
    assert np.quantile(error, 0.99) < 0.1
    assert np.mean((values > 0) != (expected > 0)) < 0.005


def test_rows_that_are_never_left_out_have_no_value() -> None:
    X, y = load_iris(return_X_y=True)
    fold = np.where(np.arange(150) % 2, 0, -1)
    values = SVC()._fit_out_of_fold(X, y, None, fold)
    assert np.isnan(values[::2]).all()
    assert np.isfinite(values[1::2]).any(axis=1).all()


def test_the_sigmoid_is_fitted_to_values_out_of_fold() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = PlattClassifier(SVC(tol=1e-6)).fit(X, y)
    fold = deal_folds(X, y, 5)
    values = np.empty(y.size)
    for number in range(5):
        rest = fold != number
        machine = SVC(kernel=model.estimator_.kernel_, tol=1e-6).fit(X[rest], y[rest])
        values[~rest] = machine.decision_function(X[~rest])
    expected = fit_sigmoid(values, y == 1)
    assert model.A_[0] == pytest.approx(expected.A, rel=1e-3)
    assert model.B_[0] == pytest.approx(expected.B, rel=1e-2, abs=1e-3)


def small_problem(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise, few rows, unequal classes, duplicates."""
    random = np.random.default_rng(seed)
    n, n_classes = int(random.integers(6, 61)), int(random.integers(2, 5))
    X = random.normal(size=(n, int(random.integers(1, 8))))
    share = random.dirichlet(np.full(n_classes, random.choice([0.3, 1.0, 10.0])))
    y = random.choice(n_classes, n, p=share)
    y[:n_classes] = np.arange(n_classes)
    X[:, 0] += random.choice([0.0, 1.0, 5.0]) * y
    if random.random() < 0.3:
        X = np.round(X)
    return X, y


@pytest.mark.parametrize("first", range(0, 200, 40))
def test_small_problems_never_fail_and_never_contradict(first: int) -> None:
    for seed in range(first, first + 40):
        X, y = small_problem(seed)
        kernel = ("rbf", "linear", "poly")[seed % 3]
        model = PlattClassifier(SVC(C=10.0 ** (seed % 4 - 1), kernel=kernel)).fit(X, y)
        grid = np.concatenate([X, 3 * np.random.default_rng(seed).normal(size=(50, X.shape[1]))])
        p = model.predict_proba(grid)
        assert np.isfinite(p).all(), seed
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert ((p >= 0) & (p <= 1)).all(), seed
        np.testing.assert_array_equal(model.predict(grid), model.classes_[p.argmax(axis=1)])


def test_probability_rises_with_the_decision_value() -> None:
    for seed in range(10):
        X, y = small_problem(seed)
        y = (y > 0).astype(int)
        model = PlattClassifier(SVC()).fit(X, y)
        grid = np.random.default_rng(seed).normal(size=(100, X.shape[1]))
        order = np.argsort(model.estimator_.decision_function(grid))
        assert (np.diff(model.predict_proba(grid)[order, 1]) >= 0).all()


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine])
def test_log_loss_is_no_worse_than_scikit_learns(load: object) -> None:
    X, y = load(return_X_y=True)  # type: ignore[operator]
    X = StandardScaler().fit_transform(X)
    ours, theirs = [], []
    for seed in range(5):
        A, B, a, b = train_test_split(X, y, stratify=y, random_state=seed)
        machine = SVC(gamma=1 / X.shape[1])
        ours.append(log_loss(b, PlattClassifier(machine).fit(A, a).predict_proba(B)))
        calibrated = CalibratedClassifierCV(machine, ensemble=False).fit(A, a)
        theirs.append(log_loss(b, calibrated.predict_proba(B)))
    assert np.mean(ours) <= np.mean(theirs) + 0.01


def test_seeds_and_threads() -> None:
    X, y = make_classification(200, 5, flip_y=0.2, random_state=0)
    first = PlattClassifier(SVC(), random_state=1).fit(X, y)
    other = PlattClassifier(SVC(), random_state=2).fit(X, y)
    assert first.A_[0] != other.A_[0]
    found: list[np.ndarray] = []

    def fit() -> None:
        found.append(PlattClassifier(SVC(), random_state=1).fit(X, y).predict_proba(X))

    threads = [threading.Thread(target=fit) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    for p in found:
        np.testing.assert_allclose(p, first.predict_proba(X), atol=1e-9)


def test_any_classifier_with_decision_values() -> None:
    pd = pytest.importorskip("pandas")
    iris = load_iris(as_frame=True)
    frame, y = iris.data, iris.target_names[iris.target]
    model = PlattClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(frame, y)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.A_.shape == (3,)
    assert model.score(frame, y) > 0.9
    assert isinstance(frame, pd.DataFrame)


def test_a_splitter_is_obeyed() -> None:
    X, y = make_classification(120, 5, flip_y=0.2, random_state=0)
    cv = KFold(3)
    model = PlattClassifier(SVC(gamma=0.2, tol=1e-6), cv=cv).fit(X, y)
    values = np.empty(y.size)
    for rest, left_out in cv.split(X):
        machine = SVC(gamma=0.2, tol=1e-6).fit(X[rest], y[rest])
        values[left_out] = machine.decision_function(X[left_out])
    assert model.A_[0] == pytest.approx(fit_sigmoid(values, y == 1).A, rel=1e-3)


def test_the_number_of_folds_is_obeyed() -> None:
    X, y = make_classification(120, 5, flip_y=0.2, random_state=0)
    model = LogisticRegression()
    for cv, number in ((None, 5), (5, 5), (3, 3)):
        fold = deal_folds(X, y, number)
        values = out_of_fold(model, X, y, fold)
        expected = fit_sigmoid(values[:, 0], y == 1)
        assert PlattClassifier(model, cv=cv).fit(X, y).A_[0] == pytest.approx(expected.A)


def out_of_fold(model: Any, X: np.ndarray, y: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Return the value of each pair by its definition, by models without the row's fold."""
    pairs = list(combinations(range(y.max() + 1), 2))
    values = np.empty((len(y), len(pairs)))
    for number in np.unique(fold):
        out, rest = fold == number, fold != number
        seen = list(np.unique(y[rest]))
        if len(seen) > 1:
            scores = clone(model).fit(X[rest], y[rest]).decision_function(X[out])
            scores = np.c_[0.0 * scores, scores] if len(seen) == 2 else scores
        for column, (first, second) in enumerate(pairs):
            if first in seen and second in seen:
                difference = scores[:, seen.index(second)] - scores[:, seen.index(first)]
                values[out, column] = difference
            else:  # all that is known speaks for the class that was seen
                values[out, column] = int(second in seen) - int(first in seen)
    return values


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("gone", [0, 1])
def test_a_class_that_a_fold_has_for_itself(n_classes: int, gone: int) -> None:
    """Its pairs are decided by the other class, and pairs without both by nothing."""
    X, y = make_blobs(40, centers=n_classes, cluster_std=4.0, random_state=0)
    fold = np.where(y == gone, 0, 1 + np.arange(40) % 2)
    fold[np.flatnonzero(y != gone)[:3]] = 0
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    model = PlattClassifier(LogisticRegression(), cv=folds).fit(X, y)
    values = out_of_fold(LogisticRegression(), X, y, fold)
    for pair, (first, second) in enumerate(combinations(range(n_classes), 2)):
        own = np.isin(y, (first, second))
        prior = 1 / (n_classes - 1)
        expected = fit_sigmoid(values[own, pair], y[own] == second, prior=prior)
        assert model.A_[pair] == pytest.approx(expected.A, abs=1e-9)
        assert model.B_[pair] == pytest.approx(expected.B, abs=1e-9)


def test_sparse_input_gives_the_same_probabilities() -> None:
    X, y = make_classification(100, 5, random_state=0)
    X[np.abs(X) < 0.5] = 0.0
    dense = PlattClassifier(SVC(gamma=0.2)).fit(X, y).predict_proba(X)
    sparse = PlattClassifier(SVC(gamma=0.2)).fit(sp.coo_array(X), y).predict_proba(sp.csr_array(X))
    np.testing.assert_allclose(sparse, dense, atol=1e-6)


def test_bad_parameters_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="'cv'"):
        PlattClassifier(SVC(), cv=1).fit(X, y)
    with pytest.raises(ValueError, match="'C'"):
        PlattClassifier(SVC(C=-1)).fit(X, y)
    with pytest.raises(ValueError, match="two classes"):
        PlattClassifier(SVC()).fit(X[:50], y[:50])
    four = np.where(np.arange(150) % 10 == 0, 3, y)
    pairs_only = svm.SVC(decision_function_shape="ovo")
    with pytest.raises(ValueError, match="one value for each of the 4 classes"):
        PlattClassifier(pairs_only).fit(X, four)
    for inside in (pairs_only, make_pipeline(SVC(decision_function_shape="ovo"))):
        with pytest.raises(ValueError, match=r"of the 3 classes.*'ovr'"):  # which make three pairs
            PlattClassifier(inside).fit(X, y)


class TestFolds:
    def test_classes_are_spread_evenly(self) -> None:
        random = np.random.default_rng(0)
        X, codes = random.normal(size=(103, 4)), random.integers(0, 3, 103)
        fold = deal_folds(X, codes, 5)
        for code in range(3):
            counts = np.bincount(fold[codes == code], minlength=5)
            assert np.ptp(counts) <= 1
        assert np.ptp(np.bincount(fold)) <= 1

    def test_copies_are_spread_and_the_order_does_not_matter(self) -> None:
        random = np.random.default_rng(1)
        X = random.integers(0, 2, (200, 4)).astype(float)
        X[X == 0] = random.choice([0.0, -0.0], (X == 0).sum())
        codes = random.integers(0, 2, 200)
        fold = deal_folds(X, codes, 4, random_state=3)
        for row, code in zip(X, codes):
            same = (X == row).all(axis=1) & (codes == code)
            assert np.ptp(np.bincount(fold[same], minlength=4)) <= 1
        np.testing.assert_array_equal(deal_folds(sp.csr_array(X), codes, 4, 3), fold)
        order = random.permutation(200)
        again = deal_folds(X[order], codes[order], 4, 3)
        for number in range(4):  # the same rows, whichever copy of each
            rows = sorted(map(tuple, np.c_[X, codes][fold == number] + 0.0))
            assert sorted(map(tuple, np.c_[X, codes][order][again == number] + 0.0)) == rows

    def test_stratified_folds_of_scikit_learn_are_not_needed(self) -> None:
        """A class smaller than the number of folds makes no trouble, as it does elsewhere."""
        codes = np.array([0] * 10 + [1])
        X = np.arange(11.0)[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fold = deal_folds(X, codes, 5)
        assert np.bincount(fold).max() <= 3
        with pytest.warns(UserWarning, match="least populated"):
            list(StratifiedKFold(5).split(X, codes))


def routed_pipeline(request: bool | None) -> Any:
    """Return a pipeline whose last step asks for weights, refuses them, or says nothing."""
    with sklearn.config_context(enable_metadata_routing=True):
        return make_pipeline(
            FunctionTransformer(), LogisticRegression().set_fit_request(sample_weight=request)
        )


def test_weights_reach_into_a_pipeline() -> None:
    """By scikit-learn's routing; the result is that without a pipeline."""
    X, y = make_classification(120, 4, random_state=0)
    weights = np.random.default_rng(0).exponential(size=120)
    alone = PlattClassifier(LogisticRegression()).fit(X, y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = PlattClassifier(routed_pipeline(True)).fit(X, y, sample_weight=weights)
        unweighted = PlattClassifier(routed_pipeline(False)).fit(X, y, sample_weight=weights)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            PlattClassifier(routed_pipeline(None)).fit(X, y, sample_weight=weights)
        scores = [
            cross_val_score(
                PlattClassifier(inner)
                .set_fit_request(sample_weight=True)
                .set_score_request(sample_weight=False),
                X,
                y,
                params={"sample_weight": weights},
            )
            for inner in (routed_pipeline(True), routed_pipeline(True)[-1])
        ]
    np.testing.assert_array_equal(routed.predict_proba(X), alone.predict_proba(X))
    plain = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(unweighted.estimator_[-1].coef_, plain.coef_)
    np.testing.assert_array_equal(*scores)


def test_weights_without_routing_stop_at_a_pipeline() -> None:
    """As before, with a word on what to do."""
    X, y = make_classification(60, 4, random_state=0)
    model = PlattClassifier(make_pipeline(FunctionTransformer(), SVC()))
    with pytest.raises(ValueError, match="let scikit-learn route them"):
        model.fit(X, y, sample_weight=np.ones(60))


@pytest.mark.parametrize("kind", [SVC, svm.SVC])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_precomputed_kernel_is_as_good_as_its_data(kind: Any, weighted: bool) -> None:
    """Also with rows without weight, which stay columns of the matrix (scikit-learn loses them)."""
    X, y = make_classification(90, 4, n_informative=3, n_redundant=0, random_state=0)
    least = 0 if kind is SVC else 1
    weight = np.random.default_rng(0).integers(least, 3, 90).astype(float) if weighted else None
    folds = [(np.flatnonzero(np.arange(90) % 3 != k), np.arange(k, 90, 3)) for k in range(3)]
    kernel = RBF(0.3)
    direct = PlattClassifier(kind(gamma=0.3, tol=1e-8), cv=folds).fit(X, y, weight)
    given = PlattClassifier(kind(kernel="precomputed", tol=1e-8), cv=folds)
    given.fit(kernel(X), y, weight)
    Q = X[:20] + 0.1
    np.testing.assert_allclose(
        given.predict_proba(kernel(Q, X)), direct.predict_proba(Q), atol=1e-6
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.001, 1.0])
def test_balanced_classes_are_balanced_in_each_fold(loss: str, weighted: bool, C: float) -> None:
    """Where all multipliers are at their bounds, a fold too much of one class would decide all."""
    X, y = make_classification(300, 6, weights=[0.8], random_state=0)
    weight = np.random.default_rng(1).integers(1, 4, 300).astype(float) if weighted else None
    model = SVC(C=C, gamma=0.2, loss=loss, class_weight="balanced", tol=1e-7)
    fold = np.random.default_rng(0).integers(0, 4, 300)
    values = clone(model)._fit_out_of_fold(X, y, weight, fold)[:, 0]
    for number in range(4):
        rest = fold != number
        own = None if weight is None else weight[rest]
        expected = clone(model).fit(X[rest], y[rest], own).decision_function(X[~rest])
        np.testing.assert_allclose(values[~rest], expected, atol=1e-4)
