"""The commands `mercer study list`, `mercer study run` and `mercer study summary`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from mercer.cli.interrupts import INTERRUPTED, noting_interrupts

if TYPE_CHECKING:
    from mercer.studies import Study, StudyResults

PAUSE = 30.0
"""Seconds between two lines of progress where there is no window for a bar."""

FILE_WIDTH = 110
MOST_FAILURES = 3

studies = typer.Typer(
    help="Published experiments, run again beside their printed tables.", no_args_is_help=True
)


@studies.command("list")
def list_studies() -> None:
    """List the studies: what they are about, their source, data, and how long they take."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from mercer.studies import StudyError, find_studies, get_study

    try:
        known = [get_study(name) for name in find_studies()]
    except StudyError as error:
        _refuse(error)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("study", "about", "source", "data", "cells", "duration"):
        right = column in ("cells", "duration")
        table.add_column(column, justify="right" if right else "left", no_wrap=column == "study")
    for study in known:
        data = ", ".join(_families(study.data)) or "drawn"
        cells = str(len(study.cells()))
        table.add_row(study.name, study.title, study.source, data, cells, study.duration)
    _screen().print(table)


def _families(names: Iterable[str]) -> list[str]:
    """Return the names of data sets, those of one benchmark as one."""
    return list(dict.fromkeys(name.partition("/")[0] for name in names))


@studies.command("run")
def run(
    name: Annotated[str, typer.Argument(help="A study of the list, or one's own: module:NAME.")],
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="How often to repeat; as the study says if not given.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Configurations, methods or configuration/method, with commas; * and ? are "
            "understood; may be given several times."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for everything; study-NAME if not given.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Cells at a time; -1 for all processors.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Base of the seeds.")] = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Put earlier results in the folder aside.")
    ] = False,
    pictures: Annotated[bool, typer.Option(help="Whether to draw pictures.")] = True,
) -> None:
    """Run a study, or what is left of it.

    Every finished cell is kept in the folder at once: stop at any time and give the same command
    again. The folder then holds table.csv (our means beside the printed ones), results.json (every
    repetition), pictures and, where a study has more to say, report.md.
    """
    from mercer.studies import StudyError, get_study

    progress = Progress()
    try:
        study = get_study(name)
        folder = out or Path(f"study-{study.name}")
        with noting_interrupts() as progress.interrupts, progress:
            results = _run(study, folder, repetitions, only, jobs, seed, fresh, progress)
        _report(results, folder, pictures)
    except StudyError as error:
        _refuse(error)
    except KeyboardInterrupt:
        typer.echo(f"mercer study: {_stopped(progress)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if results.failures:
        raise typer.Exit(1)


@studies.command("summary")
def summarise(
    add: Annotated[
        list[Path] | None,
        typer.Option(help="Folder of a run whose results to store first; may be given again."),
    ] = None,
) -> None:
    """Write studies/README.md: every printed number beside ours, from stored results.

    The results are the small tables results.csv in the folders of the studies.
    """
    from mercer.studies import StudyError
    from mercer.studies.stored import store_results
    from mercer.studies.summary import write_summary

    try:
        written = [store_results(folder) for folder in add or ()]
        written += write_summary()
    except StudyError as error:
        _refuse(error)
    typer.echo(f"Written: {', '.join(map(str, written))}")


def _run(
    study: Study,
    folder: Path,
    repetitions: int | None,
    only: list[str] | None,
    jobs: int,
    seed: int,
    fresh: bool,
    progress: Progress,
) -> StudyResults:
    from mercer.studies import StudyError, run_study

    if jobs == 0:
        raise StudyError("--jobs must not be 0; give 1 or more, or -1 for all processors.")
    if folder.exists() and not folder.is_dir():
        raise StudyError(f"--out must be a folder, but {str(folder)!r} is a file.")
    words = [word for text in only or () for word in study.words(text)]
    return run_study(
        study,
        repetitions=repetitions,
        only=words,
        out=folder,
        n_jobs=jobs,
        seed=seed,
        fresh=fresh,
        progress=progress,
    )


class Progress:
    """A bar with the time left in a window, and a line now and then elsewhere."""

    def __init__(self) -> None:
        self.done = self.total = 0
        self.interrupts: list[int] = []
        self._bar: Any = None
        self._side: Any = None
        self._began = self._told = (0.0, 0)

    def __enter__(self) -> Progress:
        from rich import progress as bars
        from rich.console import Console

        self._side = Console(stderr=True, highlight=False)
        columns = (bars.BarColumn(), bars.MofNCompleteColumn(), bars.TimeElapsedColumn())
        left = (bars.TextColumn("left:"), bars.TimeRemainingColumn(elapsed_when_finished=False))
        window = self._side.is_terminal
        self._bar = bars.Progress(
            *columns, *left, console=self._side, transient=True, disable=not window
        )
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show how far the work is; end it if Ctrl-C came where it could not be raised."""
        if not self.total:
            self.total = total
            self._bar.add_task("cells", total=total, completed=done)
            self._began = self._told = (time.monotonic(), done)
            if done:
                self._side.print(f"{done} of {total} cells are there already.", soft_wrap=True)
        self.done = done
        self._bar.update(self._bar.task_ids[0], completed=done)
        if not self._side.is_terminal and time.monotonic() > self._told[0] + PAUSE:
            self._told = (time.monotonic(), done)
            self._side.print(f"{done} of {total} cells, about {self._left()} left", soft_wrap=True)
        if self.interrupts:
            raise KeyboardInterrupt

    def _left(self) -> str:
        from mercer.cli.comparison_table import duration

        began, before = self._began
        pace = (time.monotonic() - began) / max(1, self.done - before)
        return duration(pace * (self.total - self.done))


def _refuse(error: Exception) -> NoReturn:
    typer.echo(f"mercer study: {error}", err=True)
    raise typer.Exit(2) from None


def _stopped(progress: Progress) -> str:
    return (
        f"stopped; {progress.done} of {progress.total} cells are done and kept. Give the same "
        "command again to go on."
    )


def _report(results: StudyResults, folder: Path, pictures: bool) -> None:
    from mercer._files import write_text_whole
    from mercer.studies.pictures import draw_pictures
    from mercer.studies.results import REPORT_FILE, RESULTS_FILE, TABLE_FILE

    screen = _screen()
    if results.dropped:
        typer.echo(f"note: half-written results, done again: {results.dropped}.", err=True)
    for failure in results.failures[:MOST_FAILURES]:
        place = f"{failure['configuration']}/{failure['method']}, {failure['repetition']}"
        typer.echo(f"note: {place} failed: {failure['message']}", err=True)
    if len(results.failures) > MOST_FAILURES:
        typer.echo(f"note: {len(results.failures)} cells failed in all.", err=True)
    if not results.records:
        return
    screen.print(terminal_table(results))
    screen.print(summary(results), soft_wrap=True, markup=False)
    written = [folder / TABLE_FILE, folder / RESULTS_FILE]
    if text := results.report():
        screen.print(f"\n{text}", soft_wrap=True, markup=False)
        written.append(folder / REPORT_FILE)
        write_text_whole(written[-1], text)
    if pictures:
        written += draw_pictures(results, folder)
    names = ", ".join(map(str, written))
    screen.print(f"Written: {names}", soft_wrap=True, markup=False)


def terminal_table(results: StudyResults) -> Any:
    """Return the table for a rich console."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for column in ("configuration", "method"):
        table.add_column(column, no_wrap=True)
    for column in ("printed ± sd", "ours ± sd", "n", "z"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    shown = ""
    for row in results.table():
        table.add_row(
            "" if row["configuration"] == shown else row["configuration"],
            row["method"],
            _with_deviation(row["printed_mean"], row["printed_sd"]),
            _with_deviation(row["mean"], row["sd"]),
            str(row["repetitions"]),
            "" if row["z"] is None else f"{round(row['z'], 1) + 0.0:.1f}",
            row["verdict"],
        )
        shown = row["configuration"]
    return table


def summary(results: StudyResults) -> str:
    """Return what the verdicts come to, in a sentence."""
    from mercer.studies.verdicts import CLOSE, FEWEST, VERDICTS

    verdicts = [row["verdict"] for row in results.table()]
    printed = [word for word in verdicts if word != "not printed"]
    if not printed:
        means = f"{len(verdicts)} mean{'s' * (len(verdicts) != 1)}"
        return f"{means}; none is printed in the source."
    count = {word: printed.count(word) for word in VERDICTS}
    return (
        f"Of {len(printed)} printed means {count['reproduced']} are reproduced within "
        f"{CLOSE:g} standard errors (more where few draws tell them); {count['better']} of ours "
        f"are better, {count['worse']} worse, "
        f"{count['not reproducible']} not reproducible, {count['undecided']} undecided (fewer than "
        f"{FEWEST} repetitions, or no deviation)."
    )


def _with_deviation(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return ""
    return f"{mean:.4g}" if sd is None else f"{mean:.4g} ± {sd:.2g}"


def _screen() -> Any:
    from rich.console import Console

    screen = Console(highlight=False)
    if not screen.is_terminal:
        screen.width = FILE_WIDTH
    return screen
