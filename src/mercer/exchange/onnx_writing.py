"""Models as ONNX graphs."""

from __future__ import annotations

from typing import Any

from mercer.exchange._searches import found_by
from mercer.exchange.onnx_registering import register_onnx


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
        scikit-learn skl2onnx converts around it.
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
    register_onnx()
    from skl2onnx import to_onnx as convert
    from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator

    model = found_by(model)
    try:
        return convert(model, X[:1], **options)
    except (MissingConverter, MissingShapeCalculator):
        raise ValueError(
            "skl2onnx has no converter for some part of this model, which must consist of mercer's "
            f"machines and of scikit-learn's estimators; got {' '.join(repr(model).split())}."
        ) from None
