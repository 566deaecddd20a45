"""Changes after which the package does the same, listed with their reasons."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .mutants import Mutant, mutants_of

LIST = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True)
class Equivalent:
    """A change that no test can notice.

    Parameters
    ----------
    file : str
        Below the folder of the package's sources, or below that of the project for the engine.
    line : str
        The line, with the piece that changes between « and ».
    new : str
        What stands there instead.
    reason : str
    """

    file: str
    line: str
    new: str
    reason: str

    def is_change(self, mutant: Mutant) -> bool:
        """Say whether it is this change, wherever in the file the line stands now."""
        return (
            mutant.path.as_posix().endswith("/" + self.file)
            and mutant.new == self.new
            and mutant.marked() == self.line
        )


def read_equivalents(path: Path = LIST) -> list[Equivalent]:
    """Return the changes of the list."""
    return [Equivalent(**entry) for entry in tomllib.loads(path.read_text("utf-8"))["equivalent"]]


def outdated(equivalents: list[Equivalent], *folders: Path) -> list[Equivalent]:
    """Return those whose file is in none of the folders, or whose line is gone."""

    def holds(entry: Equivalent, file: Path) -> bool:
        return file.is_file() and any(entry.is_change(mutant) for mutant in mutants_of(file))

    return [
        entry
        for entry in equivalents
        if not any(holds(entry, folder / entry.file) for folder in folders)
    ]
