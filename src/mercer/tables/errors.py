"""Bad input, said in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_WORD = 40
LONGEST_LIST = 120
"""Characters; sentences must stay readable, whatever people call their columns."""


class InputError(ValueError):
    """What the person gave cannot be used; the message is one sentence that says why.

    Examples
    --------
    >>> from mercer.tables import InputError, named_table
    >>> try:
    ...     named_table("irsi")
    ... except InputError as error:
    ...     print(error)
    There is no data set 'irsi'; did you mean 'iris'?
    """


def suggestion(given: str, known: Iterable[str]) -> str:
    """Return a question that names the nearest known word, or a full stop if none is near.

    Parameters
    ----------
    given : str
        A word that is not known.
    known : iterable of str
        The words that are.

    Returns
    -------
    str
        The question, to be put behind a sentence.

    Examples
    --------
    >>> from mercer.tables import suggestion
    >>> suggestion("agee", ["name", "age"]), suggestion("salary", ["name", "age"])
    ("; did you mean 'age'?", '.')
    """
    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(given[:200].lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {shown(by_lower[near[0]])}?" if near else "."


def shown(value: object) -> str:
    """Return a value in quotes on one line, cut where it is long."""
    quoted = repr(str(value)[: 2 * LONGEST_WORD])  # in which one sign may take several
    return quoted if len(quoted) <= LONGEST_WORD + 2 else f"{quoted[: LONGEST_WORD + 1]}…'"


def listed(names: Iterable[object], most: int = 4) -> str:
    """Return for instance "'a', 'b' and 5 more"."""
    names = list(names)
    words = [shown(name) for name in names[:most]]
    while len(words) > 1 and sum(map(len, words)) > LONGEST_LIST:
        words.pop()
    more = f" and {len(names) - len(words)} more" if len(names) > len(words) else ""
    return ", ".join(words) + more


def counted(number: int, noun: str) -> str:
    """Return for instance "1 row" or "2,000 rows"."""
    return f"{number:,} {noun}" + "s" * (number != 1)
