"""What a study is: configurations, methods, and a function that does one repetition."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

Values = Mapping[str, float]

MOST_NAMES = 12
"""Names in a message."""


class StudyError(ValueError):
    """A study cannot be run as asked; the message is one sentence that says why."""


@dataclass(frozen=True)
class Printed:
    """What a publication printed for a configuration and a method.

    Attributes
    ----------
    mean : float or None
        None where only further numbers are printed.
    sd : float or None
        Deviation over the repetitions, not the standard error.
    extra : mapping
        Further printed means, such as the number of trainings, by the names that `Study.run` uses.
    reasons : mapping of str to str
        Why a number cannot be reproduced, by its name.
    single : tuple of str
        Numbers that come from one draw, whatever `Study.printed_repetitions` says.
    """

    mean: float | None
    sd: float | None = None
    extra: Values = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    single: tuple[str, ...] = ()


@dataclass(frozen=True)
class Configuration:
    """A problem on which all methods are tried.

    Attributes
    ----------
    name : str
    parameters : mapping
        What `Study.run` needs to know; numbers, text and sequences of them. A change of them
        makes earlier results void.
    printed : mapping of str to Printed
        By method.
    methods : tuple of str or None
        The methods that apply; all of them if None.
    repetitions : int or None
        Most repetitions that make sense, such as the number of predefined splits.
    note : str
        A remark for the table.
    data : tuple of str
        Data sets that are needed, by their names in `mercer.datasets.DATASETS`.
    independent : float
        What a repetition is worth for standard errors; below 1 where some are the same.
    unexplained : str
        Why the printed numbers cannot be reproduced, if that is known of them.
    alike : str
        Configurations with the same word here, other than none, vary alike from repetition to
        repetition: where each has too few, their deviations are taken together.
    printed_repetitions : int or None
        As `Study.printed_repetitions`, where this one differs.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    printed: Mapping[str, Printed] = field(default_factory=dict)
    methods: tuple[str, ...] | None = None
    repetitions: int | None = None
    note: str = ""
    data: tuple[str, ...] = ()
    independent: float = 1.0
    unexplained: str = ""
    alike: str = ""
    printed_repetitions: int | None = None


class Cell(NamedTuple):
    """One repetition of one method on one configuration."""

    configuration: str
    method: str
    repetition: int


@dataclass(frozen=True)
class Study:
    """An experiment as data: configurations x methods x repetitions.

    Attributes
    ----------
    name, title, description, citation : str
    configurations : tuple of Configuration
    methods : mapping of str to mapping
        Parameters by method; a change of them makes earlier results of that method void.
    run : callable
        ``run(configuration, method, repetition, seed)`` gets a `Configuration`, the name of a
        method, a number from 0 and a seed below 2**32, and returns numbers by name. All methods
        get the same seed for the same configuration and repetition, so that they can be compared
        on the same data.
    measure : str
        The number that the printed means are about.
    lower_is_better : bool
    repetitions : int
        How many where nothing else is asked for.
    printed_repetitions : int or None
        Over how many repetitions the printed means were taken.
    pictures : mapping of str to str
        ``{"file stem": "module:function"}``; a function gets the `StudyResults` and returns a
        matplotlib figure.
    report : str
        ``"module:function"`` of a function that gets the `StudyResults` and returns what they come
        to as text in Markdown; the command line prints it and keeps it as `report.md`.
    source : str
        Author and year, for lists.
    duration : str
        How long it takes on one processor.
    gains : tuple of str
        Numbers beside the measure of which more is better.
    shares : tuple of str
        Numbers that are 0 or 1 in each repetition, so that their means are shares.
    again : tuple of str
        Which configurations, methods or ``configuration/method`` are compared with a printed
        number that is already compared with another; they are not counted. With ``:`` and a name
        behind it a word is about that number only.
    floors : mapping of str to float
        Least deviations of numbers by their names, where repetitions may agree by rounding alone.
    averages : mapping of str to Printed
        What is printed of the means over all configurations, by method.
    kept : tuple of str
        Numbers beside the measure that are stored although nothing is printed of them.
    version : int
        Raise it when `run` changes in a way that makes earlier results void.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.studies import Configuration, Printed, Study, run_study
    >>> def run(configuration, method, repetition, seed):
    ...     draws = np.random.default_rng(seed).normal(size=configuration.parameters["n"])
    ...     return {"error": abs(getattr(np, method)(draws))}
    >>> study = Study(
    ...     "averages", "Mean against median", "", "",
    ...     (Configuration("ten", {"n": 10}, {"mean": Printed(0.2523)}),),
    ...     {"mean": {}, "median": {}}, run, repetitions=200)
    >>> for row in run_study(study).table():
    ...     print(row["method"], row["repetitions"], row["verdict"])
    mean 200 reproduced
    median 200 not printed
    """

    name: str
    title: str
    description: str
    citation: str
    configurations: tuple[Configuration, ...]
    methods: Mapping[str, Mapping[str, Any]]
    run: Callable[[Configuration, str, int, int], Values]
    measure: str = "error"
    lower_is_better: bool = True
    repetitions: int = 100
    printed_repetitions: int | None = None
    pictures: Mapping[str, str] = field(
        default_factory=lambda: {"overview": "mercer.studies.pictures:draw_overview"}
    )
    report: str = ""
    source: str = ""
    duration: str = ""
    gains: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    floors: Mapping[str, float] = field(default_factory=dict)
    averages: Mapping[str, Printed] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    version: int = 1

    def __post_init__(self) -> None:
        names = [configuration.name for configuration in self.configurations]
        if len(set(names)) < len(names):
            raise StudyError(f"Two configurations of study {self.name!r} have the same name.")

    def configuration(self, name: str) -> Configuration:
        """Return a configuration by its name."""
        return {known.name: known for known in self.configurations}[name]

    def methods_of(self, configuration: Configuration) -> tuple[str, ...]:
        """Return the methods that apply to a configuration."""
        return tuple(self.methods) if configuration.methods is None else configuration.methods

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets that all configurations need."""
        return tuple(dict.fromkeys(name for c in self.configurations for name in c.data))

    def is_again(self, configuration: str, method: str, quantity: str) -> bool:
        """Tell whether a printed number is already compared with another cell."""
        words = [word.partition(":")[::2] for word in self.again]
        pair = (configuration, method)
        return any(names_cell(cell, pair) and name in ("", quantity) for cell, name in words)

    def words(self, text: str) -> list[str]:
        """Cut a text at commas, but for those inside a name.

        From the left, the longest part that names something is a word.

        Examples
        --------
        >>> from mercer.studies import get_study
        >>> get_study("tiny").words("10 draws, median")
        ['10 draws', 'median']
        >>> get_study("genes").words("Golub, 34 test rows, 4 genes/honest,biased")
        ['Golub, 34 test rows, 4 genes/honest', 'biased']
        """
        pairs, parts, words = self._pairs(None), text.split(","), []
        while parts:
            for count in range(len(parts), 0, -1):
                word = ",".join(parts[:count]).strip()
                if count == 1 or any(names_cell(word, pair) for pair in pairs):
                    break
            words += [word] * bool(word)
            parts = parts[count:]
        return words

    def cells(
        self, repetitions: int | None = None, only: Sequence[str] | None = None
    ) -> list[Cell]:
        """Return the cells to do, repetition by repetition, so that early tables are balanced.

        Parameters
        ----------
        repetitions : int, default=None
            At most so many for each configuration and method.
        only : sequence of str, default=None
            Words that name a configuration, a method, or ``configuration/method``; ``*`` and ``?``
            stand for any text and any character.
        """
        most = self.repetitions if repetitions is None else repetitions
        if most < 1:
            raise StudyError(f"The number of repetitions must be at least 1; got {most}.")
        pairs = self._pairs(only)
        limits = {c.name: min(most, c.repetitions or most) for c in self.configurations}
        return [Cell(*pair, k) for k in range(most) for pair in pairs if k < limits[pair[0]]]

    def _pairs(self, only: Sequence[str] | None) -> list[tuple[str, str]]:
        pairs = [(c.name, method) for c in self.configurations for method in self.methods_of(c)]
        if not only:
            return pairs
        chosen = {word: [pair for pair in pairs if names_cell(word, pair)] for word in only}
        for word, found in chosen.items():
            if not found:
                raise StudyError(
                    f"{word!r} names nothing in study {self.name!r}; its configurations are "
                    f"{_listed([c.name for c in self.configurations])}, its methods "
                    f"{_listed(list(self.methods))}."
                )
        return [pair for pair in pairs if any(pair in found for found in chosen.values())]

    def seed(self, configuration: str, repetition: int, base: int = 0) -> int:
        """Return the seed of a cell, which depends on nothing but these names and numbers."""
        return int(_hash([self.name, configuration, repetition, base]), 16) % 2**32

    def definition(self, configuration: Configuration, method: str, base: int = 0) -> str:
        """Return a checksum of all that decides the numbers of a configuration and a method."""
        parts = [self.name, self.version, configuration.name, dict(configuration.parameters)]
        return _hash([*parts, method, dict(self.methods[method]), base])


def names_cell(word: str, pair: tuple[str, str]) -> bool:
    """Tell whether a word names a configuration, a method or both; * and ? are understood."""
    return any(fnmatchcase(name, word) for name in (*pair, "/".join(pair)))


def _listed(names: list[str]) -> str:
    """Return names in a sentence, but not more than one can read."""
    more = len(names) - MOST_NAMES
    return "; ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _hash(parts: list[Any]) -> str:
    text = json.dumps(parts, sort_keys=True, default=_as_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _as_plain(value: Any) -> Any:
    """Turn arrays and their numbers into what JSON knows; `repr` does for the rest."""
    return value.tolist() if hasattr(value, "tolist") else repr(value)
