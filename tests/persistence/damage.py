"""Files that are damaged, foreign or made to do harm; each with a name that says how."""

from __future__ import annotations

import base64
import copy
import gzip
import io
import json
import pickle
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mercer.persistence._archive import DIGITS, HEADER, SCHEMA, SEAL, sealed

Case = tuple[str, bytes]
Members = dict[str, bytes]

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)


class Bomb:
    """What a pickle would call when it is read."""

    def __reduce__(self) -> Any:
        import os

        return os.system, ("touch executed",)


def members_of(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def flipped(content: bytes, count: int, seed: int) -> Iterator[Case]:
    random = np.random.default_rng(seed)
    for place in random.integers(0, 8 * len(content), count):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        yield f"bit {place}", bytes(damaged)


def cut(content: bytes, count: int, seed: int) -> Iterator[Case]:
    random = np.random.default_rng(seed)
    for length in [0, 1, 4, len(content) - 1, *random.integers(0, len(content), count)]:
        yield f"first {length} bytes", content[:length]
    for length in random.integers(1, len(content), count // 2):
        yield f"without {length} bytes", content[length:]
        yield f"zeros for the last {length} bytes", content[:-length] + b"\0" * length
        yield f"{length} bytes more", content + content[:length]


def foreign() -> Iterator[Case]:
    for protocol in range(6):
        yield f"pickle {protocol}", pickle.dumps(Bomb(), protocol)
        if protocol > 1:
            yield f"sealed pickle {protocol}", pickle.dumps(Bomb(), protocol) + SEAL + b"0" * DIGITS
    yield "empty", b""
    yield "text", b"model: SVC\n" * 50
    yield "PK and no more", b"PK"
    yield "the seal alone", b"PK" + SEAL + b"0" * DIGITS
    yield "json", b'{"format": 1}'
    yield "png", base64.b64decode(PIXEL)
    yield "gzip", gzip.compress(b"model" * 100)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("../../schema.json"))
    yield "tar", buffer.getvalue()
    buffer = io.BytesIO()
    np.savez(buffer, a=np.ones(3))
    yield "npz", buffer.getvalue()
    yield "random", np.random.default_rng(0).bytes(5000)
    yield "zeros", bytes(5000)


def resealed(content: bytes) -> bytes:
    """Return any zip archive with our seal, as one who knows the form would make it."""
    with zipfile.ZipFile(buffer := io.BytesIO(content), "a") as archive:
        archive.comment = SEAL + b"0" * DIGITS
    return with_right_checksum(buffer.getvalue())


def with_right_checksum(content: bytes) -> bytes:
    import hashlib

    return content[:-DIGITS] + hashlib.sha256(content[:-DIGITS]).hexdigest().encode()


def archives(content: bytes) -> Iterator[Case]:
    """Archives that lie about their parts."""
    good = members_of(content)
    array = next(name for name in good if name.endswith(".npy"))

    def built(extra: dict[str, bytes], packing: int, base: Members = good) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", packing) as archive:
            for name, part in [*base.items(), *extra.items()]:
                archive.writestr(name, part)
        return resealed(buffer.getvalue())

    for packing in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        yield f"packed by method {packing}", built({}, packing)
        bomb = built({"99.npy": bytes(2**23)}, packing)
        yield f"8 MB in a few bytes, method {packing}", bomb
        yield (
            f"the same for an array, method {packing}",
            built({}, packing, good | {array: bytes(2**23)}),
        )
    for name in ("/etc/passwd", "../up.npy", "a/b.npy", "C:\\x.npy", "x.npy", "1.bin", "1.npy\n"):
        yield f"a member {name!r}", built({name: b"x"}, zipfile.ZIP_STORED)
    for name in good:
        yield f"{name} is missing", sealed({k: v for k, v in good.items() if k != name}).tobytes()
    yield "one more array", sealed(good | {"99.npy": good[array]}).tobytes()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice = io.BytesIO()
        with zipfile.ZipFile(twice, "w") as archive:
            for name, part in [*good.items(), *good.items()]:
                archive.writestr(name, part)
    yield "all members twice", resealed(twice.getvalue())
    for size in (2**31, 2**32 - 2):
        lying = bytearray(content)
        at = lying.rfind(b"PK\x01\x02")
        lying[at + 20 : at + 28] = size.to_bytes(4, "little") * 2
        yield f"a member of {size} bytes claimed", with_right_checksum(bytes(lying))
    encrypted = bytearray(content)
    encrypted[encrypted.rfind(b"PK\x01\x02") + 8] |= 1
    yield "encrypted", with_right_checksum(bytes(encrypted))
    inside = bytearray(content)
    at = inside.rfind(b"PK\x01\x02")
    inside[at + 42 : at + 46] = bytes(4)  # the place of its first byte: that of another member
    yield "a member inside another one", with_right_checksum(bytes(inside))


def arrays(content: bytes, per_array: int = 4) -> Iterator[Case]:
    """Arrays whose heads lie, whose lengths differ, that hold no numbers or objects."""
    good = members_of(content)
    random = np.random.default_rng(5)
    for name in [name for name in good if name.endswith(".npy")]:
        array = np.load(io.BytesIO(good[name]))
        lies = {
            "1e9 rows": _head((10**9, *array.shape[1:]), array.dtype.str) + array.tobytes(),
            "-1 rows": _head((-1, *array.shape[1:]), array.dtype.str) + array.tobytes(),
            "1e18 rows of nothing": _head((10**18,), "|V0"),
            "2**40 rows, no columns": _head((2**40, 0), "<f8"),
            "objects": _head((1,), "|O") + pickle.dumps([Bomb()]),
            "code in the head": b"\x93NUMPY\x01\x00\x20\x00" + b"__import__('os').system('true')\n",
            "no head": b"NUMPY",
            "cut": good[name][:-1],
            "longer": good[name] + b"\0",
        }
        for kind in random.choice(sorted(lies), per_array, replace=False):
            yield f"{name}: {kind}", sealed(good | {name: lies[kind]}).tobytes()


def _head(shape: tuple[int, ...], dtype: str) -> bytes:
    text = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _node(loader: str, name: str, **more: Any) -> dict[str, Any]:
    module, _, kind = name.rpartition(".")
    return {"__class__": kind, "__module__": module, "__loader__": loader, **more}


def _json(value: Any) -> dict[str, Any]:
    return _node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def _list(*items: Any, kind: str = "builtins.list", **more: Any) -> dict[str, Any]:
    return _node("ListNode", kind, content=list(items), **more)


def _dict(entries: dict[str, Any], key: str = "builtins.str", **more: Any) -> dict[str, Any]:
    kinds = _list(*[_node("TypeNode", key) for _ in entries])
    kind = more.pop("kind", "builtins.dict")
    return _node("DictNode", kind, key_types=kinds, content=entries, **more)


def _call(command: str = "touch executed") -> dict[str, Any]:
    return _node("TupleNode", "builtins.tuple", content=[_json(command)])


def harmful_nodes() -> dict[str, Any]:
    """Return what the loaders of skops can be made to call, and what would keep them busy."""
    system = _node("FunctionNode", "posix.system")
    laughs = [_list(*[_json(0)] * 9, __id__=1001)]
    for number in range(1001, 1040):
        laughs.append(
            _list(*[_node("CachedNode", "builtins.list", __id__=number)] * 9, __id__=number + 1)
        )
    chain = [_list(_json(0), __id__=1)]
    for number in range(1, 3000):
        chain.append(_list(_node("CachedNode", "builtins.list", __id__=number), __id__=number + 1))
    deep: Any = _json(0)
    for _ in range(300):
        deep = _list(deep)
    reduced = {"__reduce__": {"args": _call()}, "content": _dict({})}
    nothing = _dict({})
    partial = {"func": system, "args": _call(), "kwds": nothing, "namespace": nothing}
    return {
        "os.system": system,
        "eval": _node("FunctionNode", "builtins.eval"),
        "a type that is a function": _node("TypeNode", "posix.system"),
        "a type of another module": _node("TypeNode", "subprocess.Popen"),
        "a partial function": _node("PartialNode", "functools.partial", content=partial),
        "a method": _node(
            "MethodNode",
            "mercer.svm.svc.SVC",
            content={
                "func": "fit",
                "obj": _node("ObjectNode", "mercer.svm.svc.SVC", content=nothing),
            },
        ),
        "an operator": _node("OperatorFuncNode", "operator.methodcaller", attrs=_call()),
        "a constructor": _node("ConstructorFromReduceNode", "posix.system", content=_call()),
        "a process": _node(
            "ObjectNode", "subprocess.Popen", content=_dict({"args": _json("true")})
        ),
        "a loss that is a command": _node("LossNode", "posix.system", **reduced),
        "a tree that is a command": _node("TreeNode", "posix.system", **reduced),
        "a list that is a command": _list(_json("touch executed"), kind="posix.system"),
        "a set that is a command": _node("SetNode", "posix.system", content=[_json("true")]),
        "a dictionary that is a module": _dict({}, kind="antigravity.fly"),
        "keys that are commands": _dict({"touch executed": _json(0)}, key="posix.system"),
        "keys that are evaluated": _dict({"1+1": _json(0)}, key="builtins.eval"),
        "keys from the file system": _dict({"/etc/passwd": _json(0)}, key="numpy.fromfile"),
        "an array that is a command": _node(
            "NdArrayNode", "posix.system", type="numpy", file="0.npy"
        ),
        "a default that is a command": _node(
            "DefaultDictNode",
            "collections.defaultdict",
            content={"main": nothing, "default_factory": system},
        ),
        "bytes": _node("BytesNode", "builtins.bytes", file="0.npy"),
        "the command line": _node("ObjectNode", "mercer.__main__.SVC", content=nothing),
        "a module of ours that runs": _node(
            "ObjectNode", "mercer.cli.__main__.main", content=nothing
        ),
        "a function of ours": _node("FunctionNode", "mercer._files.write_text_whole"),
        "a quantile forest": _node("QuantileForestNode", "quantile_forest.Q", content=nothing),
        "an unknown loader": _node("EvalNode", "builtins.eval", content=_json("1")),
        "a random generator that is a command": _node(
            "RandomGeneratorNode",
            "numpy.random._generator.Generator",
            content={"bit_generator": _dict({"bit_generator": _json("seed")}), "seed_seq": nothing},
        ),
        "more pool than there is memory": _node(
            "RandomGeneratorNode",
            "numpy.random._generator.Generator",
            content={
                "bit_generator": _dict(
                    {"bit_generator": _json("PCG64"), "state": nothing}
                    | {"has_uint32": _json(0), "uinteger": _json(0)}
                ),
                "seed_seq": _dict(
                    {"entropy": _json(1), "spawn_key": _json(0)}
                    | {"pool_size": _json(10**12), "n_children_spawned": _json(0)}
                ),
            },
        ),
        "lists of the same lists": _list(*laughs),
        "a long chain": _list(*chain),
        "an array of the same lists": _node(
            "NdArrayNode",
            "numpy.ndarray",
            type="json",
            content=[
                _list(_list(__id__=2001)),
                _list(_node("CachedNode", "builtins.list", __id__=2001)),
            ],
            shape=_node("TupleNode", "builtins.tuple", content=[_json(2), _json(1)]),
        ),
        "itself": _list(_node("CachedNode", "builtins.list", __id__=7), __id__=7),
        "what is not there": _node("CachedNode", "builtins.list", __id__=12345),
        "three hundred lists inside each other": deep,
        "ten thousand brackets": _node(
            "JsonNode", "builtins.str", content="[" * 10_000, is_json=True
        ),
        "a million digits": _node("JsonNode", "builtins.str", content="9" * 10**6, is_json=True),
        "no number": _node("JsonNode", "builtins.str", content="1e", is_json=True),
        "nothing": None,
        "text": "posix.system",
        "no type": {"__loader__": "ListNode", "content": []},
        "a type of numbers": _node("ListNode", "1.2", content=[]) | {"__class__": 5},
    }


def harmful(content: bytes) -> Iterator[Case]:
    """Schemas with our seal that ask for more than a model."""
    good = members_of(content)
    schema = json.loads(good[SCHEMA])
    for name, node in harmful_nodes().items():
        changed = copy.deepcopy(schema)
        changed["content"]["content"]["n_jobs"] = node
        yield f"n_jobs is {name}", _with_schema(good, changed)
    for protocol in (0, 1, 3, -1, True, None, "2", 2.5, 10**30):
        yield f"protocol {protocol!r}", _with_schema(good, schema | {"protocol": protocol})
    for name in ("content", "__class__", "__module__", "__loader__"):
        yield f"no {name}", _with_schema(good, {k: v for k, v in schema.items() if k != name})
    yield "another root", _with_schema(good, _list() | {"protocol": 2})
    yield "many lists of nothing", sealed(good | {SCHEMA: b"[]," * 500_000}).tobytes()
    yield "a list of nothing", sealed(good | {SCHEMA: b"[]"}).tobytes()
    yield "brackets", sealed(good | {SCHEMA: b"[" * 100_000}).tobytes()
    yield "no text", sealed(good | {SCHEMA: b"\xff\xfe\x00"}).tobytes()


def _with_schema(good: Members, schema: Any) -> bytes:
    return sealed(good | {SCHEMA: json.dumps(schema).encode()}).tobytes()


def headers(content: bytes) -> Iterator[Case]:
    good = members_of(content)
    header = json.loads(good[HEADER])
    changes: dict[str, Any] = {
        "a later form": {"format": 2, "versions": {"mercer": "9.9\x1b[2J"}},
        "a form that is no number": {"format": "1"},
        "form 0": {"format": 0},
        "form NaN": {"format": float("nan")},
        "no versions": {"versions": None},
        "names that are none": {"feature_names": 5},
        "classes that are none": {"classes": {"a": 1}},
        "another type": {"type": "mercer.svm.svr.SVR"},
        "no kind": {"kind": None},
        "fitted perhaps": {"fitted": 0.5},
    }
    for name, change in changes.items():
        yield (
            f"header: {name}",
            sealed(good | {HEADER: json.dumps(header | change).encode()}).tobytes(),
        )
    for text in (b"", b"[]", b"null", b"{" * 5000, b"\xff"):
        yield f"header: {text[:5]!r}", sealed(good | {HEADER: text}).tobytes()


def numbers(content: bytes, model: Any) -> Iterator[Case]:
    """Right heads and checksums, but numbers that cannot be."""
    good = members_of(content)
    for name in (name for name in good if name.endswith(".npy")):
        array = np.load(io.BytesIO(good[name]))
        if any(_holds(model, attribute, array) for attribute in USED):
            for value in (np.nan, np.inf):
                changed = array.copy()
                changed.flat[0] = value
                yield f"{name}: {value}", sealed(good | {name: _saved(changed)}).tobytes()
            yield f"{name}: no rows", sealed(good | {name: _saved(array[:-1])}).tobytes()
            more = np.concatenate([array, array[:1]])
            yield f"{name}: one row more", sealed(good | {name: _saved(more)}).tobytes()


USED = ("support_vectors_", "dual_coef_", "intercept_")


def _holds(model: Any, attribute: str, array: Any) -> bool:
    own = getattr(model, attribute)
    return isinstance(own, np.ndarray) and own.shape == array.shape and np.array_equal(own, array)


def _saved(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def wrong_indices(forest: bytes, sparse: bytes) -> Iterator[Case]:
    """Trees that lead nowhere or say wrong sizes, and sparse matrices with entries outside."""
    good = members_of(forest)
    for name, part in good.items():
        nodes = np.load(io.BytesIO(part)) if name.endswith(".npy") else None
        if nodes is not None and nodes.dtype.names and "left_child" in nodes.dtype.names:
            for field, value in (
                ("left_child", 10**6),
                ("left_child", 0),
                ("right_child", -7),
                ("feature", 4),
                ("feature", -5),
            ):
                wrong = nodes.copy()
                wrong[field][0] = value
                changed = good | {name: _saved(wrong)}
                yield f"{name}: {field} {value}", sealed(changed).tobytes()
    text = good[SCHEMA].decode()
    count = re.search(r'"node_count":({[^}]*"content":")(\d+)"', text)
    assert count is not None
    longer = text.replace(count[0], f'"node_count":{count[1]}100000"', 1)
    yield "more nodes than there are", sealed(good | {SCHEMA: longer.encode()}).tobytes()
    good = members_of(sparse)
    for name in (name for name in good if name.endswith(".npz")):
        parts = dict(np.load(io.BytesIO(good[name])))
        for part, value in (("indices", 10**6), ("indices", -1), ("indptr", 5)):
            wrong = parts | {part: parts[part].copy()}
            wrong[part][0] = value
            buffer = io.BytesIO()
            np.savez(buffer, **wrong)
            changed = good | {name: buffer.getvalue()}
            yield f"{name}: {part} {value}", sealed(changed).tobytes()


def all_cases(paths: list[Path], model: Any) -> Iterator[Case]:
    """Yield more than 300 files; the first path is that of the model, an SVC."""
    contents = [path.read_bytes() for path in paths]
    makers: list[Callable[[bytes], Iterator[Case]]] = [archives, harmful, headers, arrays]
    for number, content in enumerate(contents):
        yield from flipped(content, 40, number)
        yield from cut(content, 8, number)
    for make in makers:
        yield from make(contents[0])
    yield from numbers(contents[0], model)
    yield from foreign()
