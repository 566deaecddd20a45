"""Published rows of nearest hypersphere classification beside ours.

Run ``python docs/nearest_hypersphere_rows.py``; it writes ``docs/nearest_hypersphere_rows.md``. The
rows are those of S. van der Westhuizen, *Nearest Hypersphere Classification: A Comparison with
Other Classification Techniques*, Stellenbosch University 2014, table 4.1 and section 4.3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from mercer import NearestHypersphereClassifier
from mercer.datasets import load_hemophilia

REPETITIONS = 1000


@dataclass(frozen=True)
class Row:
    """A published error rate: how it came about, and over how many splits it is a mean."""

    name: str
    data: str
    gamma: float | str
    printed: float
    splits: int


ROWS = (
    Row("Table 4.1, versicolor and virginica", "iris2", 0.1, 0.0546, 100),
    Row("Table 4.1, haemophilia", "haemophilia", 8.3, 0.2082, 100),
    Row("4.3.4, three species, gamma = 1/p", "iris3", 0.25, 0.10, 1),
    Row("4.3.4, three species, gamma by grid", "iris3", 0.1441, 0.0222, 1),
)


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return rows and labels of each set, as they are, without scaling."""
    X, y = load_iris(return_X_y=True)
    bunch = load_hemophilia()
    return {
        "iris2": (X[y > 0], y[y > 0]),
        "iris3": (X, y),
        "haemophilia": (np.asarray(bunch.data, dtype=float), np.asarray(bunch.target)),
    }


def splits(y: np.ndarray, repetitions: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw 70 % of each class for training: 35 of 50, 21 of 30, 31 of 45."""
    rng = np.random.default_rng(0)
    for _ in range(repetitions):
        train, test = [], []
        for label in np.unique(y):
            rows = rng.permutation(np.flatnonzero(y == label))
            size = int(0.7 * len(rows))
            train.append(rows[:size])
            test.append(rows[size:])
        yield np.concatenate(train), np.concatenate(test)


NOTES = (
    "The two rows of table 4.1 differ from ours in opposite directions by more than chance; the",
    "seed of the splits is not known. No single reading gives both. The printed haemophilia error",
    "is near what a radius taken from a row inside the ball gives, which happens when multipliers",
    "that are not quite zero count as support vectors; for iris that would make the error larger,",
    "not smaller. The single splits of section 4.3.4 test 45 rows: 2.22 % is one error, and 10 %",
    "is no whole number of errors.",
)

Predict = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]


def as_published(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
    """Rigid balls, relative distance."""
    return machine(gamma).fit(X, y).predict(new)


def standardised(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
    """The same on standardised columns."""
    scaler = StandardScaler().fit(X)
    return machine(gamma).fit(scaler.transform(X), y).predict(scaler.transform(new))


def absolute(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
    """Distances that are not divided by the radius."""
    return machine(gamma, dissimilarity="absolute").fit(X, y).predict(new)


def loose_radius(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
    """The radius as the distance of the first row, were all multipliers above the threshold."""
    model = machine(gamma).fit(X, y)
    first = [np.flatnonzero(y == label)[0] for label in model.classes_]
    radii = model.distance(X[first])[np.arange(len(first)), np.arange(len(first))]
    return model.classes_[(model.distance(new) / radii).argmin(axis=1)]


def cross_validated(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
    """Gamma by a coarse grid around 1/p, then a fine one, on the training rows."""
    centre = 1.0 / X.shape[1]
    for factors in (np.logspace(-2, 2, 9), np.logspace(-0.4, 0.4, 9)):
        search = GridSearchCV(machine(1.0), {"gamma": centre * factors}, cv=5).fit(X, y)
        centre = search.best_params_["gamma"]
    return search.predict(new)


def machine(gamma: float, **more: Any) -> NearestHypersphereClassifier:
    """Return the classifier of the thesis."""
    return NearestHypersphereClassifier(gamma=gamma, calibration_folds=None, **more)


def errors(data: str, gamma: float, predict: Predict, repetitions: int = REPETITIONS) -> np.ndarray:
    """Return the error rate of every split."""
    X, y = data_sets()[data]
    return np.array(
        [
            np.mean(predict(X[train], y[train], X[test], gamma) != y[test])
            for train, test in splits(y, repetitions)
        ]
    )


def main() -> None:
    """Write the table."""
    lines = [
        "# Nearest hypersphere classification: published rows and ours",
        "",
        f"Ours: mean test error over {REPETITIONS} random splits, 70 % of each class for training, "
        "with its standard error. The printed value is a mean over the number of splits named; "
        "`distance` is its difference from ours in standard errors of such a mean.",
        "",
        "| row | gamma | printed | splits | ours | standard error | distance |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        found = errors(row.data, float(row.gamma), as_published)
        spread = found.std(ddof=1)
        away = (row.printed - found.mean()) / (spread / np.sqrt(row.splits))
        lines.append(
            f"| {row.name} | {row.gamma} | {row.printed:.4f} | {row.splits} | {found.mean():.4f} "
            f"| {spread / np.sqrt(REPETITIONS):.4f} | {away:+.1f} |"
        )
    variants: dict[str, Predict] = {
        "as published": as_published,
        "standardised columns": standardised,
        "absolute distance": absolute,
        "radius from the first row": loose_radius,
        "gamma cross-validated on the training rows (100 splits)": cross_validated,
    }
    lines += [
        "",
        "## Other readings",
        "",
        "| reading | versicolor and virginica | haemophilia |",
        "|---|---|---|",
        "| printed | 0.0546 | 0.2082 |",
    ]
    for name, predict in variants.items():
        repetitions = 100 if predict is cross_validated else REPETITIONS
        cells = []
        for row in ROWS[:2]:
            found = errors(row.data, float(row.gamma), predict, repetitions)
            error = found.std(ddof=1) / np.sqrt(repetitions)
            cells.append(f"{found.mean():.4f} ± {error:.4f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", *NOTES]
    text = "\n".join(lines) + "\n"
    (Path(__file__).parent / "nearest_hypersphere_rows.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
