"""Running one program and judging what comes out."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .all_classes import check_all_classes
from .consistency import check_again, check_answers
from .descents import check_descent, check_steps
from .optimality import check_machines
from .prediction import check_prediction
from .program import Program, draw_program
from .regions import is_large, largest_kernel_value, region_of
from .searches import check_search
from .warm import check_warm

CHECKS = (
    check_answers,
    check_machines,
    check_all_classes,
    check_prediction,
    check_search,
    check_descent,
    check_steps,
    check_warm,
    check_again,
)


def judge(seed: int) -> dict[str, Any]:
    """Run the program of a number.

    Returns
    -------
    dict
        "seed", "region", "outcome" ("fitted", "not converged" or "refused"), "findings" (a list of
        sentences, empty where all is well) and "drawn".
    """
    program = draw_program(seed)
    outcome, findings = _outcome(program)
    return {
        "seed": seed,
        "region": region_of(program),
        "outcome": outcome,
        "findings": findings,
        "drawn": program.drawn,
    }


def _outcome(program: Program) -> tuple[str, list[str]]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            model = program.fit(clone(program.estimator), program.given)
        except Exception as error:
            return "refused", _odd(heard) + _judge_refusal(program, error)
    findings = _odd(heard)
    stopped = any(issubclass(w.category, ConvergenceWarning) for w in heard)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for check in CHECKS:
            try:
                findings += check(program, model)
            except Exception:
                findings.append(f"{check.__name__} raised:\n{traceback.format_exc(limit=-6)}")
    return ("not converged" if stopped else "fitted"), findings


def _odd(heard: list[Any]) -> list[str]:
    """Return the warnings of NumPy's that nobody should see."""
    return [f"RuntimeWarning: {w.message}" for w in heard if w.category is RuntimeWarning]


REFUSALS = (
    "no ball holds",
    "ensure_min_features",
    "minimum of 2 is required",
    "cannot have number of splits",
    "cannot be greater than the number of members",
    "the number of classes has to be greater than one",
    "needs at least two classes",
    "leaves out no row",
    "must contain at least one non-zero number",
    "says how often each row counts",
    "training rows of one class only",
    "all rows are equal",
)
"""What any data may deserve, in small letters."""

TOO_LARGE = (
    "scale the features",
    "scale them",
    "divide all weights",
    "multiply y by a constant",
)
"""What numbers near the ends of float64 deserve, or kernel values near its end."""

LARGE = 1e60
"""Kernel values of which some machines may say so; none may of rows that are merely large."""

ALL_FAILED = "It is very likely that your model is misconfigured."
"""How scikit-learn's searches begin to repeat what all candidates said."""

SMALL = 1e-140
"""Kernel values all of which have squares without digits."""

TINY = 1e-150
"""Features whose squares have lost digits, so that some of them may have no width of their own."""

INDEFINITE_WORDS = ("not positive semi-definite", "not positive definite")
"""What kernels deserve that are no products, or that rounding makes so."""

INDEFINITE = 1e10
"""Kernel values whose rounding may be larger than the ridge of squared slack, at usual prices."""

INDEFINITE_PRICED = 1e14
"""The same times C, since the ridge is one over it: units in the last place."""


def _may_be_indefinite(program: Program) -> bool:
    """Say whether the kernel is, or rounding of its values is more than the ridge of a weight."""
    size = largest_kernel_value(program) * max(1.0, float(program.data.weights.max()))
    price = getattr(getattr(program.estimator, "estimator", program.estimator), "C", 1.0)
    is_sound = size <= INDEFINITE and size * price <= INDEFINITE_PRICED
    return program.may_be_indefinite or not is_sound


def _is_beyond(program: Program) -> bool:
    """Say whether sizes are a reason to refuse: of kernel values, squares, weights or targets."""
    if not SMALL <= largest_kernel_value(program) <= LARGE or is_large(program):
        return True
    if np.abs(program.plain).max() < TINY:
        return True
    has_quotients = np.isfinite(largest_kernel_value(program, within=True))
    return program.has_extreme_targets or not has_quotients


def _judge_refusal(program: Program, error: Exception) -> list[str]:
    text = str(error)
    if isinstance(error, ValueError) and ("\n" not in text.strip() or ALL_FAILED in text):
        if any(words in text.lower() for words in REFUSALS):
            return []
        if _is_beyond(program) and any(words in text.lower() for words in TOO_LARGE):
            return []
        if _may_be_indefinite(program) and any(words in text for words in INDEFINITE_WORDS):
            return []
    return [f"{type(error).__name__}: {text}\n{traceback.format_exc(limit=-4)}"]
