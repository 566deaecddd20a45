"""Inputs at the edge of what memory and patience allow."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import Any

import numpy as np
from odd_inputs import Case


def long_line(mebibytes: int = 1024) -> bytes:
    """Return a gz file with one line of a GiB, made of many members one after another."""
    return gzip.compress(b"a" * (16 << 20)) * (mebibytes // 16)


def _wide(rows: int = 12, columns: int = 10_000) -> bytes:
    rng = np.random.default_rng(0)
    lines = [",".join([*(f"v{k}" for k in range(columns)), "label"])]
    for k in range(rows):
        lines.append(",".join([*map(str, rng.normal(size=columns).round(3)), "xy"[k % 2]]))
    return "\n".join(lines).encode()


def _long_names() -> bytes:
    return (
        ",".join(f"{'a long story ' * 9}{k}" for k in range(9)).encode() + b"\n1,2,3,4,5,6,7,8,9\n"
    )


def _has_ten_thousand(table: Any) -> None:
    assert table.frame.shape == (12, 10_000)
    assert table.class_counts() == {"x": 6, "y": 6}
    assert any("More columns (10,000) than rows (12)" in notice for notice in table.notices)


def _zip_of_zeros() -> bytes:
    """Return an archive that says it holds 2 GiB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"1,2\n" * 1000)
    data = bytearray(buffer.getvalue())
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = (2 << 30).to_bytes(4, "little")
    return bytes(data)


def cases() -> list[Case]:
    rows = b"1.5,x\n2.5,y\n" * 3
    late = gzip.compress(b"a,label\n" + rows) + long_line(32)
    return [
        Case("a line of 1 GiB", "a.csv.gz", long_line, "a line of more than 16 MiB"),
        Case("a long line later", "a.csv.gz", lambda: late, "a line of more than 16 MiB"),
        Case("an archive of 2 GiB", "a.zip", _zip_of_zeros, "more than 1 GiB"),
        Case("10,000 columns", "a.csv", _wide, _has_ten_thousand),
        Case("a long cell", "a.csv", lambda: b"a,label\n" + b"z" * 200_000 + b",x\n", "characters"),
        Case("long name", "a.csv", lambda: b"q" * 5000 + b",b\n1,x\n2,y\n", "no column 'label'"),
        Case("many long names", "a.csv", _long_names, "no column 'label'"),
        Case(
            "signs that take room", "a.csv", lambda: b"\x01" * 99 + b",b\n1,x\n2,y\n", "no column"
        ),
        Case("many columns", "a.csv", lambda: b"," * 9_999 + b"\n" + rows, "."),
        Case(
            "svmlight with a far index",
            "a.svm",
            lambda: b"1 1:1 2000000000:1\n0 1:2 3:1\n",
            "more than 100,000,000 cells",
            {},
        ),
        Case("svmlight without form", "a.svm", lambda: b"a,b\n1,2\n", "svmlight's format", {}),
        Case("svmlight with index 0 twice", "a.svm", lambda: b"1 0:1 0:1\n0 1:2\n", ".", {}),
    ]
