"""The few points through which a kernel is seen."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from mercer._threads import one_openmp_thread
from mercer.gram import KernelColumns
from mercer.kernels import Kernel

Floats = NDArray[np.float64]

WAYS = ("kmeans", "leverage", "uniform")

ROWS_PER_CENTRE = 10
FEWEST_ROWS, MOST_ROWS = 2000, 20_000
"""Rows that k-means and leverage scores look at."""

ROUNDS = 10
"""Of k-means: further ones hardly change the kernel."""

LONGEST = 1e140
"""Features beyond which squares of distances, summed, are beyond the range of numbers."""

SPARSE_COLUMNS = 2000
"""Sparse rows of more columns have landmarks among themselves: means of them are dense."""


def choose_landmarks(
    X: Any,
    rank: int,
    way: str,
    kernel: Kernel,
    random: np.random.RandomState,
    weights: Floats | None = None,
) -> Any:
    r"""Return points through which a kernel is seen.

    With fewer different rows than wanted these are the landmarks, and the kernel is seen as it is.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, n_features)
        Different rows in random order.
    rank : int
    way : {"kmeans", "leverage", "uniform"}
        Centres of k-means; rows drawn by ridge leverage scores
        :math:`(K (K + n \lambda I)^{-1})_{ii}`, which are estimated from as many rows drawn
        uniformly; or the first rows.
    kernel : Kernel
        A resolved kernel.
    random : RandomState
    weights : ndarray of shape (n,) or None, default=None

    Returns
    -------
    ndarray or sparse matrix of shape (at most rank, n_features)

    References
    ----------
    K. Zhang, I. W. Tsang, J. T. Kwok, "Improved Nyström low-rank approximation and error analysis",
    ICML (2008): centres of k-means.

    C. Musco, C. Musco, "Recursive sampling for the Nyström method", NIPS 30 (2017): leverage.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF
    >>> X = np.repeat([[0.0], [1.0], [5.0]], 20, axis=0) + np.arange(60)[:, None] / 1000
    >>> found = choose_landmarks(X, 3, "kmeans", RBF(1.0), np.random.RandomState(0))
    >>> np.sort(found.ravel()).round(2)
    array([0.01, 1.03, 5.05])
    """
    if X.shape[0] <= rank:
        return X
    if way == "uniform" or X.shape[1] == 0:
        return X[:rank]
    rows = slice(min(X.shape[0], MOST_ROWS, max(FEWEST_ROWS, ROWS_PER_CENTRE * rank)))
    some = None if weights is None else weights[rows]
    if way == "leverage":
        return _by_leverage(X[rows], rank, kernel, random, some)
    return _by_means(X[rows], rank, random, some)


def _by_means(X: Any, rank: int, random: np.random.RandomState, weights: Floats | None) -> Any:
    if sp.issparse(X) and X.shape[1] > SPARSE_COLUMNS:
        return X[:rank]
    if max(X.max(), -X.min()) > LONGEST:
        raise ValueError(
            f"Features above {LONGEST:g} have no means, because squares of distances are beyond "
            "the range of numbers; scale the features (for instance with MaxAbsScaler)."
        )
    start = X[:rank].toarray() if sp.issparse(X) else X[:rank]
    with one_openmp_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(rank, init=start, n_init=1, max_iter=ROUNDS, random_state=random)
        found.fit(X, sample_weight=weights)
    return np.unique(np.asarray(found.cluster_centers_, dtype=np.float64), axis=0)


def _by_leverage(
    X: Any, rank: int, kernel: Kernel, random: np.random.RandomState, weights: Floats | None
) -> Any:
    columns = KernelColumns(kernel, X[:rank])
    K = columns(X[:rank])
    # The ridge that leaves half as many directions as there are landmarks.
    ridge = float(np.sort(np.linalg.eigvalsh(K))[: max(1, rank // 2)].sum()) / max(1, rank // 2)
    ridge = max(ridge, 1e-8 * float(np.trace(K)) / rank)
    factor = scipy.linalg.cho_factor(K + ridge * np.eye(rank), lower=True)
    products = columns(X)
    seen = np.einsum("ij,ji->i", products, scipy.linalg.cho_solve(factor, products.T))
    scores = np.clip((kernel.diag(X) - seen) / ridge, 1e-12, 1.0)
    scores = scores if weights is None else scores * weights
    drawn = random.choice(X.shape[0], rank, replace=False, p=scores / scores.sum())
    return X[np.sort(drawn)]
