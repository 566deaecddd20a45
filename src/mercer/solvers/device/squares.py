"""Weighted squares of tall matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

CHUNK = 1 << 28
"""Numbers that are made float64 at a time."""


class RunningSquare:
    """The square P' diag(w) P of some rows, kept from one choice of rows to the next.

    Rows that enter are added and rows that leave are taken off again, in float64: the rounding of
    that is nothing beside the one on the diagonal that such a square stands with.

    Parameters
    ----------
    rows : callable
        From indices to rows of P, in float32.
    n_columns : int
    weights : tensor of shape (n,)
    """

    def __init__(self, rows: Callable[[Any], Any], n_columns: int, weights: Any) -> None:
        self.rows, self.weights = rows, weights
        self.step = max(1, CHUNK // n_columns)
        self.square = weights.new_zeros((n_columns, n_columns))
        self.inside = torch.zeros(len(weights), dtype=torch.bool, device=weights.device)

    def of(self, at: Any) -> Any:
        """Return the square of the rows with these indices, which the caller may change."""
        inside = torch.zeros_like(self.inside).index_fill_(0, at, True)
        entering = (inside & ~self.inside).nonzero()[:, 0]
        leaving = (self.inside & ~inside).nonzero()[:, 0]
        if len(entering) + len(leaving) >= len(at):  # to begin anew is less work
            self.square.zero_()
            entering, leaving = at, at[:0]
        self._add(entering, 1.0)
        self._add(leaving, -1.0)
        self.inside = inside
        return self.square.clone()

    def _add(self, at: Any, sign: float) -> None:
        for part in torch.split(at, self.step):
            own = self.rows(part).double().mul_(self.weights[part].sqrt()[:, None])
            self.square.addmm_(own.T, own, alpha=sign)
