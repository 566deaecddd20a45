"""A table from a file in which there is nothing to predict."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from mercer.tables._assemble import note_gaps
from mercer.tables._columns import clean_columns
from mercer.tables._left_out import identifiers, moments, naming, useless
from mercer.tables._options import Options, column
from mercer.tables._raw import RawTable, check_size
from mercer.tables._read_raw import read_raw
from mercer.tables.errors import InputError, listed, shown
from mercer.tables.table import Table

TASK = "description"
"""What is done with rows that have no target."""


def read_unlabelled(
    path: Any,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    drop: Iterable[str] = (),
    categorical: Iterable[str] = (),
    dates: bool = False,
) -> Table:
    """Read a table without a target, with the care of `read_table`; no row is left out.

    Parameters
    ----------
    path, encoding, separator, header, drop, categorical
        As for `read_table`.
    dates : bool, default=False
        Whether columns that tell when a row was are features: dates, and numbers of a clock. If
        not, they are among the `names` of the rows: to what is learned from past dates, all later
        ones are unusual.

    See Also
    --------
    as_unlabelled : The same of a data frame.

    Returns
    -------
    Table
        Its task is "description", and its target is missing in every row.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer.tables import read_unlabelled
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "parts.csv"
    ...     _ = path.write_text("id,size,unit\\n1,1.5,cm\\n2,-,cm\\n3,2.5,cm\\n4,2,cm\\n5,1,cm\\n")
    ...     table = read_unlabelled(path)
    >>> table.frame["size"].tolist(), table.left_out
    ([1.5, nan, 2.5, 2.0, 1.0], {'unit': 'the same value in every row', 'id': 'it counts the rows'})
    >>> table.names["id"].tolist()
    [1, 2, 3, 4, 5]
    """
    path = Path(path)
    options = features_only(drop, categorical)
    form: dict[str, Any] = {"encoding": encoding, "separator": separator, "header": header}
    raw = read_raw(path, **form, target=None, text_columns=options.text_columns)
    given = f"{str(path)!r}{', dates=True' * dates}"
    source = f"from mercer.tables import read_unlabelled\n\ntable = read_unlabelled({given})"
    return unlabelled(raw, options, dates, (path.stem, source, shown(path.name)))


def features_only(drop: Iterable[str], categorical: Iterable[str]) -> Options:
    """Return options of a table without a target, whose form is right."""
    return Options.checked(
        **{"target": None, "task": None, "drop": drop, "categorical": categorical},
        **{"positive": None, "groups": None, "time": None},
    )


def unlabelled(raw: RawTable, options: Options, dates: bool, words: tuple[str, str, str]) -> Table:
    """Return the table of all rows, with a word for whatever is changed.

    Parameters
    ----------
    raw : RawTable
    options : Options
    dates : bool
        Whether dates are features.
    words : tuple of str
        Name and source of the table, and how messages call the data.
    """
    name, source, where = words
    notices, frame = list(raw.notices), raw.frame.reset_index(drop=True)
    check_size(*frame.shape)
    if raw.target is not None:
        notices.append("The target that the file has is left alone.")
    names = [column(each, list(frame.columns), "categorical") for each in options.categorical]
    left_out = {column(each, list(frame.columns), "drop"): "asked for" for each in options.drop}
    whole, frame = frame, frame.drop(columns=list(left_out))
    frame = clean_columns(frame, [name for name in names if name in frame], notices)
    frame = _without(frame, (names, dates), left_out, notices, where)
    note_gaps(frame, notices, "become the median of the column")
    nothing = pd.Series(None, frame.index, dtype=object, name="target")
    told: dict[str, Any] = {"notices": tuple(notices), "left_out": left_out, "source": source}
    return Table(name, frame, nothing, TASK, **told, names=whole[naming(left_out)])


def _without(
    frame: pd.DataFrame,
    chosen: tuple[list[str], bool],
    left_out: dict[str, str],
    notices: list[str],
    where: str,
) -> pd.DataFrame:
    """Return the frame without columns that say nothing, or only name or date the rows."""
    categorical, dates = chosen
    found = useless(frame)
    rest = frame.drop(columns=list(found))
    named = identifiers(rest, pd.Series(dtype=object), TASK)
    named = ({} if dates else moments(rest)) | named
    named = {name: reason for name, reason in named.items() if name not in categorical}
    if named and len(named) == rest.shape[1]:
        notices.append(
            f"{listed(named)} may only name the rows, but nothing else is there to describe."
        )
        named = {}
    by_reason: dict[str, list[str]] = {}
    for name, reason in {**found, **named}.items():
        left_out[name] = reason
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        notices.append(f"Column{'s' * (len(names) > 1)} {listed(names)} left out: {reason}.")
    rest = rest.drop(columns=list(named))
    if not rest.shape[1]:
        raise InputError(f"No column of {where} differs between rows ({listed(left_out)}).")
    return rest
