"""The command `mercer compare`."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.interrupts import INTERRUPTED, noting_interrupts
from mercer.tables import InputError, suggestion

if TYPE_CHECKING:
    from mercer.cli.comparison import Candidate, Measurement
    from mercer.cli.tables import Table

PICTURE_KINDS = (".png", ".pdf", ".svg")
FILE_WIDTH = 100
"""Characters in a line where the output goes to a file and not to a window."""


@dataclass(frozen=True)
class Request:
    """What was asked for, checked."""

    kernels: list[str]
    losses: list[str]
    C: float
    folds: int
    repeats: int
    seed: int
    peer: bool
    threads: int | None
    time_limit: float

    @property
    def n_folds(self) -> int:
        """Number of folds over all repeats."""
        return self.folds * self.repeats


def compare(
    data: Annotated[
        str,
        typer.Argument(
            help="iris, wine, breast_cancer, digits, moons, circles, blobs, or a CSV file."
        ),
    ] = "breast_cancer",
    target: Annotated[
        str | None, typer.Option(help="Column of the CSV file that holds the classes.")
    ] = None,
    kernels: Annotated[
        str, typer.Option(help="Some of linear, poly, rbf, laplacian, sigmoid, with commas.")
    ] = "linear,poly,rbf,laplacian",
    losses: Annotated[
        str, typer.Option(help="hinge, squared_hinge or both, with a comma.")
    ] = "hinge,squared_hinge",
    C: Annotated[float, typer.Option("--C", help="Price of slack, above 0.")] = 1.0,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often to repeat it, shuffled anew.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Which shuffle.")] = 0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads for mercer; all processors if not given.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0, help="Seconds that one of mercer's fits may take.")
    ] = 60.0,
    peer: Annotated[bool, typer.Option(help="Whether scikit-learn's SVC takes part.")] = True,
    output: Annotated[
        Path | None,
        typer.Option(help="Picture file (png, pdf, svg); compare-DATA.png if not given."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Also write the table to a CSV file.")] = None,
    json: Annotated[Path | None, typer.Option(help="Also write everything to a JSON file.")] = None,
) -> None:
    """Compare support vector machines on a data set.

    Each loss and kernel of mercer's SVC stands beside scikit-learn's: cross-validated error, time
    of a fit and number of support vectors, as a table here and as a picture in a file.
    """
    try:
        for name, path in (("output", output), ("csv", csv), ("json", json)):
            _check_writable(name, path)
        words = _chosen(kernels, "kernel"), _chosen(losses, "loss")
        request = Request(*words, C, folds, repeats, seed, peer, threads, time_limit)
        finished = _run(request, data, target, output, csv, json)
    except InputError as error:
        typer.echo(f"mercer compare: {error}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("mercer compare: stopped before anything was finished.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if not finished:
        raise typer.Exit(INTERRUPTED)


def _run(
    request: Request,
    data: str,
    target: str | None,
    output: Path | None,
    csv: Path | None,
    json: Path | None,
) -> bool:
    """Do the work; return whether all of it was done."""
    if not (math.isfinite(request.C) and request.C > 0):
        raise InputError(f"--C must be a number above 0; got {request.C:g}.")
    from rich.console import Console

    from mercer.cli.comparison import Comparison, candidates
    from mercer.cli.tables import check_classes, load_table

    table = load_table(data, target, request.seed)
    check_classes(table, request.folds)
    screen, side = Console(highlight=False), Console(stderr=True, highlight=False)
    if not screen.is_terminal:
        screen.width = FILE_WIDTH
    for notice in table.notices:
        _note(side, notice)
    screen.print(_headline(table), soft_wrap=True, markup=False)
    chosen = candidates(request.kernels, request.losses, request.peer)
    done = _measure(request, table, chosen, side)
    comparison = Comparison.from_measurements(chosen, done, request.folds)
    if comparison is None:
        raise KeyboardInterrupt
    if not comparison.succeeded.any():
        raise InputError(f"None could be fitted; {comparison.warnings[0]}")
    finished = len(done) == len(chosen) * request.n_folds
    if not finished:
        known = f"{comparison.errors.shape[1]} of {request.n_folds} folds"
        _note(side, f"stopped; the table is made of {known}.")
    for warning in comparison.warnings:
        _note(side, warning)
    _show(comparison, request, screen)
    _write(comparison, request, table, (output, csv, json), screen)
    return finished


def _measure(
    request: Request, table: Table, chosen: list[Candidate], side: Any
) -> list[Measurement]:
    """Return the measurements that were finished before the end or Ctrl-C."""
    done: list[Measurement] = []
    with suppress(KeyboardInterrupt), noting_interrupts() as interrupts:
        from rich.progress import Progress

        from mercer.cli.comparison import measure

        running = measure(
            table.X,
            table.y,
            chosen,
            C=request.C,
            folds=request.folds,
            repeats=request.repeats,
            seed=request.seed,
            n_threads=request.threads,
            time_limit=request.time_limit,
        )
        with Progress(console=side, transient=True, disable=not side.is_terminal) as progress:
            task = progress.add_task("fitting", total=len(chosen) * request.n_folds)
            for measurement in running:
                done.append(measurement)
                progress.update(task, advance=1, description=_next_name(chosen, measurement))
                if interrupts:
                    break
    return done


def _next_name(chosen: list[Candidate], measurement: Measurement) -> str:
    following = chosen[(measurement.candidate + 1) % len(chosen)]
    return f"{following.library} {following.kernel}"


def _show(comparison: Any, request: Request, screen: Any) -> None:
    from mercer._threads import available_threads
    from mercer.cli.output import terminal_table
    from mercer.cli.words import summarize

    screen.print(terminal_table(comparison))
    for sentence in summarize(comparison, available_threads(request.threads)):
        screen.print(sentence, soft_wrap=True, markup=False)


def _write(
    comparison: Any,
    request: Request,
    table: Table,
    paths: tuple[Path | None, Path | None, Path | None],
    screen: Any,
) -> None:
    from dataclasses import asdict

    from mercer.cli.output import write_csv, write_json
    from mercer.cli.picture import draw_comparison

    output, csv, json = paths
    output = output or Path(f"compare-{table.name}.png")
    draw_comparison(comparison, table, request.C, output)
    if csv is not None:
        write_csv(comparison, csv)
    if json is not None:
        shape = {"data": table.name, "rows": table.X.shape[0], "features": table.X.shape[1]}
        write_json(comparison, json, {**shape, "classes": table.class_counts(), **asdict(request)})
    written = ", ".join(str(path) for path in (output, csv, json) if path is not None)
    screen.print(f"Written: {written}", soft_wrap=True, markup=False)


def _note(side: Any, text: str) -> None:
    from rich.text import Text

    side.print(Text.assemble(("note: ", "yellow"), text), soft_wrap=True)


def _headline(table: Table) -> str:
    rows, features = table.X.shape
    counts = table.class_counts()
    shown = [f"{name} {count}" for name, count in list(counts.items())[:6]]
    more = ", …" if len(counts) > 6 else ""
    return (
        f"{table.name}: {rows} rows, {features} feature{'s' * (features != 1)}, "
        f"{len(counts)} classes ({', '.join(shown)}{more})"
    )


def _chosen(text: str, what: str) -> list[str]:
    """Return the words between commas, each of which must be known."""
    from mercer.cli.comparison import KERNELS, LOSSES

    known = KERNELS if what == "kernel" else LOSSES
    words = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not words:
        raise InputError(f"Give at least one {what} of {', '.join(known)}.")
    for word in words:
        if word not in known:
            hint = suggestion(word, known)
            raise InputError(f"There is no {what} {word!r} among {', '.join(known)}{hint}")
    return words


def _check_writable(name: str, path: Path | None) -> None:
    """Find out before the work whether its result can be kept."""
    if path is None:
        return
    if name == "output" and path.suffix.lower() not in PICTURE_KINDS:
        kinds = ", ".join(PICTURE_KINDS)
        raise InputError(f"--output must end in one of {kinds}; got {str(path)!r}.")
    if path.is_dir():
        raise InputError(f"--{name} must be a file, but {str(path)!r} is a folder.")
    if not path.parent.is_dir():
        raise InputError(f"The folder of --{name} does not exist: {str(path.parent)!r}.")
