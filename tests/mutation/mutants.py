"""Changes of source code that should make a test fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Pow: "*"}
LOGIC = {ast.And: "or", ast.Or: "and", ast.BitAnd: "|", ast.BitOr: "&"}
NUMBERS = {0: "1", 1: "2", 2: "1", 0.5: "0.25", 3: "4"}
"""Indices, signs and factors; larger numbers are limits, of which one more changes nothing."""
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all"}
NAMES |= {"all": "any", "argmin": "argmax", "argmax": "argmin", "ones": "zeros", "zeros": "ones"}


@dataclass(frozen=True)
class Mutant:
    """A piece of a file and what stands there instead.

    Parameters
    ----------
    path : Path
    line : int
        Where the piece begins, from 1.
    begin, end : int
        The piece, in characters of the file.
    old, new : str
    """

    path: Path
    line: int
    begin: int
    end: int
    old: str
    new: str

    def applied(self) -> str:
        """Return the text of the file with the change."""
        text = self.path.read_text(encoding="utf-8")
        assert text[self.begin : self.end] == self.old
        return text[: self.begin] + self.new + text[self.end :]

    def marked(self) -> str:
        """Return the line with the piece between « and »."""
        text = self.path.read_text(encoding="utf-8")
        before = text[: self.begin].rpartition("\n")[2]
        after = text[self.end :].partition("\n")[0]
        return " ".join(f"{before}«{self.old}»{after}".split())

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}: {self.old!r} -> {self.new!r}"


def mutants_of(path: Path) -> list[Mutant]:
    """Return all changes of a file, Python or C++."""
    return list(_of_python(path) if path.suffix == ".py" else _of_engine(path))


def _of_python(path: Path) -> Iterator[Mutant]:
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        # Columns count bytes of UTF-8.
        row = text[starts[line - 1] : starts[line]].encode()
        return starts[line - 1] + len(row[:column].decode())

    def piece(begin: int, end: int, new: str) -> Mutant:
        return Mutant(path, text.count("\n", 0, begin) + 1, begin, end, text[begin:end], new)

    for node in _code(ast.parse(text)):
        here = place(node.lineno, node.col_offset)
        end = place(node.end_lineno or node.lineno, node.end_col_offset or 0)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = node.left, node.comparators[0]
            yield from _between(text, piece, place, left, right, COMPARISONS.get(type(node.ops[0])))
        elif isinstance(node, ast.BinOp):
            new = ARITHMETIC.get(type(node.op)) or LOGIC.get(type(node.op))
            if not _is_text(node.left):
                yield from _between(text, piece, place, node.left, node.right, new)
        elif isinstance(node, ast.BoolOp):
            yield from _between(text, piece, place, *node.values[:2], LOGIC[type(node.op)])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            sign = 3 if isinstance(node.op, ast.Not) else 1
            yield piece(here, end, text[here + sign : end].lstrip())
        elif isinstance(node, ast.Constant) and node.value in NUMBERS and _is_number(node.value):
            yield piece(here, end, NUMBERS[node.value])
        elif isinstance(node, ast.Attribute) and node.attr in NAMES:
            yield piece(end - len(node.attr), end, NAMES[node.attr])
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield piece(here, end, NAMES[node.id])


def _code(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what is computed: no annotations, signatures, messages, nor constants of a module.

    Constants are tuned: twice as much of one makes a fit slower and not wrong.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from _below(node)


def _below(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        for inner in node.body:
            yield from _below(inner)
        return
    if isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield from _below(node.value)
        return
    if hasattr(node, "lineno"):
        yield node
    for inner in ast.iter_child_nodes(node):
        yield from _below(inner)


def _between(text, piece, place, left, right, new) -> Iterator[Mutant]:  # type: ignore[no-untyped-def]
    """Yield the change of the operator that stands between two operands."""
    if new is None:
        return
    begin = place(left.end_lineno, left.end_col_offset)
    end = place(right.lineno, right.col_offset)
    found = re.search(r"(not in|is not|in|is|and|or|[<>=!]=|\*\*|[-+*/<>&|])", text[begin:end])
    if found is not None:
        yield piece(begin + found.start(), begin + found.end(), new)


def _is_text(node: ast.AST) -> bool:
    """Say whether a sum begins with a text, as messages do."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and node.value == "")


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


ENGINE_CHANGES = [
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " / "),
    (r" < ", " <= "),
    (r" > ", " >= "),
    (r" <= ", " < "),
    (r" >= ", " > "),
    (r" == ", " != "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r"std::min\b", "std::max"),
    (r"std::max\b", "std::min"),
    (r"\+= ", "-= "),
    (r"-= ", "+= "),
    (r"\b0\.5\b", "0.25"),
    (r"\b1e-\d+\b", "1e-3"),
]


def _of_engine(path: Path) -> Iterator[Mutant]:
    text = path.read_text(encoding="utf-8")
    begin = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        code = line.split("//")[0]
        if not re.match(r"\s*(#|template|throw|if \(.*\) throw)", code) and '"' not in code:
            for pattern, new in ENGINE_CHANGES:
                for found in re.finditer(pattern, code):
                    place = begin + found.start()
                    yield Mutant(path, number, place, place + len(found[0]), found[0], new)
        begin += len(line)
