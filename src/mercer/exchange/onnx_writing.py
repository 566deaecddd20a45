"""Models as ONNX graphs."""

from __future__ import annotations

import re
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mercer.exchange._searches import without_searches
from mercer.exchange._tables import Filling, listed, with_fillings, without_table
from mercer.exchange.onnx_registering import CLASSIFIERS, MACHINES, OF_ONE_CLASS, register_onnx

LABELLING = (*CLASSIFIERS, *OF_ONE_CLASS)


def to_onnx(model: Any, X: Any, **options: Any) -> Any:
    r"""Return a fitted model as an ONNX graph, which other programs run without Python.

    Kernels and machines become elementary operators in double precision. Where the rows are
    float32, the kernel is linear, polynomial, RBF or sigmoid, and float32 is exact enough for the
    numbers of the machine, its sums become ONNX's own operators ``SVMClassifier`` and
    ``SVMRegressor`` instead.

    Parameters
    ----------
    model : SVC, SVR, OneClassSVM, SVDD, RVC, RVR, NearestHypersphereClassifier or PlattClassifier
        Or a search that has found one, or a pipeline that ends in one. Regressions also inside
        whatever else of scikit-learn skl2onnx converts around them. A `TableModel` of columns that
        are all numbers too: its graph takes them in their order, without those that were left out
        at fitting (or with them, for an array fitted as one), and fills gaps (NaN) as it does.
    X : array-like or data frame
        Some rows, of which the type counts only: float32 gives a graph that takes and gives
        float32, float64 one in double precision. A data frame gives one input for each column,
        which steps that choose columns by name need.
    **options
        Handed to `skl2onnx.to_onnx`, such as ``target_opset``.

    Returns
    -------
    onnx.ModelProto
        ``onnx.save(graph, path)`` writes it. Its outputs are listed at `register_onnx`.

    Notes
    -----
    Decision values in double precision agree to about 1e-13 of the sum of the absolute terms,
    :math:`\sum_i |c_i| \, k(|x|, |z_i|) + |b|`, which for polynomials of points far from zero is
    larger than the values by many digits.

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
    check_is_fitted(model)
    model = without_searches(model)
    _check_parts(model)
    if filling is not None:
        filling, X = _in_order(X, filling)
        model = Pipeline([("gaps", filling), *model.steps])
    register_onnx()
    from skl2onnx import to_onnx as convert
    from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator

    row = _row(model, X)
    try:
        return convert(with_fillings(model), row, **options)
    except (MissingConverter, MissingShapeCalculator):
        raise _no_converter(model) from None
    except (ValueError, TypeError) as error:  # ours say what is wrong
        raise type(error)(_in_one_line(str(error))) from error
    except Exception as error:
        # skl2onnx has many more, down to RuntimeError and NameError.
        reason = re.split(r"(?<=[\w\])])\. ", _in_one_line(str(error)))[0].rstrip(".")
        hint = " (give X as a data frame)" if "column name" in reason else ""
        raise ValueError(f"skl2onnx cannot convert this model: {reason}{hint}.") from error


def _no_converter(model: Any) -> ValueError:
    return ValueError(
        "skl2onnx has no converter for some part of this model, which must consist of mercer's "
        f"kernel machines and of scikit-learn's estimators; got {_in_one_line(repr(model))}."
    )


def _in_order(X: Any, filling: Filling) -> tuple[Filling, Any]:
    """Return the rows of a frame as a matrix with the columns in their order.

    An array may also have the columns that were left out at fitting, as those of an array have
    their numbers for names.
    """
    if hasattr(X, "columns"):
        return filling, X[list(filling.columns)].to_numpy(dtype=np.float64, na_value=np.nan)
    width, columns = (np.shape(X) or (0,))[-1], filling.columns
    if np.ndim(X) != 2 or width == len(columns):
        return filling, X
    numbered = {f"c{number + 1}": number for number in range(width)}
    if not set(columns) <= set(numbered):
        raise ValueError(
            f"X must have the {len(columns)} columns of the fit ({listed(columns)}), in their "
            f"order or in a data frame; got {width}."
        )
    places = tuple(numbered[name] for name in columns)
    return Filling(columns, filling.medians, places), X


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _check_parts(model: Any) -> None:
    """Refuse what has no converter, and classifiers inside classifiers.

    Of these skl2onnx makes graphs with other answers: it takes their values for probabilities, and
    these for those of the predicted labels.
    """
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    is_ours = type(model).__module__.startswith("mercer.")
    unknown = is_ours and not isinstance(model, MACHINES)
    if unknown or isinstance(model, TransformedTargetRegressor):
        raise _no_converter(model)
    if isinstance(model, MACHINES) or not hasattr(model, "get_params"):
        return
    inner = [part for part in model.get_params().values() if isinstance(part, LABELLING)]
    if inner:
        raise ValueError(
            "to_onnx takes classifiers of mercer alone and at the end of pipelines, not inside "
            f"other estimators; got {type(model).__name__} of {type(inner[0]).__name__}."
        )


def _row(model: Any, X: Any) -> Any:
    """Return a row of the data, by which skl2onnx knows type and number of the columns."""
    if hasattr(X, "iloc") and np.ndim(X) == 2:
        return X[:1]
    kinds = "fiub" if isinstance(model, MACHINES) else "fiubUSO"
    try:
        rows = X[:1].toarray() if sp.issparse(X) else np.asarray(X)
        known = rows.ndim == 2 and rows.dtype.kind in kinds
    except ValueError:  # rows of different lengths
        known = False
    if not known:
        raise ValueError(
            "X must be some rows of the data, a matrix or a data frame, as predict takes them; got "
            f"{_in_one_line(repr(X))[:60]}."
        )
    n_features = getattr(model, "n_features_in_", rows.shape[1])
    if rows.shape[1] != n_features:
        raise ValueError(f"X must have the {n_features} columns of the fit; got {rows.shape[1]}.")
    return rows[:1] if len(rows) else np.zeros((1, n_features), dtype=rows.dtype)
