"""Whether the numbers of a model fit together, so that compiled code may walk them.

The types in a file are all harmless, but numbers can be wrong, and compiled code of SciPy and
scikit-learn believes them: an index beyond the end of an array would end the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.persistence.errors import RefusalError

HOMES = ("mercer", "sklearn", "skrub")
FINITE = ("support_vectors_", "dual_coef_", "intercept_", "points", "coefficients", "coef_")
"""Attributes of our models with which predictions are computed."""


def check_sound(model: Any) -> None:
    """Raise RefusalError if some part of the model contradicts another one."""
    for part in parts(model):
        if sp.issparse(part):
            _check_sparse(part)
        elif type(part).__name__ == "Tree":
            _check_tree(part)
        elif type(part).__name__ == "TreePredictor":
            _check_predictor(part)
        elif hasattr(part, "__dict__"):
            _check_trees_of(part)
            _check_numbers(part)


def grow_search_trees(model: Any) -> None:
    """Grow the trees of nearest neighbours, which are not kept in files, from their rows."""
    from sklearn.neighbors import BallTree, KDTree

    kinds = {"kd_tree": KDTree, "ball_tree": BallTree}
    for part in parts(model):
        state = getattr(part, "__dict__", {})
        if state.get("_fit_method") in kinds and "_fit_X" in state and state.get("_tree") is None:
            part._tree = kinds[part._fit_method](
                part._fit_X,
                part.leaf_size,
                metric=part.effective_metric_,
                **part.effective_metric_params_,
            )


def parts(model: Any) -> Iterator[Any]:
    """Yield the model and everything in it that is not a container or a single value."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, type | str | bytes | int | float | None):
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype.hasobject else []
        elif type(part).__module__.partition(".")[0] in HOMES:
            yield part
            waiting += getattr(part, "__dict__", {}).values()
        elif sp.issparse(part):
            yield part


def _check_sparse(matrix: Any) -> None:
    if matrix.format not in ("csr", "csc"):
        raise RefusalError(
            f"a sparse matrix in it has the format {matrix.format!r}, not csr or csc"
        )
    try:
        matrix.check_format(full_check=True)
    except (ValueError, IndexError):
        raise RefusalError("a sparse matrix in it has indices outside of it") from None


def _check_tree(tree: Any) -> None:
    """A child comes after its parent, so that every walk ends at a leaf."""
    numbers = np.arange(tree.node_count)
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    leaf = left == -1
    inner = ~leaf
    ordered = (left[inner] > numbers[inner]) & (right[inner] > numbers[inner])
    inside = (left[inner] < numbers.size) & (right[inner] < numbers.size)
    known = (feature[inner] >= 0) & (feature[inner] < tree.n_features)
    if not (numbers.size and (ordered & inside & known).all() and (right[leaf] == -1).all()):
        raise RefusalError("a tree in it leads nowhere")


def _check_predictor(predictor: Any) -> None:
    """Check the same for a tree of scikit-learn's boosting on histograms."""
    nodes = predictor.nodes
    numbers = np.arange(nodes.size)
    inner = nodes["is_leaf"] == 0
    below = np.concatenate([nodes["left"][inner], nodes["right"][inner]]).astype(np.int64)
    ordered = below > np.tile(numbers[inner], 2)
    splits = nodes["bitset_idx"][inner & (nodes["is_categorical"] != 0)]
    sets = [predictor.raw_left_cat_bitsets, predictor.binned_left_cat_bitsets]
    fits = all(s.ndim == 2 and s.shape[1] == 8 and s.dtype == np.uint32 for s in sets)
    fits = fits and not (splits >= min(len(s) for s in sets)).any()
    if not (nodes.size and fits and (ordered & (below < nodes.size)).all()):
        raise RefusalError("a tree in it leads nowhere")


def _check_trees_of(owner: Any) -> None:
    """See that no tree of a model looks at columns which the model does not have."""
    state = vars(owner)
    n_features = state.get("n_features_in_", state.get("_n_features"))
    if n_features is None:
        return
    for name in ("tree_", "estimators_", "_predictors"):
        for tree in parts(state.get(name)):
            kind = type(tree).__name__
            if kind == "Tree" and tree.n_features > n_features:
                raise RefusalError("a tree in it looks at columns that are not there")
            if kind == "TreePredictor":
                used = tree.nodes["feature_idx"][tree.nodes["is_leaf"] == 0]
                if ((used < 0) | (used >= n_features)).any():
                    raise RefusalError("a tree in it looks at columns that are not there")


def _check_numbers(part: Any) -> None:
    """Check the machines of mercer: numbers are numbers, and as many as there are vectors."""
    if not type(part).__module__.startswith("mercer."):
        return
    state = vars(part)
    for name in FINITE:
        value = state.get(name)
        value = value.data if sp.issparse(value) else value
        if (
            isinstance(value, np.ndarray)
            and value.dtype.kind == "f"
            and not np.isfinite(value).all()
        ):
            raise RefusalError(f"{name} has entries that are no numbers")
