"""The commands and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from mercer import __version__, show_versions
from mercer.cli.compare import compare
from mercer.cli.convert import convert
from mercer.cli.study import studies

app = typer.Typer(
    name="mercer",
    help="Kernel machines, end to end.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
app.command()(compare)
app.command()(convert)
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
