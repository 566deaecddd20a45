"""The two artificial problems of Smets: which method finds the features that matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting.palette import COLORS
from mercer.studies import Configuration, Printed, Study, StudyResults

TABLE = """
linear  linear   10   4  4  3
linear  linear   20   5  6  8
linear  linear   30   5  9 10
other   poly     10   1  1  1
other   poly     20   0  0  0
other   poly     30   0  3  0
other   poly     50   -  9  -
other   poly    100   -  8  -
other   rbf      10   1  0  1
other   rbf      20   0  0  1
other   rbf      30   0  0  3
other   rbf      50   -  6  5
other   rbf     100   -  2  5
"""
"""Table 5.5: problem, kernel, training rows; how often in ten trials each method was left with two
features that matter."""

METHODS = ("Fisher", "SVM-RFE", "SVM-RFE bound", "R2W2", "zero norm")
PRINTED_METHODS = ("Fisher", "SVM-RFE", "R2W2")
STYLES = tuple(zip(COLORS, "os^Dv"))
"""Colour and marker of each method, told apart with every kind of colour vision."""

RELEVANT = {"linear": 6, "other": 2}
N_FEATURES, TEST_ROWS, TRIALS = 50, 500, 10
SIZES = (2, 5, 10, 20, 50)
"""Numbers of features at which the accuracy is measured, as in the figures of appendix C."""

RANKERS = {"linear": (0.01, "weights"), "poly": (1.0, "objective"), "rbf": (100.0, "gradient")}
"""C and criterion of the machines that rank."""


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Rank the features by one sample, and measure the accuracy on another."""
    rng = np.random.RandomState(seed)
    about = configuration.parameters
    X, y, X_test, y_test = _sample(about["problem"], about["n"], rng)
    order = _order(method, about["kernel"], X, y)
    relevant = RELEVANT[about["problem"]]
    values = {"found": float((order[:2] < relevant).all())}
    for size in SIZES:
        features = order[:size]
        model = _machine(about["kernel"], 1.0).fit(X[:, features], y)
        values[f"accuracy_{size}"] = float(model.score(X_test[:, features], y_test))
    return values


def draw_curves(results: StudyResults) -> Any:
    """Draw the accuracy against the number of features, a panel for each configuration."""
    from matplotlib.figure import Figure

    rows = results.table()
    names = list(dict.fromkeys(row["configuration"] for row in rows))
    columns = 3
    lines = -(-len(names) // columns)
    figure = Figure(figsize=(3.6 * columns, 2.6 * lines + 0.6), layout="constrained")
    axes = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for ax, name in zip(axes, names):
        for row in (row for row in rows if row["configuration"] == name):
            color, marker = STYLES[METHODS.index(row["method"])]
            accuracy = [row[f"accuracy_{size}"] for size in SIZES]
            (line,) = ax.plot(SIZES, accuracy, color=color, marker=marker, ms=4, lw=1.4)
            handles[row["method"]] = line
        ax.set_title(name, fontsize="medium")
        ax.set_xscale("log")
        ax.set_xticks(SIZES, [str(size) for size in SIZES])
        ax.minorticks_off()
    for ax in axes[len(names) :]:
        ax.remove()
    for ax in axes[: len(names)][-columns:]:
        ax.tick_params(labelbottom=True)
    figure.supxlabel("number of features")
    figure.supylabel("accuracy on test rows")
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=5, frameon=False)
    return figure


def _sample(problem: str, n: int, rng: np.random.RandomState) -> tuple[Any, Any, Any, Any]:
    """Return training and test rows, standardised by the training rows."""
    from sklearn.preprocessing import StandardScaler

    from mercer.datasets import make_weston_linear, make_weston_nonlinear

    draw = make_weston_linear if problem == "linear" else make_weston_nonlinear
    while True:  # both classes must be there to learn from
        X, y = draw(n, N_FEATURES, random_state=rng)
        if min(np.sum(y < 0), np.sum(y > 0)) >= 2:
            break
    X_test, y_test = draw(TEST_ROWS, N_FEATURES, random_state=rng)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def _machine(kernel: str, C: float, loss: str = "hinge") -> Any:
    from mercer.svm import SVC

    return SVC(kernel=kernel, degree=2, coef0=1.0, C=C, loss=loss)


def _order(method: str, kernel: str, X: Any, y: Any) -> Any:
    """Return the features, the best first."""
    from mercer.feature_selection import (
        KernelRFE,
        ScaledFeatureSelector,
        ZeroNormSelector,
        fisher_score,
        percent,
    )

    if method == "Fisher":
        return np.argsort(-fisher_score(X, y), kind="stable")
    if method == "zero norm":
        return ZeroNormSelector(_machine("linear", 1.0), n_features_to_select=2).fit(X, y).order_
    if method == "R2W2":
        machine = _machine(kernel, 1.0, "squared_hinge")
        selector = ScaledFeatureSelector(machine, n_features_to_select=2, step=percent(0.2))
        return selector.fit(X, y).order_
    C, criterion = (1.0, "bound") if "bound" in method else RANKERS[kernel]
    machine = _machine(kernel, C)
    return KernelRFE(machine, n_features_to_select=1, criterion=criterion).fit(X, y).order_


def _configurations() -> tuple[Configuration, ...]:
    configurations = []
    for line in TABLE.split("\n")[1:-1]:
        problem, kernel, n, *counts = line.split()
        printed = {
            method: _printed(int(count))
            for method, count in zip(PRINTED_METHODS, counts)
            if count != "-"
        }
        if problem == "other":  # which criterion was used is not printed
            printed["SVM-RFE bound"] = printed["SVM-RFE"]
        name = f"{kernel} {n}" if problem == "linear" else f"non-linear, {kernel} {n}"
        about = {"problem": problem, "kernel": kernel, "n": int(n)}
        configurations.append(Configuration(name, about, printed))
    return tuple(configurations)


def _printed(count: int) -> Printed:
    share = count / TRIALS
    return Printed(share, float(np.sqrt(share * (1 - share) * TRIALS / (TRIALS - 1))))


STUDY = Study(
    name="artificial",
    title="Features that matter among noise",
    description="Two problems with 50 features: a linear one in which six matter, and one in which "
    "two matter, and only together. Counted is how often the two features ranked first are among "
    "those that matter, and the accuracy on 500 test rows with the best 2, 5, 10, 20 and 50. "
    "SVM-RFE ranks by squared weights (linear, C = 0.01), the change of the objective (polynomial, "
    "C = 1) or its slope in virtual scales (RBF, C = 100), 'SVM-RFE bound' by the slope of the "
    "radius/margin bound (C = 1; in the second problem compared with the printed SVM-RFE, too); "
    "R2W2 learns scales by the radius/margin bound and drops a fifth of the features at a time. "
    "The source prints neither C nor the criterion.",
    citation="K. Smets, thesis, University of Antwerp, 2006, table 5.5 and appendix C.",
    configurations=_configurations(),
    methods={method: {} for method in METHODS},
    run=run,
    measure="found",
    lower_is_better=False,
    source="Smets 2006",
    duration="7 min",
    shares=("found",),
    again=("SVM-RFE bound",),
    repetitions=100,
    printed_repetitions=TRIALS,
    pictures={
        "overview": "mercer.studies.pictures:draw_overview",
        "curves": "studies.artificial.study:draw_curves",
    },
)
