"""What the study of the ten IDA sets comes to: tables beside the printed ones, and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mercer.plotting.palette import BLUE, GREY, VERMILION
from mercer.studies import StudyResults

GRID, BOUND, DEFAULT = "A-grid", "C-L2-rbf", "default"

PAIRS = {
    "One width by the radius/margin bound": ("B-L1-rbf", BOUND),
    "One width for each feature by the radius/margin bound": ("D-L1-widths", "E-L2-widths"),
    "Grid of 10 × 10 with 5 folds, and GradientSearch()": (GRID, "A-median", DEFAULT),
}
"""Tables of the report, and the methods in them."""

CLOSE_TO_PRINTED, MOST_TRAININGS, MOST_ERROR = 0.15, 15.0, 17.1
"""Bars of means over all sets; a mean over some of them has nothing to do with these."""

MOST_EVALUATIONS, MOST_WORSE = 60.0, 0.6
"""Bars of each split and of each set."""


class Claim(NamedTuple):
    """Something that should hold: a number, and the most that it may be."""

    text: str
    value: float
    most: float

    @property
    def holds(self) -> bool:
        """Whether it does."""
        return self.value <= self.most

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "does not hold"
        return f"{verdict}: {self.text}: {self.value:.2f} (at most {self.most:g})"


def summary(results: StudyResults) -> dict[str, dict[str, Any]]:
    """Return for each method the means over the sets, ours and the printed ones.

    Sets of which a method has no result are left out of all its means.

    Returns
    -------
    dict of dict
        By method: ``error``, ``exploration_error``, ``confirmation_error``, ``trainings``,
        ``evaluations``, ``printed``, ``printed_trainings`` (None where there is none) and
        ``sets``.
    """
    rows = results.table()
    means: dict[str, dict[str, Any]] = {}
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        names = {"error": "mean", "printed": "printed_mean"}
        further = ("exploration_error", "confirmation_error", "trainings", "evaluations")
        names |= {name: name for name in (*further, "printed_trainings")}
        means[method] = {name: _mean([row.get(key) for row in own]) for name, key in names.items()}
        means[method]["sets"] = len(own)
        if len(own) == len(results.study.configurations):
            # Printed means are of errors that were not rounded yet.
            printed = results.study.averages.get("A-grid" if method == "A-median" else method)
            means[method]["printed"] = printed and printed.mean
    return means


def claims(results: StudyResults) -> list[Claim]:
    """Return what should hold of the bound and of the default, as far as both were run.

    Means over the sets are judged where all sets were run.
    """
    whole = {
        method: mean
        for method, mean in summary(results).items()
        if mean["sets"] == len(results.study.configurations)
    }
    found = []
    if BOUND in whole:
        bound = whole[BOUND]
        off = abs(bound["error"] - bound["printed"])
        found += [
            Claim(f"{BOUND}, mean error off the printed one", off, CLOSE_TO_PRINTED),
            Claim(f"{BOUND}, mean number of trainings", bound["trainings"], MOST_TRAININGS),
        ]
    if DEFAULT in whole:
        found.append(Claim(f"{DEFAULT}, mean error", whole[DEFAULT]["error"], MOST_ERROR))
    return found + _claims_of_each_set(results)


def _claims_of_each_set(results: StudyResults) -> list[Claim]:
    """Return what should hold of the default on every set that was run."""
    found = []
    evaluations = [
        value
        for configuration in results.study.configurations
        for value in results.values(configuration.name, DEFAULT, "evaluations")
    ]
    if evaluations:
        text = f"{DEFAULT}, most evaluations on a split"
        found.append(Claim(text, max(evaluations), MOST_EVALUATIONS))
    losses = {name: float(np.mean(gaps)) for name, gaps in _gaps(results).items()}
    if losses:
        name = max(losses, key=losses.__getitem__)
        gaps = _gaps(results)[name]
        error = np.std(gaps, ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
        where = f"{name}, standard error {error:.2f}"
        text = f"{DEFAULT}, largest loss against the grid of each split ({where})"
        found.append(Claim(text, losses[name], MOST_WORSE))
    return found


def report(results: StudyResults) -> str:
    """Return tables and verdicts as Markdown."""
    parts = [_means_table(results)]
    parts += [
        f"{title}:\n\n{table}"
        for title, methods in PAIRS.items()
        if (table := _sets_table(results, methods))
    ]
    found = claims(results)
    if found:
        n_sets = len({row["configuration"] for row in results.table()})
        n_splits = max(row["repetitions"] for row in results.table())
        sets, splits = _counted(n_sets, "set"), _counted(n_splits, "split")
        head = f"Verdicts, on {sets} with up to {splits} each:\n\n"
        parts.append(head + "\n".join(f"- {claim}" for claim in found))
    if unjudged := _unjudged(results):
        parts.append(unjudged)
    return "\n\n".join(parts) + "\n"


def _unjudged(results: StudyResults) -> str:
    """Say whose means have no verdict, because some of the sets were not run."""
    n_all, means = len(results.study.configurations), summary(results)
    counts = [(m, means[m]["sets"]) for m in (BOUND, DEFAULT) if m in means]
    parts = [f"{method} was run on {n} of {n_all}" for method, n in counts if n < n_all]
    return f"Means over all sets are not judged: {' and '.join(parts)}." if parts else ""


def draw_means(results: StudyResults) -> Any:
    """Draw the mean error over the sets against the number of trainings, ours and the printed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    ax = figure.subplots()
    for method, mean in summary(results).items():
        cost = (mean["trainings"] or 0.0) + (mean["evaluations"] or 0.0)
        ax.plot(cost, mean["error"], "o", color=BLUE, ms=7)
        ax.annotate(method, (cost, mean["error"]), xytext=(6, 4), textcoords="offset points")
        if mean["printed"] is not None and mean["printed_trainings"] is not None:
            ends = [cost, mean["printed_trainings"]], [mean["error"], mean["printed"]]
            ax.plot(*ends, color=GREY, lw=0.8, zorder=0)
            ax.plot(ends[0][1], ends[1][1], "D", mfc="none", color=VERMILION, ms=6)
    ax.plot([], [], "o", color=BLUE, label="ours: trainings and evaluations")
    ax.plot([], [], "D", mfc="none", color=VERMILION, label="printed: trainings")
    ax.set_xscale("log")
    ax.margins(x=0.2, y=0.12)
    ax.set_xlabel("cost of choosing the parameters")
    ax.set_ylabel("mean error over the sets [%]")
    ax.grid(color=GREY, alpha=0.3, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return figure


def _gaps(results: StudyResults) -> dict[str, list[float]]:
    """Return by set how much the default's error is above the grid's, split by split."""
    by_cell = {
        (record["configuration"], record["repetition"], record["method"]): record["values"]["error"]
        for record in results.records
    }
    gaps: dict[str, list[float]] = {}
    for (name, split, method), error in by_cell.items():
        if method == DEFAULT and (name, split, GRID) in by_cell:
            gaps.setdefault(name, []).append(error - by_cell[name, split, GRID])
    return gaps


def _means_table(results: StudyResults) -> str:
    columns = ("printed", "error", "exploration_error", "confirmation_error")
    costs = ("printed_trainings", "trainings", "evaluations")
    head = ["mean over the sets", "printed error", "ours", "exploration", "confirmation"]
    lines = [[*head, "printed trainings", "ours", "evaluations"]]
    for method, mean in summary(results).items():
        errors = [_number(mean[name], 2) for name in columns]
        lines.append([method, *errors, *(_number(mean[name], 1) for name in costs)])
    return _markdown(lines)


def _sets_table(results: StudyResults, methods: Sequence[str]) -> str:
    """Return a line for each set: error, deviation and trainings of some methods."""
    rows = {(row["configuration"], row["method"]): row for row in results.table()}
    present = [method for method in methods if any(pair[1] == method for pair in rows)]
    if not present:
        return ""
    lines = [["set", "splits"]]
    for method in present:
        lines[0] += ["printed", method, "trainings"] if method != DEFAULT else [method, "cost"]
    for name in dict.fromkeys(pair[0] for pair in rows):
        own = {method: rows[name, method] for method in present if (name, method) in rows}
        if own:
            line = [name, str(max(row["repetitions"] for row in own.values()))]
            lines.append(line + [cell for m in present for cell in _cells(own.get(m), m)])
    return _markdown(lines)


def _cells(row: dict[str, Any] | None, method: str) -> list[str]:
    if row is None:
        return ["", ""] if method == DEFAULT else ["", "", ""]
    ours = _with_deviation(row["mean"], row["sd"])
    if method == DEFAULT:
        return [ours, f"{row['evaluations']:.1f} + {row['trainings']:.1f}"]
    printed = _with_deviation(row["printed_mean"], row["printed_sd"])
    return [printed, ours, f"{row['printed_trainings']:.1f} → {row['trainings']:.1f}"]


def _markdown(lines: list[list[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(lines[0]) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], rule, *lines[1:]])


def _with_deviation(mean: float, sd: float | None) -> str:
    return f"{mean:.2f}" if sd is None else f"{mean:.2f} ± {sd:.2f}"


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
