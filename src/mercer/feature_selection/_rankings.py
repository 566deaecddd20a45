"""Rankings of features from whatever can make one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

Features = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Ranking:
    """An order of the features, and how it came about.

    Parameters
    ----------
    order : ndarray of int
        The best feature first.
    seconds, processor_seconds : float
        What it took, by the clock and of the processors.
    sizes, accuracy : ndarray
        Of the machines trained on the way, where there were any.
    """

    order: Features
    seconds: float
    processor_seconds: float
    sizes: Features
    accuracy: NDArray[np.float64]


def make_ranking(source: Any, X: Any, y: Any, rng: np.random.RandomState) -> Ranking:
    """Return the ranking that a source makes of some rows.

    Parameters
    ----------
    source : estimator, callable, array-like or "random"
        A selector that is fitted and then has ``order_``, ``ranking_`` or ``scores_``; a function
        of X and y that scores features; or a ready order of the features, the best first.
    """
    start, busy = time.perf_counter(), time.process_time()
    sizes, accuracy = np.empty(0, dtype=np.intp), np.empty(0)
    if isinstance(source, str):
        if source != "random":
            raise ValueError(f"A ranking by name can only be 'random'; got {source!r}.")
        order = rng.permutation(X.shape[1])
    elif hasattr(source, "fit"):
        selector = clone(source)
        if "n_features_to_select" in selector.get_params(deep=False):
            selector.set_params(n_features_to_select=1)  # a ranking of all of them
        selector.fit(X, y)
        order = order_of(selector)
        trace = getattr(selector, "trace_", None)
        if trace is not None:
            sizes, accuracy = trace.sizes, trace.train_accuracy
    elif callable(source):
        scores = source(X, y)
        scores = scores[0] if isinstance(scores, tuple) else scores
        order = np.argsort(-np.asarray(scores), kind="stable")
    else:
        order = _checked_order(source, X.shape[1])
    taken, used = time.perf_counter() - start, time.process_time() - busy
    return Ranking(order, taken, used, sizes, accuracy)


def order_of(selector: Any) -> Features:
    """Return the order of the features that a fitted selector found."""
    for name, sign in (("order_", 0), ("ranking_", 1), ("scores_", -1)):
        if hasattr(selector, name):
            found = np.asarray(getattr(selector, name))
            return found if sign == 0 else np.argsort(sign * found, kind="stable")
    raise TypeError(f"{selector!r} has neither order_ nor ranking_ nor scores_.")


def _checked_order(order: Any, n_features: int) -> Features:
    found = np.asarray(order)
    if found.shape != (n_features,) or not np.array_equal(np.sort(found), np.arange(n_features)):
        raise ValueError(
            f"A ranking must hold each of the {n_features} features once, the best first."
        )
    return found
