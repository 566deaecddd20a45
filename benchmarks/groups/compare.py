"""`mercer.compare` on a dozen tables: its winner, held out, beside the best of scikit-learn.

Small tables are cut several times, until 150 rows have been held out in all (or `--cuts` times).
In each cut `mercer.compare` has the training rows and a budget; scikit-learn's boosting, forest and
tuned support vector machine have the same rows. All are judged on the rows held out, and so is
LazyPredict, which chooses its winner with them. Errors are averaged over the cuts of a table; the
best peer is the one whose average is lowest.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import comparison_peers, comparison_tables
from ..comparison_peers import MOST_FITTED, MOST_TUNED
from ..comparison_tables import Case
from ..crew import progress
from ..held_out import HELD_OUT, ROWS_HELD_OUT, cuts_of, losses, standard_error
from ..lazy import lazy_in_time
from ..problems import MissingDataError
from ..report import GroupResult, Table, number
from .options import Options

COLUMNS = [
    *("table", "kind", "cuts", "measure", "winner", "ours", "best of sklearn", "gap", "se of gap"),
    *("se", "kept up", "s", "folds", "lazy s", "lazy error", "lazy winner"),
]

OURS = "ours"
PEERS = ("boosting", "forest", "tuned SVM")


def measured(case: Case, number: int, minutes: float, lazy_seconds: float) -> dict[str, Any]:
    """Return what was said and how long it took in one cut of a table."""
    import mercer

    X, y = case.load()
    train, test, y_train, y_test, rows = comparison_tables.cut(X, y, number)
    start = time.perf_counter()
    task = "classification" if comparison_tables.is_of_classes(y) else "regression"
    found = mercer.compare(train, y_train, minutes=minutes, task=task)
    seconds = time.perf_counter() - start
    said = comparison_peers.predictions(
        train, y_train, test, balanced=found.measure == "balanced_error"
    )
    said[OURS] = found.best_.predict(test), seconds
    return {
        "rows": rows.tolist(),
        "measure": found.measure,
        "winner": str(found.results_.loc[found.best_name_, "title"]),
        "folds": found.n_folds,
        "left out": dict(found.left_out_models),
        "losses": {
            name: losses(y_test, answer, found.measure).tolist()
            for name, (answer, _) in said.items()
        },
        "seconds": {name: taken for name, (_, taken) in said.items()},
        **lazy_in_time((train, test, y_train, y_test), found.measure, lazy_seconds),
    }


class Kept:
    """The cuts that have been measured, in a file that a run which was ended goes on with.

    Parameters
    ----------
    path : Path or None
        A line for each cut; several processes may add lines at the same time.
    settings : dict
        Cuts with other settings are left alone.
    """

    def __init__(self, path: Path | None, settings: dict[str, Any]) -> None:
        from mercer._files import read_records

        self.path, self.settings = path, settings
        known = read_records(path)[0] if path is not None else []
        self._known = {(one["name"], one["cut"]): one for one in known if self._is_alike(one)}

    def cut(self, case: Case, number: int) -> dict[str, Any]:
        """Return what is known of a cut, or measure and keep it."""
        if (case.name, number) in self._known:
            return self._known[case.name, number]
        record = {"name": case.name, "cut": number, **self.settings}
        record |= measured(case, number, self.settings["minutes"], self.settings["lazy limit"])
        progress(f"{case.name}, cut {number}: {_told(record)}")
        self._append(record)
        return record

    def _is_alike(self, record: dict[str, Any]) -> bool:
        return all(record[name] == value for name, value in self.settings.items())

    def _append(self, record: dict[str, Any]) -> None:
        from mercer._files import record_line

        if self.path is not None:
            with self.path.open("ab") as file:  # an empty line parts it from one that was torn
                file.write(f"\n{record_line(record)}".encode())


def _told(record: dict[str, Any]) -> str:
    errors = ", ".join(f"{name} {number(np.mean(one))}" for name, one in record["losses"].items())
    return f"{record['winner']}; {errors}; {record['seconds'][OURS]:.0f} s"


def together(cuts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the errors, the gap to the best peer and the times of a table over its cuts."""
    rows = [one["rows"] for one in cuts]
    each = {name: [np.asarray(one["losses"][name]) for one in cuts] for name in cuts[0]["losses"]}
    means = {name: float(np.concatenate(values).mean()) for name, values in each.items()}
    best = min(PEERS, key=means.__getitem__)
    gaps = [ours - theirs for ours, theirs in zip(each[OURS], each[best])]
    record: dict[str, Any] = {"cuts": len(cuts), "measure": cuts[0]["measure"], **means}
    record["winner"] = _counted(one["winner"] for one in cuts)
    record["each cut"] = {name: [one.mean() for one in values] for name, values in each.items()}
    record["best peer"], record["gap"] = best, means[OURS] - means[best]
    record["se of gap"] = standard_error(gaps, rows)
    record["se"] = standard_error(each[OURS], rows)
    record["seconds"] = {
        name: float(np.mean([one["seconds"][name] for one in cuts])) for name in means
    }
    record["folds"] = min(one["folds"] for one in cuts)
    record["left out"] = [one["left out"] for one in cuts]
    record["LazyPredict"] = _counted(one["LazyPredict"] for one in cuts)
    lazy = [one for one in cuts if "lazy error" in one]
    if len(lazy) == len(cuts):
        for name in ("lazy seconds", "lazy error", "lazy lowest"):
            record[name] = float(np.mean([one[name] for one in lazy]))
    return record


def is_within(gap: float, error: float) -> bool:
    """Tell whether a gap is at most its error, in the two digits that are shown.

    One row more that is wrong is a gap of 1 / N with an error of 1 / N in one cut, and a little
    more or less than that in several: a tie that rounding must not decide.

    >>> is_within(0.006173, 0.006155), is_within(0.0063, 0.0062), is_within(-0.1, 0.0)
    (True, False, True)
    """
    return gap <= 0 or float(number(gap, 2)) <= float(number(error, 2))


def _counted(names: Any) -> str:
    """Return names, the most frequent first, with their counts where there are several."""
    counts = Counter(names).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{n} {times}×" for n, times in counts)


def records(options: Options, kept: Kept) -> Iterator[dict[str, Any]]:
    """Yield what is measured of each table."""
    for case in comparison_tables.chosen(options.quick, options.tables, options.match):
        named = {"name": case.name, "kind": case.kind}
        try:
            n_cuts = options.cuts or cuts_of(len(case.load()[1]))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cuts = [kept.cut(case, number) for number in range(n_cuts)]
            yield named | together(cuts)
        except MissingDataError as absent:
            yield named | {"status": str(absent)}


def run(options: Options) -> GroupResult:
    """Measure all tables, each cut with ``--minutes`` of `mercer.compare`."""
    result = GroupResult("compare")
    minutes = 0.05 if options.quick else options.minutes
    kept = Kept(options.kept, {"minutes": minutes, "lazy limit": options.plan.time_limit})
    table = Table(
        f"`mercer.compare(minutes={minutes:g})`: error of the winner on {HELD_OUT:.0%} held out",
        COLUMNS,
    )
    result.tables.append(table)
    for record in records(options, kept):
        result.records.append(record)
        table.add(*_cells(record))
        progress(" | ".join(table.rows[-1]))
    found = [one for one in result.records if "gap" in one]
    of_gap = sum(is_within(one["gap"], one["se of gap"]) for one in found)
    of_ours = sum(is_within(one["gap"], one["se"]) for one in found)
    table.notes += _notes(of_gap, of_ours, len(found), options)
    result.summary = {"kept up": of_gap, "by the error of ours": of_ours, "of": len(found)}
    return result


def _notes(of_gap: int, of_ours: int, n_tables: int, options: Options) -> list[str]:
    often = (
        f"each table is cut {options.cuts} times"
        if options.cuts
        else f"a table is cut until {ROWS_HELD_OUT} rows have been held out, whatever comes out"
    )
    return [
        f"kept up on {of_gap} of {n_tables}: the gap to the best peer is at most its standard "
        "error in the digits shown, from the differences on each row held out (what is hard for "
        f"both cancels), clustered by row and by cut; on {of_ours} of {n_tables} it is at most that of our own "
        "error (se)",
        f"{often}; errors and seconds are means over the cuts, folds the fewest",
        "measure: error, balanced error, or mean squared error in units of the variance; the best "
        "peer is chosen with the rows held out, which ours is not",
        "peers: boosting and 300 trees with defaults (class weights where classes are unbalanced), "
        f"SVM tuned on {MOST_TUNED} rows and fitted to at most {MOST_FITTED}; one thread for BLAS",
        "LazyPredict reports scores of all its models on the very rows held out, so that its "
        "winner, the first line of its leaderboard (by balanced accuracy, or adjusted R²), is "
        "chosen with them and its error is too good; the lowest of any of its models in brackets; "
        f"cut after {options.plan.time_limit:g} s (--time-limit) or at 8 GiB",
    ]


def _cells(record: dict[str, Any]) -> list[Any]:
    if "gap" not in record:
        return [record["name"], record["kind"], record["status"], *["-"] * (len(COLUMNS) - 3)]
    best = f"{record['best peer']} {number(record[record['best peer']])}"
    return [
        record["name"],
        record["kind"],
        record["cuts"],
        record["measure"],
        record["winner"],
        number(record[OURS]),
        best,
        number(record["gap"], 2),
        number(record["se of gap"], 2),
        number(record["se"], 2),
        "yes" if is_within(record["gap"], record["se of gap"]) else "no",
        f"{record['seconds'][OURS]:.0f}",
        record["folds"],
        f"{record['lazy seconds']:.0f}" if "lazy seconds" in record else None,
        f"{number(record['lazy error'])} ({number(record['lazy lowest'])})"
        if "lazy error" in record
        else None,
        record["LazyPredict"],
    ]
