"""Running one program and judging what comes out."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .all_classes import check_all_classes
from .consistency import check_again, check_answers
from .descents import check_descent, check_steps
from .optimality import check_machines
from .prediction import check_prediction
from .program import Program, draw_program
from .refusals import judge_refusal
from .regions import region_of
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
            return "refused", _odd(heard) + judge_refusal(program, error)
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
