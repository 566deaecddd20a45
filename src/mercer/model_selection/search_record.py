"""What a search has found so far, so that it can be taken up again."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from mercer._files import read_records, record_line, write_text_whole


@dataclass(eq=False)
class SearchRecord:
    """Entries of a search in memory and, if wanted, in a file, one line each.

    Parameters
    ----------
    fingerprint : str
        Of data and settings.
    path : path or None
    seed : int
        Of whatever is random.
    entries : list of dict
        What can be written as JSON.
    """

    fingerprint: str
    path: Path | None = None
    seed: int = 0
    entries: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def open(cls, fingerprint: str, path: Any, seed: int = 0) -> Self:
        """Return what the file holds, or an empty record where there is none."""
        record = cls(fingerprint, None if path is None else Path(path), seed)
        if record.path is None or not record.path.exists():
            return record
        whole, n_torn = read_records(record.path)
        if not whole or not {"fingerprint", "seed"} <= set(whole[0]):
            raise ValueError(f"{path} is no checkpoint of a search; name another file.")
        head, record.entries = whole[0], whole[1:]
        if head["fingerprint"] != fingerprint:
            raise ValueError(
                f"{path} belongs to another search, on other data or with other settings; name "
                "another file or delete it."
            )
        record.seed = head["seed"]
        if n_torn:
            write_text_whole(record.path, "".join(map(record_line, whole)))
        return record

    def read(self, read_entry: Callable[[dict[str, Any]], None]) -> None:
        """Hand over all entries, or say that the file holds something else."""
        try:
            for entry in self.entries:
                read_entry(entry)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"{self.path} is no checkpoint of this kind of search; name another file or "
                "delete it."
            ) from error

    def add(self, entry: dict[str, Any]) -> None:
        """Keep an entry, in the file too."""
        if self.path is not None:
            head = {"fingerprint": self.fingerprint, "seed": self.seed}
            lines = [entry] if self.path.exists() else [head, entry]
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join(map(record_line, lines)))
        self.entries.append(entry)


def stable_key(value: Any) -> str:
    """Return a text that is equal for equal values, also in another process where possible."""
    try:
        content = pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):  # functions without a name
        content = repr(value).encode()
    return hashlib.sha256(content).hexdigest()
