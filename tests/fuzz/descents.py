"""What a gradient search or a stepwise selection says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from .consistency import answers_of
from .program import Program


def check_descent(program: Program, model: Any) -> Iterator[str]:
    """Yield where the best of a `GradientSearch` is not what the evaluations say."""
    if not program.kind.startswith("GradientSearch"):
        return
    best, results = model.history_[model.best_index_], model.cv_results_
    ranks = results["rank_test_score"]
    if not np.isfinite(model.best_criterion_):
        yield f"best_criterion_ is {model.best_criterion_}"
    if ranks[model.best_index_] != 1 or sorted(ranks) != list(range(1, len(ranks) + 1)):
        yield f"ranks {ranks.tolist()} with the best at {model.best_index_}"
    if not _same(results["params"][model.best_index_], model.best_params_):
        yield f"best_params_ {model.best_params_} are not those of the best evaluation"
    if not np.isfinite([step["objective"] for step in model.history_]).all():
        yield "an evaluation has no finite objective"
    stage = [step for step in model.history_ if step["stage"] == best["stage"]]
    if min(step["objective"] for step in stage) < best["objective"]:
        yield f"another evaluation of the stage {best['stage']} is better"
    lowest = -np.inf if program.has_targets else 0.0
    if not (np.isfinite(model.best_score_) and lowest <= model.best_score_ <= 1 + 1e-12):
        yield f"best_score_ is {model.best_score_}"
    for name, value in model.best_params_.items():
        sizes = np.ravel(value) if name in ("C", "gamma", "epsilon", "tol") else np.ones(1)
        if not (np.isfinite(sizes) & (sizes >= 0)).all():
            yield f"{name} is {value}"
    yield from _fitted_again(program, model)


def _fitted_again(program: Program, model: Any) -> Iterator[str]:
    """The machine is what anybody gets who fits one with the best parameters."""
    again = clone(program.estimator.estimator).set_params(**model.best_params_)
    program.fit(again, program.given)
    name = "predict" if program.has_targets else "decision_function"
    ours, theirs = (getattr(each, name)(program.given) for each in (model, again))
    if not np.array_equal(ours, theirs):
        yield f"{name} differs from that of a fit with best_params_"


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if one.keys() != other.keys():
        return False
    return all(one[key] is other[key] or np.array_equal(one[key], other[key]) for key in one)


def check_steps(program: Program, model: Any) -> Iterator[str]:
    """Yield what is wrong with the steps of a `KernelSequentialSelector`."""
    if program.kind != "KernelSequentialSelector":
        return
    chosen = model.support_.copy()
    if program.estimator.direction == "backward":
        chosen = ~chosen
    if sorted(model.order_) != np.flatnonzero(chosen).tolist():
        yield f"steps {model.order_} lead to {np.flatnonzero(chosen)}"
    if not ((model.scores_ >= 0) & (model.scores_ <= 1)).all():
        yield f"scores {model.scores_}"
    kept = answers_of(model, program.given)["transform"]
    if not np.array_equal(kept.astype(np.float64), program.plain[:, model.support_]):
        yield "transform keeps other columns than support_"
