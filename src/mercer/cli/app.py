"""The commands and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from mercer import __version__, show_versions
from mercer.cli.compare import compare
from mercer.cli.convert import convert
from mercer.cli.describe import describe
from mercer.cli.fit import fit
from mercer.cli.info import info
from mercer.cli.play import play
from mercer.cli.predict import predict
from mercer.cli.select import select
from mercer.cli.study import studies
from mercer.cli.tune import tune

EXIT_CODES = (
    "Exit codes: 0 done; 1 something outside failed, such as a full disk, or a study has failures; "
    "2 what was given cannot be used, as one sentence says; 130 stopped by Ctrl-C. A model that is "
    "there already is replaced only where --save names it; other files are replaced with a note."
)

app = typer.Typer(
    name="mercer",
    help="Kernel machines, end to end.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
for function in (compare, fit, predict, tune, select, describe, info, convert, play):
    app.command()(function)
app.add_typer(studies, name="study")


@app.command()
def versions() -> None:
    """Tell what a bug report needs: versions, processor, threads and libraries."""
    show_versions()


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"mercer {__version__}")
        raise typer.Exit()


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Tell the version."),
    ] = False,
) -> None:
    """Kernel machines, end to end."""
