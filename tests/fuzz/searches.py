"""`PathSearchCV` finds the scores of scikit-learn's `GridSearchCV`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.utils import _safe_indexing as rows_of

from .program import Program
from .regions import KNOWN

NEAR = 30.0
"""Multiples of the tolerance by which decision values of separate fits may differ."""


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
            near, is_fixed = _near_the_boundary(program, params, train, test)
            if not is_fixed and "offset" in KNOWN:
                continue
            if not abs(ours - theirs) * len(test) <= near + 1e-6:
                yield (
                    f"score {ours:.4f} instead of {theirs:.4f} for {params} on fold {fold} of "
                    f"{len(test)} rows, {near} of them near the boundary"
                )


def _near_the_boundary(program: Program, params: Any, train: Any, test: Any) -> tuple[int, bool]:
    """Return how many rows left out may fall on either side, and whether the offset is fixed."""
    model = clone(program.estimator.estimator).set_params(**params)
    X, y = rows_of(program.given, train), np.asarray(program.y)[train]
    model.set_params(decision_function_shape="ovo").fit(X, y)
    is_fixed = _every_machine_has_a_free_variable(model)
    model.set_params(tol=model.tol / 100).fit(X, y)
    values = model.decision_function(rows_of(program.given, test)).reshape(len(test), -1)
    near = np.abs(values).min(axis=1) <= NEAR * program.estimator.estimator.tol
    if values.shape[1] == len(model.classes_) and model.multi_class == "ovr":
        best = np.sort(values, axis=1)
        near |= best[:, -1] - best[:, -2] <= NEAR * program.estimator.estimator.tol
    return int(near.sum()), is_fixed and _every_machine_has_a_free_variable(model)


def _every_machine_has_a_free_variable(model: Any) -> bool:
    size = np.abs(model.dual_coef_)
    bounds = np.unique(size[model.support_kind_ == "bound"])
    free = model.support_kind_ == "margin"
    if bounds.size:  # what rounding has moved from a bound is not free
        free &= ~np.isclose(size[..., None], bounds, rtol=1e-9, atol=0).any(axis=-1)
    k = len(model.classes_)
    if k == 2 or model.multi_class == "ovr":
        return bool(free.any(axis=1).all())
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    return all(
        free[j - 1, ends[i] : ends[i + 1]].any() or free[i, ends[j] : ends[j + 1]].any()
        for i in range(k)
        for j in range(i + 1, k)
    )
