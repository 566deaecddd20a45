"""A graph of ONNX operators that grows by function calls."""

from __future__ import annotations

from typing import Any

import numpy as np

TYPES = {"f4": "FLOAT", "f8": "DOUBLE", "i8": "INT64", "b1": "BOOL"}


class Graph:
    """Operators in a container of skl2onnx; values go by their names.

    Parameters
    ----------
    scope, container
        As skl2onnx hands them to a converter.
    """

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope = scope
        self._container = container

    def __call__(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Add an operator, and return the name of its value.

        Arrays and numbers among the inputs become constants, in double precision unless they are
        arrays of whole numbers.
        """
        return self.several(kind, 1, *inputs, domain=domain, **attributes)[0]

    def several(
        self, kind: str, count: int, *inputs: Any, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add an operator with several values."""
        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        outputs = [self._scope.get_unique_variable_name(kind.lower()) for _ in range(count)]
        name = self._scope.get_unique_operator_name(kind)
        more: dict[str, Any] = {"op_version": 1} if domain else {}
        self._container.add_node(
            kind, names, outputs, op_domain=domain, name=name, **more, **attributes
        )
        return outputs

    def constant(self, value: Any) -> str:
        """Add a constant, and return its name."""
        from onnx import TensorProto

        array = np.asarray(value)
        if array.dtype.kind in "iu":
            array = array.astype(np.int64)
        name = self._scope.get_unique_variable_name("constant")
        if array.dtype.kind in "USO":
            kind = TensorProto.STRING
            content = [str(text).encode() for text in array.ravel().tolist()]
        else:
            kind = getattr(TensorProto, TYPES[array.dtype.str[1:]])
            content = array.ravel().tolist()
        self._container.add_initializer(name, kind, list(array.shape), content)
        return name

    def sum(self, value: str, axis: int, keepdims: bool = True) -> str:
        """Add up along an axis."""
        return self("ReduceSum", value, np.array([axis]), keepdims=int(keepdims))

    def scaled(self, value: str, factors: Any) -> str:
        """Multiply each column of a matrix by its factor.

        onnxruntime draws a single factor into a product of matrices beside it, and keeps it there
        in float32; a matrix of one number it leaves alone.
        """
        factors = np.asarray(factors, dtype=np.float64)
        if factors.size == 1:
            return self("MatMul", value, factors.reshape(1, 1))
        return self("Mul", value, factors)

    def cast(self, value: str, kind: str) -> str:
        """Change the type of numbers, to "f4", "f8" or "i8"."""
        from onnx import TensorProto

        return self("Cast", value, to=getattr(TensorProto, TYPES[kind]))

    def name(self, value: str, wanted: str) -> None:
        """Give a value the name that a converter was told."""
        operator = self._scope.get_unique_operator_name("Identity")
        self._container.add_node("Identity", [value], [wanted], name=operator)
