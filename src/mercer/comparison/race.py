"""Fitting all rivals on the same folds, within a given time."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mercer.comparison.folds import Fold
from mercer.comparison.measures import measure_classes, measure_numbers
from mercer.comparison.rivals import BASELINE, Rival, Setting
from mercer.model_selection.search_record import SearchRecord
from mercer.tables import Table

PROBED_ROWS = (500, 1500)
"""Rows of two small fits that tell how long one on all rows would take."""

MANY_ROWS = 3000
"""Up to so many rows no such fits are needed."""

LEAST_GROWING = 0.1
"""Of the time of a small fit, at least this part is taken to grow with the rows."""

LEAST_OF_CLASS = 5
"""Rows that a class keeps in a random part, if it has them: folds inside need more than one."""

LARGEST_SHARE = 0.5
"""The fits of one model, one for each fold, may take this share of the time that is left."""

MUCH_WORK = 200_000
"""Numbers in a table from which threads of other libraries pay."""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Outcome:
    """One model on one fold."""

    model: str
    repeat: int
    fold: int
    measures: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    size_bytes: int
    n_trained: int
    said: NDArray[np.float64]
    """Positions of classes, or numbers, for the rows left out; only of the first repeat."""
    probabilities: NDArray[np.float64] | None

    def as_entry(self) -> dict[str, Any]:
        """Return what JSON can hold, with the bytes of all numbers."""
        entry = dict(vars(self))
        entry["said"] = self.said.tobytes().hex()
        found = self.probabilities
        entry["probabilities"] = None if found is None else found.tobytes().hex()
        return entry

    @classmethod
    def from_entry(cls, entry: dict[str, Any], n_classes: int) -> Outcome:
        """Return what `as_entry` was made of."""
        numbers = dict(entry)
        numbers["said"] = np.frombuffer(bytes.fromhex(entry["said"]))
        if entry["probabilities"] is not None:
            flat = np.frombuffer(bytes.fromhex(entry["probabilities"]))
            numbers["probabilities"] = flat.reshape(-1, n_classes)
        return cls(**numbers)


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

    def _take_up(self, entry: dict[str, Any]) -> None:
        found = Outcome.from_entry(entry, len(self.classes))
        self.known[found.model, found.repeat, found.fold] = found

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.seconds - (time.monotonic() - self.begun)

    def run(self) -> list[Outcome]:
        """Return the outcomes of all folds that every model still in the race has done."""
        done: list[list[Outcome]] = []
        try:
            for k, fold in enumerate(self.folds):
                if k > 0 and not self._has_time_for_another(done):
                    break
                done.append(self._one_fold(k, fold))
                if k == 0:
                    self._leave_out_the_dearest(done[0])
        except KeyboardInterrupt:
            self.interrupted = True
            self.stopped = "it was interrupted"
        if not done:  # some models have the first fold at least
            done = [[o for o in self.known.values() if (o.repeat, o.fold) == (0, 0)]]
            reached = {outcome.model for outcome in done[0]}
            for rival in [rival for rival in self.alive if rival.name not in reached]:
                self._leave_out(rival, f"{self.stopped} before its turn")
        alive = {rival.name for rival in self.alive}
        return [outcome for fold in done for outcome in fold if outcome.model in alive]

    def _one_fold(self, k: int, fold: Fold) -> list[Outcome]:
        found: list[Outcome] = []
        for position, rival in enumerate(list(self.alive)):
            total = len(self.folds) * len(self.alive)
            self.progress(k * len(self.alive) + position, total, rival.title)
            key = (rival.name, fold.repeat, fold.fold)
            if key not in self.known:
                if k == 0 and not self._is_affordable(rival, fold, len(found)):
                    continue
                outcome = self._fit(rival, fold)
                if outcome is None:
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
        sizes = (len(rows), columns, counts.size, int(counts.max(initial=0)) or len(rows))
        return Setting(*sizes, self.balanced, self.seed, self.n_jobs)

    def fitted(self, rival: Rival, rows: Any, y: Any = None) -> Any:
        """Return a model that has learned from these rows, or from as many as it can take.

        With ``y`` the targets of all rows are called by other names.
        """
        rows, y = self.some(rows, rival.most_rows), self.y if y is None else y
        model = rival.pipeline(self.table, self._setting(rows))
        with warnings.catch_warnings(), self.threads(len(rows)):
            warnings.simplefilter("ignore")
            return model.fit(self.table.frame.iloc[rows], y[rows])

    def _is_affordable(self, rival: Rival, fold: Fold, n_fitted: int) -> bool:
        """Find out whether there is time for a model; the baseline and one other always have it."""
        columns = self.table.frame.shape[1]
        if rival.most_columns is not None and columns > rival.most_columns:
            return self._leave_out(rival, f"more than {rival.most_columns} columns")
        if rival.name == BASELINE:
            return True
        if self.left <= 0 and n_fitted > 1:
            return self._leave_out(rival, "the time was over before its turn")
        n_trained = min(len(fold.train), rival.most_rows or len(fold.train))
        if n_trained * max(1.0, len(self.classes) / 2) <= MANY_ROWS:
            return True
        try:
            seconds = self._expected_seconds(rival, fold.train)
        except Exception:  # perhaps only for want of rows: the whole fit will tell
            return True
        if seconds * self._n_first() <= LARGEST_SHARE * self.left:
            return True
        return self._leave_out(rival, f"one fit would take about {seconds:.0f} s")

    def _n_first(self) -> int:
        """Return the number of folds of the first repeat."""
        return sum(fold.repeat == 0 for fold in self.folds)

    def _expected_seconds(self, rival: Rival, train: Any) -> float:
        """Return the time of a fit, of which a part is fixed and a part grows with the rows."""
        n_rows, taken, work = min(len(train), rival.most_rows or len(train)), [], []
        for most in PROBED_ROWS:
            rows, start = self.some(train, most), time.perf_counter()
            self.fitted(rival, rows)
            taken.append(time.perf_counter() - start)
            work.append(len(rows) ** rival.growth)
            if taken[-1] * self._n_first() > LARGEST_SHARE * self.left:
                return taken[-1]
        growing = max(taken[1] - taken[0], LEAST_GROWING * taken[1])
        return taken[1] + growing * (n_rows**rival.growth - work[1]) / (work[1] - work[0])

    def _leave_out(self, rival: Rival, reason: str) -> bool:
        self.left_out[rival.name] = reason
        self.alive.remove(rival)
        return False

    def some(self, rows: Any, most: int | None) -> Any:
        """Return a random part of rows, with some of every class; a larger one holds a smaller."""
        if most is None or len(rows) <= most:
            return rows
        shuffled = np.random.default_rng(self.seed).permutation(rows)
        kept = [shuffled[:most]]
        if self.classes:
            own = self.y[shuffled]
            kept += [shuffled[own == name][:LEAST_OF_CLASS] for name in np.unique(own)]
        return np.unique(np.concatenate(kept))

    def _fit(self, rival: Rival, fold: Fold) -> Outcome | None:
        n_trained = len(self.some(fold.train, rival.most_rows))
        test = self.table.frame.iloc[fold.test]
        try:
            start = time.perf_counter()
            model = self.fitted(rival, fold.train)
            fitted = time.perf_counter()
            with warnings.catch_warnings(), self.threads(n_trained):
                warnings.simplefilter("ignore")
                said, probabilities = self.predicted(model, test), self._probabilities(model, test)
            answered = time.perf_counter()
            measures = self.measured(fold.test, said, probabilities)
            n_bytes = _size(model)
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

        Beside a busy process that costs far more than a second thread is worth.
        """
        little = n_rows * self.table.frame.shape[1] < MUCH_WORK
        return threadpool_limits(1 if little else self.n_jobs)

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

    def _probabilities(self, model: Any, frame: Any) -> NDArray[np.float64] | None:
        """Return the probabilities of all classes of the table, if a model has any."""
        if not self.classes or not hasattr(model, "predict_proba"):
            return None
        found = np.zeros((len(frame), len(self.classes)))
        found[:, np.searchsorted(self.classes, model.classes_)] = model.predict_proba(frame)
        return found

    def _seconds(self, outcomes: Sequence[Outcome]) -> dict[str, float]:
        return {o.model: o.fit_seconds + o.predict_seconds for o in outcomes}

    def _leave_out_the_dearest(self, first: Sequence[Outcome]) -> None:
        """Leave out models with which not even the first repeat would be done in time.

        Where hardly any would be left, all stay with the one fold that they have.
        """
        seconds, n_left = self._seconds(first), self._n_first() - 1
        kept = sorted(self.alive, key=lambda rival: (rival.name != BASELINE, seconds[rival.name]))
        while len(kept) > 1 and self.left < n_left * sum(seconds[one.name] for one in kept):
            kept.pop()
        if len(kept) < max(2, len(self.alive) // 3):
            return
        for rival in [rival for rival in self.alive if rival not in kept]:
            one = seconds[rival.name]
            self._leave_out(rival, f"one fit took {one:.0f} s, too long for all folds")

    def _has_time_for_another(self, done: list[list[Outcome]]) -> bool:
        seconds, fold = self._seconds(done[-1]), self.folds[len(done)]
        names = {rival.name for rival in self.alive}
        # What is known already costs nothing.
        unknown = [name for name in names if (name, fold.repeat, fold.fold) not in self.known]
        if not unknown or self.left > sum(seconds[name] for name in unknown):
            return True
        self.stopped = "the time was over"
        return False


class _Counter:
    """A file that only counts: as bytes, a forest may need as much memory as all the rest."""

    n_bytes = 0

    def write(self, data: Any) -> int:
        """Count what a file would keep."""
        self.n_bytes += memoryview(data).nbytes
        return memoryview(data).nbytes


def _size(model: Any) -> int:
    counter = _Counter()
    pickle.dump(model, counter)
    return counter.n_bytes


def _first_line(said: Any) -> str:
    """Return the first line of what was said."""
    lines = [line for line in str(said).strip().splitlines() if line.strip()]
    return lines[0][:200].rstrip(".") if lines else type(said).__name__
