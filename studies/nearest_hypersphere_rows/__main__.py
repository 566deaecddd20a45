"""Published rows of nearest hypersphere classification beside ours, and why they differ.

Run ``python -m studies.nearest_hypersphere_rows``; it writes the page beside this file. The
rows are those of S. van der Westhuizen, *Nearest Hypersphere Classification: A Comparison with
Other Classification Techniques*, Stellenbosch University 2014, table 4.1 and section 4.3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from mercer import NearestHypersphereClassifier
from mercer.datasets import load_hemophilia
from studies.nearest_hypersphere_rows.interior_point import loose_multipliers

REPETITIONS = 1000
PRINTED_REPETITIONS = 100

IRIS, BLOOD, SPECIES = "versicolor and virginica", "haemophilia", "three species"
NEAREST = "nearest hypersphere"
TECHNIQUES = ("LDA", "QDA", "SVM", NEAREST)
TABLE = {
    IRIS: dict(zip(TECHNIQUES, (0.0346, 0.0356, 0.0513, 0.0546))),
    BLOOD: dict(zip(TECHNIQUES, (0.1495, 0.1517, 0.1482, 0.2082))),
}
"""Table 4.1."""

GAMMAS = {IRIS: 0.1, BLOOD: 8.3}
TEST_ROWS = {IRIS: 30, BLOOD: 23}
OTHER_GAMMAS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 3.5, 4.0, 5.0, 6.0, 8.3, 16.0)

Predict = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]
Split = Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Reading:
    """One way to read how the published numbers came about."""

    name: str
    predict: Predict
    split: Split | None = None
    repetitions: int = REPETITIONS


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return rows and labels of each set, as they are, without scaling."""
    X, y = load_iris(return_X_y=True)
    bunch = load_hemophilia()
    return {
        IRIS: (X[y > 0], y[y > 0]),
        SPECIES: (X, y),
        BLOOD: (np.asarray(bunch.data, dtype=float), np.asarray(bunch.target)),
    }


def each_class(y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw 70 % of each class for training: 35 of 50, 21 of 30, 31 of 45."""
    train, test = [], []
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        size = int(0.7 * len(rows))
        train.append(rows[:size])
        test.append(rows[size:])
    return np.concatenate(train), np.concatenate(test)


def whole(share: float) -> Split:
    """Draw a share of all rows for training, whatever their class."""

    def split(y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        rows = rng.permutation(len(y))
        size = int(share * len(y))
        return rows[:size], rows[size:]

    return split


def own_rows(y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Test on the training rows."""
    train, _ = each_class(y, rng)
    return train, train


def machine(gamma: float, **more: Any) -> NearestHypersphereClassifier:
    """Return the classifier of the thesis: rigid balls, relative distance."""
    return NearestHypersphereClassifier(gamma=gamma, cv=None, **more)


def balls(**more: Any) -> Predict:
    """Predict with the classifier of the thesis, but for the parameters named."""

    def predict(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
        return machine(gamma, **more).fit(X, y).predict(new)

    return predict


def standardised(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
    """Predict from standardised columns."""
    scaler = StandardScaler().fit(X)
    return balls()(scaler.transform(X), y, scaler.transform(new), gamma)


def first_row(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
    """The radius is the distance of the first row, as were every row a support vector."""
    model = machine(gamma).fit(X, y)
    first = [np.flatnonzero(y == label)[0] for label in model.classes_]
    radii = np.diag(model.distance(X[first]))
    return model.classes_[(model.distance(new) / radii).argmin(axis=1)]


def as_programmed(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
    """An interior point to seven digits, the radius from the first multiplier above 1e-5."""
    found = []
    classes = np.unique(y)
    for label in classes:
        rows = X[np.sort(np.flatnonzero(y == label))]
        K = rbf_kernel(rows, gamma=gamma)
        multipliers = loose_multipliers(K)
        first = np.flatnonzero(multipliers > 1e-5)[0]
        length = multipliers @ K @ multipliers
        radius = 1.0 - 2.0 * K[first] @ multipliers + length
        inner = rbf_kernel(new, rows, gamma=gamma) @ multipliers
        found.append((1.0 - 2.0 * inner + length) / radius)
    return classes[np.argmin(found, axis=0)]


def cross_validated(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
    """Gamma by a coarse grid around 1/p, then a fine one, on the training rows."""
    centre = 1.0 / X.shape[1]
    for factors in (np.logspace(-2, 2, 9), np.logspace(-0.4, 0.4, 9)):
        search = GridSearchCV(machine(1.0), {"gamma": centre * factors}, cv=5).fit(X, y)
        centre = search.best_params_["gamma"]
    return search.predict(new)


def discriminant(kind: type) -> Predict:
    """Return linear or quadratic discriminant analysis, which leave nothing to be read."""

    def predict(X: np.ndarray, y: np.ndarray, new: np.ndarray, gamma: float) -> np.ndarray:
        return kind().fit(X, y).predict(new)

    return predict


PUBLISHED = Reading("as published", balls())
READINGS = (
    PUBLISHED,
    Reading("the printed program: solver to 7 digits, first multiplier above 1e-5", as_programmed),
    Reading("radius from the first row", first_row),
    Reading("distance, not divided by the radius", balls(dissimilarity="absolute")),
    Reading("distance / radius squared", balls(dissimilarity="power", power=2.0)),
    Reading("soft balls, nu = 0.1", balls(nu=0.1)),
    Reading("standardised columns", standardised),
    Reading("70 % of all rows, not of each class", balls(), whole(0.7)),
    Reading("90 % of all rows", balls(), whole(0.9)),
    Reading("tested on the training rows", balls(), own_rows),
    Reading("gamma cross-validated on the training rows", cross_validated, repetitions=100),
)
CONTROLS = {
    "LDA": Reading("LDA", discriminant(LinearDiscriminantAnalysis)),
    "QDA": Reading("QDA", discriminant(QuadraticDiscriminantAnalysis)),
}


def splits(
    y: np.ndarray, split: Split, repetitions: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the same splits at every call."""
    rng = np.random.default_rng(0)
    for _ in range(repetitions):
        yield split(y, rng)


@cache
def errors(data: str, gamma: float, reading: Reading = PUBLISHED) -> np.ndarray:
    """Return the error rate of every split."""
    X, y = data_sets()[data]
    return np.array(
        [
            np.mean(reading.predict(X[train], y[train], X[test], gamma) != y[test])
            for train, test in splits(y, reading.split or each_class, reading.repetitions)
        ]
    )


def away(printed: float, found: np.ndarray, repetitions: int = PRINTED_REPETITIONS) -> float:
    """Return the distance of a printed mean from ours, in standard errors of the printed one."""
    return float((printed - found.mean()) / (found.std(ddof=1) / np.sqrt(repetitions)))


def expected(found: np.ndarray, data: str) -> tuple[float, float]:
    """Return mean and standard error for 100 splits as easy for LDA and QDA as those printed."""
    known = np.column_stack([errors(data, 0.0, control) for control in CONTROLS.values()])
    design = np.column_stack([np.ones(len(known)), known])
    slopes = np.linalg.lstsq(design, found, rcond=None)[0]
    rest = found - design @ slopes
    printed = np.array([1.0] + [TABLE[data][name] for name in CONTROLS])
    return float(printed @ slopes), float(rest.std(ddof=3) / np.sqrt(PRINTED_REPETITIONS))


def rows() -> list[str]:
    """Return printed value, ours and standard error of every row."""
    lines = [
        "| row | gamma | printed | splits | ours | standard error | distance |",
        "|---|---|---|---|---|---|---|",
    ]
    cases: list[tuple[str, str, float, float, int, Reading]] = [
        (
            f"Table 4.1, {data}",
            data,
            GAMMAS[data],
            TABLE[data][NEAREST],
            100,
            PUBLISHED,
        )
        for data in TABLE
    ]
    cases += [
        ("4.3.4, three species, gamma = 1/p", SPECIES, 0.25, 0.10, 1, PUBLISHED),
        ("4.3.4, three species, gamma by grid", SPECIES, 0.1441, 0.0222, 1, PUBLISHED),
    ]
    for name, control in CONTROLS.items():
        cases += [
            (f"{name}, {data}", data, np.nan, TABLE[data][name], 100, control) for data in TABLE
        ]
    for name, data, gamma, printed, repetitions, reading in cases:
        found = errors(data, gamma, reading)
        shown = "" if np.isnan(gamma) else f"{gamma:g}"
        lines.append(
            f"| {name} | {shown} | {printed:.4f} | {repetitions} | {found.mean():.4f} "
            f"| {found.std(ddof=1) / np.sqrt(REPETITIONS):.4f} "
            f"| {away(printed, found, repetitions):+.1f} |"
        )
    return lines


def counts() -> list[str]:
    """Return how many errors each printed mean stands for."""
    lines = ["| technique | " + " | ".join(TABLE) + " |", "|---|---|---|"]
    for name in TECHNIQUES:
        cells = []
        for data, printed in TABLE.items():
            decisions = PRINTED_REPETITIONS * TEST_ROWS[data]
            wrong = int(np.ceil(printed[name] * decisions))
            cells.append(f"{printed[name]:.4f} = {wrong} / {decisions} = {wrong / decisions:.6f}…")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def cell(data: str, gamma: float, reading: Reading = PUBLISHED) -> str:
    """Return our error with the distance of the printed one."""
    found = errors(data, gamma, reading)
    return f"{found.mean():.4f} ({away(TABLE[data][NEAREST], found):+.1f})"


def head_of(what: str) -> list[str]:
    """Return the first lines of a table of errors on both sets."""
    printed = " | ".join(f"{printed[NEAREST]:.4f}" for printed in TABLE.values())
    return [f"| {what} | {' | '.join(TABLE)} |", "|---|---|---|", f"| printed | {printed} |"]


def readings() -> list[str]:
    """Return what each reading gives at the printed gamma."""
    lines = [
        "| reading | " + " | ".join(TABLE) + " |",
        "|---|---|---|",
        "| printed | 0.0546 | 0.2082 |",
    ]
    for reading in READINGS:
        cells = [cell(data, GAMMAS[data], reading) for data in TABLE]
        lines.append(f"| {reading.name} | {' | '.join(cells)} |")
    cells = []
    for data in TABLE:
        mean, error = expected(errors(data, GAMMAS[data]), data)
        distance = (TABLE[data][NEAREST] - mean) / error
        cells.append(f"{mean:.4f} ({distance:+.1f})")
    lines.append(f"| splits as easy as the printed LDA and QDA say | {' | '.join(cells)} |")
    return lines


def other_gammas() -> list[str]:
    """Return what the published method gives for other widths."""
    lines = [
        "| gamma | " + " | ".join(TABLE) + " |",
        "|---|---|---|",
        "| printed | 0.0546 | 0.2082 |",
    ]
    for gamma in OTHER_GAMMAS:
        lines.append(f"| {gamma:g} | {' | '.join(cell(data, gamma) for data in TABLE)} |")
    return lines


def three_species() -> str:
    """Return how often single splits give the errors of section 4.3.4."""
    first, second = (np.round(45 * errors(SPECIES, gamma)) for gamma in (0.25, 0.1441))
    return (
        f"Of {REPETITIONS} splits, {np.mean(first >= 4):.1%} have four or more errors among 45 at "
        f"gamma = 0.25 and {np.mean(second <= 1):.1%} at most one at 0.1441; "
        f"{np.mean((first >= 4) & (second <= 1)):.1%} have both. On average there are "
        f"{np.mean(first):.2f} and {np.mean(second):.2f} errors."
    )


def main() -> None:
    """Write the tables."""
    sections = [
        ["# Nearest hypersphere classification: published rows and ours"],
        [HEAD.format(REPETITIONS=REPETITIONS)],
        rows(),
        ["## Why they differ"],
        [SIZES],
        counts(),
        [VARIED],
        readings(),
        [FOUND],
        [WIDTHS],
        other_gammas(),
        [CONCLUSION],
        ["## The three-class example"],
        [three_species() + " " + SINGLE],
    ]
    text = "\n\n".join("\n".join(lines) for lines in sections) + "\n"
    (Path(__file__).parent / "README.md").write_text(text, encoding="utf-8")
    print(text)


HEAD = """Made by `python -m studies.nearest_hypersphere_rows`, from table 4.1 and section 4.3.4 of
S. van der Westhuizen, *Nearest Hypersphere Classification: A Comparison with Other Classification
Techniques*, Stellenbosch University 2014.

Ours: mean test error over {REPETITIONS} random splits, 70 % of each class for training,
with its standard error. The printed value is a mean over the number of splits named; `distance` is
its difference from ours in standard errors of such a mean. LDA and QDA leave nothing to be read and
tell whether data and splits are the same."""

SIZES = """**Data and splits are the same.** LDA and QDA agree within 1.5 standard errors on both
sets (the SVM of the table leaves its width to the software and is no control). All eight printed
means are whole numbers of errors among 100 times 30 and 100 times 23 decisions, cut after the
fourth digit:"""

VARIED = """**At the printed gamma nothing else explains the rows.** What the text leaves open was
varied one by one. Our error, and in brackets the distance of the printed one in standard errors of
100 splits:"""

FOUND = """- The solver is not the cause: multipliers to seven digits, the threshold of 1e-5 and the
  radius from the first of them, as in the printed program, change no error.
- Nor is luck: given how easy the printed splits were for LDA and QDA, the rows are as far away.
- A radius from a row inside the ball gives the haemophilia row and moves iris the wrong way;
  testing on the training rows gives the iris row and moves haemophilia the wrong way.
- Training on 90 % comes within two standard errors of both, but tests 10 and 8 rows a split, which
  the counts above rule out.
- All other readings leave at least one row more than three standard errors away."""

WIDTHS = """**One gamma for both sets gives both rows.** The published method at other widths:"""

CONCLUSION = """From gamma = 3 to 4 both rows lie within 1.4 standard errors; no other width of the
table brings both within two. The text calls 0.1 and 8.3 the optimal values of a cross-validated
search, yet the error on iris is least near 3.5 to 4, where it agrees with the printed one, and that
on haemophilia still falls beyond 8.3. So the likely cause is that the errors of table 4.1 were
computed with another gamma, near 3.5, than the ones printed with them. That the same gamma fits
both sets was looked for and not foreseen, so this is evidence and no proof; with the printed gamma
the rows cannot be had from the printed program."""

SINGLE = """So the two printed errors hardly come from the same split. 2.22 % is one error among 45;
10 % is no whole number of errors among 45, so that this example must have used other test rows. On
average the two widths do not differ: the printed fall from 10 % to 2.22 % is a difference between
splits, not between widths."""


if __name__ == "__main__":
    main()
