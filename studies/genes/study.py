"""Cancer genes: how many are needed, and what choosing them on all rows hides."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE, VERMILION
from mercer.studies import Configuration, Study, StudyResults

SIZES = (1, 2, 4, 8, 16, 32, 64)
METHODS = ("honest", "biased")
STYLES = ((BLUE, "o"), (VERMILION, "s"))
"""Colour and marker of each method."""

N_NAMES = 10

READABLE = (20.0, 16_000.0)
"""Intensities that the scanner of the leukaemia data could tell apart; others are cut to these."""


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Count the errors with the best genes, ranked with or without the rows to be judged."""
    from sklearn.preprocessing import StandardScaler

    data, size = configuration.parameters["data"], configuration.parameters["size"]
    X, y, n_train = _data(data)
    if configuration.parameters["validation"] == "test":
        splits = [(np.arange(n_train), np.arange(n_train, len(y)))]
    else:
        everything = np.arange(len(y))
        splits = [(np.delete(everything, k), np.array([k])) for k in everything]
    wrong, judged = 0, 0
    for train, test in splits:
        ranked = tuple(train) if method == "honest" else tuple(range(len(y)))
        some = X[:, _order(data, ranked)[:size]]
        scaler = StandardScaler().fit(some[train])
        model = _machine().fit(scaler.transform(some[train]), y[train])
        wrong += int((model.predict(scaler.transform(some[test])) != y[test]).sum())
        judged += test.size
    return {"error": wrong / judged, "errors": float(wrong), "rows": float(judged)}


def best_genes(data: str, count: int = N_NAMES) -> list[str]:
    """Return the names of the genes that an elimination on all rows leaves last, the best first.

    Parameters
    ----------
    data : {"golub", "colon"}
    count : int, default=10
    """
    from mercer.datasets import load_colon, load_golub

    names = (load_golub if data == "golub" else load_colon)().feature_names
    _, y, _ = _data(data)
    return [str(names[gene]) for gene in _order(data, tuple(range(len(y))))[:count]]


def draw_errors(results: StudyResults) -> Any:
    """Draw the errors against the number of genes, and name the genes."""
    from matplotlib.figure import Figure

    rows = results.table()
    about = {c.name: c.parameters for c in results.study.configurations}
    panels = list(dict.fromkeys(row["configuration"].rsplit(",", 1)[0] for row in rows))
    figure = Figure(figsize=(4.2 * max(1, len(panels)), 5.2), layout="constrained")
    axes = figure.subplots(1, max(1, len(panels)), sharey=True, squeeze=False)[0]
    for ax, panel in zip(axes, panels):
        some = [row for row in rows if row["configuration"].rsplit(",", 1)[0] == panel]
        for place, method in enumerate(METHODS):
            color, marker = STYLES[place]
            points = [
                (about[row["configuration"]]["size"], row["mean"])
                for row in some
                if row["method"] == method
            ]
            if points:
                ax.plot(*zip(*points), color=color, marker=marker, label=_describe(method))
        ax.set_xscale("log", base=2)
        ax.set_xticks(SIZES, [str(size) for size in SIZES])
        ax.set(title=panel, xlabel="number of genes")
        data = about[some[0]["configuration"]]["data"]
        ax.text(0, -0.2, _named(data), transform=ax.transAxes, va="top", fontsize="x-small")
    axes[0].set_ylabel("error")
    axes[0].legend(frameon=False, fontsize="small")
    return figure


def _describe(method: str) -> str:
    if method == "honest":
        return "ranked without the rows judged"
    return "ranked with them (selection bias)"


def _named(data: str) -> str:
    return "best of all rows:\n" + "\n".join(best_genes(data))


def _machine() -> Any:
    from mercer.svm import SVC

    return SVC(kernel="linear", C=1.0)


@lru_cache(maxsize=2)
def _data(name: str) -> tuple[Any, Any, int]:
    """Return logarithms of intensities, the classes, and the number of training rows."""
    from mercer.datasets import load_colon, load_golub

    if name == "colon":
        X, y = load_colon(return_X_y=True)
        return np.log10(np.asarray(X, dtype=np.float64)), y, len(y)
    parts = [load_golub(subset=part, return_X_y=True) for part in ("train", "test")]
    X = np.vstack([part[0] for part in parts]).astype(np.float64)
    y = np.concatenate([part[1] for part in parts])
    return np.log10(np.clip(X, *READABLE)), y, len(parts[0][1])


@lru_cache(maxsize=512)
def _order(data: str, rows: tuple[int, ...]) -> tuple[int, ...]:
    """Return the genes, the best first, by an elimination one by one on some rows."""
    from sklearn.preprocessing import scale

    from mercer.feature_selection import KernelRFE

    X, y, _ = _data(data)
    some = list(rows)
    selector = KernelRFE(_machine(), n_features_to_select=1).fit(scale(X[some]), y[some])
    return tuple(selector.order_[: max(SIZES)].tolist())


def _configurations() -> tuple[Configuration, ...]:
    kinds = (
        ("Golub, 34 test rows", "golub", "test"),
        ("Golub, leave one out", "golub", "leave one out"),
        ("colon, leave one out", "colon", "leave one out"),
    )
    return tuple(
        Configuration(
            f"{name}, {size} gene{'s' * (size > 1)}",
            {"data": data, "validation": validation, "size": size},
            data=(data,),
        )
        for name, data, validation in kinds
        for size in SIZES
    )


STUDY = Study(
    name="genes",
    title="Errors with few genes, with and without selection bias",
    description="Leukaemia (Golub: 72 patients, 7129 genes) and colon cancer (62 tissues, 2000 "
    "clones), as logarithms of intensities, standardised by the rows in use. Genes are dropped one "
    "by one by a linear machine (C = 1). "
    "'honest' ranks without the rows that are judged; 'biased' ranks with them, as is often done, "
    "and shows errors that are too low.",
    citation="The design follows I. Guyon et al., Machine Learning 46, 2002, and C. Ambroise and "
    "G. J. McLachlan, PNAS 99, 2002.",
    configurations=_configurations(),
    methods={method: {} for method in METHODS},
    run=run,
    source="Guyon 2002, Ambroise 2002",
    duration="15 s",
    repetitions=1,
    version=2,
    pictures={
        "overview": "mercer.studies.pictures:draw_overview",
        "errors": "studies.genes.study:draw_errors",
    },
)
