"""The figures of Planas: curves, steps, and an accuracy that is estimated."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from mercer.studies import StudyResults
from studies.rfe.study import TRADE_OFF, elimination, linear_machine, load_data

from .study import PRICED, PRICES, PROBLEMS, SAMPLED, SIZES, STEPS

STYLES = {
    "random": (GREY, ":", "x"),
    "filter": (ORANGE, "--", "s"),
    "elimination": (BLUE, "-", "o"),
    "kernel elimination": (VERMILION, "-", "^"),
    **dict(zip(STEPS, ((PURPLE, "--", "v"), (GREEN, "-.", "d"), (BLUE, "-", "o")))),
    **{
        letter + number: (color, line, "")
        for letter, color in zip("ABC", (BLUE, ORANGE, VERMILION))
        for number, line in zip("123", ("-", "--", ":"))
    },
}
"""Colour, line and marker of each method."""


def draw_curves(results: StudyResults) -> Any:
    """Draw accuracies against the number of features, and those of MADELON against C."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15.5, 6.8), layout="constrained")
    axes = figure.subplots(2, 5).ravel()
    for ax, name in zip(axes, (*PROBLEMS, SAMPLED)):
        chance = 0.1 if name in ("ten classes", "digits") else 0.5
        ax.axhline(chance, color=GREY, lw=0.8, ls=":")
        methods = results.study.methods_of(results.study.configuration(name))
        for method in methods:
            _draw_curve(ax, results, name, method)
        ax.set(xscale="log", title=name)
        ax.set_xticks([1, 10, 100], ["1", "10", "100"])
        ax.legend(fontsize="x-small", frameon=False, ncols=3 if name == SAMPLED else 1)
    for ax in axes[4:9]:
        ax.set_xlabel("number of features")
    _draw_prices(axes[-1], results)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.supylabel("accuracy on the folds left out")
    return figure


def _draw_curve(ax: Any, results: StudyResults, name: str, method: str) -> None:
    color, line, marker = STYLES[method]
    found = [(size, results.moments(name, method, f"accuracy_{size}").mean) for size in SIZES]
    known = [(size, mean) for size, mean in found if mean is not None]
    if known:
        ax.plot(*zip(*known), color=color, ls=line, marker=marker, ms=4, lw=1.5, label=method)


def _draw_prices(ax: Any, results: StudyResults) -> None:
    found = [(C, results.moments(PRICED, f"C {C:g}").mean) for C in PRICES]
    known = [(C, mean) for C, mean in found if mean is not None]
    if known:
        ax.plot(*zip(*known), color=BLUE, marker="o", ms=4, lw=1.5)
    ax.axhline(0.5, color=GREY, lw=0.8, ls=":")
    ax.set(xscale="log", ylim=(0.45, 0.9), xlabel="C of a linear machine", title=PRICED)


def draw_steps(results: StudyResults) -> Any:
    """Draw features left and features dropped, round by round (figures 5.2 and 5.10)."""
    from matplotlib.figure import Figure

    from mercer.feature_selection import (
        annealing,
        around,
        constant,
        percent,
        square_root,
        step_sizes,
    )

    steps = {
        "constant": (constant(50), GREY, ":"),
        "a tenth of those left": (percent(0.1), BLUE, "-"),
        "square root": (square_root(), GREEN, "--"),
        "annealing": (annealing(), PURPLE, "-."),
        "around 1000, a tenth": (around(1000, 0.1, 5), VERMILION, "-"),
    }
    figure = Figure(figsize=(11.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, (step, color, line) in steps.items():
        sizes = np.array(step_sizes(step, 2000))
        left.plot(sizes[:101], color=color, ls=line, lw=1.8, label=name)
        right.plot(sizes[:-1], -np.diff(sizes), color=color, ls=line, lw=1.8)
    for ax, across in ((left, False), (right, True)):
        mark = ax.axvline if across else ax.axhline
        mark(1000, color=GREY, lw=0.8, ls=":")
        ax.spines[["top", "right"]].set_visible(False)
    left.set(xlabel="round", ylabel="features left, of 2000")
    left.legend(frameon=False, fontsize="small")
    right.set(xlabel="features left", ylabel="features dropped next", ylim=(0, 210))
    right.invert_xaxis()
    return figure


def draw_estimate(results: StudyResults) -> Any:
    """Draw the accuracy that importances of five rounds let expect (figure 5.11)."""
    from matplotlib.figure import Figure
    from sklearn.model_selection import StratifiedKFold

    from mercer.feature_selection import ranking_curve

    X, y = load_data("5.12")
    machine, sizes = linear_machine(1e-4), np.r_[1:60:6, 61:301:20]
    folds = StratifiedKFold(7, shuffle=True, random_state=0)
    source = {"": elimination(machine, 10)}
    curve = ranking_curve(source, machine, X, y, sizes=sizes, cv=folds, baselines=False)[""]
    trace = elimination(machine, 60).fit(X, y).trace_
    estimated = trace.estimated_accuracy()
    figure = Figure(figsize=(7.0, 4.4), layout="constrained")
    ax = figure.subplots()
    ax.plot(curve.sizes, curve.mean_test_score, color=BLUE, marker="o", ms=4, label="test rows")
    ax.plot(curve.sizes, curve.mean_train_score, color=GREY, ls="--", label="training rows")
    ax.plot(estimated, color=GREEN, label="estimated from five rounds")
    best, guessed = curve.best_size(TRADE_OFF), trace.optimal_size(TRADE_OFF)
    for size, color, label in ((best, BLUE, "best"), (guessed, GREEN, "estimated")):
        line = "--" if label == "best" else ":"
        ax.axvline(size, color=color, lw=1.4, ls=line, label=f"{label} size: {size}")
    ax.set(xlabel="number of features", ylabel="accuracy")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
    return figure
