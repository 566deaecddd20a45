"""From a CSV file to numbers and classes, with a notice for whatever is changed on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mercer.cli.tables import Table
from mercer.tables import InputError, suggestion

MOST_CATEGORIES = 50
"""A text column with more different values is a name or a number of the row, not a feature."""

MOST_NUMERIC_CLASSES = 20


def read_csv_file(path: Path, target: str | None) -> Table:
    """Read a CSV file whose column `target` holds the classes.

    Text columns become one column of zeros and ones for each value; constant columns, columns of
    row names and rows without a class are left out. Missing numbers stay NaN.

    Parameters
    ----------
    path : Path
    target : str or None

    Returns
    -------
    Table
    """
    frame = _read(path)
    target = _check_target(frame, target, path)
    notices: list[str] = []
    frame = _with_class(frame, target, notices)
    labels = _labels(frame.pop(target), target)
    frame = _without_row_numbers(frame, notices)
    frame = _encode_text(frame, notices)
    names = np.array(frame.columns, dtype=str)
    X = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    varies = _varying(X, names, notices)
    X, names = X[:, varies], names[varies]
    if not names.size:
        raise InputError(f"{path.name} has no column left to learn from besides {target!r}.")
    _check_finite(X, names)
    _note_shape(X, notices)
    return Table(path.stem, X, labels, names.tolist(), tuple(notices))


def _read(path: Path) -> Any:
    import pandas as pd

    options: dict[str, Any] = {"skipinitialspace": True, "na_values": ["?"], "low_memory": False}
    try:
        header = list(pd.read_csv(path, nrows=0, **options).columns)
        separator = next((s for s in (";", "\t") if len(header) == 1 and s in header[0]), ",")
        decimals = ".," if separator == ";" else "."
        readings = [pd.read_csv(path, sep=separator, decimal=d, **options) for d in decimals]
    except pd.errors.EmptyDataError:
        raise InputError(f"{path.name} is empty.") from None
    except pd.errors.ParserError as error:
        reason = str(error).split("C error: ")[-1].strip()
        raise InputError(f"{path.name} is not a table: {reason}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not text in UTF-8.") from None
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}.") from None
    frame = max(readings, key=lambda reading: reading.select_dtypes("number").shape[1])
    if not len(frame):
        raise InputError(f"{path.name} has column names but no rows.")
    return frame.rename(columns=lambda name: str(name).strip())


def _check_target(frame: Any, target: str | None, path: Path) -> str:
    names = list(frame.columns)
    some = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    if target is None:
        raise InputError(
            f"Say with --target which column of {path.name} holds the classes (it has {some})."
        )
    if target not in names:
        hint = suggestion(target, names)
        hint = f" (it has {some})." if hint == "." else hint
        raise InputError(f"{path.name} has no column {target!r}{hint}")
    return target


def _with_class(frame: Any, target: str, notices: list[str]) -> Any:
    known = frame[target].notna()
    if not known.any():
        raise InputError(f"Column {target!r} is empty, so that there are no classes.")
    if not known.all():
        notices.append(f"{_count((~known).sum(), 'row')} without a class left out.")
    return frame[known].copy()


def _labels(column: Any, target: str) -> Any:
    from pandas.api.types import is_bool_dtype, is_float_dtype

    n_values = column.nunique()
    if is_float_dtype(column) and not is_bool_dtype(column):
        if (column % 1 == 0).all():
            column = column.astype("int64")
        elif n_values > MOST_NUMERIC_CLASSES:
            raise InputError(
                f"Column {target!r} holds {n_values} different numbers, not classes; "
                "choose another --target or group the numbers first."
            )
    return column.astype(str).to_numpy(dtype=str)


def _without_row_numbers(frame: Any, notices: list[str]) -> Any:
    """Leave out the nameless column that counts rows: in sorted data it betrays the class."""
    first = frame.columns[0] if frame.shape[1] else ""
    if first.startswith("Unnamed") and frame[first].is_unique:
        notices.append("The first column has no name and numbers the rows; left out.")
        return frame.drop(columns=first)
    return frame


def _encode_text(frame: Any, notices: list[str]) -> Any:
    import pandas as pd

    is_number = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    text = [name for name, number in zip(frame.columns, is_number) if not number]
    counts = {name: frame[name].nunique() for name in text}
    limit = min(MOST_CATEGORIES, len(frame) - 1)
    names = [name for name in text if counts[name] > limit]
    if names:
        notices.append(f"{_listed('Text column', names)} left out: too many different values.")
    encoded = [name for name in text if counts[name] <= limit]
    if encoded:
        notices.append(f"{_listed('Text column', encoded)} turned into one 0/1 column per value.")
    frame = frame.drop(columns=names)
    if not encoded:
        return frame
    return pd.get_dummies(frame, columns=encoded, prefix_sep="=", dtype=float)


def _varying(X: Any, names: Any, notices: list[str]) -> Any:
    """Return which columns hold at least two different numbers."""
    lowest = np.where(np.isnan(X), np.inf, X).min(axis=0, initial=np.inf)
    highest = np.where(np.isnan(X), -np.inf, X).max(axis=0, initial=-np.inf)
    varies = lowest < highest
    constant = names[~varies].tolist()
    if constant:
        notices.append(f"{_listed('Column', constant)} left out: the same value in every row.")
    return varies


def _check_finite(X: Any, names: Any) -> None:
    infinite = np.isinf(X).any(axis=0)
    if infinite.any():
        raise InputError(f"Column {str(names[infinite.argmax()])!r} holds infinite numbers.")


def _note_shape(X: Any, notices: list[str]) -> None:
    missing = np.isnan(X)
    if missing.any():
        notices.append(
            f"{_count(missing.sum(), 'missing number')} in "
            f"{_count(missing.any(axis=0).sum(), 'column')} replaced, fold by fold, by the median "
            "of the training rows."
        )
    if X.shape[1] > X.shape[0]:
        notices.append(
            f"More columns ({X.shape[1]}) than rows ({X.shape[0]}): the errors are uncertain; "
            "raise --repeats."
        )


def _count(number: Any, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(noun: str, names: list[str]) -> str:
    """Return for instance "Columns 'a', 'b' and 5 more"."""
    shown = ", ".join(repr(name) for name in names[:4])
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"{noun}{'s' * (len(names) != 1)} {shown}{more}"
