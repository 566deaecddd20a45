"""What two variables tell together that neither tells alone, as Guyon and Elisseeff drew it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE, GREY, VERMILION
from mercer.studies import Configuration, Printed, Study, StudyResults

LEARN, TEST = 200, 2000
"""Rows of each class to learn from, and to test on."""

SHEAR = 0.9
"""Correlation within the classes where they have one."""

CORRELATIONS = {"A.1": 0.0, "A.2 a": SHEAR, "A.2 b": -SHEAR, "A.3 a": SHEAR, "A.3 b": 0.0}
PLACES = {"A.3 a": (0.0, 1.0)}
"""Centre of the positive class, (1, 1) where nothing else is said; the other one lies opposite."""

SPREAD = 0.5
"""Deviation of the four clumps of A.3 b, two of each class, around (1, 1) and its mirror images."""

METHODS = {"first": (0,), "second": (1,), "both": (0, 1)}


def draw_rows(name: str, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw n rows of each class; on the axes A.1, A.2 a and A.2 b look alike.

    Parameters
    ----------
    name : {"A.1", "A.2 a", "A.2 b", "A.3 a", "A.3 b"}
    n : int
    rng : Generator

    Returns
    -------
    tuple of ndarray
        Rows and labels of -1 and 1.
    """
    y = np.repeat([-1.0, 1.0], n)
    X = rng.normal(size=(2 * n, 2))
    if name == "A.3 b":
        side = rng.choice([-1.0, 1.0], 2 * n)
        return SPREAD * X + np.column_stack([side, side * y]), y
    r = CORRELATIONS[name]
    X[:, 1] = r * X[:, 0] + np.sqrt(1 - r * r) * X[:, 1]
    return X + np.outer(y, PLACES.get(name, (1.0, 1.0))), y


def separation(X: Any, y: Any) -> float:
    """Return the distance of the two means in deviations along the best direction."""
    apart = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
    within = np.atleast_2d((np.cov(X[y > 0].T) + np.cov(X[y < 0].T)) / 2)
    return float(np.sqrt(apart @ np.linalg.solve(within, apart)))


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Learn from one variable or both, and measure how far they hold the classes apart."""
    from mercer.svm import SVC

    rng = np.random.default_rng(seed)
    columns = list(METHODS[method])
    (X, y), (T, t) = (draw_rows(configuration.name, n, rng) for n in (LEARN, TEST))
    values = {"error": 1 - float(SVC().fit(X[:, columns], y).score(T[:, columns], t))}
    if method == "both" and configuration.name != "A.3 b":  # where the means are the same
        # The second is never worse; the better one of two equal ones would be too good by chance.
        values["gain"] = separation(T, t) / separation(T[:, [1]], t)
    return values


def draw_classes(results: StudyResults) -> Any:
    """Draw the classes, and their densities along each of the variables."""
    from matplotlib.figure import Figure

    names = [c.name for c in results.study.configurations]
    figure = Figure(figsize=(3.0 * len(names), 3.7), layout="constrained")
    axes = figure.subplots(1, len(names), sharex=True, sharey=True)
    bins = np.linspace(-4.5, 4.5, 31)
    for ax, name in zip(axes, names):
        X, y = draw_rows(name, LEARN, np.random.default_rng(0))
        for sign, color, marker in ((-1, BLUE, "o"), (1, VERMILION, "^")):
            some = X[y == sign]
            ax.plot(*some.T, ls="", marker=marker, color=color, ms=3, alpha=0.6, mew=0)
            heights = [np.histogram(column, bins, density=True)[0] for column in some.T]
            ax.stairs(1.5 * heights[0] - 4.5, bins, baseline=-4.5, color=color)
            ax.stairs(
                1.5 * heights[1] - 4.5,
                bins,
                baseline=-4.5,
                orientation="horizontal",
                color=color,
            )
        errors = [results.values(name, method) for method in METHODS]
        parts = [f"{100 * np.mean(some):.0f} %" if some else "?" for some in errors]
        ax.set_title(f"{name}\nerrors {', '.join(parts[:2])}; both {parts[2]}", fontsize="medium")
        ax.set(xlim=(-4.5, 4.5), ylim=(-4.5, 4.5), xlabel="first variable", aspect="equal")
        ax.spines[["top", "right"]].set_visible(False)
        ax.axhline(0, color=GREY, lw=0.5, zorder=0)
        ax.axvline(0, color=GREY, lw=0.5, zorder=0)
    axes[0].set_ylabel("second variable")
    return figure


STUDY = Study(
    name="guyon",
    title="Variables that help each other",
    description="Two variables, two classes of 200 rows to learn from and 2000 to test on, in five "
    "arrangements: independent within the classes (A.1); the same on each axis, but correlated by "
    "0.9 along the line between the centres (A.2 a) or across it (A.2 b); a first variable that "
    "is the same in both classes, correlated with the second (A.3 a); two clumps for each class, "
    "crosswise (A.3 b). The error is that of a support vector machine with an RBF kernel and "
    "standard settings that learns from one variable or from both; 'gain' is the distance of the "
    "class means in deviations, along the best direction, with both over that with the second.",
    citation="K. Smets, thesis, University of Antwerp, 2006, appendix A, after I. Guyon and "
    "A. Elisseeff, JMLR 3 (2003), section 3.",
    configurations=(
        Configuration("A.1", printed={"both": Printed(None, extra={"gain": float(np.sqrt(2))})}),
        *(Configuration(name) for name in CORRELATIONS if name != "A.1"),
    ),
    methods={method: {} for method in METHODS},
    run=run,
    pictures={"classes": "studies.guyon.study:draw_classes"},
    source="Smets 2006",
    duration="5 s",
    gains=("gain",),
    kept=("gain",),
    repetitions=20,
)
