"""Labels as positions among known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d


def class_codes(y: Any, classes: Any) -> NDArray[np.int64]:
    """Return the position of every label in the sorted classes, or name the first strange one.

    Examples
    --------
    >>> class_codes(["b", "a", "b"], np.array(["a", "b"]))
    array([1, 0, 1])
    """
    labels = column_or_1d(y)
    strange = ~np.isin(labels, classes)
    if strange.any():
        raise ValueError(
            f"y holds {labels[strange.argmax()].item()!r}, which is none of the classes of this "
            f"classifier, {classes.tolist()}."
        )
    return np.searchsorted(classes, labels)
