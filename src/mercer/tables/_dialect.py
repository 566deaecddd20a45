"""How a text is cut into cells: separator, decimal sign, lines before the table, header."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from mercer.tables._encoding import Spelling
from mercer.tables._values import is_missing, is_number
from mercer.tables.errors import InputError, counted, listed, shown

SEPARATORS = (",", ";", "\t", "|", "^", "~")
SPACES = r"\s+"
WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": SPACES, " ": SPACES}
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
DECIMAL_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
LIKE_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*")
MOST_LINES_BEFORE = 20
SAMPLE_CHARACTERS = 100_000
SAMPLE_LEAST_LINES = 5
SAMPLE_COLUMNS = 500


@dataclass(frozen=True)
class Dialect:
    """What a parser must know.

    Parameters
    ----------
    separator : str
        One character, or the pattern for any number of spaces.
    decimal : {".", ","}
    skipped : int
        Lines before the first row, the header among them.
    names : list of str
        Of the columns, all different.
    notices : list of str
    """

    separator: str
    decimal: str
    skipped: int
    names: list[str]
    notices: list[str] = field(default_factory=list)


def find_dialect(
    spelling: Spelling, name: str, separator: str | None, header: bool | None, target: object
) -> Dialect:
    """Return how the beginning of a text asks to be cut.

    Parameters
    ----------
    spelling : Spelling
    name : str
        Of the file, for messages.
    separator : str or None
        Decides, if given.
    header : bool or None
        Whether the first line names the columns; decides, if given.
    target : object
        A name that stands in the first line makes it a header.
    """
    lines = list(spelling.sample)
    before = 0
    if lines and re.fullmatch(r"sep=.", lines[0].strip('\ufeff \r"')):  # Excel's own hint
        separator, before = separator or lines[0].strip('\ufeff \r"')[4], 1
    chosen = _given(separator) if separator is not None else _separator(lines[before:])
    records = _records(_some(lines[before:]), chosen)
    if not any(_filled(record) for record in records):
        raise InputError(f"{shown(name)} has no cells.")
    width = _usual_width(records)
    start = _first_record(records, width)
    first, rows = records[start], [row for row in records[start + 1 :] if _filled(row)]
    notices = []
    if any(_filled(record) for record in records[:start]):
        notices.append(f"{counted(start, 'line')} before the table skipped.")
    named = header if header is not None else is_header(first, rows, target)
    if not named:
        names = [f"c{k + 1}" for k in range(max(width, len(first)))]
        notices.append("There is no line of column names; they are called c1, c2, ….")
    else:
        names = _names(first, rows, width, name, notices)
        if spelling.whole and not rows:
            raise InputError(f"{shown(name)} has column names but no rows with values.")
    decimal = "," if chosen != "," and _has_decimal_commas(rows or [first]) else "."
    return Dialect(chosen, decimal, before + start + named, names, notices)


def _given(separator: str) -> str:
    chosen = WORDS.get(separator.lower(), separator)
    if chosen != SPACES and (len(chosen) != 1 or not chosen.isascii() or chosen in '"\n\r\0'):
        raise InputError(
            f"The separator must be one character such as ';' or 'tab'; got {shown(separator)}."
        )
    return chosen


def _separator(lines: list[str]) -> str:
    """Return what cuts the lines into equally many cells that look whole."""
    filled = _some([line for line in lines if line.strip()])
    scores = {candidate: _score(filled, candidate) for candidate in SEPARATORS}
    best = max(SEPARATORS, key=lambda candidate: scores[candidate])
    if scores[best] >= 0.5 and not _is_cut_by_spaces(filled, best):
        return best
    return SPACES if _score(filled, SPACES) >= max(scores[best], 0.7) else best


def _is_cut_by_spaces(lines: list[str], separator: str) -> bool:
    """Return whether cells hold several numbers, as where a tab stands before the last column."""
    firsts = [record[0].split() for record in _records(lines, separator) if record]
    several = [len(parts) > 2 and all(map(_is_cell_of_number, parts)) for parts in firsts]
    return sum(several) > len(several) / 2


def _is_cell_of_number(cell: str) -> bool:
    return is_number(cell) or is_missing(cell)


def _some(lines: list[str]) -> list[str]:
    """Return as many lines as are needed for a judgement: fewer if they are long."""
    size = 0
    kept: list[str] = []
    for line in lines:
        if size > SAMPLE_CHARACTERS and len(kept) >= SAMPLE_LEAST_LINES:
            break
        kept.append(line)
        size += len(line)
    return kept


def _score(lines: list[str], separator: str) -> float:
    records = [record for record in _records(lines, separator) if record]
    width = _usual_width(records)
    if width < 2:
        return 0.0
    usual = [record for record in records if len(record) == width]
    cells = [cell for record in usual for cell in record[:200]]
    others = [other for other in SEPARATORS[:4] if other != separator]
    clean = [not any(other in cell for other in others) or is_number(cell) for cell in cells]
    return round(len(usual) / len(records) * sum(clean) / len(clean), 3)


def _records(lines: list[str], separator: str) -> list[list[str]]:
    try:
        if separator == SPACES:
            words = (line.replace("\t", " ").strip() for line in lines)
            return list(csv.reader(words, delimiter=" ", skipinitialspace=True))
        reader = csv.reader((f"{line}\n" for line in lines), delimiter=separator)
        return [[cell.strip("\ufeff \n") for cell in record] for record in reader]
    except csv.Error:  # a cell beyond the module's limit
        raise InputError("A cell holds more than 131,072 characters, which is no table.") from None


def _filled(record: list[str]) -> bool:
    return any(record)


def _usual_width(records: list[list[str]]) -> int:
    widths = Counter(len(record) for record in records if record)
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _first_record(records: list[list[str]], width: int) -> int:
    """Return where the table begins: titles and remarks before it are narrower."""
    for place, record in enumerate(records[:MOST_LINES_BEFORE]):
        remark = record and record[0].startswith("#") and len(record) != width
        title = width > 2 and sum(map(bool, record)) < 2
        if _filled(record) and not remark and not title:
            return place
    return next(place for place, record in enumerate(records) if _filled(record))


def is_header(first: list[str], rows: list[list[str]], target: object) -> bool:
    """Return whether the first line names the columns rather than being one of the rows."""
    if isinstance(target, str) and target in first:
        return True
    first = first[:SAMPLE_COLUMNS]
    numbers = [is_number(cell) for cell in first]
    if not rows:
        return not any(numbers)
    columns = [[row[k] for row in rows if k < len(row)] for k in range(len(first))]
    numeric = [k for k, column in enumerate(columns) if _mostly_numbers(column)]
    told = [k for k in numeric if numbers[k]]
    if told:
        return len(told) < len(numeric) / 2 or _counts_on([first[k] for k in told])
    if any(not is_missing(first[k]) for k in numeric):
        return True
    again = sum(cell in column for cell, column in zip(first, columns) if cell)
    return again < max(sum(map(bool, first)) / 2, 1)


def _mostly_numbers(column: list[str]) -> bool:
    known = [cell for cell in column if not is_missing(cell)]
    return bool(known) and sum(map(is_number, known)) > 0.8 * len(known)


def _counts_on(cells: list[str]) -> bool:
    """Return whether the cells are numbers of columns or years: 0, 1, 2 or 2001, 2002, 2003."""
    if not all(re.fullmatch(r"\d{1,6}", cell) for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    if any(b - a != 1 for a, b in pairwise(numbers)):
        return False
    usual_start = numbers[0] == 0 or 1900 <= numbers[0] <= 2100
    return len(numbers) >= (3 if usual_start else 5)


def _names(
    first: list[str], rows: list[list[str]], width: int, file: str, notices: list[str]
) -> list[str]:
    names = list(first)
    names[0] = names[0].lstrip("# ") or names[0]
    if rows and width == len(names) + 1:
        row_names = any(row[-1] for row in rows if len(row) == width)
        names = ["row_name", *names] if row_names else [*names, ""]
    if len(names) < width:
        raise InputError(
            f"{shown(file)} names {counted(len(names), 'column')}, but its rows have {width} "
            "values."
        )
    return unique_names(names, notices)


def unique_names(given: list[str], notices: list[str]) -> list[str]:
    """Return names that are all there and all different."""
    names: dict[str, None] = {}  # in order, and quick to look up
    taken = set(given)
    renamed = []
    for place, name in enumerate(given):
        chosen = name or f"Unnamed: {place}"
        if chosen in names:
            number = next(n for n in range(2, len(given) + 2) if f"{chosen}_{n}" not in taken)
            chosen = f"{chosen}_{number}"
            renamed.append(chosen)
        taken.add(chosen)
        names[chosen] = None
    if renamed:
        notices.append(f"Columns of the same name are now called {listed(renamed)}.")
    return list(names)


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    """Return whether more numbers have a comma than a point, by those that cannot be thousands."""
    cells = [cell for row in rows for cell in row[:200]]
    commas = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
    points = [cell for cell in cells if DECIMAL_POINT.fullmatch(cell)]
    clear_commas, clear_points = (
        sum(not LIKE_THOUSANDS.fullmatch(cell) for cell in some) for some in (commas, points)
    )
    if clear_commas or clear_points:
        return clear_commas > clear_points
    return len(commas) > len(points)
