"""The models of which files are forged, fitted when they are asked for, and fresh rows for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_classif
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.manifold import Isomap
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.naive_bayes import CategoricalNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, RadiusNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    LabelBinarizer,
    LabelEncoder,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import all_estimators
from variants import VARIANTS

import mercer
from mercer.tables import CommonScaler, TableModel, as_table, vectorizer

from .models import _fitted
from .test_around import AROUND

Pair = tuple[Any, Any]

X, Y = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[Y]
SMALL = {"n_estimators": 4, "max_iter": 30, "n_components": 2, "n_clusters": 2, "cv": 2, "C": 1.0}
NEEDED = {
    "estimator": LogisticRegression(),
    "regressor": Ridge(),
    "estimators": [("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=2))],
    "param_grid": {"fit_intercept": [True, False]},
    "param_distributions": {"fit_intercept": [True, False]},
    "transformers": [("a", StandardScaler(), [0, 1])],
    "transformer_list": [("a", StandardScaler()), ("b", KBinsDiscretizer(3))],
    "steps": [("a", StandardScaler()), ("b", LogisticRegression())],
    "kernel": "rbf",
}


def fresh_rows() -> np.ndarray:
    """Return more rows than a model is tried with: others of the table, between and beyond them."""
    random = np.random.default_rng(11)
    between = 0.5 * (X[random.permutation(150)[:60]] + X[random.permutation(150)[:60]])
    beyond = X[::5] * random.uniform(0.0, 3.0, size=(30, 1))
    return np.vstack([X[1::2], between, beyond, random.normal(scale=30.0, size=(20, 4))])


def frame(count: int, seed: int, new: bool = False) -> pd.DataFrame:
    """Return a table with numbers, gaps, words and dates; some words may be new."""
    random = np.random.default_rng(seed)
    colours = ["red", "green", "blue", *(["violet"] if new else [])]
    table = pd.DataFrame(
        {
            "size": random.normal(size=count) * (3.0 if new else 1.0),
            "weight": random.exponential(size=count),
            "colour": random.choice(colours, count),
            "day": pd.date_range("2024-01-01", periods=count, freq="17h"),
            "text": [f"sample {k} of {k % 7}" for k in random.integers(0, 99, count)],
        }
    )
    table.loc[3::11, "size"] = np.nan
    return table


def _variant(model: Any) -> Pair:
    fitted, _ = _fitted(clone(model))
    rows = fresh_rows()
    if "precomputed" in repr(model):
        return fitted, rows @ X[::3][: fitted.n_features_in_].T
    return fitted, rows


def _around(model: Any) -> Pair:
    old = pd.DataFrame(X[::3], columns=list("abcd"))
    rows = pd.DataFrame(np.abs(fresh_rows()), columns=list("abcd"))
    return clone(model).fit(old, WORDS[::3]), rows


def _plain(kind: Any) -> Pair:
    """Return a model of scikit-learn of few parts, fitted to labels, numbers or several numbers."""
    model = kind(**{n: clone(v) if hasattr(v, "fit") else v for n, v in _needed(kind).items()})
    known = model.get_params(deep=False)
    model.set_params(**{name: value for name, value in SMALL.items() if name in known})
    rows = X[::3]
    for target in (WORDS[::3], rows[:, 0], rows[:, :2], (rows[:, :2] > 3).astype(int)):
        wrong = "f" if is_classifier(model) else "U" if is_regressor(model) else ""
        if target.dtype.kind == wrong:
            continue
        try:
            return clone(model).fit(rows, target), fresh_rows()
        except (ValueError, TypeError, AttributeError):
            continue
    raise ValueError(f"{kind.__name__} cannot be fitted")


def _needed(kind: Any) -> dict[str, Any]:
    from inspect import Parameter, signature

    found = signature(kind).parameters.values()
    return {p.name: NEEDED[p.name] for p in found if p.default is Parameter.empty}


def _simple(model: Any, rows: Any = None, target: Any = None, fresh: Any = None) -> Pair:
    rows = X[::3] if rows is None else rows
    target = WORDS[::3] if target is None else target
    return clone(model).fit(rows, target), fresh_rows() if fresh is None else fresh


def _with_gaps(rows: np.ndarray) -> np.ndarray:
    return np.where(np.arange(rows.size).reshape(rows.shape) % 7 == 5, np.nan, rows)


def _words(model: Any) -> Pair:
    columns = ["colour", "text"]
    old, rows = frame(60, 1).assign(text=lambda t: t["text"].str[-1]), frame(150, 2)
    rows = rows.assign(text=rows["text"].str[-1])
    return clone(model).fit(old[columns], Y[: len(old)] + np.arange(60) % 2), rows[columns]


def _text(model: Any) -> Pair:
    old = [f"one {k % 5} line of words number{k % 9}" for k in range(40)]
    rows = [f"line {k} with others number{k % 12} of one" for k in range(90)]
    return clone(model).fit(old, np.arange(40) % 3), rows


def _objects(model: Any) -> Pair:
    """Return a model of a matrix of words and numbers, without names."""
    old, rows = frame(60, 1), frame(150, 2)
    chosen = ["colour", "weight", "text"]
    old["text"], rows["text"] = old["text"].str[-1], rows["text"].str[-1]
    return clone(model).fit(old[chosen].to_numpy(), Y[:60] + np.arange(60) % 2), rows[
        chosen
    ].to_numpy()


def _of_words(columns: list[str]) -> Pair:
    """Return a model of a table of these columns only."""
    old, rows = frame(60, 1)[columns], frame(150, 2, new=True)[columns]
    table = as_table(old, np.where(frame(60, 1)["weight"] > 0.7, "yes", "no"))
    pipeline = make_pipeline(vectorizer(table), CommonScaler(), mercer.SVC())
    return TableModel.of(pipeline.fit(table.frame, np.asarray(table.target)), table), rows


def _table(model: Any, task: str = "classification", whole: bool = True) -> Pair:
    old, rows = frame(60, 1), frame(150, 2, new=True)
    if task == "classification":
        target: Any = np.where(old["weight"] + (old["colour"] == "red") > 1.2, "yes", "no")
    else:
        target = old["weight"].to_numpy() * 2 + (old["colour"] == "red")
    table = as_table(old, target)
    pipeline = make_pipeline(vectorizer(table), CommonScaler(), clone(model))
    pipeline.fit(table.frame, np.asarray(table.target))
    return (TableModel.of(pipeline, table) if whole else pipeline), rows


def _compared(models: str, mixed: bool, part: str) -> Pair:
    if mixed:
        old, rows = frame(60, 1), frame(150, 2, new=True)
        result = mercer.compare(
            old, np.where(old["weight"] > 0.7, "yes", "no"), models=models, folds=2, repeats=1
        )
        rows = rows[list(result.table.frame)]
    else:
        old = pd.DataFrame(X[::2], columns=list("abcd"))
        result = mercer.compare(old, WORDS[::2], models=models, folds=2, repeats=1)
        rows = pd.DataFrame(fresh_rows(), columns=list("abcd"))
    model = TableModel.of(result.best_, result.table) if part == "whole" else result.best_
    return model, rows


def _special() -> dict[str, Callable[[], Pair]]:
    simple, gaps = partial(partial, _simple), _with_gaps(fresh_rows())
    neighbours = KNeighborsClassifier(3, weights="distance")
    several = (np.stack([Y, Y > 1], axis=1) + 0)[::3]
    lacking = _with_gaps(X[::3])
    plain = {
        "isolation of all columns": IsolationForest(n_estimators=5, random_state=0),
        "a large forest": RandomForestClassifier(30, random_state=0, oob_score=True),
        "neighbours by distance": neighbours,
        "scaled neighbours": make_pipeline(StandardScaler(), neighbours),
        "neighbours within": RadiusNeighborsClassifier(2.0, outlier_label="none"),
        "a few bins": KBinsDiscretizer(4, encode="ordinal", strategy="kmeans"),
        "bins of one code": make_pipeline(KBinsDiscretizer(4), MultinomialNB()),
        "a manifold": make_pipeline(Isomap(n_neighbors=5), LogisticRegression()),
        "a union": FeatureUnion([("a", StandardScaler()), ("b", SelectKBest(f_classif, k=2))]),
        "chosen by a forest": make_pipeline(
            SelectFromModel(RandomForestClassifier(5, random_state=0)), mercer.SVC()
        ),
    }
    words = {
        "one-hot": OneHotEncoder(handle_unknown="ignore"),
        "one-hot, rare": OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3),
        "one-hot, dropped": make_pipeline(OneHotEncoder(drop="first"), LogisticRegression()),
        "ordinal": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        "encoded target": TargetEncoder(random_state=0),
        "encoded before a tree": make_pipeline(TargetEncoder(random_state=0), mercer.SVC()),
        "columns of words": make_pipeline(
            make_column_transformer((OneHotEncoder(), ["colour"]), (OrdinalEncoder(), ["text"])),
            RandomForestClassifier(4, random_state=0),
        ),
    }
    texts = {
        "counted words": CountVectorizer(),
        "weighted words": make_pipeline(TfidfVectorizer(), mercer.SVC()),
        "words and Bayes": make_pipeline(CountVectorizer(ngram_range=(1, 2)), MultinomialNB()),
        "hashed words": make_pipeline(HashingVectorizer(n_features=64), LogisticRegression()),
    }
    tables = {
        "table SVC": partial(_table, mercer.SVC()),
        "table SVC, pipeline": partial(_table, mercer.SVC(), whole=False),
        "table forest": partial(_table, RandomForestClassifier(5, random_state=0)),
        "table SVR": partial(_table, mercer.SVR(), "regression"),
        "table SVDD": partial(_table, mercer.SVDD(nu=0.2)),
        "table neighbours": partial(_table, neighbours),
        "table boosting": partial(_table, HistGradientBoostingClassifier(max_iter=2)),
        "compared, numbers": partial(_compared, "lda,tree,svc", False, "whole"),
        "compared, mixed": partial(_compared, "tree,forest", True, "whole"),
        "compared, a pipeline": partial(_compared, "svc", True, "best"),
    }
    columns = make_column_transformer(
        (OneHotEncoder(), [0]), (StandardScaler(), [1]), (OrdinalEncoder(), [2])
    )
    mixed = make_column_transformer((TfidfVectorizer(), "text"), (StandardScaler(), ["weight"]))
    labels = np.repeat(WORDS, 2)
    named = [{"a": k % 3, "b": 1.0, f"c{k % 5}": 2.0} for k in range(30)]
    others = {
        "words without names": partial(_objects, make_pipeline(columns, mercer.SVC())),
        "codes of words": partial(
            _objects, make_pipeline(columns, RandomForestClassifier(3, random_state=0))
        ),
        "table of one column": partial(_of_words, ["colour"]),
        "table of days": partial(_of_words, ["day"]),
        "table of texts": partial(_of_words, ["text", "size"]),
        "texts in a column": lambda: (
            make_pipeline(mixed, mercer.SVC()).fit(frame(60, 1), Y[:60] + np.arange(60) % 2),
            frame(150, 2),
        ),
        "labels": lambda: (LabelEncoder().fit(WORDS), labels),
        "labels in columns": lambda: (LabelBinarizer().fit(WORDS), labels),
        "names and numbers": lambda: (DictVectorizer(sparse=False).fit(named), named[::-1]),
        "a curve": lambda: (
            IsotonicRegression(out_of_bounds="clip").fit(X[:50, 0], X[:50, 1]),
            X[:, 0],
        ),
        "known codes": simple(OneHotEncoder(), X[::3].round(), fresh=X[::3].round()[::-1]),
        "counts": simple(CategoricalNB(), X.round()[::3], fresh=X.round()[::3][::-1]),
        "a chain": simple(ClassifierChain(LogisticRegression()), target=several),
        "tuned": simple(TunedThresholdClassifierCV(LogisticRegression(), cv=2), target=Y[::3] > 0),
        "trained by itself": simple(
            SelfTrainingClassifier(mercer.SVC(probability=True)), target=Y[::3] - (Y[::3] == 2) * 3
        ),
        "neighbours nearby": simple(RadiusNeighborsClassifier(1.0), fresh=X),
        "stacked numbers": simple(
            StackingRegressor([("a", mercer.SVR()), ("b", DecisionTreeRegressor())], cv=2),
            target=X[::3, 0],
        ),
    }
    return others | {
        **{name: simple(model) for name, model in plain.items()},
        **{name: partial(_words, model) for name, model in words.items()},
        **{name: partial(_text, model) for name, model in texts.items()},
        **tables,
        "imputed by neighbours": simple(KNNImputer(n_neighbors=2), lacking, fresh=gaps),
        "imputed": simple(SimpleImputer(add_indicator=True), lacking, fresh=gaps),
        "indicated": simple(MissingIndicator(features="all"), lacking, fresh=gaps),
        "imputed by forests": simple(
            mercer.ProximityImputer(RandomForestClassifier(3, random_state=0)), lacking, fresh=gaps
        ),
        "boosting with gaps": simple(
            HistGradientBoostingRegressor(max_iter=3), lacking, X[::3, 0], gaps
        ),
        "several labels": simple(MultiOutputClassifier(mercer.SVC()), target=several),
        "several labels of neighbours": simple(KNeighborsClassifier(), target=several),
        "several labels of a tree": simple(DecisionTreeClassifier(max_depth=3), target=several),
        "several numbers": simple(MultiOutputRegressor(mercer.SVR()), target=X[::3, :2]),
        "numbers of neighbours": simple(KNeighborsRegressor(), target=X[::3, :2]),
        "voted numbers": simple(
            VotingRegressor([("a", mercer.SVR()), ("b", DecisionTreeRegressor(max_depth=2))]),
            target=X[::3, 0],
        ),
        "sparse SVC": simple(mercer.SVC(), sp.csr_array(X[::3]), fresh=sp.csr_array(fresh_rows())),
        "sparse neighbours": simple(neighbours, sp.csr_array(X[::3])),
    }


@cache
def makers() -> dict[str, Callable[[], Pair]]:
    """Return what makes each model, by its name."""
    found: dict[str, Callable[[], Pair]] = {
        f"{number} {' '.join(repr(model).split())}": partial(_variant, model)
        for number, model in enumerate(VARIANTS)
    }
    found |= {f"around: {name}": partial(_around, model) for name, model in AROUND.items()}
    found |= {f"sklearn: {name}": partial(_plain, kind) for name, kind in all_estimators()}
    return found | {f"special: {name}": make for name, make in _special().items()}


@cache
def made(name: str) -> Pair:
    """Return a fitted model and fresh rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.random.seed(0)
        return makers()[name]()
