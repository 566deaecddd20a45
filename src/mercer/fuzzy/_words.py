"""Rules as sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNIT = re.compile(r"(?P<name>.*\S)\s+\((?P<unit>[^()]+)\)")
"""A name such as "petal length (cm)"; the unit is then said behind the numbers."""

TAIL = 0.05
"""Share of the rows that is left out at either end when a range is divided into terms."""


def round_for_reading(values: Floats, scales: Floats) -> Floats:
    """Round to about a hundredth of the scale of each feature.

    The rounded number is the one that its shortest text stands for.
    """
    places = [round(2 - math.log10(scale)) for scale in scales]
    rounded = [[round(float(v), p) for v, p in zip(row, places)] for row in values]
    return np.array(rounded).reshape(values.shape)


def term_range(X: Floats, weight: Floats) -> Floats:
    """Return lower and upper end of the bulk of each feature, which the terms divide."""
    order = np.argsort(X, axis=0, kind="stable")
    share = np.cumsum(weight[order], axis=0) / weight.sum()
    ends = [(share < tail).sum(axis=0).clip(max=len(X) - 1) for tail in (TAIL, 1 - TAIL)]
    ordered = np.take_along_axis(X, order, axis=0)
    return np.stack([ordered[end, np.arange(X.shape[1])] for end in ends])


def term_of(center: float, low: float, high: float, terms: Sequence[str]) -> str:
    """Return the term for a centre: the range is divided into equal parts.

    Examples
    --------
    >>> [term_of(c, 0.0, 9.0, ["low", "medium", "high"]) for c in (-1.0, 2.9, 5.0, 20.0)]
    ['low', 'low', 'medium', 'high']
    """
    place = (center - low) / (high - low) if high > low else 0.5
    return terms[int(np.clip(place * len(terms), 0, len(terms) - 1))]


def sentence(
    antecedents: Sequence[tuple[str, str, float, float]], label: Any, weight: float
) -> str:
    """Return a rule as a sentence, from names, terms, centres and widths.

    Examples
    --------
    >>> sentence([("petal length (cm)", "low", 1.5, 0.5), ("x1", "high", 3.0, 1.0)], "setosa", 0.9)
    'IF petal length is low (1.5 ± 0.5 cm) AND x1 is high (3 ± 1) THEN setosa (weight 0.9)'
    """
    parts = []
    for name, term, center, width in antecedents:
        found = UNIT.fullmatch(name)
        short, unit = (found["name"], f" {found['unit']}") if found else (name, "")
        parts.append(f"{short} is {term} ({_number(center)} ± {_number(width)}{unit})")
    return f"IF {' AND '.join(parts)} THEN {label} (weight {_number(weight)})"


def _number(value: float) -> str:
    """Return the shortest text that stands for exactly this number."""
    return repr(value).removesuffix(".0")
