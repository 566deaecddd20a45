"""What a search has evaluated so far, so that it can be taken up again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from mercer._files import written_whole

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One evaluation of a criterion: its value, its gradient and what it cost."""

    value: float
    gradient: Floats
    n_fits: int


@dataclass(eq=False)
class Evaluations:
    """All evaluations of a search, and the solutions from which the next one starts.

    The method of the search is deterministic, so that going through the known evaluations again
    leads to the point at which it was interrupted.

    Parameters
    ----------
    fingerprint : str
        Of data and settings.
    seed : int
        Of whatever is random.
    known : dict
        By the bytes of the parameters.
    solutions : dict
        Solutions of the machines, by number of the machine and name.
    """

    fingerprint: str
    seed: int
    known: dict[bytes, Evaluation] = field(default_factory=dict)
    solutions: dict[tuple[int, str], Floats] = field(default_factory=dict)

    def save(self, path: Any) -> None:
        """Write all of it, so that a file half written is never seen."""
        arrays: dict[str, Any] = {
            "fingerprint": np.array(self.fingerprint),
            "seed": np.array(self.seed),
        }
        for k, (key, found) in enumerate(self.known.items()):
            arrays[f"key {k}"] = np.frombuffer(key, dtype=np.uint8)
            arrays[f"value {k}"] = np.array([found.value, found.n_fits])
            arrays[f"gradient {k}"] = found.gradient
        for (machine, name), beta in self.solutions.items():
            arrays[f"solution {machine} {name}"] = beta
        with written_whole(path) as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: Any, fingerprint: str) -> Evaluations:
        """Read what `save` has written, and see that it belongs here."""
        try:
            with np.load(path, allow_pickle=False) as file:
                evaluations = cls(str(file["fingerprint"]), int(file["seed"]))
                for name in file.files:
                    kind, _, rest = name.partition(" ")
                    if kind == "key":
                        value, n_fits = file[f"value {rest}"]
                        found = Evaluation(float(value), file[f"gradient {rest}"], int(n_fits))
                        evaluations.known[file[name].tobytes()] = found
                    elif kind == "solution":
                        machine, _, problem = rest.partition(" ")
                        evaluations.solutions[int(machine), problem] = file[name]
        except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
            raise ValueError(f"{path} is no checkpoint of a search; name another file.") from error
        if evaluations.fingerprint != fingerprint:
            raise ValueError(
                f"{path} belongs to a search on other data or with other settings; name another "
                "file."
            )
        return evaluations
