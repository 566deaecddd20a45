"""The floor: what any solver must at least compute, at the rates that this machine reaches.

To know that a solution is optimal, the gradient of all n rows must be known, and it is a sum over
the support vectors: #SV x n kernel values, each once. An RBF value costs a dot product of d terms
and one exponential, so

    floor = entries (2 d / GEMM rate + 1 / exp rate),

with the rate of a large float32 matrix product and of float32 exponentials on all cores, measured
in the same run. The bytes are those of the values in float32, and their traffic is what one reading
of them from memory takes: a solver that keeps values and reads them again pays that each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from .machine import cores


@dataclass(frozen=True)
class Rates:
    """What the machine does in a second, all cores, float32.

    Attributes
    ----------
    gemm : float
        Floating-point operations of a large matrix product.
    exp : float
        Exponentials of values in cache.
    read : float
        Bytes read from memory.
    """

    gemm: float
    exp: float
    read: float

    def __str__(self) -> str:
        return (
            f"float32 GEMM {self.gemm / 1e9:.0f} GFLOP/s, exp {self.exp / 1e9:.2f} G/s, "
            f"memory read {self.read / 1e9:.0f} GB/s"
        )


@dataclass(frozen=True)
class Floor:
    """Kernel entries, their bytes in float32, and the seconds that they cost at least."""

    entries: int
    bytes: int
    compute: float
    traffic: float


def floor(n_support: int, n: int, d: int, rates: Rates) -> Floor:
    """Return the least work of a problem with ``n`` rows, ``d`` columns and so many SVs.

    >>> floor(10, 100, 20, Rates(gemm=40e3, exp=1e3, read=4e3)).compute
    2.0
    """
    entries = n_support * n
    seconds = entries * (2 * d / rates.gemm + 1 / rates.exp)
    return Floor(entries, 4 * entries, seconds, 4 * entries / rates.read)


def measure_rates(size: int = 2048, repeats: int = 5) -> Rates:
    """Measure the three rates, the best of ``repeats`` each."""
    square = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    product = np.empty_like(square)
    gemm = 2.0 * size**3 / _best(lambda: np.matmul(square, square, out=product), repeats)
    exp = _rate_on_all_cores(_exponentials, size * size, repeats)
    read = 4.0 * _rate_on_all_cores(_reading, 8 * size * size, repeats)
    return Rates(gemm, exp, read)


def _rate_on_all_cores(make: Callable[[int], Callable[[], object]], n: int, repeats: int) -> float:
    """Return elements a second when every core has ``n`` of its own (NumPy frees the lock)."""
    works = [make(n) for _ in range(cores())]
    with ThreadPoolExecutor(len(works)) as pool:
        seconds = _best(lambda: list(pool.map(lambda work: work(), works)), repeats)
    return n * len(works) / seconds


def _exponentials(n: int) -> Callable[[], object]:
    """Return work that takes exponentials in pieces that stay in the first-level cache."""
    values = np.linspace(-10, 0, 2**12, dtype=np.float32)
    out = np.empty_like(values)

    def work() -> None:
        for _ in range(n // len(values)):
            np.exp(values, out=out)

    return work


def _reading(n: int) -> Callable[[], object]:
    values = np.ones(n, dtype=np.float32)
    return lambda: values.max()


def _best(work: Callable[[], object], repeats: int) -> float:
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
