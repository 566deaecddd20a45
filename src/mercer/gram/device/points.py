"""Points of a kernel matrix where a device finds them: on the card, or in tiles from the host."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from mercer.gram.base import SINGLE_PRECISION_REACH, fits_single
from mercer.gram.device.compiler import CompiledKernel, compiled_kernel
from mercer.gram.device.memory import free_memory
from mercer.kernels import PairwiseForm
from mercer.kernels.base import column_means
from mercer.kernels.blocks import row_blocks

POINTS_SHARE = 0.3
"""Of the free memory, what points may take; of larger data a tile at a time goes to the card."""

TILE_NUMBERS = 1 << 25
"""Of points that stay on the host: so many go over at a time."""


class DevicePoints:
    """Points prepared as the engine's: features scaled, far-off data moved to zero.

    Parameters
    ----------
    form : PairwiseForm
    X : ndarray or sparse matrix of shape (n, d)
    device : torch.device
    like : DevicePoints or None, default=None
        Take the centre of others, for values between both.
    stays : bool or None, default=None
        Whether the points stay on the host; None decides by the memory of the card.
    """

    def __init__(
        self,
        form: PairwiseForm,
        X: Any,
        device: Any,
        like: DevicePoints | None = None,
        stays: bool | None = None,
    ) -> None:
        self.form, self.device, self.given = form, device, X
        self.n, self.d = X.shape
        needed = 8 * self.n * self.d
        self.stays = needed > POINTS_SHARE * free_memory(device) if stays is None else stays
        self.scales = None if form.scales is None else self._sent(form.scales)
        self.centre: Any = self._middle() if like is None else like.centre

    def _sent(self, values: Any) -> Any:
        return torch.as_tensor(np.asarray(values), dtype=torch.double, device=self.device)

    def _middle(self) -> Any:
        """Return the mean of stationary kernels' points: to move there changes only rounding."""
        if not self.form.is_stationary or not self.n:
            return None
        if sp.issparse(self.given):
            return self._sent(np.asarray(self.given.mean(axis=0)).ravel())
        return self._sent(column_means(self.given)) if self.stays else self._all_given.mean(dim=0)

    @cached_property
    def _all_given(self) -> Any:
        given = self.given.toarray() if sp.issparse(self.given) else self.given
        return self._sent(given)

    @cached_property
    def _all(self) -> Any:
        """All points, prepared."""
        points = self._prepared(self._all_given)
        del self._all_given
        return points

    def _prepared(self, points: Any) -> Any:
        if self.centre is not None:
            points = points - self.centre
        return points if self.scales is None else points * self.scales

    def take(self, at: Any = None) -> Any:
        """Return prepared points in float64: some by index or slice, or all for None."""
        if not self.stays:
            return self._all if at is None else self._all[at]
        where = slice(None) if at is None else at.cpu().numpy() if torch.is_tensor(at) else at
        part = self.given[where]
        return self._prepared(self._sent(part.toarray() if sp.issparse(part) else part))

    def tiles(self, at: Any = None) -> list[Any]:
        """Return indices or slices of the points, or of some of them, that go over together."""
        count = self.n if at is None else len(at)
        step = max(1, TILE_NUMBERS // self.d) if self.stays else max(1, count)
        cuts = [slice(k, min(k + step, count)) for k in range(0, count, step)]
        return cuts if at is None else [at[cut] for cut in cuts]

    @cached_property
    def lengths(self) -> Any:
        """The squared norms."""
        parts = [points.square().sum(dim=1) for points in map(self.take, self.tiles())]
        return torch.cat(parts) if parts else self._sent([])

    @cached_property
    def squared(self) -> float:
        """The largest squared norm."""
        return float(self.lengths.max()) if self.n else 0.0

    @cached_property
    def allows_rounding(self) -> bool:
        """Whether float32 has room for all numbers on the way to kernel values, and digits."""
        form, reach = self.form, self.form.gamma * self.squared
        if form.family in ("laplacian", "euclidean_laplacian"):
            reach = form.gamma * (self.squared * self.d) ** 0.5
        if form.is_stationary and not reach <= SINGLE_PRECISION_REACH:
            return False
        largest = form.factor
        if not form.is_stationary:
            with np.errstate(over="ignore", invalid="ignore"):
                largest = abs(float(form.values(np.array([self.squared]))[0]))
        return all(map(fits_single, (self.squared, form.gamma, largest)))

    @cached_property
    def diagonal(self) -> Any:
        """k(x, x) of each point."""
        if self.form.is_stationary:
            return torch.full_like(self.lengths, self.form.factor)
        return self.form.values(self.lengths, torch)

    def values(self, left: Any, right: Any) -> Any:
        """Return kernel values of prepared points, in the precision that they have."""
        return self.form.values(self._base(left, right), torch)

    def _base(self, left: Any, right: Any) -> Any:
        if self.form.family == "laplacian":
            return torch.cdist(left, right, p=1.0)
        if self.form.family == "euclidean_laplacian":  # a root would double the digits lost
            return torch.cdist(left, right, compute_mode=DIRECTLY).square_()
        if not self.form.is_stationary:
            return left @ right.T
        squares = (left.square().sum(dim=1, keepdim=True), right.square().sum(dim=1))
        base = torch.addmm(squares[1].expand(len(left), -1), left, right.T, alpha=-2.0)
        return base.add_(squares[0]).clamp_(min=0.0)

    def exact_times(
        self, rows: Any, columns: Any, v: Any, other: DevicePoints | None = None
    ) -> Any:
        """Return K v in float64: its ``rows``, of the ``columns`` of these or of other points.

        Parameters
        ----------
        rows, columns : tensor of int or None
            None means all.
        v : tensor of shape (n_columns,) or (n_columns, m)
        other : DevicePoints or None, default=None
            Whose columns; None means these.
        """
        other = self if other is None else other
        fused = v.ndim == 1 and not (self.stays or other.stays)
        if fused and len(v) and self.exact_kernel is not None:
            return self._exactly_fused(self.take(rows), other.take(columns), v)
        found = []
        for part in self.tiles(rows):
            left = self.take(part)
            sums = left.new_zeros((len(left), *v.shape[1:]))
            begin = 0
            for columns_part in other.tiles(columns):
                right = other.take(columns_part)
                weights = v[begin : begin + len(right)]
                begin += len(right)
                for block in row_blocks(len(left), len(right), BLOCK_ENTRIES):
                    sums[block] += self.values(left[block], right) @ weights
            found.append(sums)
        return torch.cat(found) if found else v.new_zeros((0, *v.shape[1:]))

    @cached_property
    def exact_kernel(self) -> CompiledKernel | None:
        """The kernel of products in float64, or None where there is none for these points."""
        if self.device.type != "cuda" or self.form.family != "rbf" or self.d > DEEPEST:
            return None
        source = Path(__file__).with_name("rbf_exact.cu")
        return compiled_kernel(source, self.device, DEPTH=self.d, ROWS=self._rows_each)

    @property
    def _rows_each(self) -> int:
        """Rows of a thread in float64: as many as its registers hold."""
        return 2 if self.d <= DEEPEST // 2 else 1

    def _exactly_fused(self, left: Any, right: Any, v: Any) -> Any:
        n_rows, n_columns = len(left), len(right)
        scale = (2.0 * self.form.gamma) ** 0.5
        blocks = max(1, -(-n_rows // (EXACT_THREADS * self._rows_each)))
        part = max(EXACT_TILE, -(-n_columns * blocks // WAVES))
        n_parts = -(-n_columns // part)
        sums = torch.empty((n_parts, n_rows), dtype=torch.double, device=self.device)
        tensors = (scale * left, scale * right, v.double().contiguous(), sums)
        assert self.exact_kernel is not None
        numbers = (n_rows, n_columns, part)
        if n_rows:
            self.exact_kernel.launch((blocks, n_parts), EXACT_THREADS, (*tensors, *numbers))
        return self.form.factor * sums.sum(dim=0)


DEEPEST = 64
"""Features of a row in float64 that fit the registers of a thread."""

EXACT_THREADS, EXACT_TILE = 128, 32
"""Of a block, and columns that it takes at a time, as the source has it."""

WAVES = 4096
"""Blocks that keep a large card busy until the last one ends."""

DIRECTLY = "donot_use_mm_for_euclid_dist"

BLOCK_ENTRIES = 1 << 27
"""Kernel values that are held at a time: a gigabyte in float64, and as much again on the way."""
