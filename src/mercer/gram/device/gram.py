"""The kernel matrix of points on a device."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from mercer.gram.base import SINGLE_PRECISION_TOL, Floats, Indices
from mercer.gram.device.pairs import PairProducts
from mercer.gram.device.plain import PlainProducts
from mercer.gram.device.points import DevicePoints
from mercer.gram.pairwise import LONGEST, ComputedGram
from mercer.kernels import PairwiseForm


class DeviceGram(ComputedGram):
    """Rows of a kernel matrix from the engine, and products with it from a device.

    What is asked of it as of any other matrix is computed by the processor; a solver that knows
    devices takes `products`.

    Parameters
    ----------
    form : PairwiseForm
    X : ndarray or sparse matrix of shape (n, d)
        A sparse one goes to the device as it is, or a block at a time.
    device : torch.device
    """

    is_on_device = True

    def __init__(self, form: PairwiseForm, X: Any, device: Any) -> None:
        super().__init__(form, X)
        self.device = device
        self.there = _There(form, X, device)

    def subset(self, indices: Indices) -> DeviceGram:
        """Return the matrix of some of the points, which are shared."""
        part = super().subset(indices)
        part.__class__ = DeviceGram
        assert isinstance(part, DeviceGram)
        part.device, part.there = self.device, self.there
        return part

    def diag(self) -> Floats:
        """Return the n diagonal entries; NaN where squared lengths are beyond arithmetic."""
        if not self.there.points.squared <= LONGEST:
            return np.full(self.n, np.nan)
        values = self.there.points.diagonal.cpu().numpy()
        return values.copy() if self.view is None else values[self.view]

    def allows_single(self, tol: float) -> bool:
        """Say whether kernel values computed in float32 may do for a gap of ``tol``."""
        return tol >= SINGLE_PRECISION_TOL and self.there.points.allows_rounding


class _There:
    """The points on the device and products with them, made when they are first asked for."""

    def __init__(self, form: PairwiseForm, X: Any, device: Any) -> None:
        self._given = form, X, device

    @cached_property
    def points(self) -> DevicePoints:
        return DevicePoints(*self._given)

    @cached_property
    def products(self) -> PairProducts | PlainProducts:
        return fast_products(self.points)


def fast_products(points: DevicePoints) -> PairProducts | PlainProducts:
    """Return the fastest way to products with the kernel matrix of points."""
    has_pairs = points.form.family == "rbf" and points.allows_rounding and not points.stays
    if has_pairs and points.n and points.device.type == "cuda":
        return PairProducts(points)
    return PlainProducts(points)
