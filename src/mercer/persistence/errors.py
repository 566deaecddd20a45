"""Files of models that cannot be had, said in one sentence."""

from __future__ import annotations

LONGEST_REASON = 300
"""Characters; a crafted file must not fill the screen."""


class ModelFileError(ValueError):
    """A model cannot be saved, or a file holds no model that may be loaded.

    The message is one sentence. Nothing of the file has been run, and nothing of it is kept.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "notes.txt"
    ...     _ = path.write_text("no model")
    ...     try:
    ...         mercer.load(path)
    ...     except mercer.persistence.ModelFileError as error:
    ...         print(str(error).replace(folder, "folder"))
    'folder/notes.txt' is no model that mercer.save wrote, or not the whole of one.
    """


class RefusalError(Exception):
    """What is wrong with the contents; the caller makes a sentence of it that names the file."""


def one_line(text: object) -> str:
    """Return text without line ends and control characters, cut where it is long.

    Examples
    --------
    >>> one_line("a\\n  b\\x1b[2J")
    'a b?[2J'
    """
    words = " ".join(str(text)[: 4 * LONGEST_REASON].split())
    printable = "".join(sign if sign.isprintable() else "?" for sign in words)
    return printable if len(printable) <= LONGEST_REASON else f"{printable[:LONGEST_REASON]}…"
