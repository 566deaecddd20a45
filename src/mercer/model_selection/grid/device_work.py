"""What a device does for a search of classifiers, beside the processor."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from mercer.gram import make_gram
from mercer.machines import DevicePath
from mercer.model_selection.grid.groups import Group
from mercer.model_selection.search_record import stable_key
from mercer.solvers import UnsuitedError


def work_on_device(search: Any, queue: deque[Group], done: dict[tuple[str, int], Any]) -> None:
    """Evaluate groups from the end of a queue until none is left.

    Groups that the processor does faster, or that the memory of the device is too small for, come
    back into the queue at the end.

    Parameters
    ----------
    search : SharedSearch
    queue : deque of Group
        The processor takes from its beginning at the same time.
    done : dict
        Scores, by group and fold.
    """
    given_back = []
    while not search.stopped.is_set():
        try:
            group = queue.pop()
        except IndexError:
            break
        try:
            _evaluate(search, group, done)
        except (UnsuitedError, MemoryError):
            given_back.append(group)
    queue.extend(given_back)


def _evaluate(search: Any, group: Group, done: dict[tuple[str, int], Any]) -> None:
    model, settings = group.models[0], search.settings_of(group)
    of_fold = isinstance(model.gamma, str) or not isinstance(model.kernel, str)
    made: dict[Any, Any] = {}
    for k, (fold, present) in enumerate(search.folds_for(model)):
        if (group.key, k) in done or search.stopped.is_set():
            continue
        if np.isinf(model.C) or not DevicePath.suits(fold):
            raise UnsuitedError("Its machines are small.")
        points = search.points[k]
        known = points[search.splits[k][0]] if of_fold else points
        kernel = model._make_kernel().resolve(known)
        name = id(points), stable_key(kernel)
        if name not in made:
            made[name] = make_gram(kernel, points, device=model.device)
        if not made[name].is_on_device:
            raise UnsuitedError("The kernel has no formula.")
        search.evaluate(group, k, (DevicePath(made[name], fold), settings, fold, present), done)
