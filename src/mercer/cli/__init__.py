"""What a person types: the `mercer` command."""

from __future__ import annotations

import io
import os
import sys
from importlib.util import find_spec
from typing import NoReturn

from mercer._extras import how_to_get

__all__ = ["main"]

NEEDED = ("typer", "rich", "pandas", "matplotlib", "jinja2", "skrub")
"""What the `app` extra brings; looked for but not imported, so that --help stays quick."""


def main() -> None:
    """Run the command line, or say how to get what it needs."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"The mercer command needs {' and '.join(missing)}; run {how_to_get('app')}.",
            file=sys.stderr,
        )
        raise SystemExit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a question mark where a sign has no code
            stream.reconfigure(errors="replace")
    try:
        from mercer.cli.app import app

        try:
            app(prog_name="mercer")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:  # before any command could say so itself
        _stop()
    except SystemExit as end:
        # Between the imports and the command typer takes Ctrl-C, and says nothing.
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            _stop()
        raise
    except OSError as error:  # help and versions, which no command guards, on a disk that is full
        is_said = getattr(error.__context__, "code", 0)  # by a command that has ended so
        if not (is_said or isinstance(error, BrokenPipeError)):  # whoever reads has seen enough
            print(f"mercer: {error.strerror or error}.", file=sys.stderr, flush=True)
        os._exit(1)  # what could not be written would be tried again


def _stop() -> NoReturn:
    """End after Ctrl-C."""
    print("mercer: stopped.", file=sys.stderr)
    raise SystemExit(130) from None
