"""A table from a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mercer.tables._assemble import assemble
from mercer.tables._options import Options
from mercer.tables._read_raw import read_raw
from mercer.tables.errors import shown
from mercer.tables.table import Table

PACKED_SUFFIXES = (".gz", ".zip", ".bz2", ".xz")


def read_table(
    path: Any,
    target: str | int | None = None,
    *,
    task: str | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    drop: Iterable[str] = (),
    categorical: Iterable[str] = (),
    positive: Any = None,
    groups: str | None = None,
    time: str | None = None,
) -> Table:
    """Read a table to learn from, as people have it.

    Separator, encoding, decimal sign and header are found out, packed files are looked into, and
    the content counts, not the ending of the name. Numbers such as "1,234" or "12 %" become
    numbers, words such as "-" or "unknown" among numbers become gaps; identifiers, constant
    columns and copies of the target are left out. Whatever is done is told in `Table.notices` and
    `Table.left_out`. No formula or code in a file is ever run.

    Parameters
    ----------
    path : path-like
        Text with separators, Parquet, Excel (.xlsx) or svmlight, also in .gz, .bz2, .xz or .zip.
    target : str or int
        Column to predict: its name, or its place (-1 for the last, "c5" for the fifth).
        svmlight files have their own.
    task : {"classification", "regression"}, default=None
        If None, a target of many different numbers means regression.
    encoding : str, default=None
        Such as "cp1252"; found out if None.
    separator : str, default=None
        One character, "tab" or "space"; found out if None.
    header : bool, default=None
        Whether the first line names the columns; found out if None.
    drop : names of columns, default=()
        To be left out.
    categorical : names of columns, default=()
        Whose numbers are names and not quantities.
    positive : object, default=None
        The class that measures for two classes speak of.
    groups : str, default=None
        Column that tells which rows belong into one fold.
    time : str, default=None
        Column that orders the rows.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        In one sentence, whatever is wrong with the file or the options.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "wages.csv"
    ...     _ = path.write_text("wage;sex;job\\n1,5;f;a\\n-;m;b\\n2,5;f;b\\n2,5;f;a\\n1,5;m;b\\n")
    ...     table = read_table(path, "job")
    >>> table.frame["wage"].tolist(), table.class_counts()
    ([1.5, nan, 2.5, 2.5, 1.5], {'a': 2, 'b': 3})
    >>> table.notices[0]
    "In column 'wage', '-' is taken as missing."
    """
    path = Path(path)
    options = Options.checked(
        **{"target": target, "task": task, "drop": drop, "categorical": categorical},
        **{"positive": positive, "groups": groups, "time": time},
    )
    reading: dict[str, Any] = {"encoding": encoding, "separator": separator, "header": header}
    raw = read_raw(path, **reading, target=target, text_columns=options.text_columns)
    source = _source(path, {**reading, **vars(options)})
    return assemble(raw, options, _stem(path), source, shown(path.name))


def _stem(path: Path) -> str:
    """Return the name of a file without its endings."""
    bare = path.with_suffix("") if path.suffix.lower() in PACKED_SUFFIXES else path
    return bare.stem or "data"


def _source(path: Path, options: dict[str, Any]) -> str:
    given = [f"{name}={value!r}" for name, value in options.items() if value not in (None, ())]
    return (
        "from mercer.tables import read_table\n\n"
        f"table = read_table({', '.join([repr(str(path)), *given])})\n"
        "X, y = table.frame, table.target"
    )
