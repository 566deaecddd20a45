"""Which data may be refused, and in which words."""

from __future__ import annotations

import traceback

import numpy as np

from .program import Program
from .regions import is_large, largest_kernel_value, largest_of_single_features

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

INDEFINITE_WORDS = (
    "not positive semi-definite",
    "not positive definite",
    "The regression has no solution",
)
"""What kernels deserve that are no products, or that rounding makes so."""

INDEFINITE = 1e10
"""Kernel values whose rounding may be larger than the ridge of squared slack, at usual prices."""

INDEFINITE_PRICED = 1e14
"""The same times C, since the ridge is one over it: units in the last place."""


def _is_single(program: Program) -> bool:
    return np.count_nonzero(program.data.weights) == 1


def _may_be_indefinite(program: Program) -> bool:
    """Say whether the kernel is, or rounding of its values is more than the ridge of a weight."""
    size = largest_kernel_value(program) * max(1.0, float(program.data.weights.max()))
    price = getattr(getattr(program.estimator, "estimator", program.estimator), "C", None) or 1.0
    is_sound = size <= INDEFINITE and size * price <= INDEFINITE_PRICED
    return program.may_be_indefinite or not is_sound


def _is_beyond(program: Program) -> bool:
    """Say whether sizes are a reason to refuse: of kernel values, squares, weights or targets.

    Of a search weights too: beside values times weights of `LARGE` the 1 that the conditions of the
    evidence add is nothing, and where rows are equal, so is its determinant.
    """
    size = largest_kernel_value(program)
    if not SMALL <= size <= LARGE or is_large(program):
        return True
    if not largest_of_single_features(program) <= LARGE:
        return True
    if program.kind.startswith("GradientSearch") and size * program.data.weights.max() > LARGE:
        return True
    if np.abs(program.plain).max() < TINY:
        return True
    has_quotients = np.isfinite(largest_kernel_value(program, within=True))
    return program.has_extreme_targets or not has_quotients


def _has_lonely_class(program: Program) -> bool:
    """Say whether a fold may take all rows of a class but those of one other."""
    counts = np.bincount(program.data.codes[program.data.weights > 0])
    return np.count_nonzero(counts) <= 2 and counts[counts > 0].min() <= 2


def _rows_are_equal(program: Program) -> bool:
    rows = program.plain[program.data.weights > 0]
    return bool((rows == rows[:1]).all())


def _targets_vanish(program: Program) -> bool:
    """Say whether targets are equal but for rounding, or small beside all else."""
    if _is_beyond(program):
        return True
    target = program.data.target[program.data.weights > 0]
    return program.has_targets and bool(np.ptp(target) <= 1e-12 * np.abs(target).max())


DESERVED = {
    "training rows of one class only": _has_lonely_class,
    "all rows are equal": _rows_are_equal,
    "the targets do not differ": _targets_vanish,
    "got one with weight above 0": _is_single,
}
"""What some data deserve, in small letters, and which."""


def judge_refusal(program: Program, error: Exception) -> list[str]:
    """Return what is wrong with a refusal: nothing, where the data deserve it."""
    text = str(error)
    if isinstance(error, ValueError) and ("\n" not in text.strip() or ALL_FAILED in text):
        if any(words in text.lower() for words in REFUSALS):
            return []
        if any(words in text.lower() and holds(program) for words, holds in DESERVED.items()):
            return []
        if _is_beyond(program) and any(words in text.lower() for words in TOO_LARGE):
            return []
        if _may_be_indefinite(program) and any(words in text for words in INDEFINITE_WORDS):
            return []
    return [f"{type(error).__name__}: {text}\n{traceback.format_exc(limit=-4)}"]
