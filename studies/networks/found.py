"""Mean errors and places of statistics, as tables and claims ask for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mercer.studies import StudyResults

from .study import NAMES, ROWS

LEADING = 3
"""Statistics that are pictured as the leading ones."""


class Found:
    """What a table of results holds, by statistics, scaling, training rows and method.

    Parameters
    ----------
    results : StudyResults
    """

    def __init__(self, results: StudyResults) -> None:
        self.rows: dict[Any, dict[str, Any]] = {}
        for row in results.table():
            about = results.study.configuration(row["configuration"]).parameters
            key = about.get("statistics"), about.get("scaled"), about["n"], row["method"]
            self.rows[key] = row

    def error(self, kind: Any, scaled: Any, n: int, method: str, size: int | None = None) -> float:
        """Return the error with the best statistics, or the mean over all sizes."""
        row = self.rows[kind, scaled, n, method]
        return float(row["mean"] if size is None else row[f"error_{size}"])

    def mean(self, kind: str, scaled: bool, method: str, size: int | None = None) -> float:
        """Return the mean of such errors over all numbers of training rows."""
        return float(np.mean([self.error(kind, scaled, n, method, size) for n in ROWS]))

    def leading(
        self, kind: str, scaled: bool, method: str, rows: Iterable[int] = ROWS, count: int = LEADING
    ) -> list[str]:
        """Return the statistics with the lowest mean places, the best first."""
        some = [self.rows[kind, scaled, n, method] for n in rows]
        places = {
            name: float(np.mean([row[f"place of {name}"] for row in some])) for name in NAMES[kind]
        }
        return sorted(places, key=lambda name: places[name])[:count]
