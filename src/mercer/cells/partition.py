"""Rows dealt to the centres that are near them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from mercer._threads import available_threads, blas_threads, one_openmp_thread
from mercer.cells._sample import Sample
from mercer.kernels.blocks import IN_CACHE, row_blocks

Floats = NDArray[np.float64]

MOST_AT_ONCE = 64
"""Centres that one k-means looks for; more are found by splitting, which is as good and faster."""

TOO_LARGE = 1.5
"""Cells with so many times the wanted rows are split."""

TOO_SMALL = 0.1
"""Cells with less than this share of the wanted rows are dissolved."""

ROUNDS = 8
"""How often large cells are split; rows that are all equal cannot be."""

MANY_SAMPLED = 50_000
"""Rows of which k-means has more than one thread."""

LARGEST = 1e140
"""Features beyond which the squares of distances, summed, may be beyond the range of numbers."""


class Partition:
    r"""Cells around centres: a row belongs to the nearest, and to those nearly as near.

    With :math:`d_c` the distance of a row from centre c and :math:`d` the least of them, it belongs
    to all cells with :math:`d_c < r\,d`, where r is the reach, with the weight

    .. math:: w_c = \frac{r - d_c / d}{r - 1},

    which is 1 for the nearest and falls to 0 where the row leaves the cell, so that averages with
    these weights are continuous.

    Parameters
    ----------
    centres : ndarray of shape (n_cells, n_features) or (n_cells, n_directions)
    reach : float, default=1.0
        With 1 each row is in its own cell only.
    directions : ndarray of shape (n_features, n_directions) or None, default=None
        What rows are multiplied with before distances are taken.

    Examples
    --------
    >>> import numpy as np
    >>> partition = Partition(np.array([[0.0], [1.0]]), reach=1.5)
    >>> partition.members(np.array([[0.2], [0.45]])).toarray().round(2)
    array([[1.  , 0.  ],
           [1.  , 0.56]])
    >>> partition.own(np.array([[0.2], [0.9]])).toarray()
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self, centres: Floats, reach: float = 1.0, directions: Floats | None = None
    ) -> None:
        self.centres = centres
        self.reach = reach
        self.directions = directions
        self.middle = centres.mean(axis=0)

    def __len__(self) -> int:
        return len(self.centres)

    def own(self, X: Any, n_threads: int | None = None) -> sp.csc_array:
        """Return 1 for each row in the cell of its nearest centre.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, n_features)
        n_threads : int or None, default=None
            None uses all processors.

        Returns
        -------
        sparse array of shape (n, n_cells)
        """
        n = X.shape[0]
        return sp.csr_array(
            (np.ones(n), self.nearest(X, n_threads), np.arange(n + 1)), shape=(n, len(self))
        ).tocsc()

    def members(self, X: Any, n_threads: int | None = None) -> sp.csc_array:
        """Return the weight of each row in each cell, the rows of a cell side by side.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, n_features)
        n_threads : int or None, default=None
            None uses all processors.

        Returns
        -------
        sparse array of shape (n, n_cells)
        """
        if len(self) == 1 or self.reach == 1:
            return self.own(X, n_threads)
        n = X.shape[0]
        found = self._block_by_block(X, self._near, n_threads)
        weights, cells, counts = map(np.concatenate, zip(*found))
        ends = np.concatenate([[0], np.cumsum(counts)])
        return sp.csr_array((weights, cells, ends), shape=(n, len(self))).tocsc()

    def nearest(self, X: Any, n_threads: int | None = None) -> NDArray[np.int32]:
        """Return the nearest centre of each row."""
        if len(self) == 1 or X.shape[0] == 0:
            return np.zeros(X.shape[0], dtype=np.int32)
        found = self._block_by_block(
            X, lambda rows: self._distances(rows)[0].argmin(axis=1), n_threads
        )
        return np.concatenate(found).astype(np.int32)

    def with_overlap(self, X: Any, overlap: float) -> Partition:
        """Return the partition in which rows belong to ``1 + overlap`` cells in the mean.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, n_features)
            Rows that stand for all.
        overlap : float

        Returns
        -------
        Partition
        """
        wanted = min(round(overlap * X.shape[0]), X.shape[0] * (len(self) - 1))
        if wanted == 0:
            return Partition(self.centres, 1.0, self.directions)
        smallest = np.empty(0)
        for block in row_blocks(X.shape[0], len(self)):
            ratios = _ratios(*self._distances(X[block]))
            np.put_along_axis(ratios, ratios.argmin(axis=1)[:, None], np.inf, axis=1)
            smallest = np.concatenate([smallest, ratios.ravel()])
            if smallest.size > wanted + 1:
                smallest = np.partition(smallest, wanted)[: wanted + 1]
        # Half way to the next row, so that rounding does not decide about this one.
        finite = np.sort(smallest[np.isfinite(smallest)])[wanted - 1 :]
        return Partition(
            self.centres, float(finite.mean()) if finite.size else 1.0, self.directions
        )

    def _block_by_block(
        self, X: Any, look: Callable[[Any], Any], n_threads: int | None = None
    ) -> list[Any]:
        """Return what is seen of one block of rows after the other, several of them at a time.

        Threads of ours, with one of the BLAS each: those of a BLAS wait busily.
        """
        width = max(len(self), self.centres.shape[1])
        blocks = row_blocks(X.shape[0], width, IN_CACHE)
        n_threads = min(available_threads(n_threads), len(blocks))
        with blas_threads(1):
            if n_threads == 1:
                return [look(X[block]) for block in blocks]
            with ThreadPoolExecutor(n_threads) as pool:
                return list(pool.map(lambda block: look(X[block]), blocks))

    def _distances(self, rows: Any) -> tuple[Floats, Floats]:
        """Return squared distances from the centres less each row's squared length, and that."""
        rows = _within_range(rows)
        if self.directions is not None:
            rows = np.asarray(rows @ self.directions)
        if sp.issparse(rows):
            rows = rows.astype(np.float64)
            centres, lengths = self.centres, np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        else:  # around zero, where less cancels
            rows, centres = rows - self.middle, self.centres - self.middle
            lengths = np.einsum("ij,ij->i", rows, rows)
        products = np.asarray(rows @ (-2.0 * centres.T))
        products += np.einsum("ij,ij->i", centres, centres)
        return products, lengths

    def _near(self, rows: Any) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
        """Return the weights and the cells of each row, and how many of them it has."""
        squares, lengths = self._distances(rows)
        own, every = squares.argmin(axis=1), np.arange(squares.shape[0])
        least = np.maximum(squares[every, own] + lengths, 0.0)
        inside = squares < (self.reach**2 * least - lengths)[:, None]
        inside[every, own] = True
        places = np.flatnonzero(inside)
        near = places // len(self)
        cells = (places - near * len(self)).astype(np.int32)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.sqrt(np.maximum(squares.ravel()[places] + lengths[near], 0.0) / least[near])
        weights = np.clip((self.reach - ratios) / (self.reach - 1.0), 0.0, 1.0)
        weights[cells == own[near]] = 1.0
        return weights, cells, np.bincount(near, minlength=every.size)


def _largest(rows: Any) -> float:
    """Return the largest number, whatever its sign."""
    return float(max(rows.max(), -rows.min()))


def _within_range(rows: Any) -> Any:
    """Return the rows, too long ones shortened: so far out only the direction counts."""
    if _largest(rows) <= LARGEST:
        return rows
    largest = abs(rows).max(axis=1)
    largest = largest.toarray().ravel() if sp.issparse(rows) else largest
    return sp.diags_array(LARGEST / np.maximum(largest, LARGEST)) @ rows


def _ratios(squares: Floats, lengths: Floats) -> Floats:
    """Return the distances from the centres in units of the least."""
    squares = np.maximum(squares + lengths[:, None], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.sqrt(squares / squares.min(axis=1, keepdims=True))
    return np.nan_to_num(ratios, nan=1.0, posinf=np.inf)


def learn_partition(
    sample: Sample,
    size: int,
    overlap: float,
    random: np.random.RandomState,
    directions: Floats | None = None,
) -> Partition:
    """Return cells of about as many rows as wanted, from a sample of the rows.

    k-means finds the first centres; cells that are too large are split by k-means of their own
    rows until none is, and the tiny ones are dissolved. How far cells reach is learned from the
    other half of the sample, since centres are nearer to the rows that they come from.

    Parameters
    ----------
    sample : Sample
    size : int
        Wanted rows in a cell.
    overlap : float
        Cells beside its own to which a row belongs, in the mean.
    random : RandomState
    directions : ndarray or None, default=None
        As of `Partition`.

    Returns
    -------
    Partition
    """
    known = sample.projected(directions)
    half = np.arange(-(-len(known.counts) // 2))
    seen, others = known.part(half), known.part(np.arange(len(known.counts))[half.size :])
    times = known.n_rows / seen.n_rows
    centres = _means(seen, seen.n_rows * times / size, random)
    for _ in range(ROUNDS):
        own = Partition(centres).nearest(seen.X)
        counts = np.bincount(own, weights=seen.counts, minlength=len(centres)) * times
        large = counts > TOO_LARGE * size
        tiny = counts < TOO_SMALL * size
        if not large.any() and not (tiny.any() and len(centres) > 1):
            break
        parts = [
            _means(seen.part(own == cell), counts[cell] / size, random)
            for cell in np.flatnonzero(large)
        ]
        centres = np.unique(np.concatenate([centres[~large & ~tiny], *parts]), axis=0)
    # The sample is projected already, and so the directions come last.
    partition = Partition(centres)
    if others.counts.size:
        partition = partition.with_overlap(others.X, overlap)
    return Partition(centres, partition.reach, directions)


def _means(sample: Sample, wanted: float, random: np.random.RandomState) -> Floats:
    """Return the centres that k-means finds, not many at once."""
    X, counts = sample.X, sample.counts
    n_centres = min(max(1, round(wanted)), MOST_AT_ONCE, X.shape[0])
    if n_centres == 1:
        return np.asarray((counts / counts.sum()) @ X, dtype=np.float64).reshape(1, -1)
    if _largest(X) > LARGEST:
        raise ValueError(
            f"Features above {LARGEST:g} cannot be cut into cells, because squares of distances "
            "are beyond the range of numbers; scale the features (for instance with MaxAbsScaler)."
        )
    few = one_openmp_thread() if X.shape[0] < MANY_SAMPLED else nullcontext()
    with few, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than centres
        found = KMeans(n_centres, n_init=1, max_iter=50, random_state=random)
        # In single precision squares end at 1e38.
        found.fit(X.astype(np.float64, copy=False), sample_weight=counts)
    return np.asarray(found.cluster_centers_, dtype=np.float64)
