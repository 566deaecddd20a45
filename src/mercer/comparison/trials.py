"""A first look at all models on a part of the rows: who is promising, and what that took."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mercer.comparison.deadline import TimeIsOverError, within
from mercer.comparison.folds import Fold
from mercer.comparison.pilot import Trial
from mercer.comparison.rivals import Rival

if TYPE_CHECKING:
    from mercer.comparison.race import Race

TRIAL_ROWS = 1500
"""Rows of a trial."""

FEW_TRIED = 2
"""With fewer than so many times these rows all models have all of them at once."""

MOST_TESTED = 2000
SHARE_OF_TRIALS = 0.25
"""Part of the time for all trials."""

LARGEST_TRIAL = 0.3
"""Part of what is left of that for one of them."""


class Tried(NamedTuple):
    """The error of a model that has learned from few rows, and what that took.

    A sketch does not tell how long the model would take.
    """

    error: float
    trial: Trial | None


def trials(race: Race, rivals: Sequence[Rival], fold: Fold, seconds: float) -> dict[str, Tried]:
    """Return what models do on a part of the rows of a fold; without those that take too long.

    Parameters
    ----------
    race : Race
    rivals : sequence of Rival
    fold : Fold
    seconds : float
        For all of them.
    """
    found: dict[str, Tried] = {}
    end = time.monotonic() + seconds
    train, test = race.some(fold.train, TRIAL_ROWS), race.some(fold.test, MOST_TESTED)
    for rival in rivals:
        left = end - time.monotonic()
        columns = race.table.frame.shape[1]
        if left <= 0 or columns > (rival.most_columns or columns):
            continue
        race.progress(0, len(race.folds) * len(rivals), f"{rival.title}, a part of the rows")
        try:
            with within(LARGEST_TRIAL * left), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.perf_counter()
                model = race.fitted(rival, train, sketched=True)
                taken = time.perf_counter() - start
                said = race.predicted(model, race.table.frame.iloc[test])
        except (Exception, TimeIsOverError):  # perhaps only for want of rows, or of time
            continue
        n_rows = min(len(train), rival.most_rows or len(train))
        error = race.measured(test, said)[race.measure]
        found[rival.name] = Tried(error, None if rival.sketch else Trial(n_rows, taken))
    return found
