"""How many threads to use: those of the engine, and those of the linear algebra.

Threads of a BLAS wait busily for each other. Where another process has a core, or where NumPy's
BLAS and SciPy's (each brings its own) take turns, a loop over small factorisations then takes ten
to a hundred times as long as with one thread. What works in such loops is therefore held to the
threads that pay for the size of its matrices, by `blas_for` or the decorator `holds_blas`.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache, wraps
from typing import Any, TypeVar, cast

import joblib
import scipy.linalg  # noqa: F401, it has a BLAS of its own, which must be loaded to be counted
from joblib.parallel import get_active_backend
from threadpoolctl import LibController, ThreadpoolController

Method = TypeVar("Method", bound=Callable[..., Any])

MANY_ROWS = 2000
"""From so many rows on a second thread of the BLAS pays.

Medians of two threads against one, Cholesky factor / inverse from it. On 16 idle cores: 0.8 / 1.2
times as fast at n = 600, 1.4 / 1.6 at 1000, 1.6 / 1.6 at 2000. On two cores with several other
processes: 6 to 48 / 5 to 12 times slower at n = 1000, 3 / 3 to 5 at 2000, 1.7 / 2.8 at 3000. So
the bound weighs a gain of 1.6 against such losses; products alone would gain earlier.
"""

MOST_THREADS = 1024
"""However many are asked for, as by a number that slipped in: a billion would take all memory."""


def available_threads(n_threads: int | None = None) -> int:
    """Return the number of threads: as asked for, or one for each processor that is ours to use.

    Affinity and quota of a container limit the latter, and so does ``OMP_NUM_THREADS``, which
    joblib sets in its worker processes to their share. Tasks that it runs side by side without
    such a share, as in threads, get one each.

    Parameters
    ----------
    n_threads : int or None, default=None
        The number asked for; None takes what is there.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> available_threads(3)
    3
    >>> available_threads() >= 1
    True
    """
    if n_threads is not None:
        return max(1, min(n_threads, MOST_THREADS))
    is_task = bool(getattr(get_active_backend()[0], "nesting_level", 0))
    if is_task and threading.current_thread() is not threading.main_thread():
        return 1  # others share this process and whatever it may use
    share = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if share.isdigit() and int(share) > 0:
        return min(_processors(_affinity()), int(share))
    return 1 if is_task else _processors(_affinity())


def wanted_threads(n_jobs: int | None) -> int | None:
    """Return the threads that ``n_jobs`` of an estimator asks for; None means all available.

    Examples
    --------
    >>> wanted_threads(None), wanted_threads(-1), wanted_threads(3)
    (None, None, 3)
    """
    if n_jobs is None or n_jobs == -1:
        return None
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use 1 for one thread or None for all.")
    # All but some of those that are ours, which in joblib's workers are not all of the machine.
    return n_jobs if n_jobs > 0 else max(1, available_threads() + 1 + n_jobs)


def blas_for(n_rows: int, n_threads: int | None = None) -> AbstractContextManager[None]:
    """Return a context for loops of linear algebra with matrices of so many rows and columns.

    Parameters
    ----------
    n_rows : int
    n_threads : int or None, default=None
        For large matrices; None uses all that are available.

    Examples
    --------
    >>> import numpy as np
    >>> with blas_for(300):  # one thread
    ...     values = [np.linalg.cholesky(np.eye(300) * k) for k in (1, 2, 3)]
    """
    return blas_threads(1 if n_rows < MANY_ROWS else available_threads(n_threads))


def blas_threads(limit: int | None) -> AbstractContextManager[None]:
    """Return a context in which linear algebra uses at most so many threads; None changes nothing.

    The limit is that of the process. Of several at a time, nested or in different threads, the
    smallest holds, and none raises what was set outside of them.

    Parameters
    ----------
    limit : int or None
        Most threads.

    Returns
    -------
    context manager
        The limit holds inside of it.

    Examples
    --------
    >>> with blas_threads(1), blas_threads(4):  # one thread
    ...     pass
    """
    return nullcontext() if limit is None else _Hold(limit)


def holds_blas(method: Method) -> Method:
    """Decorate a method of an estimator, or a function of one, that loops over linear algebra.

    Its arguments begin with the estimator and X. While it runs, the BLAS has the threads that pay
    for the size of X, of those that ``n_jobs`` of the estimator allows. What has no such loop does
    without: to enter and leave takes about 20 microseconds.

    Examples
    --------
    >>> class Model:
    ...     @holds_blas
    ...     def fit(self, X):
    ...         return len(X)
    >>> Model().fit([[1.0], [2.0]])
    2
    """

    @wraps(method)
    def held(*arguments: Any, **named: Any) -> Any:
        model = arguments[0] if arguments else named.get("model")
        size = _size(arguments[1] if len(arguments) > 1 else named.get("X"))
        with blas_for(size, wanted_threads(getattr(model, "n_jobs", None) or None)):
            return method(*arguments, **named)

    return cast(Method, held)


class _Hold:
    """One limit, from entering to leaving."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __enter__(self) -> None:
        try:
            _SHARED.add(self)
            _OWN.held.add(self)
        except BaseException:  # Ctrl-C in the midst of it: nobody would leave
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        _OWN.held.remove(self)
        _SHARED.remove(self)


class _Held:
    """The limits in force for some libraries; the last to leave restores what the first found.

    Parameters
    ----------
    shared : bool
        Whether for the libraries with one pool for the whole process, such as the OpenBLAS of
        NumPy's wheels, or for those that keep a number of threads for each thread that calls.
    """

    def __init__(self, shared: bool) -> None:
        self.shared = shared
        self.holds: list[_Hold] = []
        self.found: list[tuple[LibController, int]] = []
        self.renew()

    def renew(self) -> None:
        """Make a new lock; in a forked process the old one may be locked for ever."""
        self.lock = threading.Lock()

    def add(self, hold: _Hold) -> None:
        """Put a limit in force."""
        with self.lock:
            if not self.holds:
                libraries = [each for each in _libraries() if _is_shared(each) == self.shared]
                self.found = [(library, library.num_threads) for library in libraries]
            before = self._most()
            self.holds.append(hold)
            self._change(before)

    def remove(self, hold: _Hold) -> None:
        """Take a limit back, if it is in force."""
        with self.lock:
            if hold in self.holds:
                before = self._most()
                self.holds.remove(hold)
                self._change(before)

    def _most(self) -> int | None:
        return min((hold.limit for hold in self.holds), default=None)

    def _change(self, before: int | None) -> None:
        most = self._most()
        if most != before:  # else a nested one costs nothing
            for library, found in self.found:
                _set(library, found if most is None else min(found, most))


class _Own(threading.local):
    """The limits of each thread."""

    def __init__(self) -> None:
        self.held = _Held(shared=False)


_SHARED, _OWN = _Held(shared=True), _Own()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SHARED.renew)


def one_openmp_thread() -> AbstractContextManager[Any]:
    """Return a context in which loops of OpenMP that this thread begins have one thread.

    Those of scikit-learn wait busily for each other, as those of a BLAS do: beside another process
    k-means of a few thousand rows took a hundred times as long with two threads as with one.

    Examples
    --------
    >>> with one_openmp_thread():
    ...     pass
    """
    return cast(AbstractContextManager[Any], _openmp().limit(limits=1))


@lru_cache(maxsize=1)
def _openmp() -> ThreadpoolController:
    """Return what sets the threads of OpenMP."""
    return ThreadpoolController().select(user_api="openmp")


@lru_cache(maxsize=1)
def _libraries() -> list[LibController]:
    """Return each BLAS of this process."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _is_shared(library: LibController) -> bool:
    is_own = library.internal_api == "mkl" or getattr(library, "threading_layer", "") == "openmp"
    return not is_own


def _set(library: LibController, n_threads: int) -> None:
    """Set the threads of a library, from whichever thread comes first or leaves last.

    Since version 3.8 threadpoolctl heeds only the first thread that sets a shared pool. Here all
    threads go by one list of limits, under a lock, so that any may speak for them.
    """
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(n_threads)
    if release is not None:
        release(force=True)


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _processors(affinity: int) -> int:
    """Return what joblib counts, within affinity and quota; it reads files, so not every time."""
    return max(1, min(affinity, joblib.cpu_count()))


def _size(X: Any) -> int:
    """Return the number of rows, or of a wide matrix that of a square one with as many entries.

    Whatever is given is measured here and checked later.
    """
    shape = getattr(X, "shape", None)
    if shape is None:
        return len(X) if hasattr(X, "__len__") else 0
    if len(shape) == 0 or not all(isinstance(length, int) for length in shape):
        return 0
    return max(shape[0], math.isqrt(math.prod(shape)))
