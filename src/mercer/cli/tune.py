"""The command `mercer tune`."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli._models import (
    check_before_reading,
    measured,
    save_model,
    tell_how_to_predict,
    verdict,
)
from mercer.cli._options import (
    LABELLED,
    RUNS,
    Data,
    command,
    read_labelled,
    stop_if_asked,
)
from mercer.cli._places import CSV, MODEL, PICTURES, check_places, draws, write_csv, write_picture
from mercer.cli._screen import Screen

if TYPE_CHECKING:
    from mercer.tables import Table

MOST_DRAWN, FEW_DRAWN = 1500, 300
"""Rows on which the surface of a picture is computed, and where that takes too long."""

BALANCED = "balanced_accuracy"

MOST_WIDTHS = 5
"""Features whose widths are named."""


class Way(StrEnum):
    """How parameters are looked for."""

    GRADIENT = "gradient"
    GRID = "grid"


@command(LABELLED, RUNS)
def tune(
    data: Data,
    search: Annotated[
        Way | None,
        typer.Option(
            help="GradientSearch (for classes, the default) or PathSearchCV on a grid (for numbers "
            "the only way)."
        ),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the error over C and gamma (.png, .svg, .pdf).")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write all that was tried to a CSV file.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the tuned model, for mercer predict (.mercer).")
    ] = None,
    *,
    reading: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    """Choose the parameters of a support vector machine for a table.

    Tells the parameters, the score by which they were chosen, and, since that has seen all rows,
    the error of the whole search on folds that it has not seen.
    """
    outputs = {"picture": (picture, PICTURES), "csv": (csv, CSV), "save": (save, MODEL)}
    check_places(outputs, [data])
    check_before_reading(None, settings)
    seed, end = settings["seed"], time.monotonic() + 60.0 * settings["minutes"]
    table = read_labelled(data, reading, seed)
    name = _model(table, search)
    screen = Screen()
    screen.introduce(table)
    found, name = measured(table, name, screen, settings)
    pipeline = found.searched(name)
    result = getattr(pipeline[-1], "regressor_", pipeline[-1])
    figure = None
    if picture is not None:
        figure = _surface_in_time(table, pipeline, result, seed, end - time.monotonic(), screen)
    stop_if_asked()
    score = _score(table, pipeline, result, seed)
    said = [_chosen_by(table, result, score), *verdict(found, name)]
    try:
        screen.answer(_parameters(result, pipeline), said)
    finally:  # the files are wanted even where nobody reads the answer any more
        if picture is not None:
            write_picture(picture, figure)
        if csv is not None:
            import pandas as pd

            write_csv(csv, pd.DataFrame(result.cv_results_))
        if save is not None:
            from mercer.comparison.comparison import without_search

            save_model(without_search(pipeline), table, save, found.about(name))
    if picture or csv or save:
        screen.written(picture, csv, save)
    if save is not None:
        tell_how_to_predict(screen, save)


def _model(table: Table, search: Way | None) -> str:
    from mercer.tables import InputError

    if table.task == "classification":
        return "svc_grid" if search is Way.GRID else "svc"
    if search is Way.GRADIENT:
        raise InputError("--search gradient is for classes; numbers are tuned on a grid.")
    return "svr"


def _score(table: Table, pipeline: Any, result: Any, seed: int) -> float:
    """Return the score on folds of the rows that parameters were chosen on.

    A gradient search tells accuracies; where classes are unbalanced, those of all classes count
    alike, as in everything else that is said.
    """
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score

    if getattr(result, "scoring", None) is not None or not _balances(result):
        return float(result.best_score_)
    rows = _some_rows(table, seed, MOST_DRAWN)
    machine = clone(result.best_estimator_).set_params(probability=False)
    points, labels = pipeline[:-1].transform(table.frame.iloc[rows]), table.target.to_numpy()[rows]
    return float(cross_val_score(machine, points, labels, scoring=BALANCED).mean())


def _balances(result: Any) -> bool:
    return getattr(result.estimator, "class_weight", None) is not None


def _some_rows(table: Table, seed: int, most: int) -> Any:
    import numpy as np

    return np.random.default_rng(seed).permutation(len(table.target))[:most]


def _chosen_by(table: Table, result: Any, best: float) -> str:
    n = getattr(result, "n_evaluations_", None) or len(result.cv_results_["params"])
    if table.task == "regression":
        score = f"R² {best:.3f}"
    else:
        score = f"{_error_name(result)} {100 * (1 - best):.1f} %"
    return (
        f"Chosen by {type(result).__name__} in {n} evaluations: {score} on folds of the rows that "
        "it chose by, often a little too good. Of rows that had no say:"
    )


def _parameters(result: Any, pipeline: Any) -> Any:
    """Return the parameters as a table for a rich console."""
    import numpy as np
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("parameter", no_wrap=True)
    table.add_column("value", overflow="fold")
    features = pipeline[0].get_feature_names_out()
    for name, value in result.best_params_.items():
        table.add_row(name, _shown(value, features))
    chosen = getattr(pipeline["scaler"], "best_estimator_", None)
    if chosen is not None and len(features) > 1:
        is_one = np.ptp(chosen.scale_) == 0
        table.add_row("scale", "one for all columns" if is_one else "each column its own")
    return table


def _shown(value: Any, features: Any) -> str:
    import numpy as np

    widths = getattr(value, "gamma", value)
    if np.ndim(widths) == 1 and len(widths) == len(features):
        order = np.argsort(-np.asarray(widths), kind="stable")[:MOST_WIDTHS]
        named = ", ".join(f"{features[k]} {widths[k]:.4g}" for k in order)
        more = ", …" if len(widths) > MOST_WIDTHS else ""
        return f"one for each of {len(widths)} features: {named}{more}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _surface_in_time(
    table: Table, pipeline: Any, result: Any, seed: int, seconds: float, screen: Screen
) -> Any:
    """Draw the error, on fewer rows where the time does not suffice, which is told."""
    from mercer.comparison.deadline import TimeIsOverError, within

    try:
        with within(max(0.0, seconds)):
            return _surface(table, pipeline, result, seed, MOST_DRAWN)
    except TimeIsOverError:
        screen.note(f"the picture is of {FEW_DRAWN} rows: for more the time does not suffice.")
        return _surface(table, pipeline, result, seed, FEW_DRAWN)


def _surface(table: Table, pipeline: Any, result: Any, seed: int, most: int) -> Any:
    """Draw the error over C and gamma, with the way of a gradient search on it."""
    from mercer import SVC, ErrorSurfaceDisplay, PathSearchCV

    draws()
    if isinstance(result, PathSearchCV):
        display = ErrorSurfaceDisplay.from_search(result)
        numbers = table.task == "regression"
        name = "variance that is not explained" if numbers else _error_name(result)
        display.colorbar_.set_label(f"{name} [%]")
        return display.figure_
    rows = _some_rows(table, seed, most)
    points = pipeline[:-1].transform(table.frame.iloc[rows])
    given = {"class_weight": result.estimator.class_weight}
    machine = SVC(loss=result.best_params_.get("loss", result.estimator.loss), **given)
    grid = PathSearchCV(
        machine,
        _grid_around(machine, points, result),
        scoring=BALANCED if _balances(result) else None,
    ).fit(points, table.target.to_numpy()[rows])
    display = ErrorSurfaceDisplay.from_search(grid, path=result)
    display.colorbar_.set_label(f"{_error_name(result)} [%]")
    if display.chosen is None:
        title = "The choice has a width for each feature, which has no place in this plane"
        display.ax_.set_title(title, loc="left", fontsize="small")
    return display.figure_


def _error_name(result: Any) -> str:
    balanced = getattr(result, "scoring", None) is not None or _balances(result)
    return "balanced error" if balanced else "error"


def _grid_around(machine: Any, points: Any, result: Any) -> dict[str, Any]:
    """Return the grid of a search, with as many further steps as reach what was chosen."""
    import numpy as np

    from mercer.model_selection.grid.default_grid import coarse_grid

    chosen = {"C": result.best_params_["C"], "gamma": getattr(result.best_kernel_, "gamma", None)}
    grid = {}
    for name, values in coarse_grid(machine, points).items():
        reached = np.sort(np.asarray(values, dtype=np.float64))
        step, wanted = reached[1] / reached[0], chosen.get(name)
        if wanted is not None and np.ndim(wanted) == 0:
            margin = step**0.5  # so that its mark has room
            while wanted < reached[0] * margin:
                reached = np.insert(reached, 0, reached[0] / step)
            while wanted > reached[-1] / margin:
                reached = np.append(reached, reached[-1] * step)
        grid[name] = reached
    return grid
