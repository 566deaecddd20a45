"""A GPU under measurement: whether there is one, its memory, sums in float64, what stands in."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from mercer.gram.devices import why_not

from .machine import GIB, peak_memory, restart_peak_memory
from .problems import Array

BLOCK_ENTRIES = 1 << 27
"""Kernel values that are held at a time: a gigabyte, and as much again on the way."""

STAND_IN_SMALL = 150
"""Variables up to which a program is the processor's where there is no card: few enough that some
are not, and not so few that hundreds of tiny ones are solved by means that are meant for large."""

LONG = 10.0
"""Seconds after which a call is not repeated."""


def refusal(quick: bool) -> str:
    """Return a sentence that says why there is nothing to measure, or nothing.

    A quick run needs torch only, whose CPU device stands in for the card.
    """
    reason = why_not("cuda")
    if not reason or (quick and "needs torch" not in reason):
        return ""
    hint = "" if quick else " (--quick runs small problems on torch's CPU device.)"
    return f"There is no GPU to measure: {reason}{hint}"


def device() -> Any:
    """Return torch's name of the card, or of what stands in for it."""
    import torch

    return torch.device("cpu" if why_not("cuda") else "cuda")


@contextmanager
def measured_device() -> Iterator[Any]:
    """A context in which estimators with ``device="cuda"`` find the card or what stands in."""
    there = device()
    if there.type == "cuda":
        yield there
        return

    def stand_in(name: str, n_rows: int) -> Any:
        return None if name == "cpu" else there

    with (
        patch("mercer.gram.pairwise.device_for", stand_in),
        patch("mercer.gram.pairwise.nearest_device", stand_in),
        patch("mercer.gram.pairwise.DEVICE_ENTRIES", 1),
        patch.object(sys.modules["mercer.solvers.solve"], "SMALL", STAND_IN_SMALL),
    ):
        yield there


def facts() -> dict[str, str]:
    """Name the card and what drives it, for the head of a report."""
    import torch

    there = device()
    if there.type != "cuda":
        return {"GPU": f"none; torch {torch.__version__} on the processor stands in"}
    card = torch.cuda.get_device_properties(there)
    size = f"{card.total_memory / GIB:.0f} GiB"
    return {"GPU": f"{card.name}, {size}; torch {torch.__version__}, CUDA {torch.version.cuda}"}


class Measured(NamedTuple):
    """What a call took: seconds of each run, and the most memory that was held, in GiB.

    ``host`` is beyond what the process held before; ``card`` is None without a card.
    """

    seconds: list[float]
    host: float
    card: float | None
    returned: Any

    @property
    def best(self) -> float:
        """The shortest time."""
        return min(self.seconds)


def measure(call: Callable[[], Any], repeats: int) -> Measured:
    """Call several times, once only where that takes long; what is returned is that of the last."""
    there = device()
    if there.type == "cuda":
        import torch

        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(there)
    before = restart_peak_memory()
    seconds: list[float] = []
    while len(seconds) < repeats and sum(seconds) <= LONG:
        _wait(there)
        start = time.perf_counter()
        returned = call()
        _wait(there)
        seconds.append(time.perf_counter() - start)
    host = (peak_memory() - before) / GIB
    card = torch.cuda.max_memory_allocated(there) / GIB if there.type == "cuda" else None
    return Measured(seconds, host, card, returned)


def _wait(there: Any) -> None:
    if there.type == "cuda":
        import torch

        torch.cuda.synchronize(there)


def card_sums(
    X: Array, vectors: Array, coef: Array, *, kernel: str, gamma: float, block: int = 0
) -> Array:
    """Return sum_j coef_j k(x_i, v_j) in float64 by plain products of torch on the card.

    It takes the place of `benchmarks.quality.decision_sums`, shares nothing with mercer's sums, and
    knows Gaussian kernels only.
    """
    import torch

    if kernel != "rbf":
        raise ValueError(f"The kernel must be 'rbf', not {kernel!r}.")
    there = device()
    centre = X.mean(axis=0)  # which changes no distance, only rounding
    right = torch.as_tensor(vectors - centre, device=there)
    weights, norms = torch.as_tensor(coef, device=there), right.square().sum(dim=1)
    sums = np.empty(len(X))
    step = max(1, (block // 8 or BLOCK_ENTRIES) // max(1, len(vectors)))
    for start in range(0, len(X), step):
        rows = torch.as_tensor(X[start : start + step] - centre, device=there)
        distances = torch.addmm(norms.expand(len(rows), -1), rows, right.T, alpha=-2.0)
        distances += rows.square().sum(dim=1, keepdim=True)
        values = distances.clamp_(min=0.0).mul_(-gamma).exp_()
        sums[start : start + step] = (values @ weights).cpu().numpy()
    return sums
