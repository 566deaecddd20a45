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

PROBED_ROWS = 500
"""Rows of a first fit that tells how long one on all rows would take."""

MANY_ROWS = 3000
"""Up to so many rows no such fit is needed."""

LARGEST_SHARE = 0.3
"""A single fit may take this share of the time that is left."""

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
    """Positions of classes, or numbers, for the rows left out."""
    probabilities: NDArray[np.float64] | None
    warning: str = ""

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
        self.failed: dict[str, str] = {}

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
        alive = {rival.name for rival in self.alive}
        return [outcome for fold in done for outcome in fold if outcome.model in alive]

    def _one_fold(self, k: int, fold: Fold) -> list[Outcome]:
        found = []
        for position, rival in enumerate(list(self.alive)):
            total = len(self.folds) * len(self.alive)
            self.progress(k * len(self.alive) + position, total, rival.title)
            key = (rival.name, fold.repeat, fold.fold)
            if key not in self.known:
                if k == 0 and not self._is_affordable(rival, fold):
                    continue
                outcome = self._fit(rival, fold)
                if outcome is None:
                    continue
                self.known[key] = outcome
                self.record.add(outcome.as_entry())
            found.append(self.known[key])
        return found

    def _setting(self, n_rows: int) -> Setting:
        columns = max(1, self.table.frame.shape[1])
        return Setting(n_rows, columns, len(self.classes), self.balanced, self.seed, self.n_jobs)

    def _is_affordable(self, rival: Rival, fold: Fold) -> bool:
        """Find out by a small fit whether a whole one would take too long."""
        columns = self.table.frame.shape[1]
        if rival.most_columns is not None and columns > rival.most_columns:
            return self._leave_out(rival, f"more than {rival.most_columns} columns")
        n_train = min(len(fold.train), rival.most_rows or len(fold.train))
        if n_train <= MANY_ROWS or rival.name == BASELINE:
            return True
        rows = self._some(fold.train, PROBED_ROWS)
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rival.pipeline(self.table, self._setting(len(rows))).fit(
                    self.table.frame.iloc[rows], self.y[rows]
                )
        except Exception as error:  # what a whole fit would say as well, or worse
            return self._leave_out(rival, f"it could not be fitted: {_first_line(error)}")
        seconds = (time.perf_counter() - start) * (n_train / len(rows)) ** rival.growth
        if seconds <= LARGEST_SHARE * self.left:
            return True
        return self._leave_out(rival, f"one fit would take about {seconds:.0f} s")

    def _leave_out(self, rival: Rival, reason: str) -> bool:
        self.left_out[rival.name] = reason
        self.alive.remove(rival)
        return False

    def _some(self, rows: Any, most: int | None) -> Any:
        """Return a random part of rows, with every class in it."""
        if most is None or len(rows) <= most:
            return rows
        rng = np.random.default_rng(self.seed)
        kept = rng.permutation(rows)[:most]
        if self.table.task == "classification":
            missing = set(np.unique(self.y[rows])) - set(np.unique(self.y[kept]))
            extra = [rows[self.y[rows] == name][:5] for name in sorted(missing)]
            kept = np.concatenate([kept, *extra]) if extra else kept
        return np.sort(kept)

    def _fit(self, rival: Rival, fold: Fold) -> Outcome | None:
        rows = self._some(fold.train, rival.most_rows)
        model = rival.pipeline(self.table, self._setting(len(rows)))
        train, test = self.table.frame.iloc[rows], self.table.frame.iloc[fold.test]
        with warnings.catch_warnings(record=True) as caught, self._threads(len(rows)):
            warnings.simplefilter("always")
            try:
                start = time.perf_counter()
                model.fit(train, self.y[rows])
                fitted = time.perf_counter()
                said, probabilities = self._answers(model, test)
                answered = time.perf_counter()
            except Exception as error:  # one model must not end the comparison of the others
                self._leave_out(rival, f"it could not be fitted: {_first_line(error)}")
                self.failed[rival.name] = self.left_out[rival.name]
                return None
        truth = self.y[fold.test]
        if self.table.task == "classification":
            codes = np.searchsorted(self.classes, truth)
            measures = measure_classes(codes, said.astype(int), probabilities, self.positive)
        else:
            measures = measure_numbers(truth, said)
        return Outcome(
            rival.name,
            fold.repeat,
            fold.fold,
            measures,
            fitted - start,
            answered - fitted,
            len(pickle.dumps(model)),
            len(rows),
            said,
            probabilities,
            _first_line(caught[0].message) if caught else "",
        )

    def _threads(self, n_rows: int) -> Any:
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

    def _answers(self, model: Any, rows: Any) -> tuple[Any, Any]:
        """Return what a model says, and its probabilities of all classes if it has any."""
        if self.table.task == "regression":
            return np.asarray(model.predict(rows), dtype=np.float64), None
        probabilities = None
        if hasattr(model, "predict_proba"):
            own = np.asarray(model.predict_proba(rows), dtype=np.float64)
            probabilities = np.zeros((len(rows), len(self.classes)))
            probabilities[:, np.searchsorted(self.classes, model.classes_)] = own
        said = np.searchsorted(self.classes, np.asarray(model.predict(rows)))
        return said.astype(np.float64), probabilities

    def _seconds(self, outcomes: Sequence[Outcome]) -> dict[str, float]:
        return {o.model: o.fit_seconds + o.predict_seconds for o in outcomes}

    def _leave_out_the_dearest(self, first: Sequence[Outcome]) -> None:
        """Leave out models with which not even the first repeat would be done in time."""
        seconds = self._seconds(first)
        n_left = sum(fold.repeat == 0 for fold in self.folds) - 1
        while n_left * sum(seconds[rival.name] for rival in self.alive) > self.left:
            dearest = max(self.alive, key=lambda rival: seconds[rival.name])
            if dearest.name == BASELINE or len(self.alive) <= 2:
                return
            one = seconds[dearest.name]
            self._leave_out(dearest, f"one fit took {one:.0f} s, too long for all folds")

    def _has_time_for_another(self, done: list[list[Outcome]]) -> bool:
        seconds = self._seconds(done[-1])
        if self.left > sum(seconds.get(rival.name, 0.0) for rival in self.alive):
            return True
        # What is known already costs nothing.
        fold = self.folds[len(done)]
        if all((rival.name, fold.repeat, fold.fold) in self.known for rival in self.alive):
            return True
        self.stopped = "the time was over"
        return False


def _first_line(said: Any) -> str:
    """Return the first line of what was said, or the last of a long traceback."""
    lines = [line for line in str(said).strip().splitlines() if line.strip()]
    return lines[0][:200].rstrip(".") if lines else type(said).__name__
