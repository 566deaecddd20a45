"""What the schema of a file asks skops to build, checked before skops sees it.

A schema is a tree of nodes, each of which names its loader (a class of skops), a type, and what is
in it. skops asks whether types are trusted; here it is also decided in which places they may stand,
since a loader may call the type that it is given. What the models of mercer and scikit-learn do not
need is refused: methods, partial functions, operators, bytes, constructors with arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.persistence._arrays import Head
from mercer.persistence._trusted import (
    DICTS,
    FOLDS,
    KEYS,
    LOSSES,
    REFERRED,
    SCALARS,
    TUPLES,
    trusted_functions,
    trusted_objects,
)
from mercer.persistence._walk import COMMON, Node, Walk, place_of
from mercer.persistence.errors import RefusalError, StrangeFunctionError

PROTOCOL = 2
"""The form of schemas that is known here; skops counts them."""

TREE = "sklearn.tree._tree.Tree"
SPARSE = {f"scipy.sparse._{c}.{c}_{form}" for c in ("csr", "csc") for form in ("array", "matrix")}
MASKED = {"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"}  # as NumPy's version has it
RANDOM_STATES = {"numpy.random.mtrand.RandomState", "numpy.random.RandomState"}
GENERATORS = {"numpy.random._generator.Generator", "numpy.random.Generator"}


class Audit(Walk):
    """Goes through all nodes of a schema, with a rule for each kind; see `Walk`."""

    def __init__(self, heads: Mapping[str, Head]) -> None:
        super().__init__(heads)
        self._rules = {
            "DictNode": self._dict,
            "ListNode": self._list,
            "TupleNode": self._tuple,
            "SetNode": self._set,
            "JsonNode": self._json,
            "NdArrayNode": self._array,
            "MaskedArrayNode": self._masked,
            "DTypeNode": self._dtype,
            "SparseMatrixNode": self._sparse,
            "ObjectNode": self._object,
            "TypeNode": self._type,
            "FunctionNode": self._function,
            "SliceNode": self._slice,
            "TreeNode": self._tree,
            "LossNode": self._loss,
            "RandomStateNode": self._random_state,
            "RandomGeneratorNode": self._generator,
        }

    def check(self, schema: Any) -> None:
        """Raise RefusalError unless everything in the schema is known and in its place."""
        if not isinstance(schema, dict):
            raise RefusalError("its plan is not one")
        schema = dict(schema)
        if schema.pop("protocol", None) != PROTOCOL:
            raise RefusalError(f"its plan has a form other than skops's number {PROTOCOL}")
        schema.pop("_skops_version", None)
        self._free(schema, ())

    def _dict(self, node: Node, path: tuple[str, ...]) -> None:
        self._fields(node, "key_types", "content")
        name = self._must_be(node, DICTS, path)
        if name == "sklearn.utils._bunch.Bunch":
            self.types.add(name)
        kinds = self._own(node["key_types"], (*path, "keys"), "ListNode")["content"]
        for kind in kinds:
            self._own(kind, (*path, "keys"), "TypeNode")
            self._must_be(kind, KEYS, path)
        if not isinstance(node["content"], dict) or len(kinds) != len(node["content"]):
            raise RefusalError(f"a dictionary has more or fewer keys than it says{place_of(path)}")
        for key, value in node["content"].items():
            self._free(value, (*path, key))

    def _items(self, node: Node, kind: str, path: tuple[str, ...]) -> None:
        self._fields(node, "content")
        self._must_be(node, [kind], path)
        if not isinstance(node["content"], list):
            raise RefusalError(f"a list is none{place_of(path)}")
        for value in node["content"]:
            self._free(value, (*path, ""))

    def _list(self, node: Node, path: tuple[str, ...]) -> None:
        self._items(node, "builtins.list", path)

    def _tuple(self, node: Node, path: tuple[str, ...]) -> None:
        name = f"{node['__module__']}.{node['__class__']}"
        self._items(node, name if name in TUPLES else "builtins.tuple", path)
        if TUPLES[name] is not None:
            self.types.add(name)
            if len(node["content"]) != TUPLES[name]:
                raise RefusalError(f"a tuple has more or fewer entries than names{place_of(path)}")

    def _set(self, node: Node, path: tuple[str, ...]) -> None:
        self._items(node, "builtins.set", path)

    def _json(self, node: Node, path: tuple[str, ...]) -> None:
        """Nothing but one number, text, truth value or None: the rest has nodes of its own."""
        self._fields(node, "content", "is_json")
        self._value(node, path)

    def _array(self, node: Node, path: tuple[str, ...]) -> None:
        if node.get("type") == "numpy":
            self._fields(node, "type", "file")
            name = self._must_be(node, SCALARS | {"numpy.ndarray"}, path)
            head = self._file(node, path)
            if head.is_sparse or (head.shape and name != "numpy.ndarray"):
                raise RefusalError(f"an array is not of the kind that it says{place_of(path)}")
            return
        self._fields(node, "type", "content", "shape")
        self._must_be(node, ["numpy.ndarray"], path)
        shape = self._own(node["shape"], path, "TupleNode")["content"]
        sizes = [self._count(size, path) for size in shape]
        if node["type"] != "json" or not sizes:
            raise RefusalError(f"an array is not of the kind that it says{place_of(path)}")
        self._block(node["content"], sizes, path)

    def _block(self, items: Any, sizes: list[int], path: tuple[str, ...]) -> None:
        """Check the objects of an array; with more than one axis they stand in lists of lists.

        NumPy unfolds these, so that nothing in them may be shared, or be a list or array itself.
        """
        if not isinstance(items, list) or len(items) != sizes[0]:
            raise RefusalError(f"an array has another length than it says{place_of(path)}")
        for item in items:
            self._met += 1
            if len(sizes) > 1:
                self._unshared(item, path, "ListNode")
                self._fields(item, "content")
                self._must_be(item, ["builtins.list"], path)
                self._leaves(item["content"], sizes[1:], path)
            else:
                self._free(item, (*path, ""))

    def _leaves(self, items: Any, sizes: list[int], path: tuple[str, ...]) -> None:
        if len(sizes) > 1:
            self._block(items, sizes, path)
        elif not isinstance(items, list) or len(items) != sizes[0]:
            raise RefusalError(f"an array has another length than it says{place_of(path)}")
        else:
            for item in items:
                node = self._own(item, (*path, ""), "JsonNode", "NdArrayNode", "ObjectNode")
                if node["__class__"] == "ndarray":
                    raise RefusalError(f"an array stands in another one{place_of(path)}")

    def _masked(self, node: Node, path: tuple[str, ...]) -> None:
        self._fields(node, "content")
        self.types.add(self._must_be(node, MASKED, path))
        content = self._content(node, {"data", "mask"}, path)
        for part in content.values():
            self._own(part, path, "NdArrayNode")

    def _dtype(self, node: Node, path: tuple[str, ...]) -> None:
        self._fields(node, "content")
        self.types.add(self._must_be(node, ["numpy.dtype"], path))
        self._own(node["content"], path, "NdArrayNode")

    def _sparse(self, node: Node, path: tuple[str, ...]) -> None:
        self._fields(node, "type", "file")
        self.types.add(self._must_be(node, SPARSE, path))
        if node["type"] != "scipy" or not self._file(node, path).is_sparse:
            raise RefusalError(f"a sparse matrix is none{place_of(path)}")

    def _object(self, node: Node, path: tuple[str, ...]) -> None:
        self.types.add(self._must_be(node, trusted_objects(), path))
        if set(node) - COMMON:  # a few types have nothing to tell
            self._fields(node, "content")
            self._free(node["content"], path)

    def _type(self, node: Node, path: tuple[str, ...]) -> None:
        self._fields(node)
        name = f"{node['__module__']}.{node['__class__']}"
        if name == "numpy.asarray" or name in FOLDS:  # skops takes the first for a type
            self.types.add(name)
        else:
            self._must_be(node, REFERRED, path)

    def _function(self, node: Node, path: tuple[str, ...]) -> None:
        self._fields(node)
        name = f"{node['__module__']}.{node['__class__']}"
        if name not in trusted_functions():
            raise StrangeFunctionError(name, place_of(path))
        self.types.add(name)

    def _slice(self, node: Node, path: tuple[str, ...]) -> None:
        self._fields(node, "content")
        self._must_be(node, ["builtins.slice"], path)
        content = self._content(node, {"start", "stop", "step"}, path)
        if any(not isinstance(end, int | str | None) for end in content.values()):
            raise RefusalError(f"a slice has strange ends{place_of(path)}")

    def _tree(self, node: Node, path: tuple[str, ...]) -> None:
        """A tree of scikit-learn, which believes the sizes that it is told."""
        self._fields(node, "__reduce__", "content")
        self.types.add(self._must_be(node, [TREE], path))
        arguments = self._arguments(node, path)
        if len(arguments) != 3:
            raise RefusalError(f"a tree has other parts than it should{place_of(path)}")
        n_features, n_outputs = (self._count(arguments[k], path) for k in (0, 2))
        classes = self._head(arguments[1], path)
        attributes = self._own(node["content"], path, "DictNode")
        parts = self._content(attributes, {"max_depth", "node_count", "nodes", "values"}, path)
        nodes, values = self._head(parts["nodes"], path), self._head(parts["values"], path)
        n_nodes = self._count(parts["node_count"], path)
        self._count(parts["max_depth"], path)
        if (
            nodes.shape != (n_nodes,)
            or values.shape[:2] != (n_nodes, n_outputs)
            or classes.shape != (n_outputs,)
            or classes.dtype != np.intp
            or not 0 < n_features < 2**31
        ):
            raise RefusalError(f"the parts of a tree do not fit together{place_of(path)}")

    def _loss(self, node: Node, path: tuple[str, ...]) -> None:
        self._fields(node, "__reduce__", "content")
        self.types.add(self._must_be(node, LOSSES, path))
        for argument in self._arguments(node, path):
            if type(self._value(self._own(argument, path, "JsonNode"), path)) is not float:
                raise RefusalError(f"a loss has strange numbers{place_of(path)}")
        if self._own(node["content"], path, "DictNode", "TupleNode")["content"]:
            raise RefusalError(f"a loss has strange numbers{place_of(path)}")

    def _random_state(self, node: Node, path: tuple[str, ...]) -> None:
        self._fields(node, "content")
        self.types.add(self._must_be(node, RANDOM_STATES, path))
        names = {"bit_generator", "state", "has_gauss", "gauss"}
        content = self._content(self._own(node["content"], path, "DictNode"), names, path)
        state = self._own(content["state"], path, "DictNode")
        inner = self._content(state, {"key", "pos"}, path)
        head = self._head(inner["key"], path)
        if head.shape != (624,) or self._count(inner["pos"], path) > 624:
            raise RefusalError(f"the state of a random generator is impossible{place_of(path)}")

    def _generator(self, node: Node, path: tuple[str, ...]) -> None:
        """Only NumPy's usual generator, whose state is a few whole numbers."""
        self._fields(node, "content")
        self.types.add(self._must_be(node, GENERATORS, path))
        content = self._content(node, {"bit_generator", "seed_seq"}, path)
        names = {"bit_generator", "state", "has_uint32", "uinteger"}
        inner = self._content(self._own(content["bit_generator"], path, "DictNode"), names, path)
        kind = self._value(self._own(inner["bit_generator"], path, "JsonNode"), path)
        names = {"entropy", "spawn_key", "pool_size", "n_children_spawned"}
        seeds = self._content(self._own(content["seed_seq"], path, "DictNode"), names, path)
        if kind != "PCG64" or self._count(seeds["pool_size"], path) != 4:
            raise RefusalError(f"a random generator is not NumPy's usual one{place_of(path)}")
