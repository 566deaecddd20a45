"""What every fitted estimator has to satisfy: numbers, agreement with itself, and no memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from .program import Program

METHODS = ("decision_function", "predict_proba", "predict", "transform", "score_samples")


def answers_of(model: Any, X: Any) -> dict[str, Any]:
    """Return what a fitted estimator says of the rows, by method."""
    found = {name: getattr(model, name)(X) for name in METHODS if hasattr(model, name)}
    return {
        name: np.asarray(value.toarray() if sp.issparse(value) else value)
        for name, value in found.items()
    }


def check_answers(program: Program, model: Any) -> Iterator[str]:
    """Yield answers that are no numbers or contradict each other."""
    answers = answers_of(model, program.given)
    for name, values in answers.items():
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            yield f"{name} is not finite"
    probability = answers.get("predict_proba")
    if probability is not None:
        if np.abs(probability.sum(axis=1) - 1).max() > 1e-9 or probability.min() < 0:
            yield "probabilities do not sum to one"
        own = np.searchsorted(model.classes_, answers["predict"])
        if (probability.max(axis=1) - probability[np.arange(len(own)), own]).max() > 1e-12:
            yield "predict is not the most probable class"
    if "decision_function" in answers and "predict" in answers and hasattr(model, "classes_"):
        yield from _check_labels(model, answers)


def _check_labels(model: Any, answers: dict[str, Any]) -> Iterator[str]:
    values, k = answers["decision_function"], len(model.classes_)
    if values.ndim == 1:
        expected = model.classes_[(values > 0).astype(int)]
    elif values.shape[1] == k and getattr(model, "decision_function_shape", "ovr") == "ovr":
        expected = model.classes_[values.argmax(axis=1)]
    else:
        return
    if not np.array_equal(expected, answers["predict"]):
        yield "predict is not the arg max of decision_function"


def check_again(program: Program, model: Any) -> Iterator[str]:
    """Yield differences to a second fit, and to one on the plain array of the same numbers."""
    first = answers_of(model, program.given)
    again = program.fit(clone(program.estimator), program.given)
    yield from _differences(first, answers_of(again, program.given), 0.0, "a second fit")
    if program.drawn["container"] in ("array", "read-only") or sp.issparse(program.given):
        return
    plain = program.fit(clone(program.estimator), program.plain)
    said = answers_of(plain, program.plain)
    yield from _differences(first, said, 1e-9, f"{program.drawn['container']} and plain array")


def _differences(one: dict[str, Any], other: dict[str, Any], rtol: float, what: str) -> Any:
    for name, values in one.items():
        if values.dtype.kind != "f":
            same = np.array_equal(values, other[name])
        else:
            size = np.abs(values[np.isfinite(values)]).max(initial=0.0)
            same = np.allclose(values, other[name], rtol=0, atol=rtol * size, equal_nan=True)
        if not same:
            yield f"{name} differs: {what}"
