"""What else can be learned from a comparison: features, odd rows, and whether more rows help."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from mercer.comparison.alone import lone_columns
from mercer.comparison.deadline import TimeIsOverError, within
from mercer.comparison.elimination import elimination_curve
from mercer.comparison.importance import feature_importance
from mercer.comparison.rivals import BASELINE
from mercer.spheres import SVDD, OneClassSearch
from mercer.tables import vectorizer

if TYPE_CHECKING:
    from mercer.comparison.comparison import Comparison

SHARES = (0.2, 0.4, 0.6, 0.8)
"""Parts of the training rows for the learning curve, besides all of them."""

SHARE = 0.7
"""Of the time that is left, each look may take so much; what takes longer after all is stopped."""

MOST_DESCRIBED = 2000
MOST_LISTED = 10
NOTHING = 1e-6
"""Of the radius: a row so little outside is no more unusual than those on the edge."""


@dataclass(frozen=True)
class Insights:
    """Tables of what was learned; None where there was no time or nothing to say.

    Parameters
    ----------
    features : DataFrame
        Columns feature, importance (how much the best model loses where it is shuffled), sd over
        the folds, and clear: whether that is more than noise.
    unusual : DataFrame
        Columns row (position in ``table.frame``, counted from 0; ``table.row_numbers()`` has the
        number in what was read, counted from 1) and distance (from the centre of all rows, in
        units of the radius).
    hard : DataFrame
        Columns row, target and predictions: rows that every model gets wrong.
    learning : DataFrame
        Columns rows, error and error_sd.
    rfe : DataFrame
        Columns features, error and error_sd: a linear machine with the weakest columns left out.
    alone : DataFrame
        Columns feature, error, error_without and group; see `lone_columns`.
    """

    features: Any = None
    unusual: Any = None
    hard: Any = None
    learning: Any = None
    rfe: Any = None
    alone: Any = None


def find_insights(found: Comparison, seconds: float) -> Insights:
    """Look for what the time allows, the cheapest first."""
    end = time.monotonic() + seconds
    parts: dict[str, Any] = {"hard": hard_rows(found)}
    looks = {
        "alone": lone_columns,
        "unusual": _unusual,
        "features": feature_importance,
        "rfe": elimination_curve,
        "learning": _learning,
    }
    for name, look in looks.items():
        left = end - time.monotonic()
        if left <= 0:
            break
        try:
            with warnings.catch_warnings(), found._race.threads(len(found.table.target)):
                warnings.simplefilter("ignore")
                with within(left):
                    parts[name] = look(found, SHARE * left)
        except (Exception, TimeIsOverError):
            parts[name] = None  # as for a part with one class; what was compared stands
    return Insights(**parts)


def hard_rows(found: Comparison) -> pd.DataFrame:
    """Return the rows that every model but the baseline gets wrong, or misses most."""
    names = [name for name in found.predictions_ if name != BASELINE]
    rows: Any = []
    target = found.table.target.to_numpy()
    if found.table.task == "classification":
        wrong = np.array([found.predictions_[name] != target for name in names], dtype=bool)
        known = np.array([[one is not None for one in found.predictions_[name]] for name in names])
        rows = np.flatnonzero((wrong & known).all(axis=0)) if names else rows
        rows = rows[np.argsort(_hope(found, rows), kind="stable")][:MOST_LISTED] if names else rows
    else:
        off = np.array([np.abs(found.predictions_[name] - target) for name in names])
        nearest = np.nan_to_num(off.min(axis=0)) if names else np.zeros(0)
        rows = np.argsort(-nearest, kind="stable")[:MOST_LISTED] if names else rows
    listed = [{name: found.predictions_[name][row] for name in names} for row in rows]
    return pd.DataFrame({"row": rows, "target": target[list(rows)], "predictions": listed})


def _hope(found: Comparison, rows: Any) -> Any:
    """Return the mean probability that models give to what is true of some rows."""
    codes = np.searchsorted(found.classes_, found.table.target.to_numpy()[rows].astype(str))
    scores = [one[rows, codes] for one in found.scores_.values() if one is not None]
    return np.mean(scores, axis=0) if scores else np.zeros(len(rows))


def _matrix(found: Comparison) -> Any:
    values = vectorizer(found.table).fit_transform(found.table.frame)
    return StandardScaler().fit_transform(np.asarray(values, dtype=np.float64))


def _unusual(found: Comparison, seconds: float) -> pd.DataFrame:
    """Return the rows farthest from the ball around all, its width chosen without labels."""
    points = _matrix(found)
    rng = np.random.default_rng(found.settings.get("seed", 0))
    some = points
    if len(points) > MOST_DESCRIBED:
        some = points[rng.permutation(len(points))[:MOST_DESCRIBED]]
    ball = OneClassSearch(SVDD()).fit(some).best_estimator_
    distance = np.asarray(ball.distance(points)) / (ball.radius_ or 1.0)
    rows = np.argsort(-distance, kind="stable")[:MOST_LISTED]
    rows = rows[distance[rows] > 1.0 + NOTHING]
    return pd.DataFrame({"row": rows, "distance": distance[rows]})


def _learning(found: Comparison, seconds: float) -> pd.DataFrame | None:
    """Return the error of the best model with fewer rows to learn from."""
    if found.best_name_ == BASELINE or found.table.time is not None:
        return None
    race, rival = found._race, found._rivals[found.best_name_]
    result = found.results_.loc[found.best_name_]
    folds = [fold for fold in race.folds if fold.repeat == 0][: min(3, found.n_folds)]
    if sum(SHARES) * len(folds) * result["fit_seconds"] > seconds:
        folds = folds[:1]
    if sum(SHARES) * result["fit_seconds"] > seconds:
        return None
    # A model that never sees more rows would not gain by them.
    wholes = [race.some(fold.train, race.most_rows(rival)) for fold in folds]
    points = []
    for share in SHARES:
        errors = []
        for fold, whole in zip(folds, wholes):
            model = race.fitted(rival, race.some(whole, int(share * len(whole))))
            said = race.predicted(model, found.table.frame.iloc[fold.test])
            errors.append(race.measured(fold.test, said)[found.measure])
        points.append((int(share * len(wholes[0])), float(np.mean(errors)), _spread(errors)))
    errors = [race.known[rival.name, 0, fold.fold].measures[found.measure] for fold in folds]
    points.append((len(wholes[0]), float(np.mean(errors)), _spread(errors)))
    return pd.DataFrame(points, columns=["rows", "error", "error_sd"])


def _spread(errors: list[float]) -> float:
    return float(np.std(errors, ddof=1)) if len(errors) > 1 else float("nan")
