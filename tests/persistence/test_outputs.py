"""Classifiers with other numbers of outputs than classes are neither saved nor loaded."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import KNNImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.semi_supervised import LabelSpreading
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

import mercer

from .test_sound import refused

pytest.importorskip("skops")

X, y = (part[::3] for part in load_iris(return_X_y=True))
CODES = X.round()[:, :2]
FEWER, TWO = np.array([0, 1]), DecisionTreeClassifier(max_depth=2).fit(X, y > 0)

LINES = LogisticRegression().fit(X, y)
CENTRES = NearestCentroid().fit(X, y)
NORMAL = GaussianNB().fit(X, y)
CURVES = QuadraticDiscriminantAnalysis().fit(X, y)
FOREST = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)
BOOSTED = GradientBoostingClassifier(n_estimators=2).fit(X, y)
BINNED = HistGradientBoostingClassifier(max_iter=2).fit(X, y)
REST = OneVsRestClassifier(LINES).fit(X, y)
VOTES = VotingClassifier([("a", GaussianNB())]).fit(X, y)
COUNTS = CategoricalNB().fit(CODES, y)
SPREAD = LabelSpreading().fit(X, y)
FILLED = KNNImputer().fit(np.where(X > 6.0, np.nan, X))

CHANGES: dict[str, Any] = {
    "rows of weights": (LINES, {"coef_": LINES.coef_[:-1]}, {"classes_": FEWER}),
    "centres": (CENTRES, {"centroids_": CENTRES.centroids_[:-1]}, {"classes_": FEWER}),
    "means": (NORMAL, {"theta_": NORMAL.theta_[:-1]}, {"class_prior_": NORMAL.class_prior_[:-1]}),
    "means of curves": (CURVES, {"means_": CURVES.means_[:-1]}, {"classes_": FEWER}),
    "trees": (
        FOREST,
        {"classes_": FEWER},
        {"n_classes_": 2, "classes_": FEWER},
        {"estimators_": [*FOREST.estimators_[:-1], TWO]},
    ),
    "rounds": (BOOSTED, {"classes_": FEWER}, {"estimators_": BOOSTED.estimators_[:, :-1]}),
    "rounds on histograms": (BINNED, {"classes_": FEWER}, {"_predictors": [[]]}),
    "one against the rest": (REST, {"estimators_": REST.estimators_[:-1]}),
    "votes": (VOTES, {"classes_": FEWER}),
    "categories": (
        COUNTS,
        {"n_categories_": COUNTS.n_categories_ + 1},
        {"feature_log_prob_": [each[:, :-1] for each in COUNTS.feature_log_prob_]},
        {"feature_log_prob_": [each[:-1] for each in COUNTS.feature_log_prob_]},
    ),
    "labels that spread": (
        SPREAD,
        {"label_distributions_": SPREAD.label_distributions_[:-1]},
        {"label_distributions_": SPREAD.label_distributions_[:, :-1]},
    ),
    "gaps": (
        FILLED,
        {"_mask_fit_X": FILLED._mask_fit_X[:-1]},
        {"_valid_mask": FILLED._valid_mask[:-1]},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_outputs(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    model, *changes = CHANGES[name]
    mercer.save(model, tmp_path / "file")
    mercer.load(tmp_path / "file")
    for change in changes:
        refused(model, change, tmp_path / "file", monkeypatch)


def classifiers() -> list[Any]:
    """Return all of scikit-learn's that need nothing to be made but an estimator."""
    found = []
    for _, kind in all_estimators(type_filter="classifier"):
        wraps = "estimator" in signature(kind).parameters
        needed = {"estimator": LogisticRegression()} if wraps else {}
        try:
            model = kind(**needed)
        except TypeError:
            continue
        small = {"n_estimators": 3, "max_iter": 20, "cv": 2}
        known = model.get_params(deep=False)
        found.append(model.set_params(**{k: v for k, v in small.items() if k in known}))
    return found


TARGETS = {
    "two": (y > 0).astype(int),
    "three": np.array(["a", "b", "c"])[y],
    "labels": (np.stack([y, y[::-1], y + 1], axis=1) > 1).astype(int),
    "outputs": np.stack([y, y > 0], axis=1).astype(int),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", TARGETS)
def test_classifiers_are_kept(target: str, tmp_path: Path) -> None:
    """Whatever scikit-learn fits to these classes agrees with the rules."""
    kept = []
    for model in classifiers():
        try:
            expected = model.fit(CODES, TARGETS[target]).predict(CODES)
        except Exception:  # many know one output only
            continue
        mercer.save(model, tmp_path / "file")
        found = mercer.load(tmp_path / "file").predict(CODES)
        assert np.array_equal(found, expected) or "dummy" in repr(model).lower()
        kept.append(model)
    assert len(kept) >= {"two": 30, "three": 30, "labels": 10, "outputs": 5}[target]
