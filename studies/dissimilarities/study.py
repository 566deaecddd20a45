"""Which kernel and which dissimilarity nearest hyperspheres should have, as the source wished."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE, GREEN, GREY, PURPLE, VERMILION
from mercer.studies import Configuration, Study, StudyResults
from studies.real.study import load_rows, split_rows
from studies.simulation.classifiers import TOL

KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf"},
    "laplacian": {"kernel": "laplacian"},
    "quadratic": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "linear": {"kernel": "linear"},
}
STYLES = ((BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), (PURPLE, "D"))


def excess(distances: Any, radii: Any) -> Any:
    """Return how far a row lies outside each ball, below 0 inside."""
    return distances - radii


def tangent(distances: Any, radii: Any) -> Any:
    """Return the squared length of the tangent from a row to each ball (power of the point)."""
    return distances**2 - radii**2


DISSIMILARITIES: dict[str, dict[str, Any]] = {
    "d": {"dissimilarity": "absolute"},
    "d/sqrt(r)": {"dissimilarity": "power", "power": 0.5},
    "d/r": {"dissimilarity": "relative"},
    "d/r^2": {"dissimilarity": "power", "power": 2.0},
    "d-r": {"dissimilarity": excess},
    "d^2-r^2": {"dissimilarity": tangent},
}
REFERENCE = "rbf, d/r"
"""What the source has."""

METHODS = {
    f"{kernel}, {name}": {"kernel": kernel, "dissimilarity": name}
    for kernel in KERNELS
    for name in DISSIMILARITIES
}
WIDTHS = 2.0 ** np.arange(-9, 7, 3)
"""Values of gamma that are tried, in units of one over the number of features."""

TEST_SIZES = (1000, 1000)
CLEAR = 3.0
"""Standard errors from which on a difference counts."""


def draw_sample(configuration: Configuration, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return rows and labels to learn from, then those to test on."""
    about = configuration.parameters
    if "row" in about:
        from mercer.datasets import make_simulation

        rng = np.random.RandomState(seed)
        X, y = make_simulation(about["row"], random_state=rng)
        return X, y, *make_simulation(about["row"], TEST_SIZES, random_state=rng)
    X, y, _ = load_rows(about["data"])
    train, test = split_rows(y, 0.7, True, seed)
    return X[train], y[train], X[test], y[test]


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Choose gamma in three folds of the training rows, and count the errors on others."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from mercer.model_selection import PathSearchCV
    from mercer.spheres import NearestHypersphereClassifier

    X, y, X_test, y_test = draw_sample(configuration, seed)
    kernel, dissimilarity = method.split(", ")
    settings = {**KERNELS[kernel], **DISSIMILARITIES[dissimilarity]}
    balls = NearestHypersphereClassifier(cv=None, tol=TOL, **settings)
    values = {}
    if kernel != "linear":
        balls = PathSearchCV(balls, {"gamma": WIDTHS / X.shape[1]}, cv=3)
    model = make_pipeline(StandardScaler(), balls).fit(X, y)
    if kernel != "linear":
        values["gamma"] = float(model[-1].best_params_["gamma"])
    return {"error": float(np.mean(model.predict(X_test) != y_test))} | values


def differences(results: StudyResults, method: str) -> dict[str, tuple[float, float]]:
    """Return by set how much a method errs beyond the reference, and that in standard errors."""
    found = {}
    for configuration in results.study.configurations:
        ours = results.values(configuration.name, method)
        other = results.values(configuration.name, REFERENCE)
        n = min(len(ours), len(other))
        if n > 1:
            beyond = np.subtract(ours[:n], other[:n])
            error = float(beyond.std(ddof=1)) / np.sqrt(n)
            mean = float(beyond.mean())
            found[configuration.name] = mean, mean / error if error else 0.0
    return found


def report(results: StudyResults) -> str:
    """Compare all methods with the one of the source, on the same samples."""
    lines = [
        f"Mean error over all sets, and on how many of them it is clearly (by {CLEAR:g} standard "
        f"errors of the paired differences) below or above that of `{REFERENCE}`, the source's:",
        "",
        "| kernel, dissimilarity | mean error | clearly better | clearly worse | sets |",
        "|---|---:|---:|---:|---:|",
    ]
    for method in results.study.methods:
        found = differences(results, method)
        if not found:
            continue
        mean = np.mean([np.mean(results.values(name, method)) for name in found])
        below = sum(z < -CLEAR for _, z in found.values())
        above = sum(z > CLEAR for _, z in found.values())
        lines.append(f"| {method} | {mean:.4f} | {below} | {above} | {len(found)} |")
    return "\n".join(lines) + "\n" if len(lines) > 4 else ""


def draw_errors(results: StudyResults) -> Any:
    """Draw a panel for each set: error by dissimilarity, a line for each kernel."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    rows = {(row["configuration"], row["method"]): row for row in results.table()}
    sets = list(dict.fromkeys(name for name, _ in rows))
    columns = min(4, max(1, len(sets)))
    lines = -(-max(1, len(sets)) // columns)
    figure = Figure(figsize=(3.1 * columns + 0.4, 3.1 * lines + 0.5), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for ax, name in zip(panels, sets):
        for place, (kernel, (color, marker)) in enumerate(zip(KERNELS, STYLES)):
            for k, dissimilarity in enumerate(DISSIMILARITIES):
                row = rows.get((name, f"{kernel}, {dissimilarity}"))
                if row and row["mean"] is not None:
                    error = (row["sd"] or 0.0) / np.sqrt(row["repetitions"])
                    where = k + 0.16 * (place - 1.5)
                    ax.errorbar(where, row["mean"], 2 * error, color=color, marker=marker, ms=4)
        ax.set_title(name, fontsize="medium")
        ax.set_xticks(range(len(DISSIMILARITIES)), list(DISSIMILARITIES), rotation=60)
        ax.grid(axis="y", color=GREY, alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    for line in range(lines):
        panels[line * columns].set_ylabel("error")
    handles = [
        Line2D([], [], color=color, marker=marker, ls="", label=kernel)
        for kernel, (color, marker) in zip(KERNELS, STYLES)
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=len(handles),
        frameon=False,
        title="bars: ± 2 standard errors",
    )
    return figure


STUDY = Study(
    name="dissimilarities",
    title="Kernels and dissimilarities of nearest hyperspheres",
    description="The source closes with the wish to see other kernels and other dissimilarities "
    "than the RBF kernel and distance / radius. Here d is the distance of a row from the centre of "
    "a ball and r its radius. Columns are standardised, gamma is chosen in three folds of the "
    "training rows; seven sets, of which four are drawn (numbers of table 5.3).",
    citation="S. van der Westhuizen, thesis, Stellenbosch University, 2014, section 6.2.",
    configurations=(
        Configuration("iris", {"data": "iris"}),
        Configuration("haemophilia", {"data": "hemophilia"}, data=("hemophilia",)),
        Configuration("heart", {"data": "saheart"}, data=("saheart",)),
        Configuration("drawn 1", {"row": 1}, note="normal, other location"),
        Configuration("drawn 3", {"row": 3}, note="normal, other dispersion"),
        Configuration("drawn 9", {"row": 9}, note="lognormal, other location"),
        Configuration("drawn 12", {"row": 12}, note="lognormal, other dispersion, correlated"),
    ),
    methods=METHODS,
    run=run,
    source="van der Westhuizen 2014",
    duration="2 min",
    repetitions=20,
    pictures={"errors": "studies.dissimilarities.study:draw_errors"},
    report="studies.dissimilarities.study:report",
    version=2,
)
