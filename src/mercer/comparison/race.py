"""Fitting all rivals on the same folds, within a given time."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.comparison.deadline import TimeIsOverError, can_stop, within
from mercer.comparison.folds import Fold, some_rows
from mercer.comparison.measures import measure_classes, measure_numbers
from mercer.comparison.outcome import Outcome, size_of
from mercer.comparison.pilot import FIRST_ROWS, LEAST_ROWS, STEP, Trial, rows_in_time
from mercer.comparison.rivals import BASELINE, Rival
from mercer.comparison.setting import Setting
from mercer.comparison.trials import FEW_TRIED, SHARE_OF_TRIALS, TRIAL_ROWS, trials
from mercer.comparison.words import NO_FOLDS, NO_TIME, ONE_FIT
from mercer.model_selection.search_record import SearchRecord
from mercer.tables import Table

LARGEST_SHARE = 0.5
"""The fits of one model, one for each fold, may take this share of the time that is left."""

LARGEST_KEPT = 0.5
"""What the best so far still needs is kept for it, up to this share of the time that is left."""

MANY_TESTED = 2000
"""Rows left out of a fold from which on few folds tell models apart."""

FEW_FOLDS = 3
"""So many of them do; what more there are is for the time that is left over."""

LEADERS = 3
"""So many of the best are the last to be left out for their price, and all who may be as good."""

CLEAR = 2.0
"""Standard errors by which a model must be behind, on rows left out, to be clearly behind."""

LEAST_BLAMED = 0.5
"""Seconds that a model must have taken for it to be named where no time is left."""

MUCH_WORK = 200_000
"""Numbers in a table from which threads of other libraries pay."""

BUSY = 1.5
"""Work that waits for each processor, from which on others are taken to be at work."""

Progress = Callable[[int, int, str], None]


@dataclass(eq=False)
class Race:
    """A comparison in progress.

    Parameters
    ----------
    table : Table
    rivals : list of Rival
        From cheap to dear.
    folds : list of Fold
        Those of the first repeat first.
    classes : list of str
    balanced : bool
        Whether all classes shall have an equal say.
    seed : int
    n_jobs : int or None
    seconds : float
        Time for all of it.
    record : SearchRecord
        What is known from a run before.
    progress : callable
        Told how much is done, of how much, and what comes next.

    Attributes
    ----------
    left_out : dict of str to str
        Models that were not compared, and why.
    stopped : str
        Why not all folds were done; empty where they were.
    """

    table: Table
    rivals: Sequence[Rival]
    folds: Sequence[Fold]
    classes: list[str]
    balanced: bool
    seed: int
    n_jobs: int | None
    seconds: float
    record: SearchRecord
    progress: Progress
    left_out: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    interrupted: bool = False

    def __post_init__(self) -> None:
        self.begun = time.monotonic()
        self.y = self.table.target.to_numpy()
        self.known: dict[tuple[str, int, int], Outcome] = {}
        self.record.read(self._take_up)
        self.alive = list(self.rivals)
        self.caps: dict[str, int] = {}  # rows that models have the time for
        self.trials: dict[str, Trial] = {}
        self.late: set[str] = set()  # stopped while others waited for their first turn
        self.spent: dict[str, float] = {}  # seconds of first turns
        self._take_up_caps()

    def _take_up(self, entry: dict[str, Any]) -> None:
        found = Outcome.from_entry(entry, len(self.classes))
        self.known[found.model, found.repeat, found.fold] = found

    def _take_up_caps(self) -> None:
        """Find in what is known how many rows models had the time for."""
        for rival in self.rivals if self.folds else ():
            found = self.known.get((rival.name, 0, 0))
            whole = len(self.some(self.folds[0].train, rival.most_rows))
            if found is not None and found.n_trained < whole:
                self.caps[rival.name] = found.n_trained

    @property
    def measure(self) -> str:
        """Name of the measure by which models are ranked."""
        return "rmse" if not self.classes else "balanced_error" if self.balanced else "error"

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.seconds - (time.monotonic() - self.begun)

    def run(self) -> list[Outcome]:
        """Return the outcomes of all folds that every model still in the race has done."""
        done: list[list[Outcome]] = []
        try:
            if self.folds:
                self._order_by_promise(self.folds[0])
            for k, fold in enumerate(self.folds):
                if k > 0 and not self._has_time_for_another(done):
                    break
                done.append(self._one_fold(k, fold))
                self._leave_out_the_dearest(done)
        except TimeIsOverError:
            self.stopped = "the time was over"
        except KeyboardInterrupt:
            self.interrupted = True
            self.stopped = "it was interrupted"
        if not done:  # some models have the first fold at least
            done = [[o for o in self.known.values() if (o.repeat, o.fold) == (0, 0)]]
            reached = {outcome.model for outcome in done[0]}
            for rival in [rival for rival in self.alive if rival.name not in reached]:
                is_over = not self.interrupted
                self._leave_out(
                    rival, self._no_time() if is_over else f"{self.stopped} before its turn"
                )
        alive = {rival.name for rival in self.alive}
        return [outcome for fold in done for outcome in fold if outcome.model in alive]

    def _order_by_promise(self, fold: Fold) -> None:
        """Let the models that do best on few rows be the first to have all of them.

        What the time suffices for is found out in that order. Small tables need none of it.
        """
        known = {name for name, *part in self.known if part == [fold.repeat, fold.fold]}
        unknown = [rival for rival in self.alive if rival.name not in {BASELINE, *known}]
        if len(fold.train) < FEW_TRIED * TRIAL_ROWS or len(unknown) < 2:
            return
        found = trials(self, unknown, fold, SHARE_OF_TRIALS * max(self.left, 0.0))
        self.trials = {name: one.trial for name, one in found.items() if one.trial is not None}
        late = float("inf")  # what was too slow, or failed, has its turn in the end
        errors = {name: one.error for name, one in found.items()} | {BASELINE: -late}
        self.alive.sort(key=lambda rival: errors.get(rival.name, late))

    def _one_fold(self, k: int, fold: Fold) -> list[Outcome]:
        found: list[Outcome] = []
        turns = list(self.alive)  # who is too dear for an early turn has another in the end
        for position, rival in enumerate(turns):
            total = len(self.folds) * len(self.alive)
            self.progress(k * len(self.alive) + position, total, rival.title)
            key = (rival.name, fold.repeat, fold.fold)
            if key not in self.known:
                is_last = position + 1 == len(turns)
                outcome = (
                    self._later(rival, fold)
                    if k
                    else self._first_turn(rival, fold, len(found), is_last)
                )
                if outcome is None:
                    if rival in self.alive:
                        turns.append(rival)
                    continue
                self.known[key] = outcome
                if self.record.path is not None:
                    self.record.add(outcome.as_entry())
            found.append(self.known[key])
        return found

    def _setting(self, rows: Any) -> Setting:
        """Return what a model for these rows is built for; they may lack a class."""
        columns = max(1, self.table.frame.shape[1])
        counts = np.unique(self.y[rows], return_counts=True)[1] if self.classes else np.zeros(0)
        beside = [self.table.groups, self.table.time]
        groups, times = (None if one is None else one.to_numpy()[rows] for one in beside)
        return Setting(
            len(rows),
            columns,
            counts.size,
            int(counts.max(initial=0)) or len(rows),
            self.balanced,
            self.seed,
            self.n_jobs,
            self.y[rows],
            groups,
            times,
        )

    def most_rows(self, rival: Rival) -> int | None:
        """Return the rows that a model can take, or has the time for; None stands for all."""
        limits = [rival.most_rows, self.caps.get(rival.name)]
        return min((one for one in limits if one is not None), default=None)

    def fitted(self, rival: Rival, rows: Any, y: Any = None, *, sketched: bool = False) -> Any:
        """Return a model, or its sketch, that has learned from these rows or as many as it can.

        With ``y`` the targets of all rows are called by other names.
        """
        rows, y = self.some(rows, self.most_rows(rival)), self.y if y is None else y
        model = rival.pipeline(self.table, self._setting(rows), sketched=sketched)
        with warnings.catch_warnings(), self.threads(len(rows)):
            warnings.simplefilter("ignore")
            return model.fit(self.table.frame.iloc[rows], y[rows])

    def _first_turn(self, rival: Rival, fold: Fold, n_fitted: int, is_last: bool) -> Outcome | None:
        """Begin with a model, and note what that took."""
        start = time.monotonic()
        try:
            return self._begin(rival, fold, n_fitted, is_last)
        finally:
            if rival.name != BASELINE:  # nobody can do without it
                self.spent[rival.name] = self.spent.get(rival.name, 0.0) + time.monotonic() - start

    def _begin(self, rival: Rival, fold: Fold, n_fitted: int, is_last: bool) -> Outcome | None:
        """Fit a model for the first time, to as many rows as its share of the time allows.

        The baseline and one other always have their turn. None stands for a model that was left
        out, or shall wait for the others.
        """
        if rival.name == BASELINE:
            return self._fit(rival, fold)
        columns = self.table.frame.shape[1]
        if rival.most_columns is not None and columns > rival.most_columns:
            self._leave_out(rival, f"more than {rival.most_columns} columns")
        elif self.left <= 0 and n_fitted > 1:
            self._leave_out(rival, self._no_time())
        elif self._has_rows_for_its_time(rival, fold.train, is_needed=n_fitted < 2):
            return self._fit_in_its_time(rival, fold, n_fitted < 2, is_last)
        return None

    def _later(self, rival: Rival, fold: Fold) -> Outcome | None:
        """Fit a model that has done the first fold, if the time suffices."""
        with within(max(self.left, 0.0)):
            return self._fit(rival, fold)

    def _fit_in_its_time(
        self, rival: Rival, fold: Fold, is_needed: bool, is_last: bool
    ) -> Outcome | None:
        """Fit a model, to fewer rows where it takes longer than it should.

        Before anything is known of the others, who is too dear waits until they had their turn.
        """
        is_first = is_needed and not self.trials
        while True:
            allowed: float | None = self._allowed()
            may_wait = is_first and not is_last and rival.name not in self.late and self.left > 0
            if is_first and not may_wait:  # the only one has all the time that it takes
                is_only = len(self.rivals) <= 2 or self.left <= 0
                allowed = None if is_only else LARGEST_SHARE * self.left
            try:
                with within(allowed):
                    return self._fit(rival, fold)
            except TimeIsOverError:
                n_rows = min(len(fold.train), self.most_rows(rival) or len(fold.train)) // STEP
            if may_wait:
                self.late.add(rival.name)
                return None
            if n_rows < LEAST_ROWS or self.left <= 0:
                seconds = allowed or 0.0
                is_turn = seconds >= self._even_share()
                why = f"{ONE_FIT} {_seconds_in_words(seconds)}" if is_turn else self._no_time()
                self._leave_out(rival, why)
                return None
            self.caps[rival.name] = n_rows

    def _even_share(self) -> float:
        """Return the seconds for a fit that all models could have; less is no fair turn."""
        n_models = max(1, len(self.rivals) - 1)
        return LARGEST_SHARE * max(self.seconds, 0.0) / (self._n_needed() * n_models)

    def _no_time(self) -> str:
        """Say that no time was left for a model, and who had most of it."""
        way_out = "fewer --models or more --minutes help"
        name = max(self.spent, key=lambda one: self.spent[one], default="")
        if self.spent.get(name, 0.0) < LEAST_BLAMED:  # reading and beginning took it
            return f"{NO_TIME}; more --minutes help"
        title = next(rival.title for rival in self.rivals if rival.name == name)
        return f"{NO_TIME}: {title} took {_seconds_in_words(self.spent[name])}; {way_out}"

    def _allowed(self) -> float:
        """Return the seconds that one fit may take, without those that the best so far needs."""
        first = [one for (_, *part), one in self.known.items() if part == [0, 0]]
        kept = 0.0
        if first:
            best = min(first, key=lambda outcome: outcome.measures[self.measure])
            kept = (self._n_needed() - 1) * (best.fit_seconds + best.predict_seconds)
            kept = min(kept, LARGEST_KEPT * self.left)  # else a dear one leaves nothing to others
        return LARGEST_SHARE * max(self.left - kept, 0.0) / self._n_needed()

    def _has_rows_for_its_time(self, rival: Rival, train: Any, is_needed: bool) -> bool:
        """Find out by small fits how many rows there is time for; else leave the model out.

        Small fits tell nothing of a search that takes about as long for any number of rows. It is
        tried with all of them, and stopped if need be.
        """
        n_rows = min(len(train), rival.most_rows or len(train))
        if n_rows < 2 * STEP * FIRST_ROWS or rival.name in self.caps:
            return True
        if rival.sketch is not None and can_stop():
            return True
        allowed = self._allowed()

        def seconds_for(count: int) -> float:
            start = time.perf_counter()
            self.fitted(rival, self.some(train, count))
            return time.perf_counter() - start

        why = f"a part of the rows took more than {_seconds_in_words(allowed)}"
        most = 0
        try:
            with within(allowed):
                most, seconds = rows_in_time(
                    seconds_for, n_rows, allowed, rival.growth, self.trials.get(rival.name)
                )
            why = f"one fit would take about {_seconds_in_words(seconds)}"
        except TimeIsOverError:
            pass
        except Exception:  # perhaps only for want of rows: the whole fit will tell
            return True
        if most < LEAST_ROWS and not is_needed:
            self._leave_out(rival, why)
            return False
        if most < n_rows:
            self.caps[rival.name] = max(most, LEAST_ROWS)
        return True

    def _n_needed(self) -> int:
        """Return the number of folds that all models should have."""
        n_first = sum(fold.repeat == 0 for fold in self.folds)
        if n_first and len(self.folds[0].test) >= MANY_TESTED:
            return min(n_first, FEW_FOLDS)
        return max(n_first, 1)

    def _leave_out(self, rival: Rival, reason: str) -> None:
        self.left_out[rival.name] = reason
        self.alive.remove(rival)

    def some(self, rows: Any, most: int | None) -> Any:
        """Return a random part of rows, with some of every class; a larger one holds a smaller."""
        return some_rows(rows, most, self.y[rows] if self.classes else None, self.seed)

    def _fit(self, rival: Rival, fold: Fold) -> Outcome | None:
        n_trained = len(self.some(fold.train, self.most_rows(rival)))
        test = self.table.frame.iloc[fold.test]
        try:
            start = time.perf_counter()
            model = self.fitted(rival, fold.train)
            fitted = time.perf_counter()
            with warnings.catch_warnings(), self.threads(n_trained):
                warnings.simplefilter("ignore")
                said, probabilities = self.predicted(model, test), self.probabilities(model, test)
            answered = time.perf_counter()
            measures = self.measured(fold.test, said, probabilities)
            n_bytes = size_of(model)
        except Exception as error:  # one model must not end the comparison of the others
            self._leave_out(rival, f"it could not be fitted: {_first_line(error)}")
            return None
        if fold.repeat > 0:  # nobody asks for these any more, and there may be many
            said, probabilities = said[:0], None
        seconds = (fitted - start, answered - fitted)
        own = (rival.name, fold.repeat, fold.fold, measures, *seconds)
        return Outcome(*own, n_bytes, n_trained, said, probabilities)

    def measured(self, rows: Any, said: Any, probabilities: Any = None) -> dict[str, float]:
        """Return the measures of what was said of some rows."""
        truth = self.y[rows]
        if not self.classes:
            return measure_numbers(truth, said)
        codes, n_classes = np.searchsorted(self.classes, truth), len(self.classes)
        return measure_classes(codes, said.astype(int), probabilities, n_classes, self.positive)

    def threads(self, n_rows: int) -> Any:
        """Hold other libraries to one thread for little work: theirs wait for each other.

        Beside busy processes that costs far more than a second thread is worth.
        """
        little = n_rows * self.table.frame.shape[1] < MUCH_WORK
        return threadpool_limits(1 if little or _is_busy() else self.n_jobs)

    @property
    def positive(self) -> int:
        """Position of the class that measures for two classes speak of."""
        if self.table.positive is not None:
            return self.classes.index(self.table.positive)
        counts = self.table.class_counts()
        return self.classes.index(min(counts, key=lambda name: counts[name]))

    def predicted(self, model: Any, frame: Any) -> NDArray[np.float64]:
        """Return the numbers that a model predicts, or the positions of the classes."""
        said = np.asarray(model.predict(frame))
        if self.classes:
            said = np.searchsorted(self.classes, said)
        said = said.astype(np.float64)
        if not np.isfinite(said).all():
            raise ValueError("it predicts numbers that are not finite")
        return said

    def probabilities(self, model: Any, frame: Any) -> NDArray[np.float64] | None:
        """Return the probabilities of all classes of the table, if a model has any."""
        if not self.classes or not hasattr(model, "predict_proba"):
            return None
        found = np.zeros((len(frame), len(self.classes)))
        found[:, np.searchsorted(self.classes, model.classes_)] = model.predict_proba(frame)
        return found

    def _seconds(self, outcomes: Sequence[Outcome]) -> dict[str, float]:
        return {o.model: o.fit_seconds + o.predict_seconds for o in outcomes}

    def _leave_out_the_dearest(self, done: list[list[Outcome]]) -> None:
        """Leave out models with which the folds that are needed would not be done in time.

        The best always stays, though there be fewer folds for it; then whoever may be as good, then
        what is cheap. Where hardly any would be left, all stay with the folds that they have.
        """
        seconds, n_left = self._seconds(done[-1]), self._n_needed() - len(done)
        ahead = [name for name in self._ahead(done) if name != BASELINE]
        if ahead and seconds[ahead[0]] > 0:
            n_left = min(n_left, int(self.left / seconds[ahead[0]]))
        if n_left <= 0:
            return
        order = {name: place for place, name in enumerate([BASELINE, *ahead])}
        kept, total = [], 0.0
        for rival in sorted(
            self.alive, key=lambda r: (order.get(r.name, len(order)), seconds[r.name])
        ):
            if rival.name == BASELINE or n_left * (total + seconds[rival.name]) <= self.left:
                kept.append(rival)
                total += seconds[rival.name]
        if len(kept) < max(2, len(self.alive) // 3):
            return
        for rival in [rival for rival in self.alive if rival not in kept]:
            one = seconds[rival.name]
            digits = 0 if one >= 10 else 1
            self._leave_out(rival, f"{NO_FOLDS}: one fit took {one:.{digits}f} s")

    def _ahead(self, done: list[list[Outcome]]) -> list[str]:
        """Return the leaders, and all that the rows left out so far do not tell from the best.

        Rows are compared one by one, so that what is hard for all of them does not count.
        """
        losses: dict[str, list[Any]] = {rival.name: [] for rival in self.alive}
        for fold, outcomes in zip(self.folds, done):
            for outcome in outcomes:
                if outcome.model in losses and outcome.repeat == 0:
                    losses[outcome.model].append(self._losses(fold.test, outcome.said))
        joined = {name: np.concatenate(parts) for name, parts in losses.items() if parts}
        ranked = sorted(joined, key=lambda name: joined[name].mean())
        ahead = ranked[: LEADERS + 1]  # the baseline may be one of them
        for name in ranked[LEADERS + 1 :]:
            behind = joined[name] - joined[ranked[0]]
            if behind.mean() <= CLEAR * behind.std(ddof=1) / np.sqrt(behind.size):
                ahead.append(name)
        return ahead

    def _losses(self, rows: Any, said: Any) -> Any:
        """Return what each row adds to the measure by which models are ranked."""
        if not self.classes:
            return (said - self.y[rows]) ** 2
        codes = np.searchsorted(self.classes, self.y[rows])
        wrong = (said != codes).astype(np.float64)
        return wrong / np.bincount(codes)[codes] if self.balanced else wrong

    def _has_time_for_another(self, done: list[list[Outcome]]) -> bool:
        seconds, fold = self._seconds(done[-1]), self.folds[len(done)]
        names = {rival.name for rival in self.alive}
        # What is known already costs nothing.
        unknown = [name for name in names if (name, fold.repeat, fold.fold) not in self.known]
        if not unknown or self.left > sum(seconds[name] for name in unknown):
            return True
        self.stopped = "the time was over"
        return False


def _seconds_in_words(seconds: float) -> str:
    """Return seconds with as many digits as tell something: 0.36 s, 2.4 s, 36 s."""
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def _is_busy() -> bool:
    """Tell whether more work waits for the processors than this comparison has for them."""
    if not hasattr(os, "getloadavg"):
        return False
    return os.getloadavg()[0] > BUSY * (os.cpu_count() or 1)


def _first_line(said: Any) -> str:
    """Return the first line of what was said."""
    lines = [line for line in str(said).strip().splitlines() if line.strip()]
    return lines[0][:200].rstrip(".") if lines else type(said).__name__
