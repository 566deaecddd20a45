"""Products with a Gaussian kernel matrix from points held as pairs of halves, on tensor cores."""

from __future__ import annotations

from functools import cached_property
from math import e, log2, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import torch

from mercer.gram.device.compiler import CompiledKernel, compiled_kernel
from mercer.gram.device.points import DevicePoints
from mercer.kernels.blocks import row_blocks

HERE = Path(__file__).parent

TILE, STEP = 64, 32
"""Columns and depth come in multiples of these, as the source has it."""

WARPS = 8
"""Of a block of threads, with 32 rows each."""

WIDEST = 160
"""Halves of a row that fit the registers: 53 features. Beyond, products of matrices are formed."""

NARROW = 64
"""Up to this width three blocks of threads share a multiprocessor, and folding pays."""

FOLDED_NORM = 60.0
"""Half squared lengths up to which 2 to their power has room on both sides of a float32."""

WAVES = 2112
"""Blocks of threads that keep a large card busy: eight for each of 132 multiprocessors, twice."""

PART = 8192
"""Most columns of a sum in float32; sums of parts are float64."""

BLOCK_ENTRIES = 1 << 28
"""Kernel values that are held at a time where they are formed: a gigabyte."""


class Left(NamedTuple):
    """Rows of a product: their halves, and half their squared lengths."""

    halves: Any
    norms: Any


class Right(NamedTuple):
    """Columns of a product, filled up to whole tiles, with room for their weights.

    Parameters
    ----------
    size : int
        Columns that are none of the filling.
    halves, norms : tensor
    factors : tensor or None
        What goes into the weights.
    weights : tensor
        Zero for the filling, and otherwise overwritten by each product.
    """

    size: int
    halves: Any
    norms: Any
    factors: Any
    weights: Any


class PairProducts:
    """Products K v of a Gaussian kernel, whose values never reach the memory.

    A number of 22 bits is the sum of two halves, and a product of two such numbers is three
    products of halves, the fourth being too small to count. So the exponent has the digits of
    float32 at the speed of the tensor cores.

    Parameters
    ----------
    points : DevicePoints
        On the card, of a Gaussian kernel.
    """

    def __init__(self, points: DevicePoints) -> None:
        self.points, self.device = points, points.device
        self.factor = points.form.factor
        self.scale = sqrt(2.0 * points.form.gamma * log2(e))
        self.width = -(-3 * points.d // STEP) * STEP
        self.left, self.right, self.norms = self.split(points.take())

    def split(self, points: Any) -> tuple[Any, Any, Any]:
        """Return points as left ones and as right ones, and half their squared lengths."""
        scaled = points * self.scale
        high = scaled.half()
        low = (scaled - high.double()).half()
        # Without low times low, as the product has it: the exponent of a point with itself is 0.
        norms = (0.5 * (high.double() * (high.double() + 2.0 * low.double())).sum(dim=1)).float()
        zeros = high.new_zeros((len(high), self.width - 3 * high.shape[1]))
        return (
            torch.cat([high, high, low, zeros], dim=1),
            torch.cat([high, low, high, zeros], dim=1),
            norms,
        )

    @cached_property
    def is_folded(self) -> bool:
        """Whether the factor 2^-norm of a column can go into its weight."""
        return self.width <= NARROW and float(self.norms.max()) <= FOLDED_NORM

    @cached_property
    def kernel(self) -> CompiledKernel | None:
        """The fused kernel, or None where there is none for these points or no compiler."""
        if self.device.type != "cuda" or self.width > WIDEST:
            return None
        blocks = 3 if self.width <= NARROW else 2
        macros = {"WIDTH": self.width, "WARPS": WARPS, "BLOCKS": blocks, "FOLDED": self.is_folded}
        return compiled_kernel(HERE / "rbf_times.cu", self.device, **macros)

    def rows(self, at: Any = None) -> Left:
        """Return rows for a product: some by index, or all."""
        return Left(self.left, self.norms) if at is None else Left(self.left[at], self.norms[at])

    def other_rows(self, points: Any) -> Left:
        """Return rows for a product that are other points, prepared in the same way."""
        left, _, norms = self.split(points)
        return Left(left, norms)

    def columns(self, at: Any = None) -> Right:
        """Return columns for a product: some by index, or all."""
        at = torch.arange(self.points.n, device=self.device) if at is None else at
        padded = at.new_zeros(-(-len(at) // TILE) * TILE)
        padded[: len(at)] = at
        norms = self.norms[padded]
        factors = torch.exp2(-norms[: len(at)]) if self.is_folded else None
        return Right(len(at), self.right[padded], norms, factors, torch.zeros_like(norms))

    def times(self, left: Left, right: Right, v: Any) -> Any:
        """Return K v of some rows and columns, in float64 sums of float32 sums of parts."""
        if not right.size or not len(left.norms):
            return torch.zeros(len(left.norms), dtype=torch.double, device=self.device)
        own = right.weights[: right.size]
        if right.factors is None:
            own.copy_(v)
        else:
            torch.mul(v, right.factors, out=own)
        sums = (self._fused if self.kernel else self._formed)(left, right, right.weights)
        return sums if self.factor == 1.0 else self.factor * sums

    def _fused(self, left: Left, right: Right, weights: Any) -> Any:
        n_rows, n_columns = len(left.norms), len(right.norms)
        blocks = -(-n_rows // (32 * WARPS))
        part = min(PART, max(8 * TILE, -(-n_columns * blocks // WAVES)))
        part = -(-part // TILE) * TILE
        n_parts = -(-n_columns // part)
        sums = torch.empty((n_parts, n_rows), dtype=torch.float32, device=self.device)
        assert self.kernel is not None
        tensors = (left.halves, right.halves, left.norms, right.norms, weights, sums)
        self.kernel.launch((blocks, n_parts), 32 * WARPS, (*tensors, n_rows, n_columns, part))
        return sums.sum(dim=0, dtype=torch.double)

    def _formed(self, left: Left, right: Right, weights: Any) -> Any:
        """Form the exponents a block at a time: for features that do not fit the registers."""
        if self.is_folded:
            weights = weights * torch.exp2(right.norms)
        sums = torch.zeros(len(left.norms), dtype=torch.double, device=self.device)
        for begin in range(0, len(right.norms), PART):
            part = slice(begin, begin + PART)
            halves, norms, w = right.halves[part], right.norms[part], weights[part]
            for block in row_blocks(len(sums), len(w), BLOCK_ENTRIES):
                dots = _product(left.halves[block], halves)
                sums[block] += self._summed(dots, left.norms[block], norms, w)
        return sums

    def _summed(self, dots: Any, left_norms: Any, right_norms: Any, weights: Any) -> Any:
        """Return the sums of 2 to the power of dot products less norms, times weights."""
        if self.row_kernel is None:
            return dots.sub_(left_norms[:, None]).sub_(right_norms).exp2_() @ weights
        sums = torch.empty_like(left_norms)
        tensors = (dots, left_norms, right_norms, weights, sums)
        self.row_kernel.launch((len(sums), 1), 256, (*tensors, len(weights)))
        return sums

    @cached_property
    def row_kernel(self) -> CompiledKernel | None:
        """The kernel that sums rows of exponents, or None where there is no compiler."""
        if self.device.type != "cuda":
            return None
        return compiled_kernel(HERE / "exponential_sums.cu", self.device)


def _product(left: Any, right: Any) -> Any:
    """Return the product of halves with sums in float32."""
    if left.is_cuda:
        try:
            return torch.mm(left, right.T, out_dtype=torch.float32)
        except TypeError:  # torch before 2.8
            pass
    return left.float() @ right.T.float()
