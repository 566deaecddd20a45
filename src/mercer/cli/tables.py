"""The data to work on: by name or from a file, as numbers and class names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.tables import InputError, suggestion

SHIPPED = ("iris", "wine", "breast_cancer", "digits")
GENERATED = ("moons", "circles", "blobs")


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to learn from.

    Parameters
    ----------
    name : str
    X : ndarray of shape (n, d)
        Numbers; missing ones are NaN.
    y : ndarray of str of shape (n,)
        Names of the classes.
    feature_names : list of str
    notices : tuple of str
        What was done to the data on the way, one sentence each.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.str_]
    feature_names: list[str]
    notices: tuple[str, ...] = ()

    def class_counts(self) -> dict[str, int]:
        """Return the number of rows of each class."""
        names, counts = np.unique(self.y, return_counts=True)
        return {str(name): int(count) for name, count in zip(names, counts)}


def load_table(data: str, target: str | None = None, seed: int = 0) -> Table:
    """Return the data set of a name, or the contents of a CSV file.

    Parameters
    ----------
    data : str
        "iris", "wine", "breast_cancer", "digits" (they ship with scikit-learn), "moons",
        "circles", "blobs" (generated), or the path of a CSV file.
    target : str, default=None
        Column of the file that holds the classes.
    seed : int, default=0
        For generated data.

    Returns
    -------
    Table

    Examples
    --------
    >>> load_table("iris").class_counts()
    {'setosa': 50, 'versicolor': 50, 'virginica': 50}
    """
    named = data in SHIPPED or data in GENERATED
    if named and target is not None:
        raise InputError(f"--target is for CSV files; {data!r} has its own classes.")
    if data in SHIPPED:
        return _shipped(data)
    if data in GENERATED:
        return _generated(data, seed)
    path = Path(data)
    if path.is_dir():
        raise InputError(f"{data!r} is a folder; give the path of a CSV file.")
    if not path.is_file():
        if path.suffix:
            raise InputError(f"There is no file {data!r}.")
        known = (*SHIPPED, *GENERATED)
        raise InputError(
            f"There is no file {data!r}, nor a data set of that name ({', '.join(known)})"
            + suggestion(data, known)
        )
    from mercer.cli.csv_file import read_csv_file

    return read_csv_file(path, target)


def check_classes(table: Table, folds: int) -> None:
    """Refuse data that stratified folds cannot be made of."""
    counts = table.class_counts()
    if len(counts) < 2:
        raise InputError(
            f"A comparison needs at least two classes, but every row is {next(iter(counts))!r}."
        )
    rare = {name: count for name, count in counts.items() if count < folds}
    if not rare:
        return
    name, count = min(rare.items(), key=lambda item: item[1])
    which = f"class {name!r} has {_rows(count)}"
    if len(rare) > 1:
        which = f"{len(rare)} of {len(counts)} classes have too few rows ({name!r} has {count})"
    advice = f"use --folds {count} or merge" if count > 1 and len(rare) == 1 else "merge"
    raise InputError(
        f"{folds} folds need at least {folds} rows of each class, but {which}; "
        f"{advice} or leave out rare classes."
    )


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _shipped(name: str) -> Table:
    from sklearn import datasets

    bunch: Any = getattr(datasets, f"load_{name}")()
    names = np.asarray(bunch.target_names).astype(str)
    features = [str(feature) for feature in bunch.feature_names]
    return Table(name, np.asarray(bunch.data, dtype=np.float64), names[bunch.target], features)


def _generated(name: str, seed: int) -> Table:
    from sklearn import datasets

    if name == "moons":
        X, y = datasets.make_moons(300, noise=0.25, random_state=seed)
    elif name == "circles":
        X, y = datasets.make_circles(300, noise=0.12, factor=0.5, random_state=seed)
    else:
        X, y = datasets.make_blobs(300, centers=3, cluster_std=1.2, random_state=seed)
    return Table(name, X, np.array(["A", "B", "C"])[y], ["x", "y"])
