"""Converters for skl2onnx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._extras import how_to_get
from mercer.calibration import PlattClassifier
from mercer.exchange._onnx_graph import Graph
from mercer.exchange._onnx_machines import Rows, one_class, platt, regression, svc
from mercer.exchange._onnx_others import nearest_hypersphere, relevance_classifier
from mercer.exchange._tables import Filling
from mercer.relevance import RVC, RVR
from mercer.spheres import SVDD, NearestHypersphereClassifier, OneClassSVM
from mercer.svm import SVC, SVR

CLASSIFIERS: dict[Any, Callable[..., tuple[str, str]]] = {
    SVC: svc,
    PlattClassifier: platt,
    RVC: relevance_classifier,
    NearestHypersphereClassifier: nearest_hypersphere,
}
OF_ONE_CLASS = (OneClassSVM, SVDD)
REGRESSIONS = (SVR, RVR)
MACHINES = (*CLASSIFIERS, *OF_ONE_CLASS, *REGRESSIONS)


def register_onnx() -> None:
    """Teach skl2onnx mercer's machines.

    Once is enough, more often does no harm. `skl2onnx.to_onnx` and `skl2onnx.convert_sklearn` then
    take these machines alone and at the end of pipelines, and regressions inside scikit-learn's
    estimators (of classifiers inside others skl2onnx makes graphs that answer otherwise):

    ============================================================  ===============================
    machine                                                       outputs
    ============================================================  ===============================
    `SVC` without probabilities                                   label, scores: decision values
    `SVC` with them, `PlattClassifier`, `RVC`,                    label, probabilities
    `NearestHypersphereClassifier` (``cv=None``: label, scores)
    `OneClassSVM`, `SVDD`                                         label (1 or -1), scores
    `SVR`, `RVR`                                                  variable
    ============================================================  ===============================

    See Also
    --------
    to_onnx : Registers and converts.

    Examples
    --------
    >>> import mercer.exchange
    >>> mercer.exchange.register_onnx()
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        raise ImportError(f"Writing ONNX needs skl2onnx; run {how_to_get('onnx')}.") from None
    for machine in MACHINES:
        alias = f"Mercer{machine.__name__}"
        update_registered_converter(machine, alias, _shapes, _convert, parser=_parse)
    # ONNX has an operator for it, which programs know for single precision only.
    update_registered_converter(Filling, "MercerFilling", _shape_of_filled, _fill)


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the outputs; skl2onnx's own parser would make a list of dicts of them."""
    from skl2onnx import get_model_alias

    operator = scope.declare_local_operator(get_model_alias(type(model)), model)
    operator.inputs = inputs
    for name, kind in _outputs(model, inputs):
        operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _outputs(model: Any, inputs: Any) -> list[tuple[str, Any]]:
    from skl2onnx.common.data_types import (
        DoubleTensorType,
        FloatTensorType,
        Int64TensorType,
        StringTensorType,
    )

    number = DoubleTensorType if _is_double(inputs) else FloatTensorType
    if isinstance(model, REGRESSIONS):
        return [("variable", number([None, 1]))]
    if isinstance(model, OF_ONE_CLASS):
        return [("label", Int64TensorType([None])), ("scores", number([None, 1]))]
    text = _labels(model).dtype.kind in "US"
    label = StringTensorType([None]) if text else Int64TensorType([None])
    return [("label", label), (_kind_of_values(model), number([None, _width(model)]))]


def _kind_of_values(model: Any) -> str:
    has_them = {SVC: "sigmoids_", NearestHypersphereClassifier: "slope_"}.get(type(model))
    return "probabilities" if has_them is None or hasattr(model, has_them) else "scores"


def _width(model: Any) -> int:
    count = int(model.classes_.size)
    if _kind_of_values(model) == "probabilities" or not isinstance(model, SVC):
        return count
    of_pairs = count == 2 or model.decision_function_shape == "ovo"
    return int(model.intercept_.size) if of_pairs else count


def _is_double(inputs: Any) -> bool:
    from skl2onnx.common.data_types import DoubleTensorType

    return any(isinstance(one.type, DoubleTensorType) for one in inputs)


def _labels(model: Any) -> Any:
    """Return the labels as whole numbers or texts, that of rejected rows at the end."""
    labels = model.classes_
    if getattr(model, "reject_threshold", None) is not None:
        labels = np.append(labels.astype(object), model.reject_label)
    kinds = {type(label) for label in np.asarray(labels, dtype=object).tolist()}
    if all(issubclass(kind, str) for kind in kinds):
        return np.array([str(label) for label in labels])
    if not any(issubclass(kind, str) for kind in kinds):
        numbers = np.array([float(label) for label in labels])
        if (numbers == np.trunc(numbers)).all():
            return numbers.astype(np.int64)
    raise ValueError(
        "ONNX knows whole numbers or texts as labels, not both at once; got "
        f"{', '.join(map(repr, np.asarray(labels, dtype=object).tolist()[:5]))}."
    )


def _shapes(operator: Any) -> None:
    """Leave the outputs as they were declared, but for their precision."""
    for output, (_, kind) in zip(
        operator.outputs, _outputs(operator.raw_operator, operator.inputs)
    ):
        output.type = kind


def _shape_of_filled(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    kind = DoubleTensorType if _is_double(operator.inputs) else FloatTensorType
    operator.outputs[0].type = kind([None, operator.raw_operator.medians.size])


def _fill(scope: Any, operator: Any, container: Any) -> None:
    """Put the medians where there are gaps."""
    graph, filling = Graph(scope, container), operator.raw_operator
    double = _is_double(operator.inputs)
    X = _together(graph, operator.inputs, double)
    if filling.places is not None:
        X = graph("Gather", X, np.array(filling.places, dtype=np.int64), axis=1)
    medians = filling.medians.astype(np.float64 if double else np.float32)
    is_gap = graph("Or", graph("IsNaN", X), graph("IsInf", X))
    graph.name(graph("Where", is_gap, medians, X), operator.outputs[0].full_name)


def _together(graph: Graph, inputs: Any, double: bool) -> str:
    """Return all inputs as one matrix, of a data frame one for each column."""
    parts = [graph.cast(one.full_name, "f8" if double else "f4") for one in inputs]
    return parts[0] if len(parts) == 1 else graph("Concat", *parts, axis=1)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    graph, model = Graph(scope, container), operator.raw_operator
    double = _is_double(operator.inputs)
    X = _together(graph, operator.inputs, double)
    rows = Rows(X, None) if double else Rows(graph.cast(X, "f8"), X)
    if isinstance(model, REGRESSIONS):
        values = [regression(graph, model, rows)]
    elif isinstance(model, OF_ONE_CLASS):
        values = list(one_class(graph, model, rows))
    else:
        index, scores = CLASSIFIERS[type(model)](graph, model, rows)
        values = [graph("Gather", _labels(model), index), scores]
    last = values[-1] if double else graph.cast(values[-1], "f4")
    for value, output in zip([*values[:-1], last], operator.outputs):
        graph.name(value, output.full_name)
