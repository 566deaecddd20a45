"""Nodes of a schema that would call something, or keep the reader busy for ever."""

from __future__ import annotations

import json
from typing import Any


def harmful_nodes() -> dict[str, Any]:
    """Return what no file may ask for, by what it is."""
    return calling_nodes() | burdening_nodes() | malformed_nodes()


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


def _reference(number: int) -> dict[str, Any]:
    return _node("CachedNode", "builtins.list", __id__=number)


def _call(command: str = "touch executed") -> dict[str, Any]:
    return _node("TupleNode", "builtins.tuple", content=[_json(command)])


def calling_nodes() -> dict[str, Any]:
    """Return what the loaders of skops can be made to call or import."""
    system = _node("FunctionNode", "posix.system")
    nothing = _dict({})
    reduced = {"__reduce__": {"args": _call()}, "content": nothing}
    partial = {"func": system, "args": _call(), "kwds": nothing, "namespace": nothing}
    unfitted = _node("ObjectNode", "mercer.svm.svc.SVC", content=nothing)
    return {
        "os.system": system,
        "eval": _node("FunctionNode", "builtins.eval"),
        "a type that is a function": _node("TypeNode", "posix.system"),
        "a type of another module": _node("TypeNode", "subprocess.Popen"),
        "a partial function": _node("PartialNode", "functools.partial", content=partial),
        "a method": _node(
            "MethodNode",
            "mercer.svm.svc.SVC",
            content={"func": "fit", "obj": unfitted},
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
    }


def burdening_nodes() -> dict[str, Any]:
    """Return what would take all memory or time: much from little, by references to references."""
    laughs = [_list(*[_json(0)] * 9, __id__=1001)]
    for number in range(1001, 1040):
        laughs.append(_list(*[_reference(number)] * 9, __id__=number + 1))
    chain = [_list(_json(0), __id__=5001)]
    for number in range(5001, 8000):
        chain.append(_list(_reference(number), __id__=number + 1))
    deep: Any = _json(0)
    for _ in range(300):
        deep = _list(deep)
    state = {"bit_generator": _json("PCG64"), "state": _dict({})}
    state |= {"has_uint32": _json(0), "uinteger": _json(0)}
    seeds = {"entropy": _json(1), "spawn_key": _json(0)}
    seeds |= {"pool_size": _json(10**12), "n_children_spawned": _json(0)}
    return {
        "more pool than there is memory": _node(
            "RandomGeneratorNode",
            "numpy.random._generator.Generator",
            content={"bit_generator": _dict(state), "seed_seq": _dict(seeds)},
        ),
        "lists of the same lists": _list(*laughs),
        "a long chain": _list(*chain),
        "an array of the same lists": _node(
            "NdArrayNode",
            "numpy.ndarray",
            type="json",
            content=[
                _list(_list(__id__=2001)),
                _list(_reference(2001)),
            ],
            shape=_node("TupleNode", "builtins.tuple", content=[_json(2), _json(1)]),
        ),
        "itself": _list(_reference(7), __id__=7),
        "what is not there": _reference(12345),
        "three hundred lists inside each other": deep,
        "ten thousand brackets": _node(
            "JsonNode", "builtins.str", content="[" * 10_000, is_json=True
        ),
        "a million digits": _node("JsonNode", "builtins.str", content="9" * 10**6, is_json=True),
    }


def malformed_nodes() -> dict[str, Any]:
    """Return what is no node, or not of its kind."""
    return {
        "a list in one value": _node("JsonNode", "builtins.str", content="[1, 2]", is_json=True),
        "a list after a blank": _node(
            "JsonNode", "builtins.str", content="\n [1, 2]", is_json=True
        ),
        "a named tuple of four": _node(
            "TupleNode", "sklearn.impute._iterative._ImputerTriplet", content=[_json(0)] * 4
        ),
        "a value that is no text": _node("JsonNode", "builtins.str", content=5, is_json=True),
        "no number": _node("JsonNode", "builtins.str", content="1e", is_json=True),
        "nothing": None,
        "text": "posix.system",
        "no type": {"__loader__": "ListNode", "content": []},
        "a type of numbers": _node("ListNode", "1.2", content=[]) | {"__class__": 5},
    }
