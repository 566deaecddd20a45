"""Rows of dask that are made block by block on workers, and clusters on this computer."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .machine import peak_memory, restart_peak_memory

HELD_OUT = 20_000
WAVES = 4


@dataclass(frozen=True)
class Waves:
    """Rows of a cube, of deviation 1; labels are signs of sums of waves. No file holds them.

    Parameters
    ----------
    n_rows, n_columns, block : int
        All rows, and how many a block has.
    """

    n_rows: int
    n_columns: int
    block: int

    def part(self, number: int) -> tuple[Any, Any]:
        """Return the rows and the labels of a block; the one numbered -1 is held out."""
        n = HELD_OUT if number < 0 else min(self.block, self.n_rows - number * self.block)
        X = np.random.default_rng([number + 1, self.n_columns]).random((n, self.n_columns))
        X -= 0.5
        X *= np.sqrt(12.0)
        directions = np.random.default_rng(0).normal(size=(self.n_columns, WAVES))
        waves = np.sin(2.0 * X @ directions / np.sqrt(self.n_columns))
        return X, (waves.sum(axis=1) > 0).astype(np.int64)

    def collections(self) -> tuple[Any, Any]:
        """Return rows and labels as arrays of dask, none of them made yet."""
        import dask.array as da
        from dask import delayed

        X, y = [], []
        for number, start in enumerate(range(0, self.n_rows, self.block)):
            n = min(self.block, self.n_rows - start)
            both = delayed(self.part, nout=2)(number)
            X.append(da.from_delayed(both[0], shape=(n, self.n_columns), dtype=float))
            y.append(da.from_delayed(both[1], shape=(n,), dtype=np.int64))
        return da.concatenate(X), da.concatenate(y)

    def here(self) -> tuple[Any, Any]:
        """Return rows and labels in the memory of this process."""
        parts = [self.part(number) for number in range(-(-self.n_rows // self.block))]
        X, y = zip(*parts)
        return np.concatenate(X), np.concatenate(y)


@contextmanager
def workers(count: int, memory: float) -> Iterator[Any]:
    """Return the client of a cluster of processes with a thread each, which know mercer."""
    from distributed import Client, LocalCluster

    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    size = {"n_workers": count, "threads_per_worker": 1, "memory_limit": int(memory)}
    with LocalCluster(**size, **quiet) as cluster, Client(cluster) as client:
        client.run(_wake_up)
        yield client


def _wake_up() -> None:
    """Import what a fit imports, which is no part of it."""
    from mercer import SVC, CellSVC

    X, y = Waves(400, 3, 400).part(0)
    CellSVC(SVC(), cell_size=100, random_state=0).fit(X, y)


def measured(client: Any, model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Fit on the workers.

    Returns
    -------
    dict
        ``seconds``; ``processor`` seconds of each worker; ``longest``, the processor seconds of
        the worker with most to do in each step, summed over steps: what the clock would say if
        each worker had a core to itself, and ``steps``, of which it is the sum; ``megabytes`` of
        each worker and, beyond what it had, of the client, all at their peak; ``restarts``.
    """
    client.run(restart_peak_memory)
    pids, processor, steps = (client.run(one) for one in (os.getpid, time.process_time, _steps))
    own, start = restart_peak_memory(), time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    spent, longest = client.run(time.process_time), dict[str, float]()
    for name, found in client.run(_steps).items():
        for step, total in found.items():
            new = total - steps.get(name, {}).get(step, 0.0)
            longest[step] = max(new, longest.get(step, 0.0))
    return {
        "seconds": seconds,
        "processor": [now - processor.get(name, 0.0) for name, now in spent.items()],
        "steps": longest,
        "longest": sum(longest.values()),
        "megabytes": [peak / 1e6 for peak in client.run(peak_memory).values()],
        "client": (peak_memory() - own) / 1e6,
        "restarts": len(set(client.run(os.getpid).values()) - set(pids.values())),
    }


def _steps(dask_worker: Any) -> dict[str, float]:
    """Return the processor seconds that a worker has spent on each kind of task."""
    found: dict[str, float] = {}
    for key, value in dask_worker.digests_total.items():
        if isinstance(key, tuple) and key[0] == "execute" and key[-2:] == ("thread-cpu", "seconds"):
            found[key[2]] = found.get(key[2], 0.0) + value
    return found
