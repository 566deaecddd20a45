"""The tables on which comparisons of models are measured, and how each is cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.model_selection import train_test_split

from .held_out import HELD_OUT
from .problems import MissingDataError, data_folder


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


def chosen(quick: bool, tables: list[str] | None, match: str | None) -> list[Case]:
    """Return the tables that are asked for, or say that there is none of a name."""
    known = cases(quick)
    names = [case.name.split()[0] for case in known]
    unknown = [name for name in tables or () if name not in names]
    if unknown:
        raise SystemExit(f"There is no table {', '.join(unknown)} among {', '.join(names)}.")
    return [
        case
        for case, name in zip(known, names)
        if (match or "").lower() in case.name.lower() and (tables is None or name in tables)
    ]


def is_of_classes(target: Any) -> bool:
    """Tell whether a target of these tables names classes."""
    return target.dtype.kind not in "fiu"


def cut(X: Any, y: Any, number: int) -> tuple[Any, Any, Any, Any, Any]:
    """Return both parts of features and target and the numbers of the rows held out.

    The number of the cut is the seed, so that everybody learns from the same rows; classes have the
    same shares in both parts.
    """
    rows = np.arange(len(y))
    learned, held_out = train_test_split(
        rows, test_size=HELD_OUT, random_state=number, stratify=y if is_of_classes(y) else None
    )
    parts = X.iloc[learned], X.iloc[held_out], y.iloc[learned], y.iloc[held_out]
    return *(part.reset_index(drop=True) for part in parts), held_out


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
