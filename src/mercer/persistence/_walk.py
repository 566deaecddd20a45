"""The walk through the schema of a file: what is common to nodes of all kinds.

Nodes may refer to others before them, and these are counted as often as skops meets them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mercer.persistence._arrays import Head
from mercer.persistence.errors import RefusalError, StrangeFunctionError, StrangeTypeError

Node = dict[str, Any]

DEEPEST = 100
"""Nodes inside each other; skops and Python need a few calls for each."""

MOST_REPEATED = 2**20
"""Nodes that are met again by way of references. skops goes through these as often as something
refers to them: a few lists of lists of the same lists would keep it busy for ever."""

COMMON = {"__class__", "__module__", "__loader__", "__id__"}


class Walk:
    """Goes through nodes, by the rules for their loaders.

    Parameters
    ----------
    heads : mapping from str to Head
        The arrays of the archive.

    Attributes
    ----------
    types : set of str
        What skops has to be told to trust.
    files : set of str
        The arrays that are used.
    """

    def __init__(self, heads: Mapping[str, Head]) -> None:
        self.heads = heads
        self.types: set[str] = set()
        self.files: set[str] = set()
        self._whole: dict[int, tuple[int, int]] = {}  # nodes inside, and how deep
        self._met = self._repeated = self._deepest = self._read_again = 0
        self._most_read_again = 2**20 + sum(head.size for head in heads.values())
        self._rules: dict[str, Callable[[Node, tuple[str, ...]], None]] = {}

    def _free(self, node: Any, path: tuple[str, ...]) -> None:
        """Check a node that may be the same object as one before it."""
        if isinstance(node, dict) and node.get("__loader__") == "CachedNode":
            self._reference(node, path)
            return
        met, deepest = self._met + self._repeated, self._deepest
        self._deepest = len(path)
        self._node(node, path)
        if "__id__" in node:
            number = node["__id__"]
            if type(number) is not int or number <= 0 or number in self._whole:
                raise RefusalError("two different parts of it claim to be the same")
            inside = self._met + self._repeated - met
            self._whole[number] = (inside, self._deepest - len(path))
        self._deepest = max(self._deepest, deepest)

    def _reference(self, node: Node, path: tuple[str, ...]) -> None:
        """Count what lies behind a reference, which must be whole and so cannot contain it."""
        number = node.get("__id__")
        if type(number) is not int or number not in self._whole or set(node) != COMMON:
            raise RefusalError("it refers to something that is not there")
        inside, depth = self._whole[number]
        self._repeated += inside
        self._deepest = max(self._deepest, len(path) + depth)
        if self._repeated > MOST_REPEATED or self._deepest > DEEPEST:
            raise RefusalError("its parts refer to each other beyond all bounds")

    def _own(self, node: Any, path: tuple[str, ...], *loaders: str) -> Node:
        """Check a node that must not be shared with other places, of one of the given kinds."""
        self._unshared(node, path, *loaders)
        self._node(node, path)
        return node

    def _unshared(self, node: Any, path: tuple[str, ...], *loaders: str) -> None:
        if not isinstance(node, dict) or "__id__" in node or node.get("__loader__") not in loaders:
            raise RefusalError(f"something is not of the kind that its place needs{place_of(path)}")

    def _node(self, node: Any, path: tuple[str, ...]) -> None:
        self._met += 1
        self._deepest = max(self._deepest, len(path))
        if len(path) > DEEPEST:
            raise RefusalError(f"its parts are more than {DEEPEST} deep inside each other")
        if not isinstance(node, dict):
            raise RefusalError(f"something is no part of a plan{place_of(path)}")
        names = [node.get(key) for key in ("__class__", "__module__", "__loader__")]
        if not all(isinstance(name, str) for name in names):
            raise RefusalError(f"something has no type{place_of(path)}")
        if names[2] in ("MethodNode", "PartialNode", "OperatorFuncNode"):
            raise StrangeFunctionError(f"{names[1]}.{names[0]}", place_of(path))
        if names[2] not in self._rules:
            raise StrangeTypeError(f"{names[1]}.{names[0]}", place_of(path))
        self._rules[names[2]](node, path)

    def _fields(self, node: Node, *names: str) -> None:
        if set(node) - COMMON != set(names):
            raise RefusalError(f"a {node['__loader__']} in it has other fields than it should")

    def _must_be(self, node: Node, allowed: Iterable[str], path: tuple[str, ...]) -> str:
        name = f"{node['__module__']}.{node['__class__']}"
        if name not in allowed:
            raise StrangeTypeError(name, place_of(path))
        return name

    def _content(self, node: Node, names: set[str], path: tuple[str, ...]) -> Node:
        content = node["content"]
        if not isinstance(content, dict) or set(content) != names:
            raise RefusalError(f"something has other parts than it should{place_of(path)}")
        return content

    def _value(self, node: Node, path: tuple[str, ...]) -> Any:
        text = node["content"]
        if not isinstance(text, str) or text[:1] in "[{ \t\r\n":
            raise RefusalError(f"something is no single value{place_of(path)}")
        try:
            return json.loads(text)
        except ValueError:
            raise RefusalError(f"something is no single value{place_of(path)}") from None

    def _count(self, node: Any, path: tuple[str, ...]) -> int:
        """Return a whole number that is not negative, as numbers of NumPy or of Python."""
        value = self._value(self._own(node, path, "JsonNode"), path)
        if type(value) is not int or value < 0:
            raise RefusalError(f"a number is no number of things{place_of(path)}")
        return value

    def _file(self, node: Node, path: tuple[str, ...]) -> Head:
        name = node["file"]
        if not isinstance(name, str) or name not in self.heads:
            raise RefusalError(f"an array is missing{place_of(path)}")
        if name in self.files:  # which skops reads again, into other memory
            self._read_again += self.heads[name].size
            if self._read_again > self._most_read_again:
                raise RefusalError("an array of it stands in too many places")
        self.files.add(name)
        return self.heads[name]

    def _head(self, node: Any, path: tuple[str, ...]) -> Head:
        """Return the head of what must be an array of numbers of its own."""
        self._own(node, path, "NdArrayNode")
        if node["type"] != "numpy" or node["__class__"] != "ndarray":
            raise RefusalError(f"something is no array of numbers{place_of(path)}")
        return self.heads[node["file"]]

    def _arguments(self, node: Node, path: tuple[str, ...]) -> list[Any]:
        reduced = node["__reduce__"]
        if not isinstance(reduced, dict) or set(reduced) != {"args"}:
            raise RefusalError(f"something has other parts than it should{place_of(path)}")
        found: list[Any] = self._own(reduced["args"], path, "TupleNode")["content"]
        return found


def place_of(path: tuple[str, ...]) -> str:
    """Return for instance " (in steps, kernel)"."""
    names = [name for name in path if name]
    return f" (in {', '.join(names[-3:])})" if names else ""
