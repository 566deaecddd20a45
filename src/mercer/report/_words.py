"""Numbers and names as they are read, with a dash for what is not known."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from numbers import Real
from typing import Any, NamedTuple

UNKNOWN = "–"


class Measure(NamedTuple):
    """A measure in words."""

    name: str
    meaning: str
    is_share: bool = False


MEASURES = {
    "error": Measure("error", "share of rows that are predicted wrongly", True),
    "balanced_error": Measure(
        "balanced error", "mean over the classes of the share predicted wrongly in each", True
    ),
    "roc_auc": Measure(
        "ROC AUC",
        "chance that a row of a class is ranked above a row of another; 1 is perfect, 0.5 a guess",
    ),
    "log_loss": Measure(
        "log loss", "mean of −log of the probability given to the true class; low is good"
    ),
    "brier": Measure(
        "Brier score", "mean squared distance of the probabilities from the truth; low is good"
    ),
    "f1": Measure("F1", "harmonic mean of precision and recall; 1 is perfect"),
    "r2": Measure("R²", "share of the target's variance that is explained; 1 is perfect"),
    "mae": Measure("MAE", "mean absolute error, in units of the target"),
    "rmse": Measure("RMSE", "root of the mean squared error, in units of the target"),
}


def measure_of(name: str) -> Measure:
    """Return a measure in words; one that is not known here goes by its own name."""
    return MEASURES.get(name, Measure(name.replace("_", " "), ""))


def is_known(value: Any) -> bool:
    """Tell whether there is a finite number."""
    return isinstance(value, Real) and math.isfinite(value)


def number(value: float, like: float | None = None, digits: int = 3) -> str:
    """Return a number with some digits that count, or with as many decimals as another has."""
    if not is_known(value):
        return UNKNOWN
    scale = abs(value if like is None else like)
    if scale >= 1e9 or 0 < scale < 1e-4:
        return f"{value:.{digits - 1}e}".replace("-", "−")
    decimals = 2 if scale == 0 else min(max(digits - 1 - math.floor(math.log10(scale)), 0), 6)
    return f"{value:,.{decimals}f}".replace("-", "−")


def percent(share: float, like: float | None = None) -> str:
    """Return a share in percent, without the sign; small ones with one more decimal."""
    if not is_known(share):
        return UNKNOWN
    scale = abs(share if like is None else like)
    return f"{100 * share:.{2 if 0 < scale < 0.01 else 1}f}".replace("-", "−")


def value_of(value: float, measure: str) -> str:
    """Return a measure's value with its unit."""
    if not measure_of(measure).is_share or not is_known(value):
        return number(value)
    return f"{percent(value)} %"


def with_spread(value: float, spread: float, measure: str) -> str:
    """Return a measure's value with its deviation over the folds."""
    if not is_known(value) or not is_known(spread):
        return value_of(value, measure)
    if measure_of(measure).is_share:
        return f"{percent(value)} ± {percent(spread, value)} %"
    return f"{number(value)} ± {number(spread, value)}"


def difference(value: float, half_width: float, measure: str) -> str:
    """Return how much worse than the best, and the interval in brackets.

    Not with a ±, which is the deviation over the folds everywhere.
    """
    if not is_known(value):
        return UNKNOWN
    show = percent if measure_of(measure).is_share else number

    def signed(amount: float) -> str:
        return f"{'+' if amount > 0 else ''}{show(amount, value or half_width)}"

    if not is_known(half_width):
        return signed(value)
    return f"{signed(value)} ({signed(value - half_width)} to {signed(value + half_width)})"


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if not is_known(seconds):
        return UNKNOWN
    if seconds < 1:
        return f"{1e3 * seconds:.{1 if seconds < 0.01 else 0}f} ms"
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def size(n_bytes: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    if not is_known(n_bytes):
        return UNKNOWN
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def clean(text: Any) -> str:
    """Return text on one line without characters that no page may hold."""
    words = re.sub(r"\s+", " ", str(text)).strip()
    return "".join("�" if unicodedata.category(sign) in ("Cc", "Cs") else sign for sign in words)


def shortened(text: Any, most: int) -> str:
    """Return cleaned text of at most so many columns, with its middle left out if need be.

    Long names of columns often share their beginning and differ at their end.
    """
    whole = clean(text)
    if _width(whole) <= most:
        return whole
    head, tail = _cut(whole, most // 2), _cut(whole[::-1], (most - 1) // 2)[::-1]
    return f"{head.rstrip()}…{tail.lstrip()}"


def shortened_apart(texts: Iterable[Any], most: int) -> list[str]:
    """Return shortened texts, numbered where shortening made two of them the same."""
    short = [shortened(text, most) for text in texts]
    seen: dict[str, int] = {}
    apart = []
    for text in short:
        seen[text] = seen.get(text, 0) + 1
        apart.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return apart


def cell(value: Any, most: int = 40) -> str:
    """Return a value of the data as it stands in a table."""
    if is_missing(value):
        return UNKNOWN
    if isinstance(value, bool) or not isinstance(value, Real):
        return shortened(value, most)
    if float(value).is_integer():
        return f"{value:,.0f}".replace("-", "−")
    return number(float(value), digits=4)


def is_missing(value: Any) -> bool:
    """Tell whether a value of the data is not there."""
    return value is None or (str(value) in ("nan", "NaT", "<NA>") and not isinstance(value, str))


def _width(text: str) -> int:
    """Return the columns a text takes; signs of East Asian scripts take two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _cut(text: str, most: int) -> str:
    while _width(text) > most:
        text = text[:-1]
    return text
