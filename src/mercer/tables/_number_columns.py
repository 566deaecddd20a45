"""The columns of numbers of a frame as a matrix, gaps filled in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer.tables._new_cells import new_numbers
from mercer.tables.errors import InputError, listed


class NumberColumns(TransformerMixin, BaseEstimator):
    """Replace missing numbers by the median of the training rows.

    What scikit-learn's `SimpleImputer` does, with little delay on thousands of columns, and
    by the names of the columns: their order and other columns do not matter.
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> NumberColumns:
        """Learn the medians; a column without any number gets 0."""
        self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        self.n_features_in_ = X.shape[1]
        values = _numbers(X)
        has_gaps = np.isnan(values).any(axis=0)
        self.medians_ = np.zeros(values.shape[1])
        self.medians_[~has_gaps] = np.median(values[:, ~has_gaps], axis=0)
        self.medians_[has_gaps] = _known_medians(values[:, has_gaps])
        return self

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the columns that were there at fitting, without NaN."""
        check_is_fitted(self)
        if not hasattr(X, "columns"):  # an array: as in `as_table`, whose columns have no names
            values = np.asarray(X, dtype=np.float64)
            X = pd.DataFrame(values, columns=[f"c{k + 1}" for k in range(values.shape[1])])
        missing = [name for name in self.feature_names_in_ if name not in X.columns]
        if missing:
            columns = "column" if len(missing) == 1 else "columns"
            raise InputError(f"The data lack the {columns} {listed(missing)}.")
        if len(X.columns) != self.n_features_in_ or (X.columns != self.feature_names_in_).any():
            X = X[list(self.feature_names_in_)]
        values = _numbers(X)
        return np.where(np.isnan(values), self.medians_, values)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns."""
        check_is_fitted(self)
        return self.feature_names_in_


def _numbers(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return the numbers of a frame; words and what is infinite count as gaps."""
    words = [name for name, kind in frame.dtypes.items() if not is_numeric_dtype(kind)]
    if words:
        frame = frame.assign(**{str(name): new_numbers(frame[name]) for name in words})
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isinf(values), np.nan, values) if np.isinf(values).any() else values


def _known_medians(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the medians of what is known of each column, 0 where nothing is."""
    ordered = np.sort(values, axis=0)  # NaN last
    known = (~np.isnan(values)).sum(axis=0)
    columns = np.arange(values.shape[1])
    middle = ordered[(known - 1) // 2, columns] + ordered[known // 2 % len(values), columns]
    return np.where(known > 0, middle / 2, 0.0)
