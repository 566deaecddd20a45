"""How the machine does on points it has not seen: the error left out, and a criterion's surface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.model_selection import leave_one_out, radius_margin, region_error, span, xi_alpha
from mercer.play._catalogue import CRITERIA, MOST_CELLS
from mercer.play._picture import fitted, names_of, share
from mercer.play._question import Question, Wanted, one_of, question_of, settings_of
from mercer.tables import InputError

MOST_LEFT_OUT = 300
"""Points up to which each is left out once; of more there are folds."""

MANY_FOLDS, FEW_FOLDS = 10, 5
SLOW = ("rvc", "rvr", "perceptron")
"""Machines whose fits take tens of milliseconds."""

BOUNDS: dict[str, Any] = {"span": span, "radius_margin": radius_margin}


class UnwantedError(InputError):
    """Nobody waits for the answer any more."""


def error_of(given: Mapping[str, Any], is_wanted: Wanted) -> dict[str, Any]:
    """Return the error on points left out, in words."""
    question = question_of(given)
    n = len(question.X)
    each = n <= MOST_LEFT_OUT and question.machine not in SLOW
    title = "Leave-one-out error" if each else f"Error on {min(MANY_FOLDS, n)} folds"
    if question.spec.task == "region":
        title += f" of class {names_of(given.get('names'))[0]}"
    if each and question.spec.estimator.__name__ == "SVC" and len(np.unique(question.y)) == 2:
        model = fitted(question)
        wrong = round(leave_one_out(model, question.X, question.y).value * n)
        return {"title": title, "value": share(wrong, n)}
    folds = np.arange(n) if each else _folds(question, MANY_FOLDS)
    errors = _left_out(question, folds, is_wanted)
    if question.spec.task == "curve":
        return {"title": title, "value": f"{np.sqrt(np.mean(errors**2)):.3g}"}
    return {"title": title, "value": share(int(np.count_nonzero(errors)), len(errors))}


def surface_of(given: Mapping[str, Any], is_wanted: Wanted) -> dict[str, Any]:
    """Return a criterion at some settings: a number for each, None where there is none."""
    question = question_of(given)
    criterion = one_of(given, "criterion", CRITERIA)
    if criterion not in question.spec.criteria:
        allowed = ", ".join(question.spec.criteria)
        raise InputError(
            f"The criterion of this machine must be one of {allowed}; got {criterion!r}."
        )
    if criterion == "leave_one_out" and len(question.X) > MOST_LEFT_OUT:
        raise InputError(f"Of more than {MOST_LEFT_OUT} points none are left out one by one.")
    cells = given.get("cells")
    if not isinstance(cells, list) or len(cells) > MOST_CELLS:
        raise InputError(f"The cells must be a list of at most {MOST_CELLS} settings.")
    moved = [question.settings | _moved(cell, question) for cell in cells]
    questions = [replace(question, settings=one) for one in moved]
    return {"values": [_criterion(one, criterion, is_wanted) for one in questions]}


def _moved(cell: Any, question: Question) -> dict[str, float]:
    if not isinstance(cell, Mapping) or not set(cell) <= set(question.settings):
        raise InputError("A cell must hold settings of the machine and its kernel.")
    return settings_of(cell, tuple(cell))


def _criterion(question: Question, criterion: str, is_wanted: Wanted) -> float | None:
    """Return the criterion, or None where these settings have none."""
    _go_on(is_wanted)
    try:
        if criterion == "folds":
            errors = _left_out(question, _folds(question, FEW_FOLDS), is_wanted)
            is_curve = question.spec.task == "curve"
            value = np.sqrt(np.mean(errors**2)) if is_curve else np.mean(errors != 0)
        else:
            model = fitted(question)
            value = _of_model(criterion, model, question)
    except UnwantedError:
        raise
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return None
    return float(value) if np.isfinite(value) else None


def _of_model(criterion: str, model: Any, question: Question) -> float:
    X, y = question.X, question.y
    if criterion == "region_error":
        return region_error(model, X, y, gradient=False).value
    if criterion == "leave_one_out":
        return leave_one_out(model, X, y).value
    if criterion == "xi_alpha":
        return xi_alpha(model, X, y).value
    return BOUNDS[criterion](model, X, y, gradient=False).value


def _folds(question: Question, n_folds: int) -> NDArray[np.int64]:
    """Return the fold of each point: classes are dealt evenly, always alike."""
    n = len(question.X)
    order = np.random.default_rng(0).permutation(n)
    if question.spec.task != "curve" and question.y is not None:
        order = order[np.argsort(question.y[order], kind="stable")]
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % n_folds
    return folds


def _go_on(is_wanted: Wanted) -> None:
    if not is_wanted():
        raise UnwantedError("Another question came before this one was answered.")


def _left_out(
    question: Question, folds: NDArray[np.int64], is_wanted: Wanted
) -> NDArray[np.float64]:
    """Return the error of each point by a machine without its fold: of a class 1 or 0.

    Of a region only targets count. What cannot be fitted without a fold is wrong about it.
    """
    X, y, task = question.X, question.y, question.spec.task
    errors = y - np.mean(y) if task == "curve" else np.ones(len(X))
    for fold in _worth_leaving(question, folds, errors):
        _go_on(is_wanted)
        out = folds == fold
        part = _without(question, out)
        if part is None:
            continue
        said = part.predict(X[out])
        truth = 1 if task == "region" else y[out]
        errors[out] = said - truth if task == "curve" else said != truth
    if task == "region" and y is not None:
        errors = errors[y == 1]
    return errors


def _worth_leaving(
    question: Question, folds: NDArray[np.int64], errors: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the folds to leave out: a point without weight changes nothing for an SVC."""
    if question.spec.estimator.__name__ != "SVC" or len(np.unique(folds)) < len(folds):
        return np.unique(folds)
    model = fitted(question)
    errors[:] = model.predict(question.X) != question.y
    return folds[model.support_]


def _without(question: Question, out: NDArray[np.bool_]) -> Any:
    """Return the machine fitted to the others, or None where they are not enough."""
    others = np.zeros(len(question.points), dtype=bool)
    others[question.rows[~out]] = True
    part = replace(question, points=question.points[others], labels=question.labels[others])
    try:
        return fitted(part)
    except InputError:
        return None


__all__ = ["error_of", "surface_of"]
