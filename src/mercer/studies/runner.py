"""Doing the cells of a study, in parallel, with everything kept on the way."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, wrap_non_picklable_objects

from mercer.datasets import missing_datasets

from .checkpoint import Checkpoint, FinishedCells, Record
from .results import StudyResults
from .study import Cell, Study, StudyError

Progress = Callable[[int, int], None]


def run_study(
    study: Study,
    *,
    repetitions: int | None = None,
    only: Sequence[str] | None = None,
    out: Any = None,
    n_jobs: int | None = None,
    seed: int = 0,
    fresh: bool = False,
    progress: Progress | None = None,
) -> StudyResults:
    """Run a study, or what is left of it.

    Parameters
    ----------
    study : Study
    repetitions : int, default=None
        How often to repeat each configuration and method; as the study says if None.
    only : sequence of str, default=None
        Which configurations, methods or ``configuration/method``; ``*`` and ``?`` are understood.
    out : path-like, default=None
        Folder for the checkpoint, `table.csv` and `results.json`; nothing is kept if None. Cells
        that the checkpoint holds are not done again, and the tables are of all that it holds.
    n_jobs : int, default=None
        Cells at a time, through joblib; any of its back ends may be chosen around the call.
    seed : int, default=0
        Base of the seeds. The seed of a cell depends on it, on the study, the configuration and
        the repetition, and on nothing else.
    fresh : bool, default=False
        Whether to put results that are in the folder aside and begin anew.
    progress : callable, default=None
        Called with the number of cells done and of all cells, at the start and after each cell.

    Returns
    -------
    StudyResults

    Raises
    ------
    StudyError
        If the study cannot be run as asked; nothing is changed.
    KeyboardInterrupt
        After what is done has been written.

    Examples
    --------
    >>> from mercer.studies import get_study, run_study
    >>> results = run_study(get_study("tiny"), repetitions=5, only=["mean"])
    >>> [row["configuration"] for row in results.table()]
    ['10 draws', '40 draws']
    """
    asked = study.cells(repetitions, only)
    _require_data(study, asked)
    failures: list[Record] = []
    finished = False
    with FinishedCells() if out is None else Checkpoint(out, study, seed, fresh) as kept:
        try:
            _run(study, asked, kept, failures, n_jobs, seed, progress or _silent)
            finished = not failures
        finally:
            records = list(kept.records.values())
            results = StudyResults(study, records, failures, seed, finished, kept.dropped)
            if out is not None:
                results.write(out)
    return results


def _require_data(study: Study, cells: list[Cell]) -> None:
    """Get the data sets once, before anything is begun; say so if one cannot be had."""
    wanted = {cell.configuration for cell in cells}
    needed = [name for c in study.configurations if c.name in wanted for name in c.data]
    missing = missing_datasets(dict.fromkeys(needed))
    if missing:
        # Sets of one name before the slash come from one place, and lack for one reason.
        reasons = {name.partition("/")[0]: reason for name, reason in reversed(missing.items())}
        raise StudyError(
            f"Study {study.name!r} needs data that cannot be had, and was not begun. Missing: "
            f"{', '.join(map(repr, missing))}. {' '.join(reversed(reasons.values()))}"
        )


def _run(
    study: Study,
    asked: list[Cell],
    kept: FinishedCells,
    failures: list[Record],
    n_jobs: int | None,
    seed: int,
    report: Progress,
) -> None:
    """Do the cells that are not kept yet."""
    missing = [cell for cell in asked if cell not in kept.records]
    done = len(asked) - len(missing)
    report(done, len(asked))
    with closing(_each(study, missing, n_jobs, seed)) as finished:
        for record in finished:
            if "message" in record:
                failures.append(record)
            else:
                kept.add(record)
            done += 1
            report(done, len(asked))


def _silent(done: int, total: int) -> None:
    pass


def _each(
    study: Study, cells: list[Cell], n_jobs: int | None, seed: int
) -> Generator[Record, None, None]:
    """Yield the records as they come, in the widest way that the back end of joblib can do it."""
    sent = _Sent(study)
    for way in ("generator_unordered", "generator"):
        try:
            parallel = Parallel(n_jobs=n_jobs, return_as=way, batch_size=1)
        except ValueError:  # This joblib or this back end cannot.
            continue
        yield from parallel(delayed(_do)(sent, cell, seed) for cell in cells)
        return
    at_once = max(1, 2 * effective_n_jobs(n_jobs))
    for start in range(0, len(cells), at_once):
        some = cells[start : start + at_once]
        yield from Parallel(n_jobs=n_jobs)(delayed(_do)(sent, cell, seed) for cell in some)


@dataclass(frozen=True)
class _Sent:
    """A study on its way to a worker, which may be older than the path to the study's module."""

    study: Study

    def __reduce__(self) -> tuple[Any, ...]:
        raw = pickle.dumps(wrap_non_picklable_objects(self.study, keep_wrapper=False))
        return _receive, (list(sys.path), raw)


def _receive(path: list[str], raw: bytes) -> _Sent:
    sys.path += [place for place in path if place not in sys.path]
    return _Sent(pickle.loads(raw))


def _do(sent: _Sent, cell: Cell, base: int) -> Record:
    """Do one cell; an error becomes a message, so that the others go on."""
    _leave_interrupts_to_the_parent()
    study = sent.study
    configuration = study.configuration(cell.configuration)
    seed = study.seed(cell.configuration, cell.repetition, base)
    record: Record = {**cell._asdict(), "seed": seed}
    start = time.perf_counter()
    try:
        values = study.run(configuration, cell.method, cell.repetition, seed)
        record["values"] = _checked(study, values)
    except Exception as error:
        return record | {"message": f"{type(error).__name__}: {error}"}
    record["seconds"] = time.perf_counter() - start
    record["definition"] = study.definition(configuration, cell.method, base)
    return record


def _checked(study: Study, values: Any) -> dict[str, Any]:
    numbers = dict(values)
    for name, value in numbers.items():
        if not isinstance(value, Real):
            raise StudyError(f"The value {name!r} must be a number; got {type(value).__name__}.")
        numbers[name] = int(value) if isinstance(value, Integral) else float(value)
    if study.measure not in numbers:
        raise StudyError(f"The values have no {study.measure!r}, which the study is about.")
    return numbers


def _leave_interrupts_to_the_parent() -> None:
    """A terminal sends Ctrl-C to the workers too, which would print where each of them was."""
    in_worker = multiprocessing.parent_process() is not None
    if in_worker and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
