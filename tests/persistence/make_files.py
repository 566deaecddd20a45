"""Writes one small file of each kind that later versions must read, with what the models say.

``python -m tests.persistence.make_files`` writes the files of the present form that are missing.
Files that are there stay as they are: they show what was written then.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.gaussian_process.kernels import Matern
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, StandardScaler

import mercer
from mercer.kernels import RBF, Laplacian, Linear, Polynomial
from mercer.persistence._header import FORMAT, is_fitted
from mercer.tables import CommonScaler, as_table, vectorizer

FILES = Path(__file__).parent / "files"
ANSWERS = ("predict", "decision_function", "predict_proba", "transform")


def rows(name: str) -> Any:
    """Return the rows about which a model is asked."""
    X, _ = load_iris(return_X_y=True, as_frame=True)
    X = X.iloc[3::15]
    others = {f"asked_{kind}": data[0] for kind, (_, *data) in _by_rows().items()}
    if name in others:
        return others[name]
    if name == "table":
        return X.assign(size=np.where(X.iloc[:, 2] > 3, "large", "small"))
    if name == "sparse":
        return sp.csr_array(X.to_numpy())
    return X if name == "names" else X.to_numpy()


def models() -> dict[str, tuple[Any, ...]]:
    """Return models of many kinds, each with the few rows to which it is fitted."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X.iloc[::10], y.iloc[::10].to_numpy()
    frame = X.assign(size=np.where(X.iloc[:, 2] > 3, "large", "small"))
    points, words = X.to_numpy(), np.array(["setosa", "versicolor", "virginica"])[y]
    table = as_table(frame, words)
    algebra = 0.5 * RBF(0.1) * Linear() + Polynomial(2, gamma=0.1) ** 2 + Laplacian(0.3)
    platt = make_pipeline(StandardScaler(), mercer.PlattClassifier(mercer.SVC(), cv=2))
    boosting = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=3)
    return {
        "svc": (mercer.SVC(probability=True), points, words),
        "names": (mercer.SVC(kernel=algebra, class_weight={0: 1.0, 1: 2.0}), X[y < 2], y[y < 2]),
        "sparse": (mercer.SVC(loss="squared_hinge"), sp.csr_array(points), y),
        "svr": (mercer.SVR(kernel=Matern(2.0, nu=1.5)), points, points[:, 2] ** 2),
        "svdd": (mercer.SVDD(nu=0.2), points),
        "one_class": (mercer.OneClassSVM(nu=0.3), points),
        "spheres": (mercer.NearestHypersphereClassifier(cv=None), points, words),
        "rvc": (mercer.RVC(max_iter=20), points, y),
        "platt": (platt, points, y > 0),
        "scaled": (make_pipeline(CommonScaler(), mercer.SVC()), points, y),
        "path_search": (mercer.PathSearchCV(mercer.SVC(), {"C": [0.1, 1.0]}, cv=2), points, y),
        "grid_search": (GridSearchCV(mercer.SVC(), {"C": [0.1, 1.0]}, cv=2), points, y),
        "gradient_search": (mercer.GradientSearch(max_evaluations=2), points, y > 0),
        "elimination": (mercer.KernelRFE(mercer.SVC(kernel="linear")), points, y),
        "pruned_tree": (mercer.PrunedTreeClassifier(cv=2), points, words),
        "forest": (RandomForestClassifier(2, random_state=0), points, words),
        "boosting": (boosting, points, y),
        "fuzzy": (mercer.FuzzyRuleClassifier(n_generations=2, random_state=0), points, words),
        "perceptron": (mercer.KernelPerceptron(random_state=0), points, y),
        "table": (make_pipeline(vectorizer(table), mercer.SVC()), table.frame, words),
        "unfitted": (mercer.SVC(kernel=algebra),),
        **{f"asked_{kind}": parts for kind, parts in _by_rows().items()},
    }


def _by_rows() -> dict[str, tuple[Any, ...]]:
    """Return models by the kind of rows that a file asks them about, with the data of their fit."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X.iloc[::10], y.iloc[::10].to_numpy()
    line, words = X.iloc[:, 2].to_numpy(), np.where(y > 0, "large", "small")
    records = [{"word": word, "number": number} for word, number in zip(words, line, strict=True)]
    texts = [f"a {word} one of {number}" for word, number in zip(words, line, strict=True)]
    frame, coded = X.iloc[:, :1].assign(size=words)[["size"]], OneHotEncoder()
    return {
        "list": (mercer.SVC(), X.to_numpy(), y),
        "named": (mercer.SVR(), X, line),
        "columns": (make_pipeline(coded, mercer.SVR()), frame, line),
        "objects": (make_pipeline(coded, mercer.SVR()), frame.to_numpy(dtype=object), line),
        "line": (IsotonicRegression(), np.sort(line), line),
        "labels": (LabelEncoder(), words),
        "names": (make_pipeline(DictVectorizer(), mercer.SVR()), records, line),
        "texts": (make_pipeline(CountVectorizer(), mercer.SVR()), texts, line),
    }


def answers(model: Any, X: Any) -> dict[str, Any]:
    """Return what a fitted model says about rows."""
    return {
        name: np.asarray(getattr(model, name)(X)).tolist()
        for name in ANSWERS
        if hasattr(model, name) and is_fitted(model)
    }


def write_missing() -> None:
    """Write the files that are not there yet."""
    folder = FILES / f"form_{FORMAT}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (model, *data) in models().items():
        if not (folder / f"{name}.mercer").exists():
            model = clone(model)  # parts stand in several
            if data:
                model.fit(*data)
            mercer.save(model, folder / f"{name}.mercer")
            text = json.dumps(answers(model, rows(name)))
            (folder / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    write_missing()
