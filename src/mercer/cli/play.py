"""The command `mercer play`."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Annotated, Any

import typer

from mercer.cli._options import command, words
from mercer.cli._screen import Screen, echo, progress


@command({})
def play(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A table with two columns of numbers and a class; the page has examples."
        ),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="The columns across and up, with a comma.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="The column with the class.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page.")
    ] = True,
    export: Annotated[
        Path | None,
        typer.Option(help="Write a page with fits computed beforehand to a folder, and end."),
    ] = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Click points in the browser, and see what kernel machines make of them.

    The page is served on this machine only, under an address that nobody else knows, until Ctrl-C.
    """
    from mercer.play import export as write_pages
    from mercer.play import serve
    from mercer.tables import InputError

    if export is not None:
        _check_alone(data, columns, target)
        screen = Screen()
        with progress(screen.side) as show:
            written = write_pages(export, show)
        screen.written(*written)
        return
    start = _start(data, columns, target)
    try:
        serve(port=port, browser=browser, start=start, say=echo)
    except ImportError as error:
        raise InputError(str(error)) from None
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        raise InputError(
            f"Port {port} cannot be had; without --port a free one is taken."
        ) from None


def _check_alone(data: str | None, columns: str | None, target: str | None) -> None:
    from mercer.tables import InputError

    if (data, columns, target) != (None, None, None):
        raise InputError("--export has points of its own; it takes no table.")


def _start(data: str | None, columns: str | None, target: str | None) -> dict[str, Any] | None:
    """Return the points of the table, if there is one."""
    from mercer.play import table_in
    from mercer.tables import InputError

    chosen = words(columns)
    if data is None:
        if columns is not None or target is not None:
            raise InputError("--columns and --target are for a table; give its file.")
        return None
    if columns is not None and len(chosen) != 2:
        raise InputError(f"--columns must be two names with a comma; got {columns!r}.")
    if not Path(data).is_file():
        raise InputError(f"There is no file {data!r}.")
    across, up = chosen or (None, None)
    return table_in(data, across, up, target)
