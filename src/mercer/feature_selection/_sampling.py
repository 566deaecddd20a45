"""A fresh share of the rows for every round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]

LEAST_OF_CLASS = 2


class RowSampler:
    """Draws rows by class, without replacement, at least two of each class.

    Parameters
    ----------
    codes : ndarray of int
        Class of each row.
    share : float or None
        Of the rows; None means all of them.
    until : int
        With so many features or fewer, all rows are used.
    rng : RandomState

    References
    ----------
    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021,
    algorithm 3, where the rows are drawn without regard to the class.
    """

    def __init__(
        self, codes: Rows, share: float | None, until: int, rng: np.random.RandomState
    ) -> None:
        self.members = class_members(codes)
        self.share = share
        self.until = until
        self.rng = rng

    def rows(self, n_features: int) -> Rows | None:
        """Return the rows of a round with so many features; None means all."""
        if self.share is None or n_features <= self.until:
            return None
        return stratified_rows(self.members, self.share, self.rng)


def class_members(codes: Rows) -> list[Rows]:
    """Return the rows of each class."""
    return [np.flatnonzero(codes == code) for code in np.unique(codes)]


def stratified_rows(members: list[Rows], share: float, rng: np.random.RandomState) -> Rows:
    """Return a share of the rows of each class, sorted."""
    chosen = [
        rng.choice(rows, min(rows.size, max(LEAST_OF_CLASS, round(share * rows.size))), False)
        for rows in members
    ]
    return np.sort(np.concatenate(chosen))
