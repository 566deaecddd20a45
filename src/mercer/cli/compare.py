"""The command `mercer compare`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.interrupts import INTERRUPTED, noting_interrupts

if TYPE_CHECKING:
    from mercer.comparison import Comparison
    from mercer.tables import Table

FILE_WIDTH = 100
"""Characters in a line where the output goes to a file and not to a window."""

PAUSE = 10.0
"""Seconds between two lines of progress where there is no window for a bar."""


def compare(
    data: Annotated[
        str,
        typer.Argument(
            help="A table (CSV, TSV, Excel, Parquet, svmlight, also packed), or iris, wine, "
            "breast_cancer, digits, diabetes, moons, circles, blobs."
        ),
    ] = "breast_cancer",
    target: Annotated[
        str | None, typer.Option(help="Column to predict, by name or position (-1 is the last).")
    ] = None,
    models: Annotated[
        str | None, typer.Option(help="Which models, with commas; all if not given.")
    ] = None,
    minutes: Annotated[float, typer.Option(help="Time for all of it.")] = 3.0,
    task: Annotated[
        str | None, typer.Option(help="classification or regression, where it is not plain.")
    ] = None,
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, with commas.")] = None,
    categorical: Annotated[
        str | None, typer.Option(help="Columns whose numbers are names, with commas.")
    ] = None,
    positive: Annotated[str | None, typer.Option(help="The class to look for.")] = None,
    groups: Annotated[
        str | None, typer.Option(help="Column whose rows belong together, such as a patient.")
    ] = None,
    time_column: Annotated[
        str | None, typer.Option("--time", help="Column of times: folds learn from the past only.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Of a text file, if not found out.")] = None,
    separator: Annotated[str | None, typer.Option(help="Between cells, if not found out.")] = None,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line has names."),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often to repeat it, shuffled anew.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Which shuffle.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="All processors if not given.")] = None,
    peer: Annotated[
        bool, typer.Option("--peer", help="Let scikit-learn's SVM take part, for its speed.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="The report; compare-DATA.html if not given.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Also write the table to a CSV file.")] = None,
    json: Annotated[Path | None, typer.Option(help="Also write all folds to a JSON file.")] = None,
) -> None:
    """Compare models on a table: which predicts best, how sure that is, what it has learned.

    Each model is tuned inside the folds on which it is compared. The answer is a table and a few
    sentences here, and a report with pictures in a file.
    """
    from mercer.tables import InputError

    try:
        outputs = (output or Path(f"compare-{_stem(data)}.html"), csv, json)
        for name, path in zip(("output", "csv", "json"), outputs):
            _check_writable(name, path)
        reading: dict[str, Any] = {
            "task": task,
            "positive": positive,
            "groups": groups,
            "time": time_column,
        }
        reading |= {"drop": _words(drop), "categorical": _words(categorical)}
        form = {"encoding": encoding, "separator": separator, "header": header}
        table = _read(data, target, seed, reading, form)
        settings: dict[str, Any] = {
            "models": models,
            "minutes": minutes,
            "folds": folds,
            "repeats": repeats,
        }
        settings |= {"seed": seed, "n_jobs": threads, "peer": peer}
        found = _run(table, settings, outputs)
    except InputError as error:
        typer.echo(f"mercer compare: {error}", err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        typer.echo(f"mercer compare: {error.strerror or error}: {error.filename}.", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("mercer compare: stopped before anything was finished.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if found.stopped == "it was interrupted":
        raise typer.Exit(INTERRUPTED)


def _stem(data: str) -> str:
    return Path(data).name.split(".")[0] or "table"


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def _read(data: str, target: str | None, seed: int, reading: Any, form: Any) -> Table:
    from mercer.tables import InputError, named_table, read_table, suggestion
    from mercer.tables.named_table import NAMES

    given = [name for name, one in {"target": target, **reading, **form}.items() if one]
    if data in NAMES:
        if given:
            raise InputError(f"--{given[0]} is for files; {data!r} comes as it is.")
        return named_table(data, seed)
    path = Path(data)
    if not path.exists() and not path.suffix:
        raise InputError(
            f"There is no file {data!r}, nor a data set of that name ({', '.join(NAMES)})"
            + suggestion(data, NAMES)
        )
    place: Any = target
    if target is not None and target.lstrip("-").isdigit():
        place = int(target)
    return read_table(path, place, **reading, **form)


def _run(table: Table, settings: dict[str, Any], outputs: tuple[Path | None, ...]) -> Comparison:
    from rich.console import Console

    from mercer.comparison import compare_table

    screen, side = Console(highlight=False), Console(stderr=True, highlight=False)
    if not screen.is_terminal:
        screen.width = FILE_WIDTH
    for notice in table.notices:
        _note(side, notice)
    screen.print(_headline(table), soft_wrap=True, markup=False)
    report = outputs[0]
    assert report is not None
    checkpoint = report.with_name(f".{report.stem}.unfinished")
    _drop_foreign(checkpoint, table, settings)
    with noting_interrupts(), _progress(side, settings["minutes"]) as progress:
        found = compare_table(table, **settings, checkpoint=checkpoint, progress=progress)
    _show(found, screen)
    _write(found, outputs, screen)
    if not found.partial:
        checkpoint.unlink(missing_ok=True)
    else:
        _note(side, f"the same command goes on from here ({checkpoint} holds what is known).")
    return found


def _drop_foreign(checkpoint: Path, table: Table, settings: dict[str, Any]) -> None:
    """Begin anew where what was left belongs to other data or other settings."""
    from mercer.comparison import belongs_to

    if checkpoint.exists() and not belongs_to(checkpoint, table, settings):
        checkpoint.unlink()


@contextmanager
def _progress(side: Any, minutes: float) -> Iterator[Any]:
    """Yield what shows progress: a bar in a window, now and then a line elsewhere."""
    begun = last = time.monotonic()

    def left() -> str:
        seconds = max(0.0, 60 * minutes - (time.monotonic() - begun))
        text = f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"
        return f"at most {text} left"

    if not side.is_terminal:

        def line(done: int, total: int, text: str) -> None:
            nonlocal last
            if time.monotonic() - last >= PAUSE:
                last = time.monotonic()
                side.print(f"{done} of {total} fits, {text} next, {left()}", soft_wrap=True)

        yield line
        return
    from rich.progress import Progress

    with Progress(console=side, transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def show(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=f"{text}, {left()}")

        yield show


def _show(found: Comparison, screen: Any) -> None:
    from mercer.cli.comparison_table import comparison_table

    screen.print(comparison_table(found, screen.width))
    for sentence in found.sentences():
        screen.print(sentence, soft_wrap=not screen.is_terminal, markup=False)


def _write(found: Comparison, outputs: tuple[Path | None, ...], screen: Any) -> None:
    import json as json_format

    from mercer._files import write_text_whole

    report, csv, json = outputs
    assert report is not None
    found.report(report)
    if csv is not None:
        write_text_whole(csv, found.results_.to_csv())
    if json is not None:
        results = json_format.loads(found.results_.reset_index().to_json(orient="records"))
        folds = json_format.loads(found.folds_.to_json(orient="records"))
        said = {"sentences": found.sentences(), "measure": found.measure, "partial": found.partial}
        said |= {"settings": found.settings, "left_out_models": found.left_out_models}
        everything = {"data": found.table.name, **said, "results": results, "folds": folds}
        text = json_format.dumps(everything, indent=2, ensure_ascii=False, default=str)
        write_text_whole(json, text + "\n")
    written = ", ".join(str(path) for path in outputs if path is not None)
    screen.print(f"Written: {written}", soft_wrap=True, markup=False)


def _note(side: Any, text: str) -> None:
    from rich.text import Text

    side.print(Text.assemble(("note: ", "yellow"), text), soft_wrap=True)


def _headline(table: Table) -> str:
    rows, columns = table.frame.shape
    start = f"{table.name}: {rows} rows, {columns} column{'s' * (columns != 1)}"
    if table.task == "regression":
        low, high = table.target.min(), table.target.max()
        return f"{start}, {table.target.name or 'target'} from {low:.4g} to {high:.4g}"
    counts = table.class_counts()
    shown = [f"{name} {count}" for name, count in list(counts.items())[:6]]
    more = ", …" if len(counts) > 6 else ""
    return f"{start}, {len(counts)} classes ({', '.join(shown)}{more})"


def _check_writable(name: str, path: Path | None) -> None:
    """Find out before the work whether its result can be kept."""
    from mercer._files import check_writable
    from mercer.tables import InputError

    if path is None:
        return
    if name == "output" and path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--output must end in .html; got {str(path)!r}.")
    try:
        check_writable(path)
    except OSError as error:
        raise InputError(f"--{name} cannot be written: {error}.") from None
