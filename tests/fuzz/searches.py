"""`PathSearchCV` finds the scores of scikit-learn's `GridSearchCV`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.utils import _safe_indexing as rows_of

from .program import Program
from .regions import largest_kernel_value

NEAR = 30.0
"""Multiples of the tolerance by which decision values of separate fits may differ."""

LET_PASS = 10.0
"""Multiple of the tolerance up to which a path lets rounding of float32 kernel values pass."""

SINGLE = 6e-8
"""That rounding, relative to a kernel value."""

ROUNDING = 1e-15
"""Share of what is summed to a decision value that is lost in the sum."""


def check_search(program: Program, model: Any) -> Iterator[str]:
    """Yield candidates and folds whose score no row near the boundary explains."""
    if program.kind != "PathSearchCV" or program.may_be_indefinite:  # no single optimum
        return
    given = program.estimator
    separate = GridSearchCV(clone(given.estimator), given.param_grid, cv=given.cv, refit=False)
    separate.fit(program.given, program.y)
    splits = list(check_cv(given.cv, program.y, classifier=True).split(program.given, program.y))
    for number, params in enumerate(separate.cv_results_["params"]):
        for fold, (train, test) in enumerate(splits):
            ours, theirs = (
                search.cv_results_[f"split{fold}_test_score"][number]
                for search in (model, separate)
            )
            if np.isclose(ours, theirs, atol=1e-9, equal_nan=True):
                continue
            near = _near_the_boundary(program, params, train, test)
            if near is None:
                continue
            if not abs(ours - theirs) * len(test) <= near + 1e-6:
                yield (
                    f"score {ours:.4f} instead of {theirs:.4f} for {params} on fold {fold} of "
                    f"{len(test)} rows, {near} of them near the boundary"
                )


def _near_the_boundary(program: Program, params: Any, train: Any, test: Any) -> int | None:
    """Return how many rows left out may fall on either side; None where no fit converges."""
    model = clone(program.estimator.estimator).set_params(**params)
    X, y = rows_of(program.given, train), np.asarray(program.y)[train]
    try:
        if not model.set_params(decision_function_shape="ovo").fit(X, y).converged_:
            return None
    except ValueError:  # refused, as the search has seen as well
        return None
    model.set_params(tol=model.tol / 100).fit(X, y)
    values = model.decision_function(rows_of(program.given, test)).reshape(len(test), -1)
    unsure = _unsure(model.dual_coef_, largest_kernel_value(program), 100 * model.tol)
    near = np.abs(values).min(axis=1) <= unsure
    if values.shape[1] == len(model.classes_) and model.multi_class == "ovr":
        best = np.sort(values, axis=1)
        near |= best[:, -1] - best[:, -2] <= unsure
    return int(near.sum())


def _unsure(betas: Any, size: float, tol: float) -> float:
    """Return by how much decision values may differ.

    Where float32 kernel values alone make a gap beyond the tolerance, a path lets a gap g of ten
    times the tolerance pass. That leaves the objective within g sum|beta| of its optimum, and so,
    since it curves as |w|^2 / 2 does, the values within sqrt(2 g sum|beta| k(x, x)) of theirs.
    """
    summed = float(np.abs(betas).sum()) * size
    unsure = NEAR * tol + ROUNDING * summed
    if SINGLE * float(np.sqrt(np.sum(betas**2))) * size > tol:
        unsure = max(unsure, float(np.sqrt(2.0 * LET_PASS * tol * summed)))
    return unsure
