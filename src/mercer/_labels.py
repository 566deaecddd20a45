"""Labels as positions among known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d


def need_two_classes(n_classes: int, more: str = "") -> None:
    """Refuse data of a single class, or of none.

    Examples
    --------
    >>> need_two_classes(1)
    Traceback (most recent call last):
    ...
    ValueError: A classifier needs at least two classes; got 1 class with weight above 0.
    """
    if n_classes < 2:
        raise ValueError(
            f"A classifier needs at least two classes; got {n_classes} "
            f"class{'es' if n_classes != 1 else ''} with weight above 0{more}."
        )


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
