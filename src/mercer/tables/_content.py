"""What a file holds once it is unpacked, without trusting its name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from mercer.tables.errors import InputError, counted, listed, shown

Opener = Callable[[], AbstractContextManager[Any]]
"""Opens a binary stream at its beginning."""

MOST_BYTES = 1 << 30
"""Unpacked; more does not fit into the memory that a comparison has."""

LONGEST_PATH = 100
"""Characters; of longer ones the end is shown."""

TABLE_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".svm", ".libsvm", ".svmlight")
UNREADABLE = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Excel file; save it as .xlsx or CSV",
    b"%PDF": "a PDF document, not a table",
    b"\x89PNG": "a picture, not a table",
    b"\xff\xd8\xff": "a picture, not a table",
    b"SQLite format 3": "a database; export the table as CSV",
    b"\x89HDF": "an HDF5 file; export the table as CSV or Parquet",
    b"\x93NUMPY": "a file of NumPy; load it in Python and pass the arrays",
    b"\x80\x04\x95": "a pickle, which is not opened since it could run anything",
    b"{\\rtf": "a text document, not a table",
    b"<!doctype": "a web page, not a table",
    b"<html": "a web page, not a table",
    b"<?xml": "XML, not a table",
    b'{"': "JSON; load it in Python and pass the data",
    b"[{": "JSON; load it in Python and pass the data",
    b"[[": "JSON; load it in Python and pass the data",
}


@dataclass(frozen=True)
class Content:
    """An unpacked file that can be opened again and again.

    Parameters
    ----------
    name : str
        For messages.
    kind : {"text", "parquet", "excel"}
    open : Opener
    """

    name: str
    kind: str
    open: Opener


def open_content(path: Path) -> Content:
    """Return what is in a file: packed files are looked into, names are not trusted."""
    place = repr(str(path))
    place = place if len(place) <= LONGEST_PATH else f"'…{place[-LONGEST_PATH:]}"
    with refusing_damage(path.name):
        if path.is_dir():
            raise InputError(f"{place} is a folder; give the path of a file.")
        if path.is_symlink() and not path.exists():
            raise InputError(f"{place} is a link to a file that is not there, or to itself.")
        if not path.exists():
            raise InputError(f"There is no file {place}.")
        if not path.is_file():
            raise InputError(f"{place} is not an ordinary file.")
        return _unpacked(path.name, lambda: path.open("rb"))


@contextmanager
def refusing_damage(name: str) -> Iterator[None]:
    """Turn whatever a damaged or locked file raises into one sentence."""
    try:
        yield
    except PermissionError:
        raise InputError(f"{shown(name)} may not be read: permission denied.") from None
    except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile):
        raise InputError(f"{shown(name)} is damaged and cannot be unpacked.") from None
    except (RuntimeError, NotImplementedError):  # what zipfile says of passwords and methods
        raise InputError(
            f"{shown(name)} is locked with a password or packed in an unknown way."
        ) from None
    except OSError as error:
        reason = error.strerror or "it is damaged"
        raise InputError(f"{shown(name)} cannot be read: {reason}.") from None


def _unpacked(name: str, opener: Opener, packed: bool = False) -> Content:
    with opener() as stream:
        head = stream.read(64)
    if not head:
        raise InputError(f"{shown(name)} is empty.")
    for packing, magic in ((gzip, b"\x1f\x8b"), (bz2, b"BZh"), (lzma, b"\xfd7zXZ\x00")):
        if head.startswith(magic):
            if packed:
                raise InputError(f"{shown(name)} is packed twice; unpack it first.")
            return _unpacked(name, partial(_opened, packing, opener), True)
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        return _from_zip(name, opener, packed)
    if head.startswith(b"PAR1"):
        return Content(name, "parquet", opener if not packed else lambda: in_memory(name, opener))
    for magic, what in UNREADABLE.items():
        if head.lstrip().lower().startswith(magic.lower()):
            raise InputError(f"{shown(name)} is {what}.")
    return Content(name, "text", opener)


@contextmanager
def _opened(packing: Any, opener: Opener) -> Iterator[Any]:
    with opener() as packed, packing.open(packed, "rb") as stream:
        yield stream


@contextmanager
def _opened_member(member: str, opener: Opener) -> Iterator[Any]:
    with opener() as packed, zipfile.ZipFile(packed) as archive, archive.open(member) as stream:
        yield stream


def _from_zip(name: str, opener: Opener, packed: bool) -> Content:
    with opener() as stream, zipfile.ZipFile(stream) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
    if sum(member.file_size for member in members) > MOST_BYTES:
        raise InputError(f"{shown(name)} holds more than 1 GiB unpacked; take some of the rows.")
    names = [member.filename for member in members]
    if "xl/workbook.xml" in names:
        return Content(name, "excel", opener if not packed else lambda: in_memory(name, opener))
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise InputError(f"{shown(name)} is an office document; save the table as .xlsx or CSV.")
    if packed:
        raise InputError(f"{shown(name)} is packed twice; unpack it first.")
    names = [each for each in names if not _is_hidden(each)]
    tables = [each for each in names if each.lower().endswith(TABLE_SUFFIXES)] or names
    if not tables:
        raise InputError(f"{shown(name)} holds no file.")
    if len(tables) > 1:
        raise InputError(
            f"{shown(name)} holds {counted(len(tables), 'file')} ({listed(tables, 3)}); "
            "unpack it and give one of them."
        )
    return _unpacked(name, partial(_opened_member, tables[0], opener), True)


def _is_hidden(name: str) -> bool:
    return name.startswith("__MACOSX") or PurePosixPath(name).name.startswith(".")


def in_memory(name: str, opener: Opener) -> io.BytesIO:
    """Return the whole stream, for readers that must jump about in it."""
    with refusing_damage(name), opener() as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError(f"{shown(name)} holds more than 1 GiB unpacked; take some of the rows.")
    return io.BytesIO(data)
