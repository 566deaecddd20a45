"""Batches of rows from Parquet, Arrow and CSV files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np


class ArrowBatches:
    """Rows of a file or a folder of files, some at a time.

    What is read is what pyarrow reads: Parquet, Arrow (Feather) and CSV files, and folders of them.
    Columns to learn from hold numbers, whole or not, or yes and no; no value is missing.

    Parameters
    ----------
    source : str or Path
        File or folder.
    target : str
        The column to learn.
    columns : list of str or None, default=None
        The columns to learn from; None is all others.
    sample_weight : str or None, default=None
        A column of weights.
    n_rows : int, default=65536
        Rows of a batch at most, 1 or more.
    format : str or None, default=None
        "parquet", "ipc", "feather" or "csv"; None is what the file's name ends with, and of a
        folder "parquet".

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from mercer import NystroemSVC
    >>> from mercer.lowrank import ArrowBatches
    >>> frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "kind": ["a", "a", "b", "b"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame.to_parquet(f"{folder}/rows.parquet")
    ...     batches = ArrowBatches(f"{folder}/rows.parquet", "kind", n_rows=2)
    ...     model = NystroemSVC(C=10.0).fit_batches(batches)
    >>> model.predict(pd.DataFrame({"size": [1.5, 3.5]})).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        source: str | Path,
        target: str,
        *,
        columns: list[str] | None = None,
        sample_weight: str | None = None,
        n_rows: int = 65_536,
        format: str | None = None,
    ) -> None:
        self.source, self.target, self.sample_weight = Path(source), target, sample_weight
        self.n_rows = n_rows
        self.data = _opened(self.source, format)
        names = self.data.schema.names
        beside = {target, sample_weight}
        if isinstance(columns, str):
            raise TypeError(f"columns must be a list of names; got {columns!r}.")
        if n_rows < 1:
            raise ValueError(f"n_rows must be at least 1; got {n_rows}.")
        self.columns = (
            [name for name in names if name not in beside] if columns is None else list(columns)
        )
        self._check(names)

    def _check(self, names: list[str]) -> None:
        extra = [self.sample_weight] if self.sample_weight else []
        wanted = [*self.columns, self.target, *extra]
        for name in wanted:
            if name not in names:
                raise ValueError(f"{self.source} has no column {name!r}; it has {names}.")
            if wanted.count(name) > 1 or names.count(name) > 1:
                raise ValueError(f"Column {name!r} of {self.source} is named twice.")
        for name in (*self.columns, *extra):
            kind = self.data.schema.field(name).type
            if not _is_number(kind):
                raise ValueError(
                    f"Column {name!r} of {self.source} holds no numbers ({kind}); turn it into "
                    "some, or name the others by columns."
                )

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield X, y and, where there are any, weights."""
        extra = [self.sample_weight] if self.sample_weight else []
        wanted = [*self.columns, self.target, *extra]
        for batch in self.data.to_batches(columns=wanted, batch_size=self.n_rows):
            table = {name: self._array(batch, name) for name in wanted}
            X = np.empty((batch.num_rows, len(self.columns)))
            for place, name in enumerate(self.columns):
                X[:, place] = table[name]
            yield X, table[self.target], *(table[name] for name in extra)

    def _array(self, batch: Any, name: str) -> Any:
        """Return the numbers or words of a column."""
        column = batch.column(name)
        if column.null_count:
            raise ValueError(
                f"Column {name!r} of {self.source} has missing values; fill them in, or leave out "
                "these rows."
            )
        return column.to_numpy(zero_copy_only=False)


def _opened(source: Path, kind: str | None) -> Any:
    try:
        from pyarrow import dataset
    except ImportError:
        raise ImportError("ArrowBatches needs pyarrow; pip install pyarrow brings it.") from None
    ending = source.suffix.lstrip(".").lower()
    known = {"": "parquet", "parquet": "parquet", "csv": "csv"}
    return dataset.dataset(source, format=kind or known.get(ending, "ipc"))


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    return any(test(kind) for test in tests)
