"""A kernel that takes its time."""

from __future__ import annotations

import time
from typing import Any

from mercer.kernels import Kernel


class SlowKernel:
    """Takes its time for some rows: more than a callback waits for, unless told otherwise.

    Parameters
    ----------
    kernel : Kernel
        Whose values it has.
    seconds : float
        For each call.
    """

    def __init__(self, kernel: Kernel, seconds: float = 0.06) -> None:
        self.kernel, self.seconds = kernel, seconds

    def __call__(self, left: Any, right: Any) -> Any:
        time.sleep(self.seconds)
        return self.kernel(left, right)

    def diag(self, X: Any) -> Any:
        return self.kernel.diag(X)
