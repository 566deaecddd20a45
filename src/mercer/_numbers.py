"""Numbers as people read them."""

from __future__ import annotations

import math

SMALLEST, LARGEST, APART = 1e-4, 1e9, 10_000
"""Numbers between the first two need no exponent; thousands stand apart from the third on."""


def number(value: float, like: float | None = None) -> str:
    """Return a number with four digits that count, those of thousands apart where they are many.

    Parameters
    ----------
    value : float
    like : float or None, default=None
        A number beside which this one stands, with as many decimals.

    Examples
    --------
    >>> number(31270.4), number(1987.0), number(0.0123456), number(-2.5), number(1e12)
    ('31,270', '1987', '0.01235', '-2.5', '1e+12')
    >>> number(float("nan")), number(0.046391, like=0.4737), number(12.345, like=31270.4)
    ('–', '0.0464', '12')
    """
    size = abs(value)
    if not math.isfinite(value):
        return "–"
    if like is not None and "e" not in (shown := number(like)) and math.isfinite(like):
        return f"{value:{',' * (round(size) >= APART)}.{len(shown.partition('.')[2])}f}"
    if size >= LARGEST or 0 < size < SMALLEST:
        return f"{value:.4g}"
    decimals = 0 if size == 0 else max(0, 3 - math.floor(math.log10(size)))
    text = f"{value:,.{decimals}f}" if round(size) >= APART else f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text
