"""Answers from decision values that are known without a fitted classifier."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.svm import SVC

Floats = NDArray[np.float64]


class KnownValues(SVC):
    """A classifier whose decision values are known, for one set of rows."""

    values: Floats

    @classmethod
    def of(cls, model: SVC, classes: Any, values: Floats) -> KnownValues:
        """Return a classifier with the parameters of ``model`` and the values of its machines."""
        known = copy(model)
        known.__class__ = cls
        assert isinstance(known, cls)
        known.classes_ = classes
        known._one_vs_one = len(classes) > 2 and model.multi_class == "ovo"
        known.values = values
        return known

    def _machine_values(self, X: Any) -> Any:
        return self.values
