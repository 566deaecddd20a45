"""Proximities of a forest: ours, and the leaf comparison that is usual in NumPy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from mercer.trees import oob_importance, outlier_measure, proximity, similarity_map

from ..crew import progress
from ..machine import peak_memory, restart_peak_memory
from ..measure import interleave
from ..report import GroupResult, Table, number, ratio, seconds_text
from .options import Options

OURS, USUAL = "proximity", "leaf comparison"


class Size(NamedTuple):
    """Rows, trees, and settings of the forest."""

    rows: int
    trees: int
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        """What stands in the table."""
        words = "".join(f", {key}={value}" for key, value in self.settings.items())
        return f"{self.rows} rows × {self.trees} trees{words}"


def run(options: Options) -> GroupResult:
    """Time proximities interleaved, and the functions over a forest of 50,000 rows."""
    notes = [
        "make_classification with 20 features; the forest is grown beforehand; all times contain "
        "forest.apply, with one job",
        f"{USUAL}: for each tree `P += leaves[:, t][:, None] == leaves[:, t]`",
        f"× {OURS}: the time over that of {OURS} with output='auto', which is sparse, but dense "
        "for the shallow trees of the last problem",
    ]
    columns = ["problem", "by", "seconds", f"× {OURS}", "largest difference"]
    result = GroupResult("forests", [Table("forests: proximities", columns, notes=notes)])
    for size in _sizes(options.quick):
        if options.match is None or options.match.lower() in size.name.lower():
            progress(size.name)
            _add(result, options, size)
    if options.match is None:
        _add_large(result, options.quick)
    return result


def _sizes(quick: bool) -> list[Size]:
    if quick:
        return [Size(300, 20, {})]
    return [
        Size(10_000, 200, {}),
        Size(10_000, 200, {"min_samples_leaf": 5}),
        Size(10_000, 200, {"max_depth": 6}),
    ]


def _grown(size: Size) -> tuple[Any, Any, Any]:
    X, y = make_classification(
        size.rows,
        20,
        n_informative=10,
        n_redundant=2,
        n_clusters_per_class=4,
        flip_y=0.05,
        random_state=0,
    )
    forest = RandomForestClassifier(size.trees, random_state=0, n_jobs=-1, **size.settings)
    forest.fit(X, y).set_params(n_jobs=1)
    return forest, X, y


def leaf_comparison(forest: Any, X: Any) -> Any:
    """Compare the leaves of all pairs, tree by tree."""
    leaves = forest.apply(X)
    n, n_trees = leaves.shape
    P = np.zeros((n, n))
    for tree in range(n_trees):
        P += leaves[:, tree][:, None] == leaves[:, tree]
    return P / n_trees


def _add(result: GroupResult, options: Options, size: Size) -> None:
    forest, X, _ = _grown(size)
    some = np.arange(0, size.rows, max(1, size.rows // 100))
    kept: dict[str, Any] = {}

    def contender(key: str, compute: Callable[[], Any]) -> Callable[[], float]:
        def timed() -> float:
            start = time.perf_counter()
            P = compute()
            seconds = time.perf_counter() - start
            kept[key] = P[some].toarray() if hasattr(P, "toarray") else P[some]
            return seconds

        return timed

    timings = interleave(
        {
            OURS: contender(OURS, lambda: proximity(forest, X)),
            f"{OURS}, dense": contender(
                f"{OURS}, dense", lambda: proximity(forest, X, output="dense")
            ),
            USUAL: contender(USUAL, lambda: leaf_comparison(forest, X)),
        },
        options.plan,
    )
    for key, timing in timings.items():
        times = ratio(timings[OURS], timing)
        apart = float(np.abs(kept[key] - kept[USUAL]).max()) if key in kept else None
        result.tables[0].add(
            size.name, key, seconds_text(timing), str(times or "-"), number(apart, 2)
        )
        result.records.append({"problem": size.name, "by": key, "seconds": timing.seconds})


def _add_large(result: GroupResult, quick: bool) -> None:
    """Say what each function takes for many rows, in time and memory beyond the data."""
    size = Size(500, 20, {}) if quick else Size(50_000, 100, {})
    progress(f"{size.name}, functions")
    forest, X, y = _grown(size)
    table = Table(f"forests: functions, {size.name}", ["function", "seconds", "peak MB"])
    functions: dict[str, Callable[[], Any]] = {
        "proximity": lambda: proximity(forest, X),
        "proximity, oob": lambda: proximity(forest, X, kind="oob"),
        "proximity, gap": lambda: proximity(forest, X, kind="gap"),
        "outlier_measure": lambda: outlier_measure(forest, X, y),
        "similarity_map": lambda: similarity_map(forest, X),
        "oob_importance": lambda: oob_importance(forest, X, y, random_state=0),
    }
    for name, function in functions.items():
        progress(name)
        before = restart_peak_memory()
        start = time.perf_counter()
        function()
        seconds = time.perf_counter() - start
        megabytes = (peak_memory() - before) / 1e6
        table.add(name, number(seconds), f"{megabytes:.0f}")
        record = {"problem": size.name, "function": name, "seconds": seconds}
        result.records.append({**record, "megabytes": megabytes})
    result.tables.append(table)
