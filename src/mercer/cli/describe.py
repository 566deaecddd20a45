"""The command `mercer describe`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli._matrix import COUNTED, MOST_NAMES, Matrix, causes, distance_in_radii
from mercer.cli._models import save_model
from mercer.cli._options import (
    UNLABELLED,
    Data,
    command,
    read_features,
    stem,
    stop_if_asked,
    told_apart,
)
from mercer.cli._places import (
    CSV,
    MODEL,
    PICTURES,
    check_places,
    draws,
    rename,
    write_csv,
    write_picture,
)
from mercer.cli._screen import Screen, cell, number, progress, told_by_lines

if TYPE_CHECKING:
    import pandas as pd

    from mercer.tables import Table

LEAST_ROWS = 5
MOST_LABELS = 20
"""Rows whose numbers stand in the picture."""

FINEST, MOST_NUMBERS = 300, 20_000_000
"""Points of the picture's grid along each axis, and numbers of all of its points together."""


@command(UNLABELLED, ("seed",))
def describe(
    data: Data,
    nu: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of the rows that may lie outside.")
    ] = 0.1,
    rows: Annotated[int, typer.Option(min=1, help="How many unusual rows to show.")] = 10,
    out: Annotated[
        Path | None, typer.Option(help="All rows, unusual ones first; describe-DATA.csv.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="The support region, listed rows by number; describe-DATA.png."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the description, for mercer predict (.mercer).")
    ] = None,
    dates: Annotated[
        bool,
        typer.Option("--dates", help="Take in columns of dates, which otherwise name the rows."),
    ] = False,
    *,
    reading: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    """Describe the rows of a table by one class, and tell which of them are unusual.

    A support vector data description is put around most of the rows; its width is chosen without
    labels, on at most 2000 of them, which is what bounds the time. Leave out columns that are
    labels with --drop. Dates tell when a row was and not what it is like, and later rows would all
    be unusual: they name the rows, unless --dates takes them in. Rows are counted from 1.
    """
    listing = out or Path(f"describe-{stem(data)}.csv")
    region = picture or Path(f"describe-{stem(data)}.png")
    outputs = {"out": (listing, CSV), "picture": (region, PICTURES), "save": (save, MODEL)}
    check_places(outputs, [data], chosen={"out": out, "picture": picture})
    table = read_features(data, reading, settings["seed"], dates=dates)
    screen = Screen()
    screen.introduce(table, folds=False)
    _check(table)
    matrix = Matrix.of(table)
    with progress(screen.side) as show, told_by_lines(show):
        search = _described(matrix, nu, settings["seed"])
    ball = search.best_estimator_
    found = _sorted_rows(table, matrix, ball)
    apart = found[found["distance"] > found["distance"].min()].head(rows)
    figure = _draw(matrix, ball, [int(number) - 1 for number in apart["row"][:MOST_LABELS]])
    stop_if_asked()
    shown = _shown(apart, table, matrix) if len(apart) else None
    try:
        screen.answer(shown, _sentences(found, search, len(table.frame)))
    finally:  # the files are wanted even where nobody reads the answer any more
        write_csv(listing, found)
        if figure is not None:
            write_picture(region, figure)
        if save is not None:
            save_model(_pipeline(matrix, ball), table, save, _about(table, search))
    if figure is None:
        screen.note("one feature has no plane to draw a region in, so there is no picture.")
    screen.written(listing, region if figure is not None else None, save)


def _check(table: Table) -> None:
    from mercer.tables import InputError

    n = len(table.frame)
    if n < LEAST_ROWS:
        raise InputError(f"A description needs at least {LEAST_ROWS} rows; the table has {n}.")


def _described(matrix: Matrix, nu: float, seed: int) -> Any:
    from mercer import SVDD, OneClassSearch

    search = OneClassSearch(SVDD(nu=nu), random_state=seed, verbose=True)
    return search.fit(matrix.values)


def _pipeline(matrix: Matrix, ball: Any) -> Any:
    from sklearn.pipeline import Pipeline

    return Pipeline([*matrix.steps, ("model", ball)])


def _about(table: Table, search: Any) -> dict[str, Any]:
    kept = {"title": "data description (SVDD)", "table": table.name, "rows": len(table.frame)}
    return kept | {"width": float(search.sigma_), "nu": float(search.best_params_["nu"])}


def _sorted_rows(table: Table, matrix: Matrix, ball: Any) -> pd.DataFrame:
    """Return all rows with their distances from the centre, the farthest first."""
    import numpy as np
    import pandas as pd

    distance = distance_in_radii(ball, matrix.values)
    outside = np.asarray(ball.decision_function(matrix.values)) < 0
    head = pd.DataFrame({"row": table.row_numbers()})
    names = pd.DataFrame() if table.names is None else table.names.reset_index(drop=True)
    told = pd.DataFrame({"distance": distance.round(6), "unusual": outside})
    apart = told_apart([*names, *table.frame], [*head, *told])
    theirs = [part.rename(columns=apart) for part in (names, table.frame)]
    whole = pd.concat([head, theirs[0], told, theirs[1]], axis=1)
    return whole.iloc[np.argsort(-distance, kind="stable")]


def _shown(found: pd.DataFrame, table: Table, matrix: Matrix) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    names = list(found.columns[1 : list(found.columns).index("distance")])[:MOST_NAMES]
    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("row", *names, "distance / radius", "stands out by"):
        shown.add_column(name, overflow="fold", justify="right" if "d" in name[:1] else "left")
    for _, row in found.iterrows():
        head = [str(row["row"]), *[cell(row[name]) for name in names]]
        said = causes(table.frame, matrix.values, matrix.columns, row["row"] - 1)
        shown.add_row(*head, f"{row['distance']:.3f}", said)
    return shown


def _sentences(found: pd.DataFrame, search: Any, n: int) -> list[str]:
    import numpy as np

    outside = int(found["unusual"].sum())
    if not np.ptp(found["distance"]):
        return [
            f"All {n} rows are equally far from the centre of the description: none stands out."
        ]
    return [
        COUNTED,
        f"{outside} of {n} rows ({100 * outside / n:.1f} %) lie outside of the description "
        "(distance above 1).",
        "Rows count as near each other up to about "
        f"{number(search.sigma_)} standard deviations of a column (the width of the kernel): of "
        f"{len(search.history_)} widths, the one with the tightest region that is not clearly "
        "worse than the best at leaving out few rows and enclosing little space.",
    ]


def _draw(matrix: Matrix, ball: Any, listed: list[int]) -> Any:
    """Draw the region in the plane of the two features, or of two principal components.

    The rows at the positions in `listed` have their numbers beside them.
    """
    import pandas as pd
    from sklearn.pipeline import Pipeline

    from mercer import SupportRegionDisplay
    from mercer.cli._labels import label_points

    if len(matrix.features) < 2:
        return None
    draws()
    X = pd.DataFrame(matrix.unscaled, columns=matrix.features)
    whole = Pipeline([matrix.steps[1], ("model", ball)])
    across = int(min(FINEST, (MOST_NUMBERS / X.shape[1]) ** 0.5))
    sides = ball.predict(matrix.values)
    display = SupportRegionDisplay.from_estimator(whole, X, sides, grid_resolution=across)
    rename(display.figure_, {"target": "usual rows", "outlier": "unusual rows"})
    shares = re.findall(r"([\d.]+)% of variance", " ".join(display.axis_names))
    if shares:
        share = sum(map(float, shares))
        title = (
            f"Projection onto two components with {share:.0f} % of the variance:\n"
            "rows that are unusual in other directions may show inside of the region"
        )
        display.ax_.set_title(title, loc="left", fontsize="small")
    label_points(display.ax_, display.points, listed, [str(row + 1) for row in listed])
    return display.figure_
