"""Bad input, said in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(Exception):
    """What the person gave cannot be used; the message is one sentence that says why."""


def suggestion(given: str, known: Iterable[str]) -> str:
    """Return a question that names the nearest known word, or nothing if none is near."""
    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(given.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else "."
