"""What one model has done on one fold."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Outcome:
    """One model on one fold."""

    model: str
    repeat: int
    fold: int
    measures: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    size_bytes: int
    n_trained: int
    said: NDArray[np.float64]
    """Positions of classes, or numbers, for the rows left out; only of the first repeat."""
    probabilities: NDArray[np.float64] | None

    def as_entry(self) -> dict[str, Any]:
        """Return what JSON can hold, with the bytes of all numbers."""
        entry = dict(vars(self))
        entry["said"] = self.said.tobytes().hex()
        found = self.probabilities
        entry["probabilities"] = None if found is None else found.tobytes().hex()
        return entry

    @classmethod
    def from_entry(cls, entry: dict[str, Any], n_classes: int) -> Outcome:
        """Return what `as_entry` was made of."""
        numbers = dict(entry)
        numbers["said"] = np.frombuffer(bytes.fromhex(entry["said"]))
        if entry["probabilities"] is not None:
            flat = np.frombuffer(bytes.fromhex(entry["probabilities"]))
            numbers["probabilities"] = flat.reshape(-1, n_classes)
        return cls(**numbers)


class _Counter:
    """A file that only counts: as bytes, a forest may need as much memory as all the rest."""

    n_bytes = 0

    def write(self, data: Any) -> int:
        """Count what a file would keep."""
        self.n_bytes += memoryview(data).nbytes
        return memoryview(data).nbytes


def size_of(model: Any) -> int:
    """Return the bytes of a model in a file."""
    counter = _Counter()
    pickle.dump(model, counter)
    return counter.n_bytes
