"""Files that commands write: their places are checked before the work, and none is left half."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MODEL = (".mercer",)
CSV = (".csv",)
PICTURES = (".png", ".svg", ".pdf")


def check_places(
    outputs: Mapping[str, tuple[Path | None, Sequence[str]]],
    inputs: Sequence[str] = (),
    *,
    chosen: Mapping[str, Path | None] | None = None,
) -> None:
    """Find out before the work whether its results can be kept.

    A place that the person has named may hold an older file, which is replaced. Elsewhere a
    model is never replaced, and other files are with a note.

    Parameters
    ----------
    outputs : dict of str to (path or None, endings)
        By the name of their option. Any ending will do where none are given.
    inputs : sequence of str
        Files that are read, which must stay as they are.
    chosen : dict of str to (path or None), default=None
        What was given for the options that have a default place.
    """
    from mercer._files import check_writable
    from mercer.tables import InputError

    taken: dict[Path, str] = {Path(os.path.realpath(one)): "the input" for one in inputs}
    for name, (path, endings) in outputs.items():
        if path is None:
            continue
        if endings and path.suffix.lower() not in endings:
            allowed = " or ".join(
                [", ".join(endings[:-1]), endings[-1]] if endings[1:] else endings
            )
            raise InputError(f"--{name} must end in {allowed}; got {str(path)!r}.")
        place = Path(os.path.realpath(path))  # which lets links lead in a circle
        if place in taken:
            raise InputError(f"--{name} is the same file as {taken[place]}, {str(path)!r}.")
        taken[place] = f"--{name}"
        try:
            check_writable(path)
        except OSError as error:
            raise InputError(f"--{name} cannot be written: {error}.") from None
        if chosen is not None and name in chosen and chosen[name] is None and path.exists():
            _meet_older(path, name, is_model=endings is MODEL)


def _meet_older(path: Path, name: str, *, is_model: bool) -> None:
    """Keep an older model, and tell of any other file that it will be replaced."""
    from mercer.cli._screen import Screen
    from mercer.tables import InputError

    if is_model:
        raise InputError(
            f"{path} is there already; --{name} {path} replaces it, and any other name keeps it."
        )
    Screen().note(f"{path} is there already; the result will replace it.")


@contextmanager
def told_where(path: Path) -> Iterator[None]:
    """Name the file in an error of the disk, which does not know it."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def write_csv(path: Path, frame: Any) -> None:
    """Write a data frame without its index."""
    from mercer._files import write_text_whole

    with told_where(path):
        write_text_whole(path, frame.to_csv(index=False))


def write_picture(path: Path, figure: Any) -> None:
    """Write a figure of matplotlib in the format of the ending, and close it."""
    from matplotlib import pyplot

    from mercer._files import written_whole

    with told_where(path), written_whole(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=150, bbox_inches="tight")
    pyplot.close(figure)


def rename(figure: Any, words: Mapping[str, str]) -> None:
    """Call things in the legends of a figure by other words."""
    for ax in figure.axes:
        legend = ax.get_legend()
        for text in () if legend is None else legend.get_texts():
            text.set_text(words.get(text.get_text(), text.get_text()))


def draws() -> None:
    """Let matplotlib draw into files only, whatever windows there are."""
    import matplotlib

    matplotlib.use("Agg")
