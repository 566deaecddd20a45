"""Labels of generated data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def balanced_labels(n_samples: int, rng: Any) -> NDArray[np.int64]:
    """Return as many 0 as 1, one 0 more where the number is odd, in random order."""
    check_size(n_samples)
    return rng.permutation(np.arange(n_samples) % 2).astype(np.int64)


def random_signs(n_samples: int, rng: Any) -> NDArray[np.int64]:
    """Return -1 or +1 with equal chance, drawn again should all be equal."""
    check_size(n_samples)
    while True:
        signs = 2 * rng.randint(2, size=n_samples) - 1
        if np.ptp(signs):
            return signs.astype(np.int64)


def check_size(n_samples: int) -> None:
    """Two classes need two rows."""
    if n_samples < 2:
        raise ValueError(f"n_samples must be at least 2, one for each class; got {n_samples}.")
