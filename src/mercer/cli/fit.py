"""The command `mercer fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    MODELS_HELP,
    RUNS,
    Data,
    command,
    read_labelled,
    stem,
    stop_if_asked,
)
from mercer.cli._places import MODEL, check_places
from mercer.cli._screen import Screen


@command(LABELLED, RUNS)
def fit(
    data: Data,
    model: Annotated[
        str | None,
        typer.Option(
            help=f"By name or title: {MODELS_HELP}; svc for classes and svr for numbers if not "
            "given."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="The model; DATA.mercer if not given and not there already."),
    ] = None,
    *,
    reading: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    """Fit one model to a table, tuned and measured, and save it for mercer predict.

    Its error is that of rows it has not seen in any way, on folds, beside the error of a model
    that has learned nothing. The model in the file has learned from all rows.
    """
    place = save or Path(f"{stem(data)}.mercer")
    check_places({"save": (place, MODEL)}, [data], chosen={"save": save})
    check_before_reading(model, settings)
    table = read_labelled(data, reading, settings["seed"])
    screen = Screen()
    screen.introduce(table)
    found, name = measured(table, model, screen, settings)
    fitted = found.fitted(name)
    stop_if_asked()
    try:
        screen.answer(None, verdict(found, name))
    finally:  # the model is wanted even where nobody reads the answer any more
        save_model(fitted, table, place, found.about(name))
    screen.written(place)
    tell_how_to_predict(screen, place)
