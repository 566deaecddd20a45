"""What the comparison comes to: tables, pictures, and what a person can read off each model."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from mercer.studies import StudyResults

from .study import METHODS, SETS, learn

STYLES = dict(
    zip(
        METHODS,
        zip((BLUE, VERMILION, GREEN, ORANGE, PURPLE, GREY), ("o", "s", "^", "D", "v", "x")),
    )
)
QUANTITIES = {
    "error": ("Error in percent", "{:.1f}"),
    "log_loss": ("Log loss", "{:.3f}"),
    "parts": ("Vectors, leaves or rules", "{:.0f}"),
    "seconds": ("Seconds", "{:.2f}"),
}
MOST_READ = 3
"""Rules or features that are quoted of a model."""


def report(results: StudyResults) -> str:
    """Return a table for each quantity, mean ranks, and what the models say, as Markdown."""
    parts = [
        f"{title}:\n\n{_table(results, name, form)}" for name, (title, form) in QUANTITIES.items()
    ]
    return "\n\n".join([*parts, _ranks(results), *read_off()]) + "\n"


def _means(results: StudyResults, quantity: str) -> dict[str, dict[str, float]]:
    """Return the means by set and method, of the sets on which all methods ran."""
    found = {}
    for name in SETS:
        values = {method: results.values(name, method, quantity) for method in METHODS}
        if all(values.values()):
            found[name] = {method: float(np.mean(own)) for method, own in values.items()}
    return found


def _table(results: StudyResults, quantity: str, form: str) -> str:
    lines = [f"| set | {' | '.join(METHODS)} |", "|---|" + "---:|" * len(METHODS)]
    for name, means in _means(results, quantity).items():
        best = min(means.values()) if quantity in ("error", "log_loss") else None
        cells = [
            f"**{form.format(mean)}**" if mean == best else form.format(mean)
            for mean in means.values()
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _ranks(results: StudyResults) -> str:
    """Return the mean ranks of the methods over the sets, 1 for the least error."""
    from scipy.stats import rankdata

    sentences = []
    for quantity in ("error", "log_loss"):
        means = _means(results, quantity).values()
        ranks = np.mean([rankdata(list(row.values())) for row in means], axis=0)
        told = ", ".join(f"{method} {rank:.1f}" for method, rank in zip(METHODS, ranks))
        sentences.append(
            f"Mean rank by {quantity.replace('_', ' ')} over {len(means)} sets: {told}."
        )
    return "\n\n".join(sentences)


def read_off() -> list[str]:
    """Return what each model says about benign and malignant tumours, columns named."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    scaled = StandardScaler().set_output(transform="pandas").fit_transform(X)
    models = {
        method: learn(method, X if method in ("tree", "fuzzy rules") else scaled, y, seed=0)
        for method in METHODS
        if method != "largest class"
    }
    return [f"{method}: {_words(method, model, X)}" for method, model in models.items()]


def _words(method: str, model: Any, X: Any) -> str:
    if method in ("tree", "fuzzy rules"):
        rules = [str(rule) for rule in model.rules_]
        quoted = "\n".join(f"- {rule}" for rule in rules[:MOST_READ])
        return f"{len(rules)} rules, of which the first are\n\n{quoted}"
    if method == "forest":
        order = np.argsort(-model.feature_importances_)[:MOST_READ]
        return (
            f"{', '.join(X.columns[order])} matter most; why a row is what it is, it does not say"
        )
    if method == "RVM":
        return f"{len(model.relevance_)} of {len(X)} rows stand for all; a row is like some of them"
    machine = model.estimator_
    inside = np.sum(machine.support_kind_ == "bound")
    return (
        f"{machine.support_.size} of {len(X)} rows hold the boundary, {inside} of them on its "
        "wrong side or inside the margin: rows to look at again"
    )


def draw_methods(results: StudyResults) -> Any:
    """Draw errors, each divided by the least of its set, against parts and against seconds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.2, 4.0), layout="constrained")
    errors = _means(results, "error")
    for ax, quantity in zip(figure.subplots(1, 2, sharey=True), ("parts", "seconds")):
        costs = _means(results, quantity)
        for method, (color, marker) in STYLES.items():
            if method == "largest class":
                continue
            heights = [means[method] / min(means.values()) for means in errors.values()]
            places = [costs[name][method] for name in errors]
            ax.plot(places, heights, marker, color=color, ms=6, alpha=0.85, label=method)
        ax.set_xscale("log")
        ax.set_xlabel(
            {"parts": "vectors, leaves or rules", "seconds": "seconds to learn"}[quantity]
        )
        ax.grid(color=GREY, alpha=0.3, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set(ylabel="error / least error of the set", yscale="log")
    figure.axes[0].set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
