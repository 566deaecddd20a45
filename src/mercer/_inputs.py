"""What estimators are given: parameters, labels, weights."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d, validate_data

from mercer._sklearn import check_sample_weight, refuse_dates, validate_parameter_constraints


class RememberedParameters:
    """A mixin for estimators that are made, copied and fitted thousands of times.

    scikit-learn reads the signature of the constructor whenever parameters are asked for, and tests
    every parameter in every fit, which both take longer than a small fit itself. Here the names
    are read once for each class, and values that have passed are not tested again.
    """

    _parameter_names: ClassVar[Any]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    @classmethod
    def _get_param_names(cls) -> Any:
        if "_parameter_names" not in cls.__dict__:
            cls._parameter_names = super()._get_param_names()  # type: ignore[misc]
        return cls._parameter_names

    def _validate_params(self) -> None:
        values = tuple([getattr(self, name) for name in self._get_param_names()])
        kinds = tuple(map(type, values))  # for 1, 1.0 and True are equal
        if _PLAIN_TYPES.issuperset(kinds):
            owner: Any = type(self)
            _test_parameters(owner, values, kinds)
        else:
            super()._validate_params()  # type: ignore[misc]


_PLAIN_TYPES = {bool, int, float, str, type(None), np.float64, np.int64}


@lru_cache(maxsize=256)  # a refusal is an exception, which is not kept
def _test_parameters(owner: Any, values: Any, kinds: Any) -> None:
    named = dict(zip(owner._get_param_names(), values))
    validate_parameter_constraints(owner._parameter_constraints, named, owner.__name__)


def checked_data(model: Any, X: Any, y: Any, *, reset: bool = True, **how: Any) -> Any:
    """Return X and y as scikit-learn's ``validate_data`` does, with the same arguments.

    It takes a tenth of a millisecond, and of data frames more than half of one. Arrays that are
    what it would return need not pay that, nor frames that hold such arrays.
    """
    rows, target = _array_of(X), _array_of(y)
    numeric = how.get("y_numeric", False)
    if _is_plain(rows, how) and _is_plain_target(target, rows.shape[0], numeric):
        _note_columns(model, X, reset)
        return rows, target
    return validate_data(model, X, y, reset=reset, **how)


def checked_rows(model: Any, X: Any, *, reset: bool = False, **how: Any) -> Any:
    """Return X alone in the same way; in a fit, ``reset`` is True."""
    rows = _array_of(X)
    if _is_plain(rows, how):
        _note_columns(model, X, reset)
        return rows
    refuse_dates(X)
    return validate_data(model, X, reset=reset, **how)


def _array_of(given: Any) -> Any:
    """Return the numbers of a pandas frame of float64 or of a pandas series; else what is given."""
    if type(given).__module__.partition(".")[0] != "pandas":
        return given
    kinds = {given.dtype} if given.ndim == 1 else {*given.dtypes}
    if kinds == {np.dtype(np.float64)} or (given.ndim == 1 and kinds <= _WHOLE_NUMBERS):
        return np.ascontiguousarray(given.to_numpy())
    return given


_WHOLE_NUMBERS = {np.dtype(np.int64), np.dtype(np.bool_)}


def _note_columns(model: Any, X: Any, reset: bool) -> None:
    """Keep the number of columns and their names, or compare them with those of the fit."""
    if type(X) is not np.ndarray or hasattr(model, "feature_names_in_"):
        validate_data(model, X, reset=reset, skip_check_array=True)
    elif reset:
        model.n_features_in_ = X.shape[1]
    elif X.shape[1] != model.n_features_in_:
        validate_data(model, X, reset=False, skip_check_array=True)  # which says so


def _is_plain(X: Any, how: dict[str, Any]) -> bool:
    """Tell whether X is a C-ordered array of finite float64."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.flags.c_contiguous
        and X.shape[0] >= how.get("ensure_min_samples", 1)
        and X.shape[1] >= 1
        and _is_finite(X)
    )


def _is_plain_target(y: Any, n_rows: int, numeric: bool) -> bool:
    """Tell whether y is a vector of whole numbers, of finite float64, or of strings if allowed."""
    if type(y) is not np.ndarray or y.shape != (n_rows,):
        return False
    if y.dtype == np.float64:
        return _is_finite(y)
    return y.dtype.kind in ("biu" if numeric else "biuU")


def _is_finite(values: Any) -> bool:
    """Tell whether a sum is finite; where it overflows, scikit-learn looks more closely."""
    with np.errstate(over="ignore", invalid="ignore"):
        return isfinite(np.add.reduce(values, axis=None))


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
