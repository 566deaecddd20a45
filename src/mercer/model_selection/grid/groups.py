"""Candidates of a grid in groups that share kernel values and solutions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mercer._sklearn import validate_parameter_constraints
from mercer.model_selection.search_record import stable_key
from mercer.spheres import SVDD, NearestHypersphereClassifier, OneClassSVM
from mercer.svm import SVC, SVR

_PATH = ("C", "nu")
"""Parameters along which a machine starts from the solution for the last value."""

MACHINES = (SVC, SVR, SVDD, OneClassSVM, NearestHypersphereClassifier)
"""What searches can share the work of."""


class Group(NamedTuple):
    """Candidates that differ in a penalty only, with rising penalty, and their positions."""

    key: str
    models: list[Any]
    positions: list[int]


def machine_of(estimator: Any) -> tuple[Any, Any, str] | None:
    """Return the steps before the machine (or None), the machine, and its prefix."""
    if type(estimator) in MACHINES:
        return None, estimator, ""
    if isinstance(estimator, Pipeline) and type(estimator.steps[-1][1]) in MACHINES:
        name, model = estimator.steps[-1]
        before = estimator[:-1] if len(estimator.steps) > 1 else None
        return before, model, f"{name}__"
    return None


def groups_of(estimator: Any, candidates: Sequence[dict[str, Any]]) -> list[Group] | None:
    """Sort candidates into groups, or return None where they cannot share."""
    found = machine_of(estimator)
    if found is None:
        return None
    _, model, prefix = found
    own = model.get_params(deep=False)
    no_path = dict.fromkeys(set(_PATH) & set(own))
    named = []
    for candidate in candidates:
        if not all(name.startswith(prefix) for name in candidate):
            return None
        named.append({name.removeprefix(prefix): value for name, value in candidate.items()})
    models = _tuned(model, own, named)
    models[0]._validate_params()  # what the grid leaves alone as well
    is_pairwise = [model._is_pairwise() for model in models]
    if any(is_pairwise) or not all(map(_can_share, models)):
        return None
    alike = stable_key({**own, **no_path})
    members: dict[str, list[int]] = {}
    for position, names in enumerate(named):
        members.setdefault(stable_key({**names, **no_path}), []).append(position)
    groups = []
    for key, positions in members.items():
        penalties = {k: _penalties(models[k]) for k in positions}
        positions.sort(key=penalties.__getitem__)
        whole_key = stable_key([alike, key, [penalties[k] for k in positions]])
        groups.append(Group(whole_key, [models[k] for k in positions], positions))
    return groups


def middle_first(groups: Sequence[Group]) -> list[Group]:
    """Return the groups, those in the middle of the grid first, where the hard problems are.

    What takes longest should not begin last, when the other threads have nothing left to do.
    Groups in a row that have one kernel stay together, since they share its matrix.
    """

    def kernel_of(group: Group) -> str:
        model = group.models[0]
        names = ("kernel", "gamma", "degree", "coef0")
        return repr([getattr(model, name, None) for name in names])

    runs = [list(run) for _, run in groupby(groups, kernel_of)]
    order = sorted(range(len(runs)), key=lambda k: abs(2 * k + 1 - len(runs)))
    return [group for k in order for group in runs[k]]


def _tuned(model: Any, own: dict[str, Any], named: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the machine with some parameters changed, once for each candidate."""
    if not all(names.keys() <= own.keys() for names in named):
        return [clone(model).set_params(**clone(names, safe=False)) for names in named]
    # Many times faster than clone and set_params: numbers are checked once for all.
    kind, fresh = type(model), clone(model)
    checked: set[tuple[str, float]] = set()
    for names in named:
        numbers = {(k, float(v)) for k, v in names.items() if type(v) in (float, np.float64)}
        known = {name for name, _ in numbers & checked}
        unknown = {name: value for name, value in names.items() if name not in known}
        if unknown:
            validate_parameter_constraints(kind._parameter_constraints, unknown, kind.__name__)
        checked |= numbers
    return [_changed(fresh, names) for names in named]


def _changed(model: Any, names: dict[str, Any]) -> Any:
    """Return a copy with other parameters."""
    changed = object.__new__(type(model))
    vars(changed).update(vars(model), **names)
    return changed


def _can_share(model: Any) -> bool:
    """Say whether a machine can be fitted on a matrix of kernel values without their points."""
    if model.warm_start:
        return False
    if isinstance(model, (SVC, SVR)):
        return not np.isinf(model.C)
    # Balls need k(x, x) of new points, which is known where it is the same everywhere.
    return isinstance(model.kernel, str) and model.kernel in ("rbf", "laplacian")


def _penalties(model: Any) -> list[float]:
    given = [getattr(model, name, None) for name in _PATH]
    return [-1.0 if value is None else float(value) for value in given]
