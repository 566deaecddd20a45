"""Files that are found whole or not at all, and files of records whose lines are."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

LONGEST_NAME, LONGEST_PATH = 210, 3800
"""Bytes: what Linux and macOS allow, with room for the name that a file has until it is whole."""


@contextmanager
def written_whole(path: Any) -> Iterator[BinaryIO]:
    """Open a file that takes its name when the block ends, so that nobody reads half of it.

    Until then, and for good if the block ends in an exception, a file of that name stays as it is.
    A new file has the permissions that the process gives to all its files, an old one keeps its
    own, and a link goes on leading to the file. What is no file, such as a pipe or a device, is
    written to as it is. An OSError names the file that was asked for.

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
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    # Not from `tempfile`, whose files only their owner may read.
    temporary = target.with_name(f".{target.name}.{uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            yield file
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(temporary):
            # The place that was asked for; nobody knows the other one.
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise


def write_text_whole(path: Any, text: str) -> None:
    """Write text as UTF-8, with its line ends as they are; see `written_whole`."""
    with written_whole(path) as file:
        file.write(text.encode())


def record_line(record: dict[str, Any]) -> str:
    """Return a record as a line of text with a checksum; see `read_records`."""
    text = json.dumps(record, sort_keys=True, default=float)  # numbers of NumPy
    return f"{_checksum(text)} {text}\n"


def read_records(path: Any) -> tuple[list[dict[str, Any]], int]:
    """Return the records of a file, and how many of its lines are not whole.

    A line that is written whole and flushed is found again, whenever the work is cut off; what a
    sudden end leaves of a line fails its checksum.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer._files import read_records, record_line
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "records"
    ...     _ = path.write_text(record_line({"a": 1}) + record_line({"a": 2})[:-3])
    ...     read_records(path)
    ([{'a': 1}], 1)
    """
    if not Path(path).exists():
        return [], 0
    lines = Path(path).read_bytes().decode("utf-8", errors="replace").splitlines(keepends=True)
    whole = []
    for line in lines:
        checksum, _, text = line.rstrip("\n").partition(" ")
        if line.endswith("\n") and checksum == _checksum(text):
            whole.append(json.loads(text))
    return whole, len(lines) - len(whole)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def check_writable(path: Any) -> None:
    """Raise an OSError now, where a file could not be written later; nothing is changed.

    Parameters
    ----------
    path : path-like
    """
    target = Path(os.path.realpath(path))
    names = [len(os.fsencode(name)) for name in target.parts]
    if max(names) > LONGEST_NAME or sum(names) > LONGEST_PATH:
        raise OSError(f"the path '{str(path)[:40]}…' is too long")
    if target.is_symlink():
        raise OSError(f"{str(path)!r} is a link that leads in a circle")
    if target.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r}")
    if target.exists() and not target.is_file():  # a pipe or a device, which is written to as it is
        if not os.access(target, os.W_OK):
            raise PermissionError(f"{str(path)!r} (permission denied)")
        return
    probe = target.with_name(f".{target.name}.{uuid4().hex}.part")
    try:
        probe.write_bytes(b"\0")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise type(error)(f"{str(path)!r} ({reason})") from None
    finally:
        probe.unlink(missing_ok=True)
