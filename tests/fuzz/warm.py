"""Where a fit starts does not change what holds for its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.base import clone

from .all_classes import check_all_classes
from .optimality import check_machines
from .program import Program
from .refusals import judge_refusal

PRICES = {"SVC": "C", "SVR": "C", "CrammerSingerSVC": "C", "OneClassSVM": "nu", "SVDD": "nu"}
"""What is another one in the fit before, by the kind of estimator."""

FACTOR = 7.0
"""By which the price is off in the fit before."""


def check_warm(program: Program, model: Any) -> Iterator[str]:
    """Yield what is wrong with a machine that started from one of another price."""
    if program.kind not in PRICES:
        return
    warm, name = clone(program.estimator).set_params(warm_start=True), PRICES[program.kind]
    price = getattr(warm, name)
    try:
        program.fit(warm.set_params(**{name: price / FACTOR}), program.given)
    except ValueError:  # refused at that price
        return
    try:
        program.fit(warm.set_params(**{name: price}), program.given)
    except ValueError as error:
        yield from judge_refusal(program, error)
        return
    for check in (check_machines, check_all_classes):
        for finding in check(program, warm):
            yield f"after a warm start: {finding}"
