"""Grids for C and gamma."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from mercer.model_selection.grid.groups import machine_of
from mercer.svm import SVC

FINER = 4
"""By how much a finer grid divides the steps of the one before."""


def coarse_grid(estimator: Any, X: Any) -> dict[str, Any]:
    """Return a grid that holds about every useful C and gamma, in coarse steps.

    Gamma goes from 2^-15 to 2^15 times one over the number of features in steps of 2^3, C from
    2^-2 to 2^12 in steps of 2^2.
    """
    found = machine_of(estimator)
    if found is None or not isinstance(found[1], SVC):
        raise ValueError("param_grid='auto' needs an SVC, alone or as the last step of a pipeline.")
    prefix = found[2]
    widths = 2.0 ** np.arange(-15, 16, 3) / np.shape(X)[1]
    return {f"{prefix}C": 2.0 ** np.arange(-2, 13, 2), f"{prefix}gamma": widths}


def finer_grid(candidates: list[dict[str, Any]], best: dict[str, Any]) -> list[dict[str, Any]]:
    """Return new candidates around the best one, with a quarter of the steps that led to it.

    Each positive number that was varied moves to both sides in the logarithm, up to the
    neighbouring values; everything else stays.
    """
    grid: dict[str, list[Any]] = {}
    for name, value in best.items():
        grid[name] = [value]
        tried = {candidate[name] for candidate in candidates if _is_positive(candidate.get(name))}
        if not _is_positive(value) or len(tried) < 2:
            continue
        ladder = np.log(np.array(sorted(tried), dtype=float))
        here = int(np.argmin(np.abs(ladder - np.log(float(value)))))
        neighbours = ladder[max(0, here - 1) : here + 2]
        step = np.abs(np.diff(neighbours)).min() / FINER
        grid[name] = list(np.exp(np.log(float(value)) + step * np.arange(-FINER + 1, FINER)))
        grid[name][FINER - 1] = value
    known = {_key(candidate) for candidate in candidates}
    return [new for new in ParameterGrid(grid) if _key(new) not in known]


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and float(value) > 0


def _key(candidate: dict[str, Any]) -> str:
    return repr(sorted((name, repr(value)) for name, value in candidate.items()))
