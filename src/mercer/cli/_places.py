"""Files that commands write: their places are checked before the work, and none is left half."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MODEL = (".mercer",)
CSV = (".csv",)
PICTURES = (".png", ".svg", ".pdf")


def check_places(
    outputs: Mapping[str, tuple[Path | None, Sequence[str]]], inputs: Sequence[str] = ()
) -> None:
    """Find out before the work whether its results can be kept.

    Parameters
    ----------
    outputs : dict of str to (path or None, endings)
        By the name of their option. Any ending will do where none are given.
    inputs : sequence of str
        Files that are read, which must stay as they are.
    """
    from mercer._files import check_writable
    from mercer.tables import InputError

    taken: dict[Path, str] = {Path(one).resolve(): "the input" for one in inputs}
    for name, (path, endings) in outputs.items():
        if path is None:
            continue
        if endings and path.suffix.lower() not in endings:
            allowed = " or ".join(
                [", ".join(endings[:-1]), endings[-1]] if endings[1:] else endings
            )
            raise InputError(f"--{name} must end in {allowed}; got {str(path)!r}.")
        place = path.resolve()
        if place in taken:
            raise InputError(f"--{name} is the same file as {taken[place]}, {str(path)!r}.")
        taken[place] = f"--{name}"
        try:
            check_writable(path)
        except OSError as error:
            raise InputError(f"--{name} cannot be written: {error}.") from None


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


def draws() -> None:
    """Let matplotlib draw into files only, whatever windows there are."""
    import matplotlib

    matplotlib.use("Agg")
