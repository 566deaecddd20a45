"""Products with a kernel matrix of any family by what torch brings."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from mercer.gram.device.points import DevicePoints
from mercer.kernels.blocks import row_blocks

BLOCK_ENTRIES = 1 << 28
"""Kernel values that are held at a time: a gigabyte in float32."""

PART = 8192
"""Most columns of a sum in float32; sums of parts are float64."""


class Chosen(NamedTuple):
    """Rows or columns of a product: which, or the points themselves where they are on the card."""

    at: Any
    points: Any


class PlainProducts:
    """Products K v from blocks of kernel values, float32 where that has room, else float64.

    Parameters
    ----------
    points : DevicePoints
    """

    def __init__(self, points: DevicePoints) -> None:
        self.points = points
        self.precision = torch.float32 if points.allows_rounding else torch.double

    def rows(self, at: Any = None) -> Chosen:
        """Return rows for a product: some by index, or all."""
        if self.points.stays:
            return Chosen(at, None)
        return Chosen(at, self.points.take(at).to(self.precision))

    columns = rows

    def other_rows(self, points: Any) -> Chosen:
        """Return rows for a product that are other points, prepared in the same way."""
        return Chosen(None, points.to(self.precision))

    def times(self, left: Chosen, right: Chosen, v: Any) -> Any:
        """Return K v of some rows and columns in float64."""
        found = []
        for rows in self._tiles(left):
            sums = torch.zeros(len(rows), dtype=torch.double, device=rows.device)
            begin = 0
            for columns in self._tiles(right):
                for part in torch.split(columns, PART):
                    weights = v[begin : begin + len(part)].to(self.precision)
                    begin += len(part)
                    for block in row_blocks(len(rows), len(part), BLOCK_ENTRIES):
                        sums[block] += self.points.values(rows[block], part) @ weights
            found.append(sums)
        return torch.cat(found) if found else torch.zeros_like(v[:0])

    def _tiles(self, chosen: Chosen) -> list[Any]:
        """Return the points, in tiles where they come from the host."""
        if chosen.points is not None:
            return [chosen.points]
        tiles = self.points.tiles(chosen.at)
        return [self.points.take(tile).to(self.precision) for tile in tiles]
