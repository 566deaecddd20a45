"""Numbers in place of parameters that speak of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.distributed._cluster import Cluster
from mercer.distributed._collections import Blocks
from mercer.distributed._rows import Facts, opened, picked
from mercer.kernels import as_kernel, scale_gamma
from mercer.machines import class_factors

ROWS_OF_WIDTH = 50_000
"""Rows from which widths other than ``gamma="scale"`` are known."""


def settled(model: Any, blocks: Blocks, facts: Facts, cluster: Cluster) -> Any:
    """Return a copy of a machine whose parameters no longer depend on which rows it is given.

    Parameters
    ----------
    model : SVC, SVR or OneClassSVM
    blocks : Blocks
    facts : Facts
    cluster : Cluster
    """
    from dask import delayed

    template = clone(model)
    kernel = as_kernel(model.kernel, gamma=model.gamma, degree=model.degree, coef0=model.coef0)
    if getattr(kernel, "gamma", None) == "scale":
        gamma = _scale(blocks, facts, cluster)
        if isinstance(model.kernel, str):
            template.set_params(gamma=gamma)
        else:
            template.set_params(kernel=clone(kernel).set_params(gamma=gamma))
    elif not isinstance(model.kernel, str) or isinstance(model.gamma, str):
        drawn = np.random.default_rng(0).permutation(facts.n_rows)[:ROWS_OF_WIDTH]
        some = picked(blocks, facts, np.sort(drawn))
        template.set_params(kernel=cluster.value(delayed(_resolved)(kernel, some)))
    if facts.classes is not None and model.class_weight is not None:
        each = np.arange(facts.classes.size)
        factors = class_factors(model.class_weight, facts.classes, each, facts.class_counts)
        template.set_params(class_weight=dict(enumerate(factors.tolist())))
    return template


def _resolved(kernel: Any, rows: Any) -> Any:
    return kernel.resolve(rows[0], rows[2])


def _scale(blocks: Blocks, facts: Facts, cluster: Cluster) -> float:
    """Return what ``gamma="scale"`` is of all rows, from the moments of each block."""
    from dask import delayed

    found = cluster.values([delayed(_moments)(part, facts.classes) for part in blocks.parts])
    weight, mean, squares = np.array(found).T
    middle = float(weight @ mean / weight.sum())
    variance = float((squares.sum() + weight @ (mean - middle) ** 2) / weight.sum())
    # Two rows with this mean and variance have this width.
    pair = middle + np.sqrt(variance) * np.array([[1.0], [-1.0]])
    return scale_gamma(pair) / blocks.n_features


def _moments(block: Any, classes: Any) -> tuple[float, float, float]:
    """Return the weight of the rows, the mean of their entries, and its squared deviations."""
    part = opened(block, classes)
    n = part.X.shape[0]
    if n == 0:
        return 0.0, 0.0, 0.0
    weights = np.ones(n) if part.weights is None else part.weights
    total, columns = float(weights.sum()), part.X.shape[1]
    X = part.X.astype(np.float64)
    mean = float(weights @ np.asarray(X.sum(axis=1)).ravel()) / (total * columns)
    if isinstance(X, np.ndarray):
        squares = float(weights @ ((X - mean) ** 2).sum(axis=1))
    else:
        stored = np.repeat(weights, np.diff(X.indptr))
        squares = float(stored @ (X.data - mean) ** 2)
        squares += (total * columns - stored.sum()) * mean**2
    return total * columns, mean, squares
