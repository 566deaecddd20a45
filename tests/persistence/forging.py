"""Files with a right checksum in which one thing is not as it was saved."""

from __future__ import annotations

import copy
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from mercer.persistence._archive import HEADER, SCHEMA
from mercer.persistence._arrays import unpacked
from mercer.persistence._trusted import trusted_functions, trusted_objects

from .damage import Members

NUMBERS = ("0", "-1", "1", "2", "7", "0.5", "-3.5", "1000000000", "1e300", "1e-300", "NaN")
OTHERS = (*NUMBERS, "null", "true", '"x"', '"rbf"', '"precomputed"', "Infinity", '""')

Change = tuple[str, Members]
"""What was done, and the parts that are others now."""


def forged(good: Members, random: Any) -> Change:
    """Change one thing in the parts of a file."""
    arrays = [name for name in good if name.endswith((".npy", ".npz"))]
    makers = [_changed_plan] * 4 + [_changed_header]
    makers += [_changed_array] * (4 if arrays else 0)
    makers += [_exchanged_arrays] if len(arrays) > 1 else []
    return makers[int(random.integers(len(makers)))](good, random)


def _pick(random: Any, items: Any) -> Any:
    return items[int(random.integers(len(items)))]


def _changed_array(good: Members, random: Any) -> Change:
    member = _pick(random, [name for name in good if name.endswith((".npy", ".npz"))])
    name = _pick(random, sorted(ARRAYS))
    if member.endswith(".npz"):
        with zipfile.ZipFile(io.BytesIO(good[member])) as archive:
            parts = {part: archive.read(part) for part in archive.namelist()}
        inner = _pick(random, ["data.npy", "indices.npy", "indptr.npy", "shape.npy"])
        name, parts[inner] = _changed(parts[inner], name, random)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for part, content in parts.items():
                archive.writestr(part, content)
        return f"{member}/{inner}: {name}", {member: unpacked(buffer.getvalue())}
    name, changed = _changed(good[member], name, random)
    return f"{member}: {name}", {member: changed}


def _changed(content: bytes, name: str, random: Any) -> tuple[str, bytes]:
    array = np.load(io.BytesIO(content))
    try:
        changed = ARRAYS[name](array, random)
    except (ValueError, IndexError, TypeError, ArithmeticError):
        return "nothing", content  # of an array to which that cannot be done
    buffer = io.BytesIO()
    np.save(buffer, changed)
    return name, buffer.getvalue()


def _exchanged_arrays(good: Members, random: Any) -> Change:
    kind = _pick(random, [".npy", ".npy", ".npz"])
    names = [name for name in good if name.endswith(kind)] or [n for n in good if ".np" in n]
    one, other = _pick(random, names), _pick(random, names)
    return f"{one} and {other} exchanged", {one: good[other], other: good[one]}


def _with_entry(array: Any, random: Any, value: Any) -> Any:
    changed = array.copy()
    place = int(random.integers(max(1, array.size)))
    if array.dtype.names:
        field = str(random.choice(array.dtype.names))
        changed[field].flat[place] = value(changed[field].flat[place])
    else:
        changed.flat[place] = value(changed.flat[place])
    return changed


ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "an entry doubled": lambda a, r: _with_entry(a, r, lambda v: 2 * v + 1),
    "an entry a little larger": lambda a, r: _with_entry(a, r, lambda v: v * 1.001),
    "an entry one more": lambda a, r: _with_entry(a, r, lambda v: v + 1),
    "an entry negative": lambda a, r: _with_entry(a, r, lambda v: -v),
    "an entry minus one": lambda a, r: _with_entry(a, r, lambda v: -1),
    "an entry zero": lambda a, r: _with_entry(a, r, lambda v: v - v),
    "an entry huge": lambda a, r: _with_entry(a, r, lambda v: 10**9),
    "an entry NaN": lambda a, r: _with_entry(a, r, lambda v: np.nan),
    "an entry infinite": lambda a, r: _with_entry(a, r, lambda v: np.inf),
    "a row fewer": lambda a, r: a[:-1],
    "a row more": lambda a, r: np.concatenate([a, a[-1:]]),
    "twice the rows": lambda a, r: np.concatenate([a, a]),
    "no rows": lambda a, r: a[:0],
    "a column fewer": lambda a, r: np.ascontiguousarray(a[:, :-1]),
    "a column more": lambda a, r: np.concatenate([a, a[:, :1]], axis=1),
    "transposed": lambda a, r: np.ascontiguousarray(a.T),
    "reversed": lambda a, r: np.ascontiguousarray(a[::-1]),
    "flat": lambda a, r: a.ravel(),
    "one axis more": lambda a, r: a[None],
    "one number": lambda a, r: a.flat[0],
    "zeros": lambda a, r: np.zeros_like(a),
    "all NaN": lambda a, r: np.full_like(a, np.nan),
    "single precision": lambda a, r: a.astype(np.float32),
    "whole numbers": lambda a, r: a.astype(np.int64),
    "small whole numbers": lambda a, r: a.astype(np.int8),
    "text": lambda a, r: a.astype(str),
    "truth values": lambda a, r: a.astype(bool),
    "complex": lambda a, r: a.astype(complex),
    "dates": lambda a, r: a.astype(np.int64).astype("datetime64[s]"),
}


def _nodes(part: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield all entries of a plan that are nodes: where, what holds them, by which key."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if isinstance(value, dict) and "__loader__" in value:
            yield f"{path}/{key}", part, key
        if isinstance(value, dict | list):
            yield from _nodes(value, path if key == "content" else f"{path}/{key}")


def _changed_plan(good: Members, random: Any) -> Change:
    plan = json.loads(good[SCHEMA])
    nodes = [node for node in _nodes(plan) if "key_types" not in node[0]]
    path, owner, key = _pick(random, nodes)
    how = _pick(random, ["dropped", "renamed", "another node", "value", "value", "another type"])
    if how == "dropped":
        _drop(plan, owner, key)
    elif how == "renamed":
        how = _renamed(owner, key)
    elif how == "another node":
        _, other, name = _pick(random, nodes)
        owner[key] = _unnumbered(copy.deepcopy(other[name]))
    elif how == "another type":
        how = _retyped(owner, key, nodes, random)
    else:
        how = _revalued(owner, key, random)
    changed = json.dumps(plan, separators=(",", ":")).encode()
    return f"{SCHEMA}: {path} {how}", {SCHEMA: changed}


def _renamed(owner: Any, key: Any) -> str:
    """Rename an attribute, or exchange an entry of a list with its neighbour."""
    if isinstance(key, str):
        items = [(f"{k}x" if k == key else k, value) for k, value in owner.items()]
        owner.clear()
        owner.update(items)
        return "renamed"
    owner[key], owner[key - 1] = owner[key - 1], owner[key]
    return "exchanged with the one before"


def _retyped(owner: Any, key: Any, nodes: list[Any], random: Any) -> str:
    """Give a node another type: one that stands in the file, or any trusted one."""
    node = owner[key]
    if node["__loader__"] in ("ObjectNode", "FunctionNode") and random.integers(2):
        name = _pick(random, _trusted(node["__loader__"]))
        module, _, kind = name.rpartition(".")
    else:
        known = [o[k] for _, o, k in nodes if o[k]["__loader__"] == node["__loader__"]]
        other = _pick(random, known)
        module, kind = other["__module__"], other["__class__"]
    owner[key] = {**node, "__class__": kind, "__module__": module}
    return f"another type, {kind}"


@cache
def _trusted(loader: str) -> list[str]:
    return sorted(trusted_objects() if loader == "ObjectNode" else trusted_functions())


def _revalued(owner: Any, key: Any, random: Any) -> str:
    """Change a number, the length of a list or of an array of words, or put a value there."""
    node = owner[key]
    text = _pick(random, OTHERS)
    if node["__loader__"] == "JsonNode":
        value = json.loads(node["content"])
        if type(value) in (int, float) and random.integers(2):
            text = json.dumps(value + _pick(random, [-1, 1]))
        node["content"] = text
    elif isinstance(node.get("content"), list) and node["content"] and random.integers(3):
        longer = bool(random.integers(2))
        place = int(random.integers(len(node["content"])))
        if longer:
            node["content"].append(_unnumbered(copy.deepcopy(node["content"][place])))
        else:
            del node["content"][place]
        if "shape" in node:
            node["shape"]["content"][0]["content"] = str(len(node["content"]))
        return "longer" if longer else f"without its entry {place}"
    else:
        owner[key] = _single(text)
    return text


def _single(text: str) -> dict[str, Any]:
    names = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode"}
    return {**names, "content": text, "is_json": True}


def _unnumbered(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _unnumbered(value) for key, value in node.items() if key != "__id__"}
    return [_unnumbered(value) for value in node] if isinstance(node, list) else node


def _drop(plan: Any, owner: Any, key: Any) -> None:
    """Take an entry away, and the type of its key where it stands in a dictionary."""
    for _, holder, name in [("", {"plan": plan}, "plan"), *_nodes(plan)]:
        node = holder[name]
        if node.get("content") is owner and node["__loader__"] == "DictNode":
            del node["key_types"]["content"][list(owner).index(key)]
            break
    del owner[key]


def _changed_header(good: Members, random: Any) -> Change:
    header = json.loads(good[HEADER])
    key = _pick(random, ["n_features", "feature_names", "classes", "type", "probe", "fitted"])
    if key == "probe" and header["probe"] is not None:
        text = json.dumps(header["probe"])
        number = _pick(random, list(re.finditer(r"\d+(\.\d+)?", text)))
        changed = f"{text[: number.start()]}{_pick(random, ['0', '31', '1e9'])}"
        try:
            header[key] = json.loads(changed + text[number.end() :])
        except ValueError:  # 01 is no number
            header[key] = {"rows": [], "answers": {}}
    else:
        header[key] = json.loads(_pick(random, OTHERS).replace("NaN", "[1, 2]"))
    name = f"{HEADER}: {key} {str(header[key])[:30]}"
    return name, {HEADER: json.dumps(header, indent=1).encode()}
