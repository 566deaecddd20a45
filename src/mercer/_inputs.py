"""What estimators are given: arguments, parameters, rows, labels, weights.

In a fit, floating-point warnings are not heard of ours, but of functions that a user gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import date, timedelta
from functools import lru_cache, wraps
from math import isfinite
from types import TracebackType
from typing import Any, ClassVar, ParamSpec

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import column_or_1d, validate_data

from mercer._sklearn import check_sample_weight, validate_parameter_constraints, validated_fit

Given = ParamSpec("Given")

OF_LINEAR_MACHINES = {
    "dual": "the solver is chosen by `solver`",
    "fit_intercept": "there is always an intercept",
    "intercept_scaling": "the intercept is not penalised",
    "penalty": "weights are penalised by their squared norm; sparse ones come from "
    "RVC(basis='columns') or RVR(basis='columns')",
}
"""Arguments of scikit-learn's linear machines."""


def says_instead(
    hints: Mapping[str, str],
) -> Callable[[Callable[Given, None]], Callable[Given, None]]:
    """Decorate an ``__init__`` so that unknown arguments with a known meaning get a sentence.

    Parameters
    ----------
    hints : mapping
        From the name of an argument to what is to be used instead.

    Examples
    --------
    >>> class Machine:
    ...     @says_instead({"nu": "use C"})
    ...     def __init__(self, *, C=1.0):
    ...         self.C = C
    >>> Machine(nu=0.5)
    Traceback (most recent call last):
    TypeError: Machine takes no nu: use C.
    """

    def decorate(init: Callable[Given, None]) -> Callable[Given, None]:
        @wraps(init)
        def checked(*arguments: Given.args, **named: Given.kwargs) -> None:
            for name in named:
                if name in hints:
                    machine = type(arguments[0]).__name__
                    raise TypeError(f"{machine} takes no {name}: {hints[name]}.")
            init(*arguments, **named)

        return checked

    return decorate


class RememberedParameters:
    """A mixin for estimators that are made, copied and fitted thousands of times.

    scikit-learn reads the signature of the constructor whenever parameters are asked for, and tests
    every parameter in every fit, which both take longer than a small fit itself. Here the names
    are read once, when a class is made, and values that have passed are not tested again.
    """

    _parameter_names: ClassVar[list[str]]
    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        cls._parameter_names = super()._get_param_names()  # type: ignore[misc]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return cls._parameter_names

    def _validate_params(self) -> None:
        values = tuple([getattr(self, name) for name in self._parameter_names])
        kinds = tuple(map(type, values))  # for 1, 1.0 and True are equal
        if _PLAIN_TYPES.issuperset(kinds):
            owner: Any = type(self)
            _test_parameters(owner, values, kinds)
        else:
            super()._validate_params()  # type: ignore[misc]


_PLAIN_TYPES = {bool, int, float, str, type(None), np.float64, np.int64}


@lru_cache(maxsize=256)  # a refusal is an exception, which is not kept
def _test_parameters(owner: Any, values: Any, kinds: Any) -> None:
    named = dict(zip(owner._parameter_names, values))
    validate_parameter_constraints(owner._parameter_constraints, named, owner.__name__)


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Any], Any]:
    """Decorate ``fit`` as scikit-learn does, which checks parameters, and refuse dates as data.

    NumPy says nothing of our numbers that overflow, see `Silent`.
    """
    in_context = validated_fit(prefer_skip_nested_validation=prefer_skip_nested_validation)

    def decorate(fit: Any) -> Any:
        @wraps(fit)
        def without_dates(estimator: Any, X: Any, *args: Any, **keywords: Any) -> Any:
            if not _holds_pipeline(estimator):  # which may make numbers of dates
                refuse_dates(X)
            y = args[0] if args else keywords.get("y")
            if _holds_time(getattr(y, "dtype", None)) and is_regressor(estimator):
                refuse_dates(y, "y")  # as names of classes they serve well
            with Silent():
                return fit(estimator, X, *args, **keywords)

        return in_context(without_dates)

    return decorate


_OF_CALLER: ContextVar[Any] = ContextVar("errors of the caller", default=None)


class Silent:
    """A context in which NumPy says nothing of numbers that overflow.

    Whoever needs such numbers refuses them in a sentence. What the caller wants to hear is
    remembered for `as_outside`.

    Examples
    --------
    >>> with Silent():
    ...     print(np.geterr()["over"])
    ignore
    """

    __slots__ = ("_state", "_token")

    def __enter__(self) -> None:
        known = _OF_CALLER.get()
        self._token = _OF_CALLER.set(np.geterr() if known is None else known)
        self._state = np.errstate(over="ignore", invalid="ignore")
        self._state.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._state.__exit__(kind, error, where)
        _OF_CALLER.reset(self._token)


def as_outside() -> np.errstate:
    """Return a context in which NumPy warns as it did before any `Silent` was entered.

    Examples
    --------
    >>> with Silent(), as_outside():
    ...     print(np.geterr()["over"])
    warn
    """
    return np.errstate(**(_OF_CALLER.get() or {}))


def _holds_pipeline(estimator: Any) -> bool:
    while estimator is not None and not hasattr(estimator, "steps"):
        estimator = getattr(estimator, "estimator", None)
    return estimator is not None


def refuse_dates(values: Any, name: str = "X") -> None:
    """Say that dates and spans of time are no numbers; which unit to take only the user knows."""
    dtypes = getattr(values, "dtypes", None) if hasattr(values, "columns") else None
    kinds = [getattr(values, "dtype", None)] if dtypes is None else list(dtypes)
    for column, kind in enumerate(kinds):
        found = kind if _holds_time(kind) else None
        if getattr(kind, "kind", "") == "O":  # anything at all, and so looked at one by one
            objects = values if dtypes is None else values.iloc[:, column]
            found = _first_time(np.asarray(objects, dtype=object))
        if found is not None:
            where = name if dtypes is None else f"Column {values.columns[column]!r} of {name}"
            raise ValueError(
                f"{where} holds dates or times ({found}); turn them into numbers first, for "
                "instance days since the first of them."
            )


def _holds_time(kind: Any) -> bool:
    """Tell this of a dtype: NumPy and pandas have a kind, polars has a method."""
    return getattr(kind, "kind", "") in ("M", "m") or getattr(kind, "is_temporal", bool)()


def _first_time(objects: Any) -> str | None:
    times = (date, timedelta, np.datetime64, np.timedelta64)
    return next((type(one).__name__ for one in objects.flat if isinstance(one, times)), None)


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


def classes_of(y: Any, more: str = "") -> tuple[Any, NDArray[np.int64]]:
    """Return the labels, sorted, and the position of each row's label; two of them at least.

    Examples
    --------
    >>> classes_of(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    classes, codes = np.unique(y, return_inverse=True)
    need_two_classes(classes.size, more)
    return classes, codes


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


def given_weights(sample_weight: Any, X: Any) -> Any:
    """Return the weights that a user gives, checked, or None where there are none."""
    return None if sample_weight is None else checked_weights(sample_weight, X)


LARGEST_WEIGHT = 1e100
"""Sums of squares of larger ones, times kernel values, are beyond float64."""


def checked_weights(sample_weight: Any, X: Any) -> Any:
    """Return one weight for each row: none negative, none beyond computing with, not all 0.

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
    if (weights > LARGEST_WEIGHT).any():
        raise ValueError(
            f"sample_weight must be {LARGEST_WEIGHT:g} at most; divide all weights by the largest, "
            "and multiply C by it where there is one."
        )
    return weights
