"""Support vector machines beside linear baselines and neural networks, on sets in the plane."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION
from mercer.studies import Configuration, Study, StudyResults

LINEAR = ("hard-margin SVM", "pseudo-inverse", "alpha-LMS", "perceptron")
CURVED = ("poly SVM", "RBF SVM", "NN sgd", "NN lbfgs")
METHODS = {
    "hard-margin SVM": {"about": "SVC(kernel='linear', C=inf)"},
    "pseudo-inverse": {"about": "PseudoInverseClassifier()"},
    "alpha-LMS": {"about": "AlphaLMS(alpha=0.05)"},
    "perceptron": {"about": "LinearPerceptron()"},
    "poly SVM": {"about": "SVC(kernel='poly', degree=4, gamma=1, coef0=1, C=100)"},
    "RBF SVM": {"about": "SVC(gamma=1, C=100)"},
    "NN sgd": {"about": "MLPClassifier((20,), solver='sgd', learning_rate_init=0.1)"},
    "NN lbfgs": {"about": "MLPClassifier((20,), solver='lbfgs')"},
}
PRINTED_SECONDS = {"RBF SVM": 0.030, "poly SVM": 0.042, "NN sgd": 1.367, "NN lbfgs": 15.703}
"""Figure 6.9, from another machine and program. Its BFGS stands beside our L-BFGS."""

STYLES = (
    (BLUE, "-"),
    (VERMILION, "--"),
    (GREEN, "-."),
    (PURPLE, ":"),
    ("black", (0, (6, 2))),
    (GREY, "-"),
)
POINTS = ((SKY, "o"), (ORANGE, "s"))
TEST_ROWS = 2000
GAP = 0.5


def make_plane(kind: str, n: int, seed: int) -> tuple[Any, Any]:
    """Draw a set with two classes in the plane.

    Parameters
    ----------
    kind : {"separable", "ring", "moons", "squares"}
        Two clouds that a line keeps apart, a disc in a ring, two half moons, and two by two
        squares of alternating class.
    n : int
        Rows.
    seed : int

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        -1 or +1.
    """
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    if kind == "separable":
        X = rng.normal(size=(n, 2)) + np.outer(y, [1.6, 1.1])
        normal = np.array([1.6, 1.1]) / np.hypot(1.6, 1.1)
        # Rows closer to the line than the gap are moved out to it.
        short = np.maximum(0.0, GAP - y * (X @ normal))
        return X + np.outer(y * short, normal), y
    if kind == "squares":
        X = rng.uniform(-2, 2, size=(n, 2))
        return X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    angle = rng.uniform(0, 2 * np.pi, n)
    if kind == "ring":
        radius = np.where(y > 0, 0.4, 1.6) + 0.2 * rng.normal(size=n)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y
    moon = np.column_stack([np.cos(angle / 2), np.sin(angle / 2)])
    X = np.where(y[:, None] > 0, moon, [1.0, 0.4] - moon)
    return 1.5 * (X - [0.5, 0.2]) + 0.15 * rng.normal(size=(n, 2)), y


def make_method(name: str, seed: int) -> Any:
    """Return an estimator; neural networks start from random weights, machines need no seed."""
    from sklearn.neural_network import MLPClassifier

    from mercer.discriminant import AlphaLMS, LinearPerceptron, PseudoInverseClassifier
    from mercer.svm import SVC

    sgd: dict[str, Any] = {"solver": "sgd", "learning_rate_init": 0.1, "max_iter": 2000}
    makers: dict[str, Any] = {
        "hard-margin SVM": lambda: SVC(kernel="linear", C=np.inf),
        "pseudo-inverse": PseudoInverseClassifier,
        "alpha-LMS": lambda: AlphaLMS(random_state=seed),
        "perceptron": lambda: LinearPerceptron(random_state=seed),
        "poly SVM": lambda: SVC(kernel="poly", degree=4, gamma=1.0, coef0=1.0, C=100.0),
        "RBF SVM": lambda: SVC(gamma=1.0, C=100.0),
        "NN sgd": lambda: MLPClassifier((20,), random_state=seed, **sgd),
        "NN lbfgs": lambda: MLPClassifier((20,), random_state=seed, solver="lbfgs", max_iter=2000),
    }
    return makers[name]()


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Learn a set; return errors, seconds, how far the plane stays away, and what chance decides.

    ``restart`` is the share of test rows that another start or order of rows labels otherwise.
    """
    kind, n = configuration.parameters["kind"], configuration.parameters["rows"]
    X, y = make_plane(kind, n, seed)
    new, truth = make_plane(kind, TEST_ROWS, seed + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some end at their limit of iterations
        start = time.perf_counter()
        model = make_method(method, 0).fit(X, y)
        seconds = time.perf_counter() - start
        other = make_method(method, 1).fit(X, y)
    labels = model.predict(new)
    values = {
        "error": 100.0 * float(np.mean(labels != truth)),
        "train_error": 100.0 * float(np.mean(model.predict(X) != y)),
        "milliseconds": 1000.0 * seconds,
        "restart": 100.0 * float(np.mean(labels != other.predict(new))),
    }
    if method in LINEAR:
        distance = y * model.decision_function(X) / np.linalg.norm(model.coef_)
        values["margin"] = float(distance.min())
    return values


def report(results: StudyResults) -> str:
    """Say how median times compare with the printed ones, as multiples of the RBF machine's.

    Lines separate one of the sets; the printed times are of curves, so without these it is empty.
    """
    rows = [row for row in results.table() if row["method"] in PRINTED_SECONDS]
    pairs = [(row["configuration"], row["method"]) for row in rows]
    names = list(dict.fromkeys(name for name, _ in pairs))
    if not names:
        return ""
    times = {pair: float(np.median(results.values(*pair, "milliseconds"))) for pair in pairs}
    lines = [
        "Median times of a fit as multiples of the RBF machine's (figure 6.9 beside ours):",
        "",
        "| method | printed | " + " | ".join(names) + " |",
        "|---|---:|" + "---:|" * len(names),
    ]
    base = PRINTED_SECONDS["RBF SVM"]
    for method, printed in PRINTED_SECONDS.items():
        cells = []
        for name in names:
            ours, unit = times.get((name, method)), times.get((name, "RBF SVM"))
            cells.append(f"{ours / unit:.1f}" if ours is not None and unit else "")
        lines.append(f"| {method} | {printed / base:.1f} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw_boundaries(results: StudyResults) -> Any:
    """Draw the boundaries of all methods on a set of each kind (figures 6.2 and 6.8)."""
    from matplotlib.figure import Figure

    done = {(row["configuration"], row["method"]) for row in results.table()}
    known = [c for c in results.study.configurations if any(c.name == name for name, _ in done)]
    columns = min(2, len(known))
    lines = -(-len(known) // 2)
    figure = Figure(figsize=(4.8 * columns, 4.5 * lines), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for ax, configuration in zip(panels, known):
        kind = configuration.parameters["kind"]
        methods = LINEAR if kind == "separable" else CURVED
        shown = {
            method: make_method(method, 0)
            for method in methods
            if (configuration.name, method) in done
        }
        draw_panel(ax, *make_plane(kind, 80, seed=0), shown)
        ax.set_title(kind, fontsize="medium")
    return figure


def draw_panel(ax: Any, X: Any, y: Any, models: dict[str, Any], columns: int = 4) -> None:
    """Fit models to rows in the plane and draw their boundaries, with their names below."""
    from matplotlib.lines import Line2D

    for (color, marker), sign in zip(POINTS, (-1, 1)):
        ax.scatter(*X[y == sign].T, color=color, marker=marker, s=22, lw=0)
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    across = np.meshgrid(*(np.linspace(a, b, 150) for a, b in zip(low, high)))
    grid = np.column_stack([part.ravel() for part in across])
    handles = []
    for (name, model), (color, line) in zip(models.items(), STYLES):
        values = _decision(model, X, y, grid).reshape(across[0].shape)
        ax.contour(*across, values, [0.0], colors=[color], linestyles=[line], linewidths=1.8)
        handles.append(Line2D([], [], color=color, ls=line, lw=1.8, label=name))
    place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.07)}
    ax.legend(handles=handles, fontsize="x-small", ncols=columns, frameon=False, **place)
    ax.set_aspect("equal")


def _decision(model: Any, X: Any, y: Any, grid: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    if hasattr(model, "decision_function"):
        return model.decision_function(grid)
    return model.predict_proba(grid)[:, 1] - 0.5


def draw_times(results: StudyResults, only: Sequence[str] | None = None) -> Any:
    """Draw the times of all repetitions, method by method (figure 6.9); of some methods only."""
    from matplotlib.figure import Figure

    rows = [row for row in results.table() if only is None or row["method"] in only]
    names = [m for m in results.study.methods if any(row["method"] == m for row in rows)]
    sets = list(dict.fromkeys(row["configuration"] for row in rows))
    figure = Figure(figsize=(8.0, 1.0 + 0.4 * len(names)), layout="constrained")
    ax = figure.subplots()
    markers = "osD^v<>"
    for place, name in enumerate(sets):
        color = STYLES[place % len(STYLES)][0]
        for row, method in enumerate(names):
            times = results.values(name, method, "milliseconds")
            if times:
                height = row + 0.13 * (place - (len(sets) - 1) / 2)
                low, middle, high = np.percentile(times, [10, 50, 90])
                ax.plot([low, high], [height, height], color=color, lw=1.2)
                ax.plot(middle, height, marker=markers[place], color=color, ms=5, ls="")
        ax.plot([], [], marker=markers[place], color=color, ms=5, lw=1.2, label=name)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.set_xlabel("milliseconds for a fit: median, and the range of four fifths")
    ax.grid(axis="x", alpha=0.3)
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0))
    return figure


STUDY = Study(
    name="baselines",
    title="Support vector machines beside linear baselines and neural networks",
    description="Sets in the plane like those of a course on support vector machines: one that a "
    "line separates, for the hard-margin machine, pseudo-inverse, alpha-LMS and perceptron; three "
    "that need a curve, for machines with polynomial and RBF kernel and neural networks trained by "
    "stochastic gradients and by L-BFGS. Error and restart are percent of 2000 test rows; restart "
    "counts those that another random start labels otherwise, margin is the smallest distance of a "
    "training row from the line.",
    citation="A. Hopfgartner, M. Rupp, course text, FH Vorarlberg 2021, figures 6.2, 6.8 and 6.9.",
    configurations=(
        Configuration("separable", {"kind": "separable", "rows": 80}, methods=LINEAR),
        Configuration("ring", {"kind": "ring", "rows": 80}, methods=CURVED),
        Configuration("moons", {"kind": "moons", "rows": 80}, methods=CURVED),
        Configuration("squares", {"kind": "squares", "rows": 80}, methods=CURVED),
    ),
    methods=METHODS,
    run=run,
    source="Hopfgartner, Rupp 2021",
    duration="15 s",
    repetitions=20,
    pictures={
        "boundaries": "studies.baselines.study:draw_boundaries",
        "times": "studies.baselines.study:draw_times",
    },
    report="studies.baselines.study:report",
)
