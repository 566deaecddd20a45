"""The workers: how they are found, what they are asked, and what is said when they are gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from logging import getLogger
from typing import Any

from sklearn.base import clone

from mercer._extras import how_to_get

SECONDS_FOR_WORKERS = 60
"""How long a cluster may take to have its first worker."""

OWN_BYTES = 350e6
"""What a worker needs for itself: its libraries 250 MB, and what the fit of a cell takes."""

LEAST_LEFT = 1 / 4
"""Share of a small limit that is counted on all the same."""

SHARE_OF_CACHE = 1 / 8
"""How much of what is left kernel values may take, beside the rows."""


class Cluster:
    """The workers behind a dask client.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        client.wait_for_workers(1, timeout=SECONDS_FOR_WORKERS)
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        self.n_slots = max(1, sum(worker["nthreads"] for worker in workers))
        """Tasks that run at a time."""
        limits = [(worker["memory_limit"], worker["nthreads"]) for worker in workers]
        left = [max(most - OWN_BYTES, LEAST_LEFT * most) / n for most, n in limits if most]
        self.memory = min(left, default=float("inf"))
        """Bytes that each of them may use."""

    def modest(self, machine: Any) -> Any:
        """Return a copy of a machine whose caches of kernel values leave room for the rows."""
        copy, most = clone(machine), SHARE_OF_CACHE * self.memory / 1e6
        for name, value in copy.get_params().items():
            if name.rpartition("__")[2] == "cache_size" and value > most:
                copy.set_params(**{name: most})
        return copy

    def held(self, tasks: Sequence[Any]) -> list[Any]:
        """Have tasks done, and their results stay where they are until nobody asks for them."""
        return list(self.client.compute(list(tasks)))

    def values(self, tasks: Sequence[Any]) -> list[Any]:
        """Have tasks done, and return their results."""
        return self.fetched(self.held(tasks))

    def fetched(self, futures: Sequence[Any]) -> list[Any]:
        """Return what has been held."""
        return list(self.client.gather(list(futures)))

    def value(self, task: Any) -> Any:
        """Have one task done, and return its result."""
        return self.values([task])[0]

    def as_done(self, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the place and the result of each task, whichever is done first.

        Workers forget what has been fetched.
        """
        from distributed import as_completed

        futures = self.held(tasks)
        places = {future.key: place for place, future in enumerate(futures)}
        waiting = as_completed(futures)
        del futures
        for future in waiting:
            place, value = places[future.key], future.result()
            del future
            yield place, value


def need_dask() -> None:
    """Say how to get dask, where it is not installed."""
    try:
        import dask.array  # noqa: F401
        import distributed  # noqa: F401
    except ImportError:
        raise ImportError(
            f"mercer.distributed needs dask, which is not installed; run {how_to_get('dask')}."
        ) from None


@contextmanager
def cluster_at(address: str | None) -> Iterator[Cluster]:
    """Return the workers of a scheduler, or of the client in use; failures are told in a sentence.

    Parameters
    ----------
    address : str or None
    """
    need_dask()
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    client = _client(address)
    where = client.scheduler.address if client.scheduler is not None else address
    try:
        with client.as_current():
            yield _cluster(client, where)
    except KilledWorker as error:
        raise MemoryError(
            f"The same work ended {error.allowed_failures + 1} workers of the scheduler at {where}"
            ", most likely for lack of memory; give the workers more of it, or make chunks and "
            "cells smaller."
        ) from None
    except (CancelledError, CommClosedError) as error:
        if client.status != "running":
            raise ConnectionError(
                f"The scheduler at {where} is gone, and the fit with it; fit again when there is "
                "one."
            ) from None
        if isinstance(error, CommClosedError):
            raise
        raise ConnectionError(
            f"The scheduler at {where} has given up the fit, because its workers were restarted, "
            "or are lost with rows that cannot be read again; make X and y anew, and fit again."
        ) from None
    finally:
        if address is not None:
            _close(client)


def _cluster(client: Any, where: Any) -> Cluster:
    try:
        return Cluster(client)
    except TimeoutError:
        raise ConnectionError(f"The scheduler at {where} has no workers; start some.") from None


def _close(client: Any) -> None:
    """Close a client without what it has to say of a scheduler that is gone."""
    log = getLogger("distributed.client")
    was_disabled, log.disabled = log.disabled, True
    try:
        client.close(timeout=1)
    finally:
        log.disabled = was_disabled


def _client(address: str | None) -> Any:
    from distributed import Client, get_client

    try:
        return get_client() if address is None else Client(address, set_as_default=False)
    except ValueError:
        raise ValueError(
            "There is no dask client; make one first, for instance by dask.distributed.Client(), "
            "or give Distributed the address of a scheduler."
        ) from None
    except OSError:  # a TimeoutError is one
        raise ConnectionError(f"No scheduler answers at {address!r}.") from None
