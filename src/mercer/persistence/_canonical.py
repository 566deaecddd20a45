"""What skops wrote, brought into the one form that is read again.

skops numbers objects and files by their place in memory, and writes what is there twice a second
time with all that is in it. Here they are numbered in order, so that the same model has the same
file, and what has been written is referred to from then on. Trees for the search of neighbours are
left out, since nothing guards the code that walks them against a wrong one; they are grown again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from mercer.persistence._archive import SCHEMA
from mercer.persistence._arrays import unpacked, without_gaps

Node = dict[str, Any]

LEAVES = ("JsonNode", "TypeNode", "FunctionNode", "SliceNode")
CLOSED = (
    "MaskedArrayNode",
    "DTypeNode",
    "TreeNode",
    "LossNode",
    "RandomStateNode",
    "RandomGeneratorNode",
)
"""Nothing in these is shared with other places."""

SEARCH_TREES = ("KDTree", "BallTree")
NONE = {
    "__class__": "str",
    "__module__": "builtins",
    "__loader__": "JsonNode",
    "content": "null",
    "is_json": True,
}


def canonical(archive: ZipFile) -> dict[str, bytes]:
    """Return the members of the file: the schema, and the arrays that it needs."""
    numbers = _Numbers()
    schema = numbers.free(json.loads(archive.read(SCHEMA)))
    for node in _nodes(schema):
        if node.get("__id__") not in numbers.shared:
            node.pop("__id__", None)
    members = {SCHEMA: json.dumps(schema, separators=(",", ":")).encode()}
    for old, new in numbers.files.items():
        clean = {"npy": without_gaps, "npz": unpacked}.get(new.rpartition(".")[2], bytes)
        members[new] = clean(archive.read(old))
    return members


class _Numbers:
    """Numbers for objects and files, in the order in which skops reads them."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.objects: dict[int, int] = {}
        self.shared: set[int] = set()
        self._closed = False

    def free(self, node: Node) -> Node:
        """Return a node with new numbers, or a reference if it is known."""
        loader, old = node["__loader__"], node.get("__id__")
        if self._closed or loader in LEAVES or old is None:
            return self.own(node)
        if old in self.objects:
            self.shared.add(self.objects[old])
            names = {key: node[key] for key in ("__class__", "__module__")}
            return {**names, "__loader__": "CachedNode", "__id__": self.objects[old]}
        self.objects[old] = len(self.objects) + 1
        return {**self.own(node), "__id__": self.objects[old]}

    def own(self, node: Node) -> Node:
        """Return a node with new numbers inside and none of its own."""
        node = {key: value for key, value in node.items() if key != "__id__"}
        if "file" in node:
            suffix = node["file"].rpartition(".")[2]
            node["file"] = self.files.setdefault(node["file"], f"{len(self.files)}.{suffix}")
        loader = node["__loader__"]
        if loader in CLOSED:
            self._close(node)
        elif loader == "DictNode":
            node["key_types"] = _without_numbers(node["key_types"])
            node["content"] = self._entries(node)
        elif loader in ("ListNode", "TupleNode", "SetNode"):
            node["content"] = [self.free(value) for value in node["content"]]
        elif loader == "NdArrayNode" and node["type"] == "json":
            plain = len(node["shape"]["content"]) > 1
            node["content"] = [(self._alone if plain else self.free)(v) for v in node["content"]]
            node["shape"] = _without_numbers(node["shape"])
        elif loader == "ObjectNode" and "content" in node:
            node["content"] = self.free(node["content"])
        return node

    def _alone(self, node: Node) -> Node:
        """Give new numbers to files in a node, and none to it and the objects in it."""
        before, self._closed = self._closed, True
        node = self.own(node)
        self._closed = before
        return node

    def _close(self, node: Node) -> None:
        content = node["content"]
        if "__loader__" in content:
            node["content"] = self._alone(content)
        else:
            node["content"] = {key: self._alone(value) for key, value in content.items()}
        if "__reduce__" in node:
            node["__reduce__"] = {"args": self._alone(node["__reduce__"]["args"])}

    def _entries(self, node: Node) -> Node:
        """Return the entries of a dictionary, the key False as "", which is what bool makes it."""
        kinds = [kind["__class__"] for kind in node["key_types"]["content"]]
        entries = {}
        for kind, (key, value) in zip(kinds, node["content"].items()):
            found = NONE if key == "_tree" and value["__class__"] in SEARCH_TREES else value
            name = "" if key == "false" and kind in ("bool", "bool_") else key
            entries[name] = self.free(found)
        return entries


def _without_numbers(node: Any) -> Any:
    """Return a copy of a node and all that is in it, without the numbers of objects."""
    if isinstance(node, dict):
        return {key: _without_numbers(value) for key, value in node.items() if key != "__id__"}
    return [_without_numbers(value) for value in node] if isinstance(node, list) else node


def _nodes(part: Any) -> Iterator[Node]:
    """Yield all dictionaries of a schema."""
    if isinstance(part, dict):
        yield part
    for value in part.values() if isinstance(part, dict) else part:
        if isinstance(value, dict | list):
            yield from _nodes(value)
