"""The order in which pictures fill two columns without much white below either."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Protocol, TypeVar

LINE, LETTERS = 0.19, 56
"""Height of a line of a caption, in inches of the pictures, and how many letters it has."""

BESIDE = 0.7
"""What heading and space around take."""


class Framed(Protocol):
    """A picture with its words."""

    @property
    def height(self) -> float: ...
    @property
    def caption(self) -> str: ...


P = TypeVar("P", bound=Framed)


def in_two_columns(pictures: Sequence[P]) -> list[P]:
    """Return the pictures in an order that fills two columns evenly, one after the other.

    The first stays the first, and in each column the order stays; a page of one column has the
    same order. Of fillings that are about as good, the nearest to the given order is taken.

    Examples
    --------
    >>> from types import SimpleNamespace as Picture
    >>> tall = [Picture(height=height, caption="") for height in (3.0, 5.0, 4.0, 4.0)]
    >>> [picture.height for picture in in_two_columns(tall)]
    [3.0, 5.0, 4.0, 4.0]
    >>> tall = [Picture(height=height, caption="") for height in (3.0, 2.0, 8.0, 3.0)]
    >>> [picture.height for picture in in_two_columns(tall)]
    [3.0, 2.0, 3.0, 8.0]
    """
    if not pictures:
        return []
    rest = range(1, len(pictures))
    fillings = [
        ([0, *left], [k for k in rest if k not in left])
        for size in range(len(pictures))
        for left in combinations(rest, size)
    ]

    def judged(filling: tuple[list[int], list[int]]) -> tuple[int, list[int]]:
        tallest = max(sum(_height(pictures[k]) for k in column) for column in filling)
        return round(2 * tallest), [*filling[0], *filling[1]]

    left, right = min(fillings, key=judged)
    return [pictures[k] for k in (*left, *right)]


def _height(picture: Framed) -> float:
    return picture.height + BESIDE + LINE * -(-len(picture.caption) // LETTERS)
