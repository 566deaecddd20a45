"""Any file that holds a table, as it was found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mercer.tables._content import open_content
from mercer.tables._delimited import read_delimited
from mercer.tables._dialect import find_dialect
from mercer.tables._encoding import find_encoding
from mercer.tables._options import find_column
from mercer.tables._other_kinds import (
    looks_like_svmlight,
    read_excel,
    read_parquet,
    read_svmlight,
)
from mercer.tables._raw import RawTable

SVMLIGHT_SUFFIXES = (".svm", ".libsvm", ".svmlight")


def read_raw(
    path: Path,
    *,
    encoding: str | None,
    separator: str | None,
    header: bool | None,
    target: object,
    text_columns: Callable[[list[str]], list[str]],
) -> RawTable:
    """Read a file by what it holds, whatever it is called.

    Parameters
    ----------
    path : Path
    encoding, separator, header
        What the caller knows better than the file, or None.
    target : object
        A name that stands in the first line makes it a header; its column may hold numbers.
    text_columns : callable
        Given all names, returns those of columns whose cells must stay as they are written.
    """
    content = open_content(path)
    if content.kind == "parquet":
        return read_parquet(content)
    if content.kind == "excel":
        return read_excel(content, header, target)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    named = any(suffix in SVMLIGHT_SUFFIXES for suffix in suffixes[-2:])
    spelling = find_encoding(content, encoding)
    if named or (separator is None and looks_like_svmlight(spelling.sample)):
        return read_svmlight(content)
    dialect = find_dialect(spelling, content.name, separator, header, target)
    texts = text_columns(dialect.names)
    quantity = find_column(target, dialect.names)  # a target is text only until it is judged
    return read_delimited(content, spelling, dialect, texts, [n for n in texts if n != quantity])
