"""Features added or dropped one by one: the same choice as scikit-learn's, at less cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import scale

from mercer import SVC
from mercer.feature_selection import KernelSequentialSelector
from mercer.feature_selection._candidate_scores import CandidateScores
from mercer.feature_selection._kernel_ranker import machine_for
from mercer.kernels import RBF, Laplacian, Linear
from mercer.model_selection.grid.shared_search import accuracy

DIRECTIONS = ("forward", "backward")


def wine() -> tuple[Any, Any]:
    X, y = load_wine(return_X_y=True)
    return scale(X)[::2, :7], y[::2]


def overlapping() -> tuple[Any, Any]:
    how = {"n_informative": 3, "n_redundant": 2, "flip_y": 0.2, "random_state": 0}
    return make_classification(90, 7, **how)


def cancer() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:90, :7], np.array(["malignant", "benign"])[y[:90]]


def noise() -> tuple[Any, Any]:
    """Nothing to learn: many scores are equal."""
    return np.random.default_rng(0).normal(size=(60, 7)), np.arange(60) % 2


def peer_of(settings: dict[str, Any], **how: Any) -> SequentialFeatureSelector:
    return SequentialFeatureSelector(svm.SVC(tol=1e-6, **settings), **how)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("data", "settings"),
    [
        (wine, {}),
        (wine, {"kernel": "linear"}),
        (overlapping, {}),
        (overlapping, {"kernel": "poly", "degree": 2, "coef0": 1.0, "C": 0.1}),
        (cancer, {"gamma": 0.1, "C": 10.0}),
        (cancer, {"kernel": "linear", "class_weight": "balanced"}),
        (noise, {"class_weight": {0: 1.0, 1: 2.0}}),
    ],
)
def test_choice_of_scikit_learn(data, settings: dict[str, Any], direction: str) -> None:
    X, y = data()
    how = {"n_features_to_select": 3, "direction": direction, "cv": 3}
    ours = KernelSequentialSelector(SVC(**settings), **how).fit(X, y)
    peer = peer_of(settings, **how).fit(X, y)
    np.testing.assert_array_equal(ours.support_, peer.support_)
    assert ours.n_features_to_select_ == peer.n_features_to_select_ == 3


def test_choice_that_a_loose_tolerance_turns() -> None:
    """A row lies closer to the boundary than LIBSVM's tolerance; solved exactly, it is ours."""
    X, y = make_classification(200, 30, n_informative=6, n_redundant=6, flip_y=0.1, random_state=0)
    X = np.delete(X, 24, axis=1)  # the first feature to go, for both
    how = {"n_features_to_select": 28, "direction": "backward"}
    ours = KernelSequentialSelector(SVC(kernel="linear"), **how).fit(X, y)
    loose = SequentialFeatureSelector(svm.SVC(kernel="linear"), **how).fit(X, y)
    dropped = [int(np.flatnonzero(~one.support_)[0]) for one in (ours, loose)]
    assert dropped == [23, 26]
    scores = {
        name: [cross_val_score(model, np.delete(X, j, axis=1), y).mean() for j in dropped]
        for name, model in (
            ("loose", svm.SVC(kernel="linear")),
            ("tight", svm.SVC(kernel="linear", tol=1e-7)),
            ("exact", SVC(kernel="linear", solver="exact")),
        )
    }
    assert scores["tight"] == scores["exact"] == pytest.approx([0.765, 0.765])
    assert scores["loose"] == pytest.approx([0.765, 0.77])


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("wanted", "tol"), [("auto", None), ("auto", 0.02), (0.5, None)])
def test_number_of_features_as_in_scikit_learn(direction: str, wanted: Any, tol: Any) -> None:
    X, y = overlapping()
    how = {"n_features_to_select": wanted, "tol": tol, "direction": direction, "cv": 2}
    ours = KernelSequentialSelector(SVC(), **how).fit(X, y)
    np.testing.assert_array_equal(ours.support_, peer_of({}, **how).fit(X, y).support_)


def test_features_that_are_copies_go_by_their_place() -> None:
    X, y = overlapping()
    X = np.column_stack([X[:, 3], X[:, :3], X[:, 3], X[:, 1]])
    how = {"n_features_to_select": 3, "cv": 3}
    ours = KernelSequentialSelector(SVC(), **how).fit(X, y)
    np.testing.assert_array_equal(ours.support_, peer_of({}, **how).fit(X, y).support_)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    "model",
    [
        SVC(loss="squared_hinge", C=5.0),
        SVC(kernel=Laplacian("scale"), multi_class="ovr"),
        SVC(kernel=RBF([0.1, 0.2, 0.3, 0.4])),
        SVC(kernel=Linear() + RBF("median"), break_ties=True),
    ],
    ids=lambda model: str(model.kernel),
)
def test_scores_are_those_of_fits_from_scratch(model: SVC, direction: str) -> None:
    X, y = load_iris(return_X_y=True)
    folds = StratifiedKFold(3)
    selector = KernelSequentialSelector(
        model, n_features_to_select=2, direction=direction, cv=folds, scoring="f1_macro"
    ).fit(X, y)
    for step, score in enumerate(selector.scores_):
        gone = selector.order_[: step + 1]
        kept = np.sort(gone) if direction == "forward" else np.setdiff1d(np.arange(4), gone)
        own = machine_for(model, kept, 4)  # widths given for each feature are those of its own
        right = cross_val_score(own, X[:, kept], y, cv=folds, scoring="f1_macro").mean()
        assert score == pytest.approx(right, abs=1e-12)


def test_folds_without_a_class_and_scores_of_decision_values() -> None:
    X, y = wine()
    splits = [(np.flatnonzero(y != 2), np.flatnonzero(y == 2)), (np.arange(0, 89, 2), np.arange(5))]
    selector = KernelSequentialSelector(SVC(), n_features_to_select=1, cv=splits).fit(X, y)
    right = cross_val_score(SVC(), X[:, selector.support_], y, cv=splits).mean()
    assert selector.scores_[0] == pytest.approx(right)
    X, y = overlapping()
    selector = KernelSequentialSelector(SVC(), n_features_to_select=2, cv=3, scoring="roc_auc")
    peer = peer_of({}, n_features_to_select=2, cv=3, scoring="roc_auc").fit(X, y)
    np.testing.assert_array_equal(selector.fit(X, y).support_, peer.support_)


def test_machines_start_from_those_of_the_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """That takes fewer steps, and comes to the same scores."""
    steps: list[int] = []
    note = CandidateScores._note
    monkeypatch.setattr(
        CandidateScores,
        "_note",
        lambda self, found: (steps.append(int(found.n_iter.sum())), note(self, found)),
    )
    X, y = overlapping()
    splits = list(StratifiedKFold(3).split(X, y))
    judged = CandidateScores(SVC(C=10.0), X, y, splits, accuracy, False, 1)
    judged.best(np.arange(7))
    warm, _ = judged._judge(judged.left)
    judged._start = None
    cold, _ = judged._judge(judged.left)
    np.testing.assert_allclose(warm, cold)
    assert steps[1] < 0.9 * steps[2]


def test_kernels_of_candidates_are_those_of_their_features() -> None:
    X, y = overlapping()
    splits = list(StratifiedKFold(3).split(X, y))
    for grows in (True, False):
        judged = CandidateScores(SVC(), X, y, splits, accuracy, grows, 1)
        left = np.arange(7)
        for _ in range(5):
            left = left[left != judged.best(left)[0]]
        for feature in left.tolist():
            kept = judged._with(feature)
            matrices = np.empty((3, len(y), len(y)))
            judged._fill(matrices, feature)
            for matrix, (train, _) in zip(matrices, splits):
                right = RBF("scale").resolve(X[np.ix_(train, kept)])(X[:, kept])
                np.testing.assert_allclose(matrix, right, rtol=1e-10)


def test_rows_far_from_zero_have_their_own_width() -> None:
    """Sums of squares would lose the variance: it is computed as it is."""
    X, y = overlapping()
    far = X[:, :3] + 1e7
    how = {"n_features_to_select": 1, "cv": 3}
    near = KernelSequentialSelector(SVC(gamma="scale"), **how).fit(X[:, :3], y)
    np.testing.assert_array_equal(
        KernelSequentialSelector(SVC(gamma="scale"), **how).fit(far, y).order_, near.order_
    )


def test_other_estimators_are_fitted_from_scratch() -> None:
    X, y = overlapping()
    how = {"n_features_to_select": 2, "cv": 3}
    ours = KernelSequentialSelector(Ridge(), **how).fit(X, y)
    peer = SequentialFeatureSelector(Ridge(), **how).fit(X, y)
    np.testing.assert_array_equal(ours.support_, peer.support_)
    assert ours.n_fits_ == 3 * (7 + 6)
    dense = KernelSequentialSelector(SVC(), **how).fit(X, y)
    sparse = KernelSequentialSelector(SVC(), **how).fit(sp.csr_matrix(X), y)
    np.testing.assert_array_equal(dense.order_, sparse.order_)


def test_names_and_frames() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = overlapping()
    frame = pandas.DataFrame(X, columns=list("abcdefg"))
    selector = KernelSequentialSelector(SVC(), n_features_to_select=2, cv=2)
    found = selector.set_output(transform="pandas").fit_transform(frame, y)
    assert list(found.columns) == list(selector.get_feature_names_out())
    assert list(found.columns) == ["abcdefg"[k] for k in np.sort(selector.order_)]


def test_bad_input_is_refused_in_one_sentence() -> None:
    X, y = overlapping()
    with pytest.raises(ValueError, match=r"must be < n_features; got 7 of 7"):
        KernelSequentialSelector(SVC(), n_features_to_select=7).fit(X, y)
    with pytest.raises(ValueError, match=r"tol must be above 0 in forward selection; got -1"):
        KernelSequentialSelector(SVC(), tol=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="precomputed kernel has no features"):
        KernelSequentialSelector(SVC(kernel="precomputed")).fit(X[:7, :7], y[:7])
    one = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1))]
    with pytest.raises(ValueError, match="training rows of one class only"):
        KernelSequentialSelector(SVC(), cv=one).fit(X, y)
    with pytest.raises(ValueError, match="needs at least two classes"):
        KernelSequentialSelector(SVC(), cv=one).fit(sp.csr_array(X), y)  # its score is no number
    with pytest.warns(match="max_iter was reached"):
        KernelSequentialSelector(SVC(max_iter=1), n_features_to_select=1, cv=2).fit(X, y)
