"""Directed scale-free graphs and small-world networks, told apart by their statistics."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.studies import Configuration, Study

from .statistics import ALL, PLAIN, graph_statistics

NAMES = {"72": ALL, "10": PLAIN}
SCALINGS = ("not scaled", "scaled")
ROWS = (10, 25, 50, 100, 250)
"""Training rows; all other graphs are test rows."""

SIZES = {"72": (1, 2, 3, 5, 10, 20, 40, 72), "10": (1, 2, 3, 5, 7, 10)}
"""Numbers of statistics with which errors are measured."""

DEFAULT = 0.5
"""C and gamma of the source where it does not search."""

HARD = 1000.0
"""C from which the radius/margin bound is minimised: nearly a hard margin."""

GRID = {"C": [2.0**k for k in range(-3, 13, 3)], "gamma": [2.0**k for k in range(-15, 4, 3)]}
"""What is searched by folds."""

SELECTORS = ("Fisher", "SVM-RFE", "R2W2")
KERNELS = ("linear", "poly", "rbf")
SEARCHED = "rbf searched"
METHODS = (
    *(f"{selector}, {kernel}" for selector in SELECTORS for kernel in KERNELS),
    *(f"{selector}, {SEARCHED}" for selector in SELECTORS[:2]),
)
GRAPH_KERNEL = "shortest paths"

GRAPHS_SEED = 0
"""The graphs are drawn once, as in the source; the repetitions split them."""


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Rank the statistics by the training rows, and measure errors with the best of them."""
    about = configuration.parameters
    if method == GRAPH_KERNEL:
        return {"error": _error_of_graph_kernel(about["n"], seed)}
    kind = about["statistics"]
    X, y = statistics_of_graphs()
    X = X[:, [ALL.index(name) for name in NAMES[kind]]]
    train, test = split(y, about["n"], seed)
    X_train, X_test = X[train], X[test]
    if about["scaled"]:
        X_train, X_test = _between_minus_one_and_one(X_train, X_test)
    selector, kernel = method.split(", ")
    how = _scaling if selector == "R2W2" else _ranking
    with warnings.catch_warnings():
        # Sums of squares, not scaled, make quadratic kernels of 1e20: no tolerance can be met.
        warnings.simplefilter("ignore", ConvergenceWarning)
        order, errors = how(selector, kernel, SIZES[kind], X_train, y[train], X_test, y[test])
    values = {f"error_{size}": error for size, error in errors.items()}
    places = {
        f"place of {NAMES[kind][feature]}": float(place + 1) for place, feature in enumerate(order)
    }
    return {"error": float(np.mean(list(errors.values()))), **values, **places}


@lru_cache(maxsize=1)
def graphs_and_kinds() -> tuple[Any, Any]:
    """Return the 849 graphs, and -1 for scale-free and +1 for small-world; takes 2 s."""
    from mercer.datasets import make_graphs

    return make_graphs(random_state=GRAPHS_SEED)


@lru_cache(maxsize=1)
def statistics_of_graphs() -> tuple[Any, Any]:
    """Return the 72 statistics of the graphs, and their kinds; takes 20 s in each process."""
    graphs, y = graphs_and_kinds()
    found = [graph_statistics(graph) for graph in graphs]
    return np.array([[row[name] for name in ALL] for row in found]), y


@lru_cache(maxsize=1)
def graph_kernel_values() -> tuple[Any, Any]:
    """Return the normalised shortest-path kernel between all graphs, and their kinds."""
    from mercer.kernels import Normalized, ShortestPath

    graphs, y = graphs_and_kinds()
    return Normalized(ShortestPath())(graphs), y


def split(y: Any, n: int, seed: int) -> tuple[Any, Any]:
    """Return training and test rows, with the shares of the two kinds kept."""
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(np.arange(len(y)), train_size=n, stratify=y, random_state=seed)
    return train, test


def _between_minus_one_and_one(X_train: Any, X_test: Any) -> tuple[Any, Any]:
    from sklearn.preprocessing import MinMaxScaler

    scaler = MinMaxScaler((-1, 1)).fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test)


def _ranking(
    selector: str, kernel: str, sizes: Any, X: Any, y: Any, X_test: Any, y_test: Any
) -> tuple[Any, dict[int, float]]:
    """Rank once, then learn from the best statistics; the ranking knows no searched parameters."""
    from mercer.feature_selection import KernelRFE, fisher_score

    if selector == "Fisher":
        order = np.argsort(-fisher_score(X, y), kind="stable")
    else:
        machine = _machine(kernel.removesuffix(" searched"))
        order = KernelRFE(machine, n_features_to_select=1).fit(X, y).order_
    errors = {}
    for size in sizes:
        best = order[:size]
        model = _searched(_machine("rbf"), GRID, y) if kernel == SEARCHED else _machine(kernel)
        errors[size] = 1 - float(model.fit(X[:, best], y).score(X_test[:, best], y_test))
    return order, errors


def _scaling(
    selector: str, kernel: str, sizes: Any, X: Any, y: Any, X_test: Any, y_test: Any
) -> tuple[Any, dict[int, float]]:
    """Learn scales and C by the radius/margin bound, from size to size.

    RBF machines keep both, as in the source; the others are learned anew from what is left.
    """
    from mercer.feature_selection import ScaledFeatureSelector, percent

    machine = _machine(kernel, gamma="scale", loss="squared_hinge")
    left, gone, errors = np.arange(X.shape[1]), np.empty(0, dtype=np.intp), {}
    for size in sorted(sizes, reverse=True):
        machine.set_params(C=HARD)  # a small C may be left over from a minimum that is gone
        stage = ScaledFeatureSelector(machine, n_features_to_select=size, step=percent(0.2))
        machine = stage.fit(X[:, left], y).estimator_
        gone = np.concatenate([left[stage.order_[size:]], gone])
        left = left[stage.support_]
        judged = machine if kernel == "rbf" else _machine(kernel).fit(X[:, left], y)
        errors[size] = 1 - float(judged.score(X_test[:, left], y_test))
    return np.concatenate([left, gone]), errors


def _error_of_graph_kernel(n: int, seed: int) -> float:
    K, y = graph_kernel_values()
    train, test = split(y, n, seed)
    model = _searched(_machine("precomputed"), {"C": GRID["C"]}, y[train])
    model.fit(K[np.ix_(train, train)], y[train])
    return 1 - float(model.score(K[np.ix_(test, train)], y[test]))


def _machine(kernel: str, C: float = DEFAULT, gamma: Any = DEFAULT, loss: str = "hinge") -> Any:
    """Return a machine; the polynomial kernel is (gamma x'y + 1)^2."""
    from mercer.svm import SVC

    return SVC(kernel=kernel, C=C, gamma=gamma, degree=2, coef0=1.0, loss=loss)


def _searched(machine: Any, grid: dict[str, list[float]], y: Any) -> Any:
    """Return a search by at most five folds, each with rows of both kinds."""
    from mercer.model_selection import PathSearchCV

    return PathSearchCV(machine, grid, cv=int(min(5, np.sum(y > 0), np.sum(y < 0))))


def _configurations() -> tuple[Configuration, ...]:
    statistics = tuple(
        Configuration(
            f"{kind} statistics, {scaling}, {n} rows",
            {"statistics": kind, "scaled": scaling == "scaled", "n": n},
            methods=METHODS,
        )
        for kind in NAMES
        for scaling in SCALINGS
        for n in ROWS
    )
    graphs = tuple(
        Configuration(f"graphs, {n} rows", {"n": n}, methods=(GRAPH_KERNEL,)) for n in ROWS
    )
    return statistics + graphs


STUDY = Study(
    name="networks",
    title="Two kinds of random networks",
    description="519 directed scale-free graphs and 330 small-world networks, drawn once, told "
    "apart by 72 statistics or by the 10 plainest, as they are or scaled to [-1, 1] by the "
    "training rows. Fisher scores, SVM-RFE and scales learned by the radius/margin bound (R2W2) "
    "rank the statistics on 10 to 250 training rows, and machines with linear, quadratic and RBF "
    "kernels learn from the best of them; all other graphs are test rows. C and gamma are 1/2, "
    "searched by folds ('searched'), or learned with the scales (R2W2 with the RBF kernel). "
    "Printed are curves of the accuracy and claims, but no numbers. The error is the mean over the "
    "numbers of statistics that are kept, error_k that with the best k. 'shortest paths' learns "
    "from the graphs themselves, by a normalised kernel that counts paths of equal length.",
    citation="K. Smets, thesis, University of Antwerp, 2006, section 5.2.2, appendices D and E.",
    configurations=_configurations(),
    methods={method: {} for method in (*METHODS, GRAPH_KERNEL)},
    run=run,
    source="Smets 2006",
    duration="5 min",
    repetitions=10,
    kept=tuple(f"error_{size}" for size in sorted({*SIZES["72"], *SIZES["10"]})),
    pictures={
        "curves_72": "studies.networks.report:draw_curves_of_72",
        "curves_10": "studies.networks.report:draw_curves_of_10",
        "statistics": "studies.networks.report:draw_statistics",
    },
    report="studies.networks.report:report",
)
