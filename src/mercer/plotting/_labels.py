"""Labels as positions in the list of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._inputs import class_codes

Codes = NDArray[np.int64]


def codes_of(labels: Any, classes: Any, n_rows: int) -> Codes:
    """Return the position of each label in the classes, which need not be sorted."""
    order = np.argsort(classes, kind="stable")
    codes = order[class_codes(labels, np.asarray(classes)[order])]
    if codes.size != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {codes.size}.")
    return codes
