"""What the arrays of an archive claim to be, compared with the bytes that are there.

NumPy takes the memory that the head of an array asks for before it reads any of it. So every head
is checked against the length of what follows it.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO, cast
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from mercer.persistence._archive import check_directory
from mercer.persistence.errors import RefusalError

LONGEST = 2**31 - 1
"""Rows or columns of an array without any entry, which could claim any number of them."""

SPARSE_PARTS = {"data.npy", "indices.npy", "indptr.npy", "format.npy", "shape.npy"}
FORMATS = (b"csr", b"csc")
LONGEST_DIRECTORY = 2**10
"""Bytes of the list of the six parts of a sparse matrix."""


@dataclass(frozen=True)
class Head:
    """Shape and type of an array; of a sparse one, the shape of the whole and type of the data."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    size: int
    """Bytes in the file."""
    is_sparse: bool = False


def head_of(archive: ZipFile, name: str) -> Head:
    """Return what a member is, or raise RefusalError where its claims and its bytes differ."""
    with archive.open(name) as file:
        return _head(cast(BinaryIO, file), name, archive.getinfo(name).file_size)


def head_in(content: bytes, name: str) -> Head:
    """Return the same of bytes that are to become a member."""
    return _head(io.BytesIO(content), name, len(content))


def _head(file: BinaryIO, name: str, size: int) -> Head:
    return _dense_head(file, size) if name.endswith(".npy") else _sparse_head(file, size)


def _dense_head(file: BinaryIO, size: int) -> Head:
    try:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = read(file)
    except Exception:
        raise RefusalError("the head of an array cannot be read") from None
    if dtype.hasobject:
        raise RefusalError("an array in it holds objects, which only a pickle could")
    if any(not isinstance(n, int) or n < 0 or n > LONGEST for n in shape):
        raise RefusalError(f"an array claims the impossible shape {str(shape)[:60]}")
    if prod(shape) and not dtype.itemsize:
        raise RefusalError("an array claims entries without any bytes")
    there = size - file.tell()
    if prod(shape) * dtype.itemsize != there:
        claimed = " × ".join(str(n) for n in shape)
        raise RefusalError(f"an array claims {claimed} {dtype} numbers, but has {there:,} bytes")
    return Head(shape, dtype, size)


def _sparse_head(file: BinaryIO, size: int) -> Head:
    """Look into the archive of a sparse matrix, whose parts must not be packed either."""
    check_directory(file, size, 0, LONGEST_DIRECTORY)
    with ZipFile(file) as parts:
        members = parts.infolist()
        names = [member.filename for member in members]
        if not set(names) <= SPARSE_PARTS | {"_is_array.npy"} or len(set(names)) != len(names):
            raise RefusalError("a sparse matrix in it has strange parts")
        if not SPARSE_PARTS <= set(names):
            raise RefusalError("a sparse matrix in it has missing parts")
        if any(m.compress_type != ZIP_STORED or m.compress_size != m.file_size for m in members):
            raise RefusalError("a sparse matrix in it is packed")
        if sum(member.file_size for member in members) > size:
            raise RefusalError("the parts of a sparse matrix claim more bytes than it has")
        heads = {name: head_of(parts, name) for name in names}
        form = bytes(_small(parts, heads, "format.npy", ())).strip()
        shape = tuple(int(n) for n in _small(parts, heads, "shape.npy", (2,)))
    if form not in FORMATS:
        raise RefusalError(
            f"a sparse matrix in it has the format {form!r}, which is not csr or csc"
        )
    lines = shape[FORMATS.index(form)]
    entries = heads["data.npy"].shape
    if (
        heads["indptr.npy"].shape != (lines + 1,)
        or heads["indices.npy"].shape != entries
        or len(entries) != 1
        or not all(0 <= n <= LONGEST for n in shape)
        or any(heads[f"{name}.npy"].dtype.kind != "i" for name in ("indices", "indptr"))
    ):
        raise RefusalError("the parts of a sparse matrix in it do not fit together")
    return Head(shape, heads["data.npy"].dtype, size, is_sparse=True)


def _small(parts: ZipFile, heads: dict[str, Head], name: str, shape: tuple[int, ...]) -> Any:
    """Return an array of a few bytes."""
    head = heads[name]
    if head.shape != shape or head.dtype.itemsize > 8 or head.dtype.kind not in "Siu":
        raise RefusalError("the parts of a sparse matrix in it do not fit together")
    found = np.load(io.BytesIO(parts.read(name)), allow_pickle=False)
    return found if shape else found.item()


def unpacked(content: bytes) -> bytes:
    """Return the archive of a sparse matrix with its parts as they are, in a fixed order."""
    buffer = io.BytesIO()
    with ZipFile(io.BytesIO(content)) as packed, ZipFile(buffer, "w", ZIP_STORED) as plain:
        for name in sorted(packed.namelist()):
            plain.writestr(ZipInfo(name), packed.read(name))
    return buffer.getvalue()


def without_gaps(content: bytes) -> bytes:
    """Return an array with zeros between its fields, where whatever was in memory may stand."""
    if head_in(content, ".npy").dtype.names is None:
        return content
    found = np.load(io.BytesIO(content), allow_pickle=False)
    clean = np.zeros(found.shape, found.dtype)
    for name in found.dtype.names:
        clean[name] = found[name]
    buffer = io.BytesIO()
    np.save(buffer, clean, allow_pickle=False)
    return buffer.getvalue()
