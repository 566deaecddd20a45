"""What estimators are given: parameters, labels, weights."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from mercer._sklearn import check_sample_weight


class RememberedParameters:
    """A mixin for estimators that are made, copied and fitted thousands of times.

    scikit-learn reads the signature of the constructor whenever parameters are asked for, which
    takes longer than a small fit.
    """

    _parameter_names: ClassVar[Any]

    @classmethod
    def _get_param_names(cls) -> Any:
        if "_parameter_names" not in cls.__dict__:
            cls._parameter_names = super()._get_param_names()  # type: ignore[misc]
        return cls._parameter_names


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


def checked_weights(sample_weight: Any, X: Any) -> Any:
    """Return one weight for each row: none negative, not all 0.

    Examples
    --------
    >>> checked_weights(None, np.zeros((3, 1)))
    array([1., 1., 1.])
    """
    if sample_weight is None:
        return np.ones(X.shape[0])
    weights = check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError("sample_weight must not be negative.")
    if not weights.any():
        raise ValueError("sample_weight must be above 0 for at least one row.")
    return weights
