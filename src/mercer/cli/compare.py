"""The command `mercer compare`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli._models import (
    EVENLY,
    check_before_reading,
    names_of,
    tell_how_to_predict,
)
from mercer.cli._options import (
    DATA_HELP,
    LABELLED,
    MODELS_HELP,
    RUNS,
    command,
    read_labelled,
)
from mercer.cli._options import stem as stem_of
from mercer.cli._places import MODEL, check_places, told_where
from mercer.cli._screen import Screen, progress
from mercer.cli.interrupts import INTERRUPTED

if TYPE_CHECKING:
    from mercer.comparison import Comparison
    from mercer.tables import Table

HTML = (".html", ".htm")


@command(LABELLED, RUNS)
def compare(
    data: Annotated[str, typer.Argument(help=DATA_HELP)] = "breast_cancer",
    models: Annotated[
        str | None,
        typer.Option(
            help=f"By name or title, with commas: {MODELS_HELP}. All of them if not given."
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, max=100, help="How often to repeat it, shuffled anew.")
    ] = 2,
    peer: Annotated[
        bool, typer.Option("--peer", help="Let scikit-learn's SVM take part, for its speed.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="The report; compare-DATA.html if not given.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Also save the best model, for mercer predict (.mercer).")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Also write the table to a CSV file.")] = None,
    json: Annotated[Path | None, typer.Option(help="Also write all folds to a JSON file.")] = None,
    *,
    reading: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    """Compare models on a table: which predicts best, how sure that is, what it has learned.

    Each model is tuned inside the folds on which it is compared. The answer is a table and a few
    sentences here, and a report with pictures in a file.
    """
    begun = time.monotonic()
    outputs: dict[str, Path | None] = {"output": output or Path(f"compare-{stem_of(data)}.html")}
    outputs |= {"save": save, "csv": csv, "json": json}
    endings: dict[str, tuple[str, ...]] = {"output": HTML, "save": MODEL, "csv": (), "json": ()}
    places = {name: (path, endings[name]) for name, path in outputs.items()}
    check_places(places, [data], chosen={"output": output})
    check_before_reading(models, settings)
    table = read_labelled(data, reading, settings["seed"])
    wanted = None if models is None else names_of(models, table.task)
    own = {"models": wanted, "repeats": repeats, "peer": peer}
    found = _run(table, settings | own, outputs, begun)
    if found.stopped == "it was interrupted":
        raise typer.Exit(INTERRUPTED)


def _run(
    table: Table, settings: dict[str, Any], outputs: dict[str, Path | None], begun: float
) -> Comparison:
    from mercer.comparison import compare_table

    screen = Screen()
    screen.introduce(table)
    report = outputs["output"]
    assert report is not None
    checkpoint = report.with_name(f".{report.stem}.unfinished")
    _drop_foreign(checkpoint, table, settings)
    going_on = f"the same command goes on from here ({checkpoint} holds what is known)."
    try:
        with told_where(checkpoint), progress(screen.side, settings["minutes"]) as show:
            found = compare_table(
                table, **settings, checkpoint=checkpoint, progress=show, since=begun
            )
        try:
            _show(found, screen)
        finally:  # the files are wanted even where nobody reads the answer any more
            written = _write(found, outputs, screen)
            if not found.partial:
                checkpoint.unlink(missing_ok=True)
    except OSError:
        if checkpoint.exists():
            screen.note(going_on)
        raise
    screen.written(*written.values())
    if written["save"] is not None:
        tell_how_to_predict(screen, written["save"])
    if found.partial:
        screen.note(going_on)
    return found


def _drop_foreign(checkpoint: Path, table: Table, settings: dict[str, Any]) -> None:
    """Begin anew where what was left belongs to other data or other settings."""
    from mercer.comparison import belongs_to

    if checkpoint.exists() and not belongs_to(checkpoint, table, settings):
        checkpoint.unlink()


def _show(found: Comparison, screen: Screen) -> None:
    from mercer.cli.comparison_table import comparison_table, footnote

    screen.show(comparison_table(found, screen.out.width))
    if note := footnote(found, screen.out.width):
        screen.say(note)
    for sentence in found.sentences():
        screen.say(sentence)
    if found.measure == "balanced_error":
        screen.say(EVENLY.replace("The model decides", "All models decide"))


def _write(
    found: Comparison, outputs: dict[str, Path | None], screen: Screen
) -> dict[str, Path | None]:
    """Write all files that were asked for, and return their places."""
    from mercer._files import write_text_whole

    report, save, csv, json = outputs.values()
    assert report is not None
    with told_where(report):
        found.report(report)
    for path, text in ((csv, _as_csv), (json, _as_json)):
        if path is not None:
            with told_where(path):
                write_text_whole(path, text(found))
    if save is not None:
        save = _save(found, save, screen)
    return {"report": report, "save": save, "csv": csv, "json": json}


def _as_csv(found: Comparison) -> str:
    return str(found.results_.to_csv())


def _as_json(found: Comparison) -> str:
    import json

    results = json.loads(found.results_.reset_index().to_json(orient="records"))
    folds = json.loads(found.folds_.to_json(orient="records"))
    said = {"sentences": found.sentences(), "measure": found.measure, "partial": found.partial}
    said |= {"settings": found.settings, "left_out_models": found.left_out_models}
    everything = {"data": found.table.name, **said, "results": results, "folds": folds}
    return json.dumps(everything, indent=2, ensure_ascii=False, default=str) + "\n"


def _save(found: Comparison, path: Path, screen: Screen) -> Path | None:
    """Save the best model, unless Ctrl-C has ended the comparison."""
    if found.stopped == "it was interrupted":
        screen.note("no model was saved, since the comparison was interrupted.")
        return None
    with told_where(path):
        found.save(path)
    return path
