"""A private part of scikit-learn that few need, and that brings much with it."""

from typing import Any

import numpy as np
from sklearn.feature_selection._base import _get_feature_importances

__all__ = ["feature_importances"]


def feature_importances(model: Any, getter: Any) -> Any:
    """Return one importance for each feature as scikit-learn's ``RFE`` does: squared weights."""
    values = _get_feature_importances(model, getter, transform_func="square")
    return np.asarray(values, dtype=np.float64).ravel()  # of sparse weights it is a matrix
