"""The list of changes that alter nothing names changes that can be made."""

from __future__ import annotations

from pathlib import Path

from .__main__ import TESTS
from .equivalents import Equivalent, outdated, read_equivalents
from .mutants import mutants_of
from .workshop import ROOT

SOURCE = '''def halves(values):
    """Return 2 halves."""
    return values[: len(values) // 2], values[len(values) // 2 :]
'''


def test_the_marked_piece_is_the_one_that_changes(tmp_path: Path) -> None:
    file = tmp_path / "halves.py"
    file.write_text(SOURCE)
    first, second = [mutant for mutant in mutants_of(file) if mutant.old == "2"]
    line = "return values[: len(values) // «2»], values[len(values) // 2 :]"
    entry = Equivalent("halves.py", line, "1", "for the test")
    assert (entry.is_change(first), entry.is_change(second)) == (True, False)
    assert first.applied() == SOURCE.replace("// 2]", "// 1]")


def test_texts_are_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "words.py"
    file.write_text('def told(n):\n    return f"{n} rows" + ends(n)\n')
    assert mutants_of(file) == []


def test_entries_without_their_line_are_found(tmp_path: Path) -> None:
    (tmp_path / "halves.py").write_text(SOURCE)
    line = "return values[: len(values) // «2»], values[len(values) // 2 :]"
    holds = Equivalent("halves.py", line, "1", "for the test")
    gone = [
        Equivalent("halves.py", line.replace("values[len", "rest[len"), "1", "another line"),
        Equivalent("halves.py", line, "3", "another change"),
        Equivalent("thirds.py", line, "1", "another file"),
    ]
    assert outdated([holds, *gone], tmp_path) == gone


def test_every_entry_has_a_reason() -> None:
    entries = read_equivalents()
    assert len(set(entries)) == len(entries) > 0
    assert all(entry.reason for entry in entries)


def test_the_tests_of_each_package_are_there() -> None:
    named = [test.split("::")[0] for tests in TESTS.values() for test in tests]
    assert [name for name in named if not (ROOT / name).exists()] == []
