"""Which tests come first: a run ends with the first that fails."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from .mutants import Mutant
from .workshop import ROOT


class Order:
    """Tests in an order in which a change is noticed soon.

    Those that are named after the file that is changed come first, then those that mention it, and
    among equals those that have noticed more changes so far.

    Parameters
    ----------
    tests : list of str
        Files, folders, or single tests of a file.
    """

    def __init__(self, tests: list[str]) -> None:
        self._tests = [found for test in tests for found in _files(test)]
        self._texts = {
            test: (ROOT / test.split("::")[0]).read_text("utf-8") for test in self._tests
        }
        self._noticed: Counter[str] = Counter()

    def tests(self, mutant: Mutant | None) -> list[str]:
        """Return all of them, for a change."""
        if mutant is None:
            return self._tests
        name = mutant.path.stem.strip("_")
        word = re.compile(rf"\b{name}\b")

        def rank(test: str) -> tuple[bool, bool, int]:
            file = test.split("::")[0]
            is_named = name in Path(file).stem
            return not is_named, not word.search(self._texts[test]), -self._noticed[file]

        return sorted(self._tests, key=rank)

    def note(self, failed: str) -> None:
        """Count a test that has noticed a change."""
        self._noticed[failed.split("::")[0]] += 1


def _files(test: str) -> list[str]:
    if not (ROOT / test).is_dir():
        return [test]
    return [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / test).rglob("test_*.py"))]
