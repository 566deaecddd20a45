"""A table as it was found: columns with names, cells not yet judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from mercer.tables.errors import InputError, counted

MOST_CELLS = 100_000_000
"""As numbers they take 0.8 GB, and a comparison holds several copies."""


@dataclass(frozen=True)
class RawTable:
    """A frame with unique names (str), and what was said on the way to it.

    `target` is there where the format or the caller holds it beside the features.
    """

    frame: pd.DataFrame
    notices: list[str] = field(default_factory=list)
    target: pd.Series | None = None


def check_size(rows: int, columns: int) -> None:
    """Refuse what does not fit into memory, before it is made."""
    if rows * columns > MOST_CELLS:
        raise InputError(
            f"{counted(rows, 'row')} of {counted(columns, 'column')} are more than "
            f"{MOST_CELLS:,} cells; take some of the rows."
        )


def frame_of_matrix(matrix: Any, names: list[str] | None = None) -> pd.DataFrame:
    """Return a matrix, sparse ones filled up, as a frame with columns c1, c2, …."""
    check_size(*matrix.shape)
    dense = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    return pd.DataFrame(dense, columns=names or [f"c{k + 1}" for k in range(dense.shape[1])])
