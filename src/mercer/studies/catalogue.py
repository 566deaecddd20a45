"""All tables and figures of the source documents, and what became of each."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from .registry import find_studies, get_study, studies_folder
from .study import names_cell
from .verdicts import Comparison

FILE = "catalogue.csv"
NOT_YET = "not yet"


@dataclass(frozen=True)
class Entry:
    """A table or figure of a document.

    Attributes
    ----------
    document, place, about : str
        A part of a table has a comma behind the table's number.
    study : str
        The study that has it, or will have it; empty where none is needed.
    only : tuple of str
        Which of the study's cells are meant, as for ``--only``; all if empty.
    quantities : tuple of str
        Which numbers are meant; all that are printed if empty.
    reason : str
        Why there is nothing to compare, or a remark.
    """

    document: str
    place: str
    about: str
    study: str = ""
    only: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()
    reason: str = ""

    @property
    def whole(self) -> str:
        """The table or figure that it is, or a part of; what it is about where none is numbered."""
        name, _, number = self.place.partition(",")[0].partition(" ")
        return f"{name} {number}" if number else self.about

    @property
    def status(self) -> str:
        """Say "study" where there is one, "not yet" where there should be, else "no study"."""
        if self.study in find_studies():
            return "study"
        return NOT_YET if self.study or self.reason.startswith(NOT_YET) else "no study"

    @property
    def command(self) -> str:
        """The command that runs what it shows; empty where there is none."""
        if self.status != "study":
            return ""
        chosen = "".join(f' --only "{word}"' for word in self.only if word != "*")
        return f"mercer study run {self.study}{chosen}"

    def covers(self, comparison: Comparison) -> bool:
        """Tell whether a number of its study belongs to it."""
        pair = (comparison.configuration, comparison.method)
        named = not self.only or any(names_cell(word, pair) for word in self.only)
        return named and (not self.quantities or comparison.quantity in self.quantities)


def read_catalogue() -> list[Entry]:
    """Return the entries of the catalogue, document by document.

    Examples
    --------
    >>> from mercer.studies.catalogue import read_catalogue
    >>> next(entry.study for entry in read_catalogue() if entry.place == "table 5.4")
    'ida'
    """
    with (studies_folder() / FILE).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [_entry(**row) for row in rows]


def _entry(only: str, quantities: str, **texts: str) -> Entry:
    words = tuple(filter(None, only.split(";")))
    return Entry(only=words, quantities=tuple(quantities.split()), **texts)


def unused_words() -> list[str]:
    """Return what entries name that their studies do not have; there should be nothing."""
    wrong = []
    for entry in read_catalogue():
        if entry.status == "study":
            study = get_study(entry.study)
            cells = [cell[:2] for cell in study.cells(1)]
            for word in entry.only:
                if not any(names_cell(word, pair) for pair in cells):
                    wrong.append(f"{entry.place}: {word}")
    return wrong
