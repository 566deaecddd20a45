"""What the study of relevance vector machines comes to: tables and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting.palette import GREY
from mercer.studies import StudyResults
from mercer.studies.pictures import VERDICTS

from .study import CALIBRATED, METHODS, learn

RELIABLE = ("RVM", "SVM", "GP")
"""Methods whose reliability is drawn."""

SPLITS = 10
"""Splits whose test rows are pooled for that."""

Row = dict[str, Any]


def report(results: StudyResults) -> str:
    """Return tables and verdicts as Markdown."""
    rows = results.table()
    # The probabilities of "RVM map" are others than those of "RVM", its classes are not.
    printed = [r for r in rows if r["printed_mean"] is not None and r["method"] != "RVM map"]
    parts = [
        f"{title}:\n\n{table}"
        for title, table in (
            ("Error in percent and vectors, ours and the printed ones", _printed_table(printed)),
            ("Log loss and Brier score", _calibration_table(rows)),
        )
        if table
    ]
    return "\n\n".join(parts) + "\n"


def draw_calibration(results: StudyResults) -> Any:
    """Draw log loss and Brier score of all methods on the sets where all of them ran."""
    from matplotlib.figure import Figure

    names = _calibrated(results)
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    if not names:
        return figure
    for ax, measure in zip(figure.subplots(1, 2), ("log_loss", "brier")):
        for k, (method, (color, marker)) in enumerate(zip(METHODS, VERDICTS.values())):
            means = [results.values(name, method, measure) for name in names]
            heights = [float(np.mean(values)) if values else np.nan for values in means]
            places = np.arange(len(names)) + 0.12 * (k - 2)
            ax.plot(places, heights, marker, color=color, ms=6, label=method)
        ax.set_xticks(range(len(names)), names)
        ax.set_ylabel(measure.replace("_", " "))
        ax.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS))
    return figure


def draw_reliability(results: StudyResults) -> Any:
    """Draw how often the second class occurs where it was said to, on the first splits' test rows.

    The curves need every single probability, which the results do not keep: the first splits are
    learned again. Groups hold a tenth of the rows each.
    """
    from matplotlib.figure import Figure
    from sklearn.calibration import calibration_curve

    names = _calibrated(results)
    figure = Figure(figsize=(2.5 * max(1, len(names)) + 0.4, 3.3), layout="constrained")
    axes = figure.subplots(1, max(1, len(names)), sharey=True, squeeze=False)[0]
    styles = dict(zip(METHODS, VERDICTS.values()))
    for ax, name in zip(axes, names):
        ax.plot([0, 1], [0, 1], color=GREY, lw=0.9)
        for method in RELIABLE:
            said, right = _pooled(results, name, method)
            happened, given = calibration_curve(right, said, n_bins=10, strategy="quantile")
            color, marker = styles[method]
            ax.plot(given, happened, color=color, marker=marker, ms=5, lw=1.2, label=method)
        ax.set(title=name, xlabel="probability given")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("share that occurred")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _pooled(results: StudyResults, name: str, method: str) -> tuple[Any, Any]:
    """Return probabilities of the second class, and whether it was the true one."""
    configuration = results.study.configuration(name)
    said, right = [], []
    for k in range(SPLITS):
        model, X, y = learn(configuration, method, k, results.study.seed(name, k, results.seed))
        said.append(model.predict_proba(X)[:, 1])
        right.append(y == model.classes_[1])
    return np.concatenate(said), np.concatenate(right)


def _calibrated(results: StudyResults) -> list[str]:
    return [name for name in CALIBRATED if results.values(name, "RVM", "brier")]


def _printed_table(rows: list[Row]) -> str:
    lines = [
        "| set | method | printed error | ours | deviation over splits | printed vectors | ours "
        "| verdict on the error | on the vectors |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['configuration']} | {row['method']} | {row['printed_mean']:.1f} "
            f"| {row['mean']:.1f} | {row['sd'] or 0.0:.1f} | {row['printed_vectors']:.1f} "
            f"| {row['vectors']:.1f} | {row['verdict']} | {row['verdict_vectors']} |"
        )
    return "\n".join(lines) if rows else ""


def _calibration_table(rows: list[Row]) -> str:
    """Return one line a set, with log loss and Brier score of each method; the best are bold."""
    names = [name for name in CALIBRATED if any(row["configuration"] == name for row in rows)]
    if not names:
        return ""
    lines = [f"| set | {' | '.join(METHODS)} |", "|---" * (1 + len(METHODS)) + "|"]
    for name in names:
        own = {row["method"]: row for row in rows if row["configuration"] == name}
        cells = [_scores(method, own) for method in METHODS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _scores(method: str, rows: dict[str, Row]) -> str:
    if method not in rows:
        return ""
    texts = []
    for measure in ("log_loss", "brier"):
        text = f"{rows[method][measure]:.3f}"
        best = min(row[measure] for row in rows.values())
        texts.append(f"**{text}**" if rows[method][measure] == best else text)
    return ", ".join(texts)
