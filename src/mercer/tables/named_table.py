"""Data sets to try things on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from mercer.tables.errors import InputError, suggestion
from mercer.tables.table import Table

SHIPPED = ("iris", "wine", "breast_cancer", "digits", "diabetes")
GENERATED = ("moons", "circles", "blobs")
NAMES = (*SHIPPED, *GENERATED)


def named_table(name: str, seed: int = 0) -> Table:
    """Return a data set that needs no file.

    Parameters
    ----------
    name : str
        "iris", "wine", "breast_cancer", "digits", "diabetes" (they ship with scikit-learn),
        "moons", "circles" or "blobs" (generated).
    seed : int, default=0
        For generated data.

    Returns
    -------
    Table

    Examples
    --------
    >>> from mercer.tables import named_table
    >>> named_table("iris").class_counts()
    {'setosa': 50, 'versicolor': 50, 'virginica': 50}
    """
    known = NAMES
    if name not in known:
        hint = suggestion(str(name), known)
        hint = f" (there are {', '.join(known)})." if hint == "." else hint
        raise InputError(f"There is no data set {name!r}{hint}")
    X, y, features = _shipped(name) if name in SHIPPED else _generated(name, seed)
    task = "regression" if name == "diabetes" else "classification"
    target = pd.Series(y, name="target", dtype=np.float64 if task == "regression" else object)
    given = f"{name!r}" if name in SHIPPED else f"{name!r}, seed={seed}"
    source = (
        "from mercer.tables import named_table\n\n"
        f"table = named_table({given})\n"
        "X, y = table.frame, table.target"
    )
    return Table(name, pd.DataFrame(X, columns=features), target, task, source=source)


def _shipped(name: str) -> tuple[Any, Any, list[str]]:
    bunch: Any = getattr(datasets, f"load_{name}")()
    X = np.asarray(bunch.data, dtype=np.float64)
    features = [str(feature) for feature in bunch.feature_names]
    if name == "diabetes":
        return X, bunch.target, features
    return X, [str(bunch.target_names[k]) for k in bunch.target], features


def _generated(name: str, seed: int) -> tuple[Any, Any, list[str]]:
    if name == "moons":
        X, y = datasets.make_moons(300, noise=0.25, random_state=seed)
    elif name == "circles":
        X, y = datasets.make_circles(300, noise=0.12, factor=0.5, random_state=seed)
    else:
        X, y = datasets.make_blobs(300, centers=3, cluster_std=1.2, random_state=seed)
    return X, ["ABC"[k] for k in y], ["x", "y"]
