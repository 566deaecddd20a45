"""The file as a whole: an archive of plain members, sealed by a checksum at its very end.

Members are stored as they are, never packed, so that none can be larger than the file. The seal is
the comment of the zip archive, so that it is checked before anything of the archive is read.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from mercer.persistence.errors import ModelFileError, RefusalError

SEAL = b"mercer model, sha256 "
DIGITS = 64
HEADER, SCHEMA = "mercer.json", "schema.json"
ARRAY = re.compile(r"[0-9]{1,9}\.np[yz]")
CHUNK = 2**20

MEMBER_PER_ENTRY = 4
"""Bytes of a file for each byte of its list of members; an array of one number has 214 for 51."""

_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")


def is_array(name: str) -> bool:
    """Return whether a member of this name is an array."""
    return ARRAY.fullmatch(name) is not None


def sealed(members: Mapping[str, bytes]) -> memoryview:
    """Return the bytes of an archive with these members; the same members give the same bytes."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(ZipInfo(name), content)  # of 1980, so that time plays no part
        archive.comment = SEAL + b"0" * DIGITS
    view = buffer.getbuffer()
    view[-DIGITS:] = hashlib.sha256(view[:-DIGITS]).hexdigest().encode()
    return view


@contextmanager
def opened(path: Any) -> Iterator[tuple[BinaryIO, ZipFile]]:
    """Open the archive once its seal is found whole and its members are what they may be."""
    name = repr(str(path))
    if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would wait for ever
        raise ModelFileError(f"{name} is not a file.")
    with Path(path).open("rb") as file:
        _check_seal(file, name)
        size = os.fstat(file.fileno()).st_size
        try:
            check_directory(file, size, len(SEAL) + DIGITS, (size + 2**12) // MEMBER_PER_ENTRY)
            with ZipFile(file) as archive:
                _check_members(archive, size)
                yield file, archive
        except (BadZipFile, NotImplementedError, EOFError) as error:
            raise RefusalError(f"its parts do not fit together ({error})") from None


def _check_seal(file: BinaryIO, name: str) -> None:
    size = os.fstat(file.fileno()).st_size
    start = file.read(2)
    if start[:1] == b"\x80":
        raise ModelFileError(
            f"{name} looks like a pickle, which can run any code when it is read; "
            "mercer.load takes what mercer.save wrote."
        )
    length = len(SEAL) + DIGITS
    file.seek(max(0, size - length))
    seal = file.read(length)
    if start != b"PK" or not seal.startswith(SEAL) or len(seal) != length:
        raise ModelFileError(f"{name} is no model that mercer.save wrote, or not the whole of one.")
    if seal[len(SEAL) :] != checksum(file, size - DIGITS).encode():
        raise ModelFileError(
            f"{name} is damaged: its contents do not agree with its checksum; get it anew."
        )


def checksum(file: BinaryIO, size: int) -> str:
    """Return the SHA-256 of the first bytes of a file."""
    digest = hashlib.sha256()
    file.seek(0)
    left = size
    while left > 0 and (chunk := file.read(min(CHUNK, left))):
        digest.update(chunk)
        left -= len(chunk)
    return digest.hexdigest()


def check_directory(file: BinaryIO, size: int, after: int, longest: int) -> None:
    """Refuse an archive whose list of members is longer than its members can make it.

    ZipFile makes an object of some 450 bytes for each entry of 50 before anyone can look at them.

    Parameters
    ----------
    file : binary file
    size : int
        Its length.
    after : int
        Bytes after the record at the end of the archive, its comment.
    longest : int
        Bytes that the list may have.
    """
    place = size - after - _END.size
    file.seek(max(0, place - _LOCATOR.size - _END_64.size))
    tail = file.read(_END_64.size + _LOCATOR.size + _END.size)
    end = tail[-_END.size :]
    # ZipFile goes by the last place that looks like a record
    whole = len(tail) == _END_64.size + _LOCATOR.size + _END.size
    if not whole or end.rfind(b"PK\5\6") != 0 or _END.unpack(end)[-1] != after:
        raise RefusalError("it does not end as an archive does")
    length = _END.unpack(end)[5]
    if tail[_END_64.size :][:4] == b"PK\6\7":  # of more than 4 GiB or 65535 members
        _, _, start, _ = _LOCATOR.unpack(tail[_END_64.size : -_END.size])
        if tail[:4] != b"PK\6\6" or start != place - _LOCATOR.size - _END_64.size:
            raise RefusalError("it does not end as an archive does")
        length = _END_64.unpack(tail[: _END_64.size])[8]
    file.seek(0)
    if length > longest:
        raise RefusalError("its list of parts is too long for them")


def _check_members(archive: ZipFile, file_size: int) -> None:
    """Refuse what the writer never makes: packed, hidden, repeated or overlapping members."""
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(set(names)) != len(names):
        raise RefusalError("a part of it is there twice")
    if not {HEADER, SCHEMA} <= set(names):
        raise RefusalError("a part of it is missing")
    for member in members:
        if member.filename not in (HEADER, SCHEMA) and not is_array(member.filename):
            raise RefusalError(f"it has a part of a strange name, {member.filename[:40]!r}")
        if member.compress_type != ZIP_STORED or member.compress_size != member.file_size:
            raise RefusalError("it has packed parts, which could grow beyond all bounds")
        if member.flag_bits & 0x1:
            raise RefusalError("it is encrypted")
    if sum(member.file_size for member in members) > file_size:
        raise RefusalError("its parts claim more bytes than the file has")
