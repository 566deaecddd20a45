"""Odd and damaged inputs with fixed seeds: how each is made, and what must come of it.

A case writes a file (or returns data for `as_table`) and names either a part of the sentence with
which it is refused, or a check of the table that is made of it, or None where chance decides
between the two.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Check = Callable[[Any], None]


@dataclass(frozen=True)
class Case:
    name: str
    file: str
    content: Callable[[], bytes]
    outcome: str | Check | None
    options: dict[str, Any] = field(default_factory=lambda: {"target": "label"})

    def write(self, folder: Path) -> Path:
        path = folder / self.file
        path.write_bytes(self.content())
        return path


# ---- tables with a known content --------------------------------------------------------------


def people(seed: int = 0, rows: int = 40) -> pd.DataFrame:
    """Numbers, whole numbers, names with accents, and two classes."""
    rng = np.random.default_rng(seed)
    towns = ["Köln", "Zürich", "Málaga", "Orléans", "Oslo"]
    return pd.DataFrame(
        {
            "höhe": rng.normal(170, 10, rows).round(2),
            "age": rng.integers(20, 60, rows),
            "town": rng.choice(towns, rows),
            "label": rng.choice(["yes", "no"], rows),
        }
    )


def holds(truth: pd.DataFrame, named: bool = True) -> Check:
    """The table has exactly these features and classes."""

    def check(table: Any) -> None:
        expected = truth if named else truth.set_axis([f"c{k + 1}" for k in range(4)], axis=1)
        features = expected.iloc[:, :-1]
        assert list(table.frame.columns) == list(features.columns), table.left_out
        for name in features.columns:
            column = features[name]
            if pd.api.types.is_numeric_dtype(column):
                np.testing.assert_allclose(table.frame[name], column.astype(float))
            else:
                assert table.frame[name].tolist() == column.tolist()
        assert table.target.tolist() == expected.iloc[:, -1].tolist()

    return check


def written(truth: pd.DataFrame, encoding: str = "utf-8", **options: Any) -> bytes:
    return truth.to_csv(index=False, **options).encode(encoding)


def packed(data: bytes, packing: str) -> bytes:
    if packing == "zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("people.csv", data)
        return buffer.getvalue()
    return {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[packing](data)


def parquet(truth: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    truth.to_parquet(buffer, index=False)
    return buffer.getvalue()


def excel(truth: pd.DataFrame, **options: Any) -> bytes:
    buffer = io.BytesIO()
    truth.to_excel(buffer, index=False, **options)
    return buffer.getvalue()


def spellings() -> list[Case]:
    """Separators, encodings, packings and line ends: all are understood."""
    cases = []
    separators = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "tilde": "~"}
    encodings = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252")
    for seed, (word, separator) in enumerate(separators.items()):
        truth = people(seed)
        for encoding in encodings:
            data = written(truth, encoding, sep=separator)
            cases.append(Case(f"{word} {encoding}", "people.csv", lambda d=data: d, holds(truth)))
    for seed, packing in enumerate(("gz", "bz2", "xz", "zip")):
        truth = people(seed + 10)
        for word, end in {"lf": "\n", "crlf": "\r\n", "cr": "\r"}.items():
            data = packed(written(truth, lineterminator=end), packing)
            name = f"people.csv.{packing}"
            cases.append(Case(f"{packing} {word}", name, lambda d=data: d, holds(truth)))
    for seed in range(4):
        truth = people(seed + 20)
        for separator in ";\t":
            data = written(truth, sep=separator, decimal=",")
            name = f"decimal comma {separator!r} {seed}"
            cases.append(Case(name, "people.csv", lambda d=data: d, holds(truth)))
        bare = written(truth, header=False)
        options = {"target": -1} if seed % 2 else {"target": "c4"}
        cases.append(
            Case(f"no header {seed}", "people.csv", lambda d=bare: d, holds(truth, False), options)
        )
        spaced = written(truth, sep=" ")
        cases.append(Case(f"spaces {seed}", "people.txt", lambda d=spaced: d, holds(truth)))
        quoted = written(truth, quoting=1)
        cases.append(Case(f"quoted {seed}", "people.csv", lambda d=quoted: d, holds(truth)))
    return cases


def other_kinds() -> list[Case]:
    """Parquet and Excel, and names that lie about what is in a file."""
    truth = people(30)
    makers = {
        "csv": lambda: written(truth),
        "parquet": lambda: parquet(truth),
        "xlsx": lambda: excel(truth),
        "csv.gz": lambda: packed(written(truth), "gz"),
        "csv.zip": lambda: packed(written(truth), "zip"),
    }
    return [
        Case(f"{kind} called {suffix}", f"people.{suffix}", make, holds(truth))
        for kind, make in makers.items()
        for suffix in makers
    ]


# ---- damage by chance -------------------------------------------------------------------------


def damaged() -> list[Case]:
    """Bytes changed, cut off or put in by chance: a sound table or one sentence."""
    cases = []
    for seed in range(8):
        rng = np.random.default_rng(100 + seed)
        data = written(people(seed))
        made = {
            "bytes changed": _changed(data, rng, 5),
            "many bytes changed": _changed(data, rng, 200),
            "cut off": data[: rng.integers(1, len(data))],
            "lines cut": _ragged(data, rng, longer=False),
            "a quotation mark": _inserted(data, rng, b'"'),
            "chance": rng.bytes(2000),
            "printable chance": bytes(rng.integers(32, 127, 2000).astype(np.uint8)),
        }
        cases += [
            Case(f"{what} {seed}", "people.csv", lambda d=changed: d, None)
            for what, changed in made.items()
        ]
        longer = _ragged(data, rng, longer=True)
        cases.append(Case(f"lines too long {seed}", "people.csv", lambda d=longer: d, "values"))
        zero = _inserted(data, rng, b"\x00")
        cases.append(Case(f"a zero byte {seed}", "people.csv", lambda d=zero: d, "not text"))
    for packing in ("gz", "bz2", "xz", "zip"):
        for seed in range(4):
            rng = np.random.default_rng(200 + seed)
            whole = packed(written(people(seed, 400)), packing)
            cut = whole[: rng.integers(len(whole) // 4, len(whole) - 30)]
            name = f"people.csv.{packing}"
            cases.append(Case(f"{packing} cut off {seed}", name, lambda d=cut: d, "people.csv"))
            changed = _changed(whole, rng, 20, first=40)
            cases.append(Case(f"{packing} changed {seed}", name, lambda d=changed: d, None))
    for kind, make in {"parquet": parquet, "xlsx": excel}.items():
        for seed in range(4):
            rng = np.random.default_rng(300 + seed)
            whole = make(people(seed))
            cut = whole[: rng.integers(len(whole) // 4, len(whole) - 30)]
            cases.append(Case(f"{kind} cut off {seed}", f"p.{kind}", lambda d=cut: d, "damaged"))
            changed = _changed(whole, rng, 20, first=40)
            cases.append(Case(f"{kind} changed {seed}", f"p.{kind}", lambda d=changed: d, None))
    return cases


def _changed(data: bytes, rng: Any, count: int, first: int = 0) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(first, len(data), count):
        changed[place] = rng.integers(0, 256)
    return bytes(changed)


def _inserted(data: bytes, rng: Any, what: bytes) -> bytes:
    place = int(rng.integers(30, len(data)))
    return data[:place] + what + data[place:]


def _ragged(data: bytes, rng: Any, longer: bool) -> bytes:
    lines = data.splitlines()
    for place in rng.integers(1, len(lines), 5):
        lines[place] = lines[place] + b",7,8" if longer else lines[place].rsplit(b",", 2)[0]
    return b"\n".join(lines) + b"\n"
