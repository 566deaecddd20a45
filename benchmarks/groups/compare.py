"""`mercer.compare` on a dozen tables: its winner, held out, beside the best of scikit-learn.

Each table is cut once, or `--cuts` times. `mercer.compare` has the training rows and a budget;
scikit-learn's boosting, forest and tuned support vector machine have the same rows. All are judged
on the rows held out, and so is LazyPredict, which chooses its winner with them.
"""

from __future__ import annotations

import itertools
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from .. import machine
from ..crew import progress
from ..lazy import lazy_in_time
from ..problems import MissingDataError, data_folder
from ..report import GroupResult, Table, number
from .options import Options

HELD_OUT = 0.3
MOST_TUNED = 2000
"""Rows on which scikit-learn's support vector machine is tuned; it then learns from all."""

MOST_FITTED = 20_000
"""Rows that it learns from at most: beyond that it takes longer than all the rest."""

COLUMNS = [
    *("table", "kind", "measure", "winner", "ours", "best of sklearn", "gap", "se", "kept up"),
    *("s", "folds", "lazy s", "lazy error", "lazy winner"),
]

SVM_GRID = {"C": [1.0, 10.0, 100.0], "gamma": [0.1, 0.3, 1.0, 3.0]}
"""Values of C, and multiples of one over the number of columns."""


@dataclass(frozen=True)
class Case:
    """A table: its name, the kind it stands for, and how to get features and target."""

    name: str
    kind: str
    load: Callable[[], tuple[Any, Any]]


def cases(quick: bool) -> list[Case]:
    """Return the tables, small ones first; only two tiny ones for a quick run."""
    if quick:
        return [
            Case("iris", "numeric", lambda: _shipped("iris")),
            Case("diabetes", "regression", lambda: _shipped("diabetes")),
        ]
    return [
        Case("breast_cancer 569×30", "numeric", lambda: _shipped("breast_cancer")),
        Case("wine 178×13", "numeric, small", lambda: _shipped("wine")),
        Case("digits 1797×64", "ten classes", lambda: _shipped("digits")),
        Case("saheart 462×9", "mixed", lambda: _csv("saheart.csv", "chd")),
        Case("titanic 2201×3", "coarse numbers", lambda: _npz("ida/titanic.npz")),
        Case("cardio 1831×21", "unbalanced", lambda: _npz("anomaly/cardio.npz")),
        Case("colon 62×2000", "wide", lambda: _npz("colon.npz")),
        Case("splice 3175×60", "coded letters", lambda: _npz("ida/splice.npz")),
        Case("letter 20000×16", "26 classes", lambda: _npz("speed/letter.npz")),
        Case("generated 50000×50", "long", _long),
        Case("diabetes 442×10", "regression", lambda: _shipped("diabetes")),
        Case("winequality 1599×11", "regression", lambda: _csv("winequality-red.csv", "quality")),
    ]


def chosen(options: Options) -> list[Case]:
    """Return the tables that are asked for, or say that there is none of a name."""
    known = cases(options.quick)
    names = [case.name.split()[0] for case in known]
    unknown = [name for name in options.tables or () if name not in names]
    if unknown:
        raise SystemExit(f"There is no table {', '.join(unknown)} among {', '.join(names)}.")
    match = (options.match or "").lower()
    return [
        case
        for case, name in zip(known, names)
        if match in case.name.lower() and (options.tables is None or name in options.tables)
    ]


def _shipped(name: str) -> tuple[Any, Any]:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
    return X, y if name == "diabetes" else _labels(y)


def _npz(name: str) -> tuple[Any, Any]:
    path = data_folder() / name
    if not path.exists():
        raise MissingDataError(f"no {name} in the data folder")
    with np.load(path) as data:
        X, y = data["X"].astype(np.float64), data["y"]
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]), _labels(y)


def _csv(name: str, target: str) -> tuple[Any, Any]:
    path = data_folder() / name
    if not path.exists():
        raise MissingDataError(f"no {name} in the data folder")
    frame = pd.read_csv(path)
    y = frame.pop(target)
    return frame, y.astype(float) if target == "quality" else _labels(y)


def _long() -> tuple[Any, Any]:
    shape = {"n_informative": 15, "n_redundant": 10, "n_clusters_per_class": 4, "flip_y": 0.05}
    X, y = datasets.make_classification(50_000, 50, random_state=0, **shape)
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(50)]), _labels(y)


def _labels(values: Any) -> Any:
    """Return names of classes as plain objects, which all libraries take."""
    return pd.Series([str(value) for value in values], dtype=object, name="class")


# ---- the peers ---------------------------------------------------------------------------------


def peers(is_classes: bool, balanced: bool) -> dict[str, Any]:
    """Return scikit-learn's models; where errors of classes count alike, they are told so."""
    if not is_classes:
        return {
            "boosting": HistGradientBoostingRegressor(random_state=0),
            "forest": RandomForestRegressor(300, random_state=0, n_jobs=machine.cores()),
            "tuned SVM": None,
        }
    weight = "balanced" if balanced else None
    return {
        "boosting": HistGradientBoostingClassifier(class_weight=weight, random_state=0),
        "forest": RandomForestClassifier(
            300, class_weight=weight, random_state=0, n_jobs=machine.cores()
        ),
        "tuned SVM": None,
    }


def tuned_svm(X: Any, y: Any, is_classes: bool, balanced: bool) -> Any:
    """Return scikit-learn's machine, tuned on some rows and fitted to as many as it can take."""
    rng = np.random.default_rng(0)
    some = rng.permutation(len(y))[:MOST_TUNED]
    weight = {"class_weight": "balanced" if balanced else None} if is_classes else {}
    machine = (SVC if is_classes else SVR)(cache_size=500, **weight)
    model = make_pipeline(StandardScaler(), machine)
    name = "svc" if is_classes else "svr"
    grid: dict[str, Any] = {
        f"{name}__C": SVM_GRID["C"],
        f"{name}__gamma": [factor / X.shape[1] for factor in SVM_GRID["gamma"]],
    }
    if not is_classes:
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
        grid = {f"regressor__{key}": values for key, values in grid.items()}
    scoring = "balanced_accuracy" if balanced else None
    search = GridSearchCV(model, grid, cv=3, scoring=scoring, refit=False)
    search.fit(X[some], y[some])
    most = rng.permutation(len(y))[:MOST_FITTED]
    return model.set_params(**search.best_params_).fit(X[most], y[most])


def numeric(train: Any, test: Any) -> tuple[Any, Any]:
    """Return both parts as numbers for models that take nothing else: categories as codes."""
    whole = pd.get_dummies(pd.concat([train, test]), dtype=float)
    values = whole.fillna(whole.median()).to_numpy(dtype=np.float64)
    return values[: len(train)], values[len(train) :]


# ---- the measurement ---------------------------------------------------------------------------


def losses(truth: Any, said: Any, measure: str) -> Any:
    """Return what each row held out adds to the error, so that their mean is the error.

    For the balanced error, rows count by the share of their class; for numbers it is the squared
    difference in units of the target's variance.
    """
    if measure == "rmse":
        truth = np.asarray(truth, dtype=np.float64)
        return (np.asarray(said, dtype=np.float64) - truth) ** 2 / truth.var()
    wrong = (np.asarray(said).astype(str) != np.asarray(truth).astype(str)).astype(np.float64)
    if measure == "error":
        return wrong
    names, codes, counts = np.unique(truth, return_inverse=True, return_counts=True)
    return wrong * len(truth) / (len(names) * counts[codes])


def measured(case: Case, minutes: float, lazy_seconds: float, cut: int = 0) -> dict[str, Any]:
    """Return the errors and times of one table, cut in one of many ways."""
    import mercer

    X, y = case.load()
    is_classes = y.dtype.kind not in "fiu"
    parts = train_test_split(
        X, y, test_size=HELD_OUT, random_state=cut, stratify=y if is_classes else None
    )
    train, test, y_train, y_test = (part.reset_index(drop=True) for part in parts)
    start = time.perf_counter()
    task = "classification" if is_classes else "regression"
    found = mercer.compare(train, y_train, minutes=minutes, task=task)
    name = f"{case.name}, cut {cut}" if cut else case.name
    record: dict[str, Any] = {"name": name, "kind": case.kind, "measure": found.measure}
    record["seconds"] = time.perf_counter() - start
    record["winner"] = str(found.results_.loc[found.best_name_, "title"])
    balanced = found.measure == "balanced_error"
    ours = losses(y_test, found.best_.predict(test), found.measure)
    record["folds"], record["ours"] = found.n_folds, float(ours.mean())
    record["left out"] = dict(found.left_out_models)
    A, B = numeric(train, test)
    theirs: dict[str, Any] = {}
    target = y_train.to_numpy()
    names = np.unique(target)
    if is_classes:  # numbers, since scikit-learn's forest fails with weights and texts like "0"
        target = np.searchsorted(names, target)
    with threadpool_limits(1):
        for name, model in peers(is_classes, balanced).items():
            start = time.perf_counter()
            if model is None:
                model = tuned_svm(A, target, is_classes, balanced)
            else:
                model.fit(A, target)
            said = model.predict(B)
            said = names[said] if is_classes else said
            theirs[name] = losses(y_test, said, found.measure)
            record[f"{name} seconds"] = time.perf_counter() - start
    record |= {name: float(one.mean()) for name, one in theirs.items()}
    best = min(theirs, key=lambda name: theirs[name].mean())
    gap = ours - theirs[best]
    record["best peer"], record["gap"] = best, float(gap.mean())
    record["se"] = float(ours.std(ddof=1) / np.sqrt(len(ours)))
    record["paired se"] = float(gap.std(ddof=1) / np.sqrt(len(gap)))
    return record | lazy_in_time((train, test, y_train, y_test), found.measure, lazy_seconds)


def records(options: Options, minutes: float) -> Iterator[dict[str, Any]]:
    """Yield what is measured of each table, or was measured by runs of their own."""
    for path in options.together or ():
        yield from json.loads(path.read_text())["groups"]["compare"]["records"]
    cases = chosen(options) if options.together is None else ()
    for case, cut in itertools.product(cases, range(options.cuts)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield measured(case, minutes, options.plan.time_limit, cut)
        except MissingDataError as absent:
            yield {"name": case.name, "kind": case.kind, "status": str(absent)}


def run(options: Options) -> GroupResult:
    """Measure all tables, each with ``--minutes`` of `mercer.compare`."""
    result = GroupResult("compare")
    minutes = 0.05 if options.quick else options.minutes
    table = Table(
        f"`mercer.compare(minutes={minutes:g})`: error of the winner on {HELD_OUT:.0%} held out",
        COLUMNS,
    )
    result.tables.append(table)
    for record in records(options, minutes):
        result.records.append(record)
        table.add(*_cells(record))
        progress(" | ".join(table.rows[-1]))
    kept = [one["gap"] <= one["se"] for one in result.records if "gap" in one]
    table.notes += [
        f"kept up on {sum(kept)} of {len(kept)}: the gap to the best peer is at most one standard "
        "error of our own error over the rows held out",
        "measure: error, balanced error, or mean squared error in units of the variance; the best "
        "peer is chosen with the rows held out, which ours is not",
        "peers: boosting and 300 trees with defaults (class weights where classes are unbalanced), "
        f"SVM tuned on {MOST_TUNED} rows and fitted to at most {MOST_FITTED}; one thread for BLAS",
    ]
    table.notes.append(
        "LazyPredict reports scores of all its models on the very rows held out, so that its "
        "winner, the first line of its leaderboard (by balanced accuracy, or adjusted R²), is "
        "chosen with them and its error is too good; the lowest of any of its models in brackets; "
        f"cut after {options.plan.time_limit:g} s (--time-limit) or at 8 GiB"
    )
    result.summary = {"kept up": sum(kept), "of": len(kept)}
    return result


def _cells(record: dict[str, Any]) -> list[Any]:
    if "gap" not in record:
        return [record["name"], record["kind"], record["status"], *["-"] * 11]
    best = f"{record['best peer']} {number(record[record['best peer']])}"
    return [
        record["name"],
        record["kind"],
        record["measure"],
        record["winner"],
        number(record["ours"]),
        best,
        number(record["gap"], 2),
        number(record["se"], 2),
        "yes" if record["gap"] <= record["se"] else "no",
        f"{record['seconds']:.0f}",
        record["folds"],
        f"{record['lazy seconds']:.0f}" if "lazy seconds" in record else None,
        f"{number(record['lazy error'])} ({number(record['lazy lowest'])})"
        if "lazy error" in record
        else None,
        record["LazyPredict"],
    ]
