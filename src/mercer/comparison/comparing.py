"""From a table to an answer."""

from __future__ import annotations

import time
from contextlib import suppress
from inspect import signature
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np

from mercer.comparison.comparison import Comparison
from mercer.comparison.deadline import TimeIsOverError, within
from mercer.comparison.folds import judgeable, make_folds
from mercer.comparison.insights import find_insights
from mercer.comparison.measures import is_unbalanced
from mercer.comparison.race import Progress, Race
from mercer.comparison.rivals import rivals_for
from mercer.model_selection.search_record import SearchRecord
from mercer.tables import InputError, Table, as_table, suggestion

SHARE_OF_RACE = 0.75
"""Part of the time for the folds; the rest is for the best model and what it tells."""

RESERVE, MOST_RESERVED = 0.05, 3.0
"""Part of the time, and seconds at most, that are kept for what is written in the end."""

MOST_SEED = 2**32 - 1
"""The largest that NumPy's generators take."""

MOST_REPEATS = 100
"""The corrected test hardly gains by more, since all of them share the same rows."""


def compare(X: Any, y: Any = None, **options: Any) -> Comparison:
    """Compare models on a table: which predicts best, how sure that is, and what it has learned.

    Each model is tuned inside the folds on which it is compared, so that its error is that of rows
    it has not seen in any way.

    Parameters
    ----------
    X : data frame, array-like, sparse matrix or Table
        Numbers, categories, dates and text; gaps may be empty.
    y : array-like or None
        Class names, or numbers to predict; None if ``target`` names a column of X.
    **options
        Of `mercer.tables.as_table` (``target``, ``task``, ``drop``, ``categorical``, ``positive``,
        ``groups``, ``time``, ``name``), and of `compare_table` (``models``, ``minutes``,
        ``folds``, ``repeats``, ``seed``, ``n_jobs``, ``peer``, ``checkpoint``, ``progress``,
        ``insights``).

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import compare
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = compare(X, y, models="lda,tree", folds=3, repeats=1)
    >>> result.best_name_, bool(result.results_.loc["lda", "error"] < 0.05)
    ('lda', True)
    >>> result.best_.predict(X[:2]).tolist()
    [0, 0]
    """
    for name in options:
        if name not in _OWN + _OF_TABLES:
            raise InputError(
                f"`compare` has no option {name!r}" + suggestion(name, _OWN + _OF_TABLES)
            )
    own = {name: options.pop(name) for name in _OWN if name in options}
    if not isinstance(X, Table):
        table = as_table(X, y, **options)
        return compare_table(table, labels=_own_labels(table, X, y, options.get("target")), **own)
    if y is not None or options:
        given = "y" if y is not None else next(iter(options))
        raise InputError(f"`{given}` cannot be changed any more: the data are a Table already.")
    return compare_table(X, **own)


def _own_labels(table: Table, X: Any, y: Any, target: Any) -> dict[str, Any]:
    """Return what the data call the classes, where those are numbers or truth values."""
    given = X[target] if y is None and target is not None and hasattr(X, "columns") else y
    values = np.asarray(given) if given is not None else np.zeros(0)
    if table.task == "regression" or values.ndim != 1 or values.dtype.kind not in "biuf":
        return {}
    known = np.unique(values[~np.isnan(values)] if values.dtype.kind == "f" else values)
    names = {str(value): value for value in known.tolist()}
    names |= {f"{value:g}": value for value in known.tolist()}
    classes = table.class_counts()
    return {name: names[name] for name in classes} if classes.keys() <= names.keys() else {}


def _keywords(function: Any) -> tuple[str, ...]:
    known = signature(function).parameters.values()
    return tuple(one.name for one in known if one.kind is one.KEYWORD_ONLY)


def compare_table(
    table: Table,
    *,
    models: Any = None,
    minutes: float = 3.0,
    folds: int = 5,
    repeats: int = 2,
    seed: int = 0,
    n_jobs: int | None = None,
    peer: bool = False,
    checkpoint: Any = None,
    progress: Progress | None = None,
    insights: bool = True,
    labels: dict[str, Any] | None = None,
    since: float | None = None,
) -> Comparison:
    """Compare models on a table that has been read; see `compare`.

    Parameters
    ----------
    table : Table
    models : sequence of str, str with commas or None
        Which models; None takes all. The baseline always takes part.
    minutes : float
        For all of it. Models that are dear learn from fewer rows; models and repeats for which the
        time does not suffice are left out; both are said. A fit that takes too long is stopped,
        but not on Windows, nor where this is called from another than the main thread.
    folds, repeats : int
        Parts of the cross-validation, and how often it is repeated with other parts.
    seed : int
    n_jobs : int or None
        Threads; None takes all processors.
    peer : bool
        Whether scikit-learn's support vector machine takes part, for its speed.
    checkpoint : path or None
        File that keeps what is known, so that the work can be taken up again.
    progress : callable or None
        Told how many fits are done, of how many, and the model that comes next.
    insights : bool
        Whether to go on, with the best model, to what has been learned: `Comparison.insights_`.
    labels : dict of str to object or None
        What `best_` shall call the classes of the table.
    since : float or None
        Reading of `time.monotonic` from which the minutes count; None counts from now.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from mercer.comparison import compare_table
    >>> from mercer.tables import named_table
    >>> found = compare_table(named_table("iris"), models=["lda"], folds=2, repeats=1)
    >>> found.results_.index.tolist()
    ['lda', 'dummy']
    """
    check_settings(minutes, folds, seed, n_jobs, repeats)
    settings = _settings(table, models, minutes, folds, repeats, seed, peer)
    begun = time.monotonic() if since is None else since
    seconds, rivals = 60.0 * minutes, rivals_for(table.task, models, peer)
    record = SearchRecord.open(_fingerprint(table, settings), checkpoint, seed)
    table, folds, changed = judgeable(table, folds)
    is_classes = table.task == "classification"
    unbalanced = is_classes and is_unbalanced(table.class_counts())
    race = Race(
        table,
        rivals,
        make_folds(table, folds, repeats, seed),
        sorted(table.class_counts()),
        unbalanced,
        seed,
        n_jobs,
        SHARE_OF_RACE * seconds - (time.monotonic() - begun),
        record,
        progress or (lambda done, total, text: None),
    )
    outcomes = race.run()
    if not outcomes:
        if race.interrupted:
            raise KeyboardInterrupt
        reasons = list(dict.fromkeys(race.left_out.values()))  # often one reason for all
        raise InputError(f"No model could be fitted: {'; '.join(reasons[:3])}.")
    found = Comparison(race, outcomes, race.measure, settings)
    found.changed = changed
    found.labels_ = labels or {}
    if insights and not race.interrupted:
        end = begun + seconds - min(MOST_RESERVED, RESERVE * seconds)
        with suppress(KeyboardInterrupt):
            _fit_best(found, end - time.monotonic())
            found.insights_ = find_insights(found, end - time.monotonic())
    found.seconds_ = time.monotonic() - begun
    return found


def _fit_best(found: Comparison, seconds: float) -> None:
    """Fit the best model to all rows if that is done in time; else when it is asked for."""
    if found.results_.loc[found.best_name_, "fit_seconds"] < seconds:
        with suppress(TimeIsOverError), within(seconds):
            _ = found.best_


def belongs_to(checkpoint: Any, table: Table, settings: dict[str, Any]) -> bool:
    """Say whether a checkpoint was left by a comparison of this table with these settings.

    Parameters
    ----------
    checkpoint : path
    table : Table
    settings : dict
        What `compare_table` would be called with.

    Returns
    -------
    bool
        Whether the work can be taken up with it.
    """
    names = ("models", "minutes", "folds", "repeats", "seed", "peer")
    own = _settings(table, *[settings[name] for name in names])
    try:
        SearchRecord.open(_fingerprint(table, own), checkpoint)
    except ValueError:
        return False
    return True


def _settings(
    table: Table, models: Any, minutes: float, folds: int, repeats: int, seed: int, peer: bool
) -> dict[str, Any]:
    own = {"models": models, "minutes": minutes, "folds": folds, "repeats": repeats}
    return own | {"seed": seed, "peer": peer or None, "task": table.task}


def check_settings(minutes: Any, folds: Any, seed: Any, n_jobs: Any, repeats: Any = 1) -> None:
    """Refuse numbers with which no comparison can be done, whatever the table."""
    if not (isinstance(minutes, Real) and 0 < float(minutes) < np.inf):
        raise InputError(f"minutes must be a number above 0; got {minutes!r}.")
    least = {"folds": (folds, 2), "repeats": (repeats, 1), "seed": (seed, 0)}
    if n_jobs is not None:
        least["n_jobs"] = (n_jobs, 1)
    for name, (given, lowest) in least.items():
        if not isinstance(given, Integral) or isinstance(given, bool) or given < lowest:
            raise InputError(f"{name} must be a whole number of at least {lowest}; got {given!r}.")
    most = {"repeats": (repeats, MOST_REPEATS), "seed": (seed, MOST_SEED)}
    for name, (given, highest) in most.items():
        if given > highest:
            raise InputError(f"{name} must be at most {highest}; got {given!r}.")


def _fingerprint(table: Table, settings: dict[str, Any]) -> str:
    """Return what tells whether a checkpoint belongs to this work; more time is the same work."""
    same = {k: v for k, v in settings.items() if k != "minutes"}
    beside = [None if one is None else one.to_numpy() for one in (table.groups, table.time)]
    frame = {str(name): table.frame[name].to_numpy() for name in table.frame.columns}
    return str(joblib.hash([frame, table.target.to_numpy(), beside, table.positive, repr(same)]))


_OWN, _OF_TABLES = _keywords(compare_table)[:-2], _keywords(as_table)  # labels and since are not
