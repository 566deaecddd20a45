"""Kernels whose points have no features."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ._checks import Floats
from .base import Kernel


class FeaturelessKernel(Kernel):
    """Base of kernels without parameters on points that are no rows of features."""

    why_no_features: str
    """A sentence for those who ask for features."""

    def contract_gradient(self, X: Any, W: Any, Y: Any = None) -> Floats:
        """Return an empty array: there are no parameters."""
        return np.empty(0)

    def contract_scale_gradient(self, X: Any, W: Any, Y: Any = None) -> NoReturn:
        """Refuse: there are no features."""
        raise ValueError(self.why_no_features)

    def contract_input_gradient(self, X: Any, Z: Any, V: Any) -> NoReturn:
        """Refuse: there are no features."""
        raise ValueError(self.why_no_features)

    def diag_input_gradient(self, X: Any) -> NoReturn:
        """Refuse: there are no features."""
        raise ValueError(self.why_no_features)

    def without_features(self, X: Any) -> NoReturn:
        """Refuse: there are no features."""
        raise ValueError(self.why_no_features)
