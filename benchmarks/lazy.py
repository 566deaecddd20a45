"""LazyPredict beside a comparison: its winner on the rows held out, and its time."""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from . import machine

MEMORY = 8 * machine.GIB

SCORES = {"error": "Accuracy", "balanced_error": "Balanced Accuracy", "rmse": "R-Squared"}
"""What it calls one minus a measure; for numbers, one minus the squared error over the variance."""


def lazy(given: tuple[Any, Any, Any, Any], measure: str) -> dict[str, Any]:
    """Return the error of LazyPredict's winner in the measure of ours, and its time.

    It takes the table as it is, with its own ways for categories and gaps, and reports scores on
    the rows held out; the first line of its leaderboard is the winner.

    Parameters
    ----------
    given : tuple
        Frames to learn from and held out, then their targets.
    measure : {"error", "balanced_error", "rmse"}
    """
    from lazypredict.Supervised import LazyClassifier, LazyRegressor

    train, test, y_train, y_test = given
    is_classes = measure != "rmse"
    if is_classes:
        names, y_train = np.unique(y_train, return_inverse=True)
        y_test = np.searchsorted(names, y_test)
    start = time.perf_counter()
    kind = LazyClassifier if is_classes else LazyRegressor
    board, _ = kind(verbose=0, ignore_warnings=True).fit(train, test, y_train, y_test)
    seconds = time.perf_counter() - start
    errors = 1.0 - board[SCORES[measure]]
    found = {"lazy seconds": seconds, "lazy models": len(board), "LazyPredict": board.index[0]}
    return found | {"lazy error": float(errors.iloc[0]), "lazy lowest": float(errors.min())}


def lazy_in_time(given: Any, measure: str, seconds: float) -> dict[str, Any]:
    """Run LazyPredict in a process of its own, with limits of time and memory.

    Parameters
    ----------
    given, measure
        As for `lazy`.
    seconds : float
    """
    pool = ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), machine.limit_memory, (MEMORY,)
    )
    try:
        return pool.submit(lazy, given, measure).result(timeout=seconds)
    except TimeoutError:
        return {"LazyPredict": f"cut after {seconds:g} s"}
    except ImportError:
        return {"LazyPredict": "not installed"}
    except Exception as failed:  # whatever it raises beside another scikit-learn, or for memory
        return {"LazyPredict": f"{type(failed).__name__}: {str(failed).splitlines()[0][:120]}"}
    finally:
        for process in (pool._processes or {}).values():
            process.kill()
        pool.shutdown(cancel_futures=True)
