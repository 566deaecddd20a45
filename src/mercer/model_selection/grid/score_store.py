"""Scores that a grid search has found so far, so that it can be taken up again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from mercer._files import write_text_whole
from mercer.model_selection.grid.shared_search import FoldScores


@dataclass(eq=False)
class ScoreStore:
    """Scores by group and fold, kept in memory and, if wanted, in a file.

    As a context it writes the file at its end, whether the work was finished or interrupted.

    Parameters
    ----------
    fingerprint : str
        Of data and settings.
    path : path or None
    scores : dict
    """

    fingerprint: str
    path: Path | None = None
    scores: dict[tuple[str, int], FoldScores] = field(default_factory=dict)

    @classmethod
    def open(cls, fingerprint: str, path: Any) -> ScoreStore:
        """Return what the file holds, or an empty store where there is none."""
        store = cls(fingerprint, None if path is None else Path(path))
        if store.path is None or not store.path.exists():
            return store
        try:
            kept = json.loads(store.path.read_text())
            found = kept["fingerprint"]
            rows = [(str(k), int(f), FoldScores(**scores)) for k, f, scores in kept["scores"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is no checkpoint of a search; name another file.") from error
        if found != fingerprint:
            raise ValueError(f"{path} belongs to another search; name another file or delete it.")
        store.scores = {(key, fold): scores for key, fold, scores in rows}
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: Any) -> None:
        if self.path is None:
            return
        rows = [[key, fold, vars(scores)] for (key, fold), scores in self.scores.items()]
        kept = {"fingerprint": self.fingerprint, "scores": rows}
        write_text_whole(self.path, json.dumps(kept))
