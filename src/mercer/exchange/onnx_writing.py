"""Models as ONNX graphs."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from mercer.exchange._tables import Filling, without_table
from mercer.exchange.onnx_registering import KNOWN, register_onnx


def to_onnx(model: Any, X: Any, **options: Any) -> Any:
    """Return a fitted model as an ONNX graph, which other programs run without Python.

    Kernels and machines become elementary operators in double precision. Where the rows are
    float32, the kernel is linear, polynomial, RBF or sigmoid, and float32 is exact enough for the
    numbers of the machine, its sums become ONNX's own operators ``SVMClassifier`` and
    ``SVMRegressor`` instead.

    Parameters
    ----------
    model : SVC, SVR, OneClassSVM, SVDD, RVC, RVR, NearestHypersphereClassifier or PlattClassifier
        Or a search that has found one, a pipeline that ends in one, or whatever else of
        scikit-learn skl2onnx converts around it. A `TableModel` of columns that are all numbers
        too: its graph takes them in their order, and fills gaps (NaN) as the model does.
    X : array-like or data frame
        Some rows, of which the type counts only: float32 gives a graph that takes and gives
        float32, float64 one in double precision.
    **options
        Handed to `skl2onnx.to_onnx`, such as ``target_opset``.

    Returns
    -------
    onnx.ModelProto
        ``onnx.save(graph, path)`` writes it. Its outputs are listed at `register_onnx`.

    Examples
    --------
    >>> import mercer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = mercer.PlattClassifier(mercer.SVC()).fit(X, y)
    >>> graph = mercer.to_onnx(model, X)
    >>> [output.name for output in graph.graph.output]
    ['label', 'probabilities']
    """
    if isinstance(X, str | bytes | PathLike):
        raise TypeError(
            f"X must be some rows of the data, whose type the graph takes; got {X!r} (to_onnx "
            "returns the graph, and onnx.save(graph, path) writes it)."
        )
    filling, model = without_table(model, "An ONNX graph")
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    is_ours = type(last).__module__.startswith("mercer.")
    if isinstance(last, TransformedTargetRegressor) or (is_ours and not isinstance(last, KNOWN)):
        raise _no_converter(last)
    if filling is not None:
        model, X = Pipeline([("gaps", filling), *model.steps]), _in_order(X, filling)
    register_onnx()
    from skl2onnx import to_onnx as convert
    from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator

    try:
        return convert(model, X[:1], **options)
    except (MissingConverter, MissingShapeCalculator):
        raise _no_converter(model) from None


def _no_converter(model: Any) -> ValueError:
    return ValueError(
        "skl2onnx has no converter for some part of this model, which must consist of mercer's "
        f"kernel machines and of scikit-learn's estimators; got {' '.join(repr(model).split())}."
    )


def _in_order(X: Any, filling: Filling) -> Any:
    """Return the rows of a frame as a matrix with the columns in their order."""
    if not hasattr(X, "columns"):
        return X
    return X[list(filling.columns)].to_numpy(dtype=np.float64, na_value=np.nan)
