"""Sums over expansions, such as decision values, on a device."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch

from mercer.gram.device.gram import fast_products
from mercer.gram.device.memory import in_its_memory
from mercer.gram.device.points import DevicePoints
from mercer.kernels import PairwiseForm

ROUNDING = 1e-6
"""Error, relative to the range of the sums, up to which kernel values may be rounded."""

PROBED = 64
"""Rows on which the error is measured."""

FEW_SUMS = 2
"""Up to so many sums of the same kernel values, each computes them anew."""

ROWS_AT_ONCE = 1 << 20


class DeviceSums:
    """Sums of kernel values with the same points, for one set of others after another.

    Parameters
    ----------
    form : PairwiseForm
    Y : ndarray or sparse matrix of shape (m, d)
    coefficients : ndarray of shape (r, m)
    ends : ndarray of int
        Those of the segments, each of which is summed on its own, with 0 in front.
    device : torch.device
    """

    def __init__(self, form: PairwiseForm, Y: Any, coefficients: Any, ends: Any, device: Any):
        self.points = DevicePoints(form, Y, device)
        self.ends = np.asarray(ends)
        self.coefficients = torch.as_tensor(coefficients, dtype=torch.double, device=device)
        pays = len(coefficients) <= FEW_SUMS
        self.products: Any = fast_products(self.points) if pays else None

    @in_its_memory
    def __call__(self, X: Any) -> Any:
        """Return the sums for the rows of X: ndarray of shape (n, n_segments, r)."""
        found = np.empty((X.shape[0], len(self.ends) - 1, len(self.coefficients)))
        others = DevicePoints(self.points.form, X, self.points.device, like=self.points)
        rounded = self._may_round(others)
        for begin in range(0, others.n, ROWS_AT_ONCE):
            part = slice(begin, min(begin + ROWS_AT_ONCE, others.n))
            for tile in others.tiles(torch.arange(part.start, part.stop, device=others.device)):
                at = slice(int(tile[0]), int(tile[-1]) + 1)
                sums = self._rounded(others.take(at)) if rounded else self._exact(others, tile)
                found[at] = sums.cpu().numpy()
        return found

    def _may_round(self, others: DevicePoints) -> bool:
        """Measure on some rows what rounding does to the sums."""
        if self.products is None or not (self.points.allows_rounding and others.allows_rounding):
            return False
        if others.n < 2 * PROBED:
            return False
        at = torch.linspace(0, others.n - 1, PROBED, device=others.device).long()
        exact, rough = self._exact(others, at), self._rounded(others.take(at))
        size = 0.5 * (exact.amax(dim=0) - exact.amin(dim=0))
        error = (rough - exact).square().mean(dim=0).sqrt()
        return bool((5.0 * error < ROUNDING * size).all())

    def _segments(self) -> list[Any]:
        return [
            torch.arange(a, b, device=self.points.device) for a, b in pairwise(self.ends.tolist())
        ]

    def _rounded(self, rows: Any) -> Any:
        products = self.products
        left, sums = products.other_rows(rows), []
        for segment in self._segments():
            right = products.columns(segment)
            own = [products.times(left, right, one[segment]) for one in self.coefficients]
            sums.append(torch.stack(own, dim=1))
        return torch.stack(sums, dim=1)

    def _exact(self, others: DevicePoints, at: Any) -> Any:
        sums = []
        for segment in self._segments():
            weights = self.coefficients[:, segment]
            if self.products is None:  # many sums of the same kernel values
                own = others.exact_times(at, segment, weights.T, self.points)
            else:
                single = [others.exact_times(at, segment, one, self.points) for one in weights]
                own = torch.stack(single, dim=1)
            sums.append(own)
        return torch.stack(sums, dim=1)
