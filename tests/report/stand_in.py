"""Comparisons to report on, made of real cross-validated fits of small models.

The attributes are those of `mercer.comparison.Comparison`; the report must need no others.
"""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from mercer import SVDD

N_FOLDS, N_REPEATS = 5, 2
CLASSIFIERS = {
    "logistic": ("Logistic regression", LogisticRegression(max_iter=2000)),
    "neighbours": ("Nearest neighbours", KNeighborsClassifier()),
    "tree": ("Pruned tree", DecisionTreeClassifier(max_depth=4, random_state=0)),
    "dummy": ("Always the largest class", DummyClassifier()),
}
REGRESSORS = {
    "ridge": ("Ridge regression", Ridge()),
    "neighbours": ("Nearest neighbours", KNeighborsRegressor()),
    "tree": ("Pruned tree", DecisionTreeRegressor(max_depth=4, random_state=0)),
    "dummy": ("Always the mean", DummyRegressor()),
}


@dataclass(frozen=True, eq=False)
class Table:
    """As `mercer.tables.Table`."""

    name: str
    frame: pd.DataFrame
    target: pd.Series
    task: str
    positive: str | None = None
    groups: pd.Series | None = None
    time: pd.Series | None = None
    notices: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    source: str = "X, y = load()"
    names: pd.DataFrame | None = None

    def row_numbers(self) -> Any:
        return np.arange(1, len(self.frame) + 1)

    def class_counts(self) -> dict[str, int]:
        return {str(name): int(count) for name, count in self.target.value_counts().items()}


@dataclass
class Insights:
    features: pd.DataFrame
    unusual: pd.DataFrame
    hard: pd.DataFrame
    learning: pd.DataFrame
    rfe: pd.DataFrame | None


@dataclass
class StandIn:
    """As `mercer.comparison.Comparison`."""

    table: Table
    results_: pd.DataFrame
    measure: str
    folds_: pd.DataFrame
    predictions_: dict[str, Any]
    scores_: dict[str, Any]
    classes_: list[str]
    best_name_: str
    simplest_name_: str
    partial: bool
    left_out_models: dict[str, str]
    insights_: Insights | None
    seconds_: float
    titles: dict[str, str]
    positive_: str | None = None
    cuts: tuple[int, int] = (0, 0)

    def title(self, name: str) -> str:
        return self.titles[name]

    def sentences(self) -> list[str]:
        title = self.results_.loc[self.best_name_, "title"]
        tied = list(self.results_["title"][self.results_["verdict"] == "tied"])
        ties = (
            f"It is tied with {', '.join(tied)}: the differences are no larger than chance allows."
            if tied
            else "Every other model is clearly worse."
        )
        return [f"{title} predicts {self.table.target.name} of {self.table.name} best.", ties]

    def code(self) -> str:
        return f"import mercer\n\n{self.table.source}\nresult = mercer.compare(X, y, seed=0)\n"


@threadpool_limits.wrap(limits=1)  # beside other processes, threads of a BLAS wait for each other
def compared(
    table: Table,
    *,
    models: dict[str, tuple[str, Any]] | None = None,
    failing: dict[str, tuple[str, str]] | None = None,
    partial_folds: int | None = None,
    with_insights: bool = True,
) -> StandIn:
    """Fit and measure everything; `failing` are titles and reasons of models that do not fit.

    With `partial_folds`, the run is stopped in the last model before the baseline, after so many
    of its folds.
    """
    start = time.perf_counter()
    is_classification = table.task == "classification"
    models = models or (CLASSIFIERS if is_classification else REGRESSORS)
    classes = sorted(table.class_counts()) if is_classification else []
    counts = list(table.class_counts().values()) if is_classification else [1]
    unbalanced = is_classification and max(counts) > 0.7 * sum(counts)
    measure = "rmse" if not is_classification else "balanced_error" if unbalanced else "error"
    stopped = [key for key in models if key != "dummy"][-1] if partial_folds else None
    records, predictions, scores, sizes = [], {}, {}, {}
    for key, (_, model) in models.items():
        most = partial_folds if key == stopped else None
        found = _cross_validated(table, model, classes, most)
        records += [{"model": key, **record} for record in found[0]]
        predictions[key], scores[key], sizes[key] = found[1:]
    folds = pd.DataFrame(records)
    results = _results(table, folds, models, sizes, measure, failing or {})
    best = results.index[results["verdict"] == "best"][0]
    rivals = results[results["verdict"].isin(["best", "tied"])]
    simplest = rivals["size_bytes"].idxmin()
    left_out = {key: why for key, (_, why) in (failing or {}).items()}
    titles = {key: title for key, (title, _) in {**models, **(failing or {})}.items()}
    if stopped:
        left_out["forest"] = "there was no time left for it"  # it has no line in the results
        titles["forest"] = "Random forest"
    return StandIn(
        table=table,
        results_=results,
        measure=measure,
        folds_=folds,
        predictions_=predictions,
        scores_=scores,
        classes_=classes,
        best_name_=best,
        simplest_name_=simplest,
        partial=stopped is not None,
        left_out_models=left_out,
        insights_=_insights(table, models[best][1], predictions, classes, measure)
        if with_insights
        else None,
        seconds_=time.perf_counter() - start,
        titles=titles,
        positive_=classes[1] if len(classes) == 2 else None,
        cuts=(N_FOLDS, N_REPEATS),
    )


def pipeline(model: Any) -> Any:
    return make_pipeline(StandardScaler(), clone(model))


def splits(table: Table) -> Any:
    for repeat in range(N_REPEATS):
        kind = StratifiedKFold if table.task == "classification" else KFold
        cut = kind(N_FOLDS, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(cut.split(table.frame, table.target)):
            yield repeat, fold, train, test


def _cross_validated(table: Table, model: Any, classes: list[str], most: int | None) -> Any:
    X, y = table.frame.to_numpy(), table.target.to_numpy()
    is_classification = table.task == "classification"
    predicted: Any = np.full(len(y), None if is_classification else np.nan, dtype=y.dtype)
    probabilities = np.full((len(y), len(classes)), np.nan)
    records, n_bytes = [], 0
    for number, (repeat, fold, train, test) in enumerate(splits(table)):
        if most is not None and number >= most:
            break
        start = time.perf_counter()
        fitted = pipeline(model).fit(X[train], y[train])
        middle = time.perf_counter()
        guess = fitted.predict(X[test])
        end = time.perf_counter()
        chance = fitted.predict_proba(X[test]) if is_classification else None
        record = {"repeat": repeat, "fold": fold, **_measured(y[test], guess, chance, classes)}
        records.append({**record, "fit_seconds": middle - start, "predict_seconds": end - middle})
        n_bytes = len(pickle.dumps(fitted))
        if repeat == 0:
            predicted[test] = guess
            if is_classification:
                probabilities[test] = chance
    return records, predicted, probabilities if is_classification else None, n_bytes


def _measured(truth: Any, guess: Any, chance: Any, classes: list[str]) -> dict[str, float]:
    if chance is None:
        return {
            "r2": r2_score(truth, guess),
            "mae": mean_absolute_error(truth, guess),
            "rmse": root_mean_squared_error(truth, guess),
        }
    binary = len(classes) == 2
    codes = np.searchsorted(classes, truth.astype(str))
    square = ((chance - np.eye(len(classes))[codes]) ** 2).sum(axis=1).mean()
    return {
        "error": float(np.mean(truth != guess)),
        "balanced_error": 1 - balanced_accuracy_score(truth, guess),
        "roc_auc": roc_auc_score(truth, chance[:, 1] if binary else chance, multi_class="ovr"),
        "log_loss": log_loss(truth, chance, labels=classes),
        "brier": square / 2 if binary else square,
        "f1": f1_score(truth, guess, average="macro"),
    }


def _results(
    table: Table,
    folds: pd.DataFrame,
    models: dict[str, tuple[str, Any]],
    sizes: dict[str, int],
    measure: str,
    failing: dict[str, tuple[str, str]],
) -> pd.DataFrame:
    names = [c for c in folds.columns if c not in ("model", "repeat", "fold")]
    means = folds.groupby("model")[names].mean()
    results = means.reindex(list(models))
    results["error_sd"] = folds.groupby("model")[measure].std()
    results["title"] = [title for title, _ in models.values()]
    results["folds"] = folds.groupby("model").size()
    results["size_bytes"] = pd.Series(sizes)
    results["error"] = results[measure]  # the primary one, as the real results have it
    results = results.sort_values("error")
    best = next(key for key in results.index if key != "dummy")
    for key in results.index:
        gap, half = _paired(folds, key, best, measure)
        results.loc[key, ["difference", "half_width"]] = gap, half
        verdict = "best" if key == best else "tied" if gap <= half else "worse"
        results.loc[key, "verdict"] = "baseline" if key == "dummy" else verdict
    for key, (title, _) in failing.items():
        results.loc[key, ["title", "verdict", "folds"]] = title, "failed", 0
    results.index.name = "model"
    return results


def _paired(folds: pd.DataFrame, key: str, best: str, measure: str) -> tuple[float, float]:
    """Return the difference and half the 95 % interval of Nadeau and Bengio."""
    if key == best:
        return 0.0, 0.0
    table = folds.pivot(index=["repeat", "fold"], columns="model", values=measure)
    gaps = (table[key] - table[best]).dropna()
    if len(gaps) < 2:
        return float(gaps.mean()), float("nan")
    variance = gaps.var() * (1 / len(gaps) + 1 / (N_FOLDS - 1))
    return float(gaps.mean()), float(student.ppf(0.975, len(gaps) - 1) * np.sqrt(variance))


def _insights(
    table: Table, model: Any, predictions: dict[str, Any], classes: list[str], measure: str
) -> Insights:
    X, y = table.frame.to_numpy(), table.target.to_numpy()
    _, _, train, test = next(iter(splits(table)))
    fitted = pipeline(model).fit(X[train], y[train])
    columns = np.arange(X.shape[1])
    if columns.size > 100:  # shuffled in groups they would say nothing; these cost a second
        columns = columns[:100]
    importance, deviation = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for column in columns:
        found = _importance_of(fitted, X[test], y[test], int(column))
        importance[column], deviation[column] = found
    features = pd.DataFrame(
        {"feature": table.frame.columns, "importance": importance, "sd": deviation}
    )
    scaled = StandardScaler().fit_transform(X[:, :50])
    sphere = SVDD().fit(scaled)
    distance = sphere.distance(scaled) / sphere.radius_
    order = np.argsort(-distance)[:12]
    return Insights(
        features=features.sort_values("importance", ascending=False, ignore_index=True),
        unusual=pd.DataFrame({"row": order, "distance": distance[order]}),
        hard=_hard(table, predictions),
        learning=_learning(table, model, classes, measure),
        rfe=None,
    )


def _importance_of(fitted: Any, X: Any, y: Any, column: int) -> tuple[float, float]:
    rng = np.random.default_rng(column)
    whole = fitted.score(X, y)
    losses = []
    for _ in range(3):
        shuffled = X.copy()
        shuffled[:, column] = rng.permutation(shuffled[:, column])
        losses.append(whole - fitted.score(shuffled, y))
    return float(np.mean(losses)), float(np.std(losses))


def _hard(table: Table, predictions: dict[str, Any]) -> pd.DataFrame:
    rivals = {key: value for key, value in predictions.items() if key != "dummy"}
    truth = table.target.to_numpy()
    if table.task == "classification":
        wrong = np.all([value != truth for value in rivals.values()], axis=0)
        rows = np.flatnonzero(wrong)
    else:
        least = np.min([np.abs(value - truth) for value in rivals.values()], axis=0)
        rows = np.argsort(-np.nan_to_num(least))[:12]
    told = [{key: value[row] for key, value in rivals.items()} for row in rows]
    return pd.DataFrame({"row": rows, "target": truth[rows], "predictions": told})


def _learning(table: Table, model: Any, classes: list[str], measure: str) -> pd.DataFrame:
    X, y = table.frame.to_numpy(), table.target.to_numpy()
    is_classification = table.task == "classification"
    lines = []
    for share in (0.3, 0.5, 0.75, 1.0):
        errors = []
        for repeat, _, train, test in splits(table):
            if repeat:
                break
            part = np.random.default_rng(0).permutation(train)[: int(share * len(train))]
            fitted = pipeline(model).fit(X[part], y[part])
            if is_classification and len(fitted.classes_) < len(classes):
                continue
            chance = fitted.predict_proba(X[test]) if is_classification else None
            errors.append(_measured(y[test], fitted.predict(X[test]), chance, classes)[measure])
        if errors:
            rows = int(share * len(train))
            lines.append({"rows": rows, "error": np.mean(errors), "error_sd": np.std(errors)})
    return pd.DataFrame(lines)
