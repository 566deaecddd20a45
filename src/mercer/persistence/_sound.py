"""Whether the numbers of a model fit together, so that compiled code may walk them.

The types in a file are all harmless, but numbers can be wrong, and compiled code of SciPy and
scikit-learn believes them: an index beyond the end of an array would end the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.persistence._lengths import Facts, check_lengths, check_libsvm
from mercer.persistence._places import check_places
from mercer.persistence._search_trees import check_search_trees
from mercer.persistence.errors import RefusalError

HOMES = ("mercer", "sklearn", "skrub")
FINITE = (
    *("support_vectors_", "dual_coef_", "intercept_", "coef_", "points", "coefficients"),
    *("vectors", "squared_norms", "relevance_vectors_", "mu_", "A", "B", "A_", "B_", "radii_"),
    *("rule_weights_", "medians_"),
)
"""Attributes of our models with which predictions are computed."""


def check_sound(found: list[Any]) -> None:
    """Raise RefusalError if some of the parts of a model contradict each other."""
    widest, facts = _WidestTrees(), Facts()
    check_search_trees(found)
    for part in found:
        if sp.issparse(part):
            _check_sparse(part)
        elif type(part).__name__ == "Tree":
            _check_tree(part)
        elif type(part).__name__ == "TreePredictor":
            _check_predictor(part)
        elif hasattr(part, "__dict__"):
            if not isinstance(vars(part).get("n_jobs"), Integral | None):
                raise RefusalError(f"n_jobs of a {type(part).__name__} is no number of jobs")
            widest.check(part)
            check_libsvm(part, facts)
            check_lengths(part, facts)
            check_places(part, facts)
            if type(part).__module__.startswith("mercer."):
                _check_numbers(part, facts)
                _check_kernel(part)


def parts(model: Any) -> Iterator[Any]:
    """Yield the model and everything in it that is kept and no container or single value."""
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
            waiting += kept(part).values()
        elif sp.issparse(part):
            yield part


def kept(part: Any) -> dict[str, Any]:
    """Return the attributes of an object that go into a file; some models leave out what is quick.

    Examples
    --------
    >>> kept(slice(3))
    {}
    """
    state = part.__getstate__() if hasattr(part, "__dict__") else None
    return state if isinstance(state, dict) else {}


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


class _WidestTrees:
    """Sees that no tree of a model looks at columns which the model does not have.

    A tree or a list of trees that stands in many models is gone through once.
    """

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def check(self, owner: Any) -> None:
        """Raise RefusalError for a tree that needs more columns than its owner checks for."""
        state = vars(owner)
        for name in ("tree_", "estimators_", "_predictors"):
            needed = self._columns(state[name]) if name in state else 0
            if needed and needed > _columns_of(owner):
                raise RefusalError("a tree in it looks at columns that are not there")

    def _columns(self, trees: Any) -> int:
        """Return the largest number of columns that a tree, or one of several, needs."""
        if isinstance(trees, list | np.ndarray):
            if id(trees) not in self._known:
                items = trees.ravel().tolist() if isinstance(trees, np.ndarray) else trees
                self._known[id(trees)] = max(map(self._columns, items), default=0)
            return self._known[id(trees)]
        trees = getattr(trees, "__dict__", {}).get("tree_", trees)
        if type(trees).__name__ == "TreePredictor":
            if id(trees) not in self._known:
                used = trees.nodes["feature_idx"][trees.nodes["is_leaf"] == 0]
                needed = int(used.max(initial=-1)) + 1 if (used >= 0).all() else 2**31
                self._known[id(trees)] = needed
            return self._known[id(trees)]
        return int(trees.n_features) if type(trees).__name__ == "Tree" else 0


def _columns_of(owner: Any) -> int:
    """Return how many columns an estimator asks of rows; 0 if it takes any number of them."""
    try:
        n_features = owner.n_features_in_
    except Exception:  # it may ask a part that lacks it
        return 0
    return int(n_features) if isinstance(n_features, Integral) else 0


def _check_numbers(part: Any, facts: Facts) -> None:
    """See that what predictions are computed with are numbers, of the type that they had."""
    for name in FINITE:
        value = vars(part).get(name)
        if not (isinstance(value, np.ndarray) or sp.issparse(value)):
            continue
        if value.dtype != np.float64:
            raise RefusalError(f"{name} of a {type(part).__name__} holds no double numbers")
        if not facts.of(value, "finite", _is_finite):
            raise RefusalError(f"{name} has entries that are no numbers")


def _is_finite(value: Any) -> bool:
    return bool(np.isfinite(value.data if sp.issparse(value) else value).all())


def _check_kernel(part: Any) -> None:
    """See that a fitted machine knows its columns, and that its kernel has its numbers."""
    columns, kernel = vars(part).get("n_features_in_", 1), vars(part).get("kernel_")
    name = type(part).__name__
    if not isinstance(columns, int | np.integer) or isinstance(columns, bool) or columns < 1:
        raise RefusalError(f"a {name} claims an impossible number of columns")
    try:
        for each in [] if kernel is None else parts(kernel):
            if hasattr(each, "free_parameters"):
                each.free_parameters()
    except (ValueError, TypeError, AttributeError):
        raise RefusalError(
            f"the kernel of a {type(part).__name__} has impossible numbers"
        ) from None
