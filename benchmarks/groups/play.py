"""What `mercer play` takes to answer: a slider that moves over 300 points."""

from __future__ import annotations

import gc
import json
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_moons

from ..crew import progress
from ..report import GroupResult, Table
from .options import Options

POINTS = 300
PLACES = 60
"""Of the slider, from end to end."""

VIEW = [-3.0, 3.0, -2.25, 2.25]
GRIDS = {"moving": [64, 48], "at rest": [150, 112]}
"""Nodes that the page asks for while a slider moves, and when it rests."""

LIMIT = 50.0
"""Milliseconds within which a change of C shall be answered."""


@dataclass(frozen=True)
class Case:
    """A machine whose slider is moved.

    Parameters
    ----------
    machine, kernel : str
        By the names of the page.
    slider : str
        "C", "nu" or "gamma".
    low, high : float
        Its ends.
    classes : int
    """

    machine: str
    kernel: str
    slider: str
    low: float
    high: float
    classes: int = 2

    @property
    def name(self) -> str:
        """The case in words."""
        return f"{self.machine}, {self.kernel}, {self.classes} classes, {self.slider}"


CASES = (
    *(Case("svc", kernel, "C", 1e-2, 1e4) for kernel in ("rbf", "linear", "poly", "laplacian")),
    Case("svc", "rbf", "gamma", 1e-2, 1e2),
    Case("svc", "rbf", "C", 1e-2, 1e4, classes=5),
    Case("svc", "rbf_linear", "C", 1e-2, 1e4),
    Case("svc_squared", "rbf", "C", 1e-2, 1e4),
    Case("spheres", "rbf", "nu", 5e-3, 1.0, classes=3),
    Case("svdd", "rbf", "nu", 5e-3, 1.0, classes=1),
    Case("one_class", "rbf", "nu", 5e-3, 1.0, classes=1),
    Case("svr", "rbf", "C", 1e-2, 1e4, classes=1),
    Case("rvc", "rbf", "gamma", 1e-2, 1e2),
    Case("perceptron", "rbf", "gamma", 1e-2, 1e2),
)


def points_of(case: Case, n: int) -> dict[str, Any]:
    """Return points that overlap, as the page sends them."""
    if case.classes == 2:
        X, y = make_moons(n, noise=0.25, random_state=0)
    else:
        X, y = make_blobs(n, centers=case.classes, cluster_std=2.0, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return {"points": X.round(3).tolist(), "labels": y.tolist()}


def bodies(case: Case, grid: list[int], n: int, places: int) -> Iterator[bytes]:
    """Yield what the page sends while the slider goes from end to end."""
    question = {"ask": "picture", "machine": case.machine, "kernel": case.kernel, "view": VIEW}
    for value in np.geomspace(case.low, case.high, places):
        settings = {case.slider: float(f"{value:.3g}")}
        yield json.dumps(
            question
            | points_of(case, n)
            | {"grid": grid, "settings": settings, "moves": grid == GRIDS["moving"]}
        ).encode()


def time_case(case: Case, grid: list[int], n: int, places: int) -> dict[str, list[float]]:
    """Return milliseconds from the bytes of each question to those of its answer."""
    from mercer.play import answer, read_question

    found: dict[str, list[float]] = {"wall": [], "processor": [], "fit": []}
    asked = list(bodies(case, grid, n, places))
    answer(read_question(asked[0]))
    gc.collect()
    for body in asked:
        wall, processor = time.perf_counter(), time.process_time()
        said = answer(read_question(body))
        json.dumps(said).encode()
        found["wall"].append(1e3 * (time.perf_counter() - wall))
        found["processor"].append(1e3 * (time.process_time() - processor))
        if "error" in said:
            raise RuntimeError(f"{case.name}: {said['error']}")
        found["fit"].append(said["milliseconds"])
    return found


def run(options: Options) -> GroupResult:
    """Move each slider from end to end, and tell how long the answers take."""
    n, places = (40, 3) if options.quick else (POINTS, PLACES)
    columns = ["case", "grid", "median", "95 %", "most", "median, processor", "of that the fit"]
    notes = [
        f"milliseconds from the bytes of a question to the bytes of its answer, {n} points, "
        f"{places} places of the slider, one after another in one process; browser and network not "
        "counted; processor: the time of all threads of the process",
        f"load of the machine at the beginning: {os.getloadavg()[0]:.1f}",
    ]
    result = GroupResult("play", [Table("play: answers while a slider moves", columns, [], notes)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in CASES:
            if options.match is None or options.match.lower() in case.name.lower():
                progress(case.name)
                for grid, nodes in GRIDS.items():
                    _add(result, case, grid, time_case(case, nodes, n, places))
    moved = [one for one in result.records if one["slider"] == "C" and one["grid"] == "moving"]
    if moved:
        slowest = max(moved, key=lambda one: one["quantile"])
        words = (
            f"a change of C: 95 % within {slowest['quantile']:.1f} ms in the slowest case "
            f"({slowest['case']}), {LIMIT:g} ms are asked for; most processor time of any "
            f"{max(max(one['processor']) for one in moved):.1f} ms"
        )
        result.summary = {"quantile": slowest["quantile"], "words": words}
        result.tables[0].notes.append(words)
    return result


def _add(result: GroupResult, case: Case, grid: str, found: dict[str, list[float]]) -> None:
    wall = np.array(found["wall"])
    quantile = float(np.quantile(wall, 0.95))
    record = {"case": case.name, "slider": case.slider, "grid": grid, "quantile": quantile, **found}
    result.records.append(record)
    numbers = (
        *(np.median(wall), quantile, wall.max()),
        *(np.median(found["processor"]), np.median(found["fit"])),
    )
    result.tables[0].rows.append([case.name, grid, *(f"{value:.1f}" for value in numbers)])
