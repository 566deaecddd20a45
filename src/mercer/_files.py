"""Files that are found whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4


@contextmanager
def written_whole(path: Any) -> Iterator[BinaryIO]:
    """Open a file that takes its name when the block ends, so that nobody reads half of it.

    Until then, and for good if the block ends in an exception, a file of that name stays as it is.
    A new file has the permissions that the process gives to all its files, an old one keeps its
    own, and a link goes on leading to the file.

    Parameters
    ----------
    path : path-like

    Yields
    ------
    binary file

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer._files import written_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "numbers"
    ...     with written_whole(path) as file:
    ...         _ = file.write(b"1 2 3")
    ...         before = path.exists()
    ...     before, path.read_bytes()
    (False, b'1 2 3')
    """
    target = Path(path).resolve()
    # Not from `tempfile`, whose files only their owner may read.
    temporary = target.with_name(f".{target.name}.{uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            yield file
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text_whole(path: Any, text: str) -> None:
    """Write text as UTF-8, with its line ends as they are; see `written_whole`."""
    with written_whole(path) as file:
        file.write(text.encode())
