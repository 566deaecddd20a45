"""What a comparison has found."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mercer.comparison.insights import Insights
from mercer.comparison.measures import CLASSIFICATION, REGRESSION
from mercer.comparison.outcome import Outcome
from mercer.comparison.paired import paired_difference
from mercer.comparison.race import Race
from mercer.comparison.rivals import BASELINE, Rival
from mercer.comparison.words import sentences, value
from mercer.persistence import save
from mercer.report import comparison_table_html, draw_errors, write_report
from mercer.tables import InputError, Table, TableModel, suggestion

SECONDS = ("fit_seconds", "predict_seconds")


class Comparison:
    """Models on the same folds of one table; made by `mercer.compare`.

    Parameters
    ----------
    race : Race
        As it ended.
    outcomes : list of Outcome
    measure : str
        Name of the measure by which models are ranked.
    settings : dict
        What `mercer.compare` was asked for.

    Attributes
    ----------
    table : Table
    results_ : DataFrame
        One row for each model, the best first: all measures, deviation over the folds, seconds of
        a fit and of a prediction, size, difference to the best with the half-width of its
        uncertainty, and a verdict: "best", "tied", "worse" or "baseline".
    folds_ : DataFrame
        The measures fold by fold.
    predictions_, scores_ : dict of str to ndarray
        Of each model, for every row while it was left out in the first repeat: labels or numbers,
        and probabilities or None.
    classes_ : list of str
    best_name_, simplest_name_ : str
        The best model, and the simplest that is not clearly worse.
    labels_ : dict of str to object
        What the classes were called by the data, where that was no text; so does `best_`.
    best_ : Pipeline
        The best model, fitted to all rows; when first asked for, if not before.
    insights_ : Insights or None
    positive_ : str or None
        Of two classes the one that F1 speaks of: that which was named, or else the rarer one.
    changed : str
        What was left out of the table because it cannot be compared on, in words.
    partial : bool
        Whether the time was over, or the work interrupted, before all folds were done.
    cuts : tuple of int
        Folds into which the rows were cut, and how often; a partial run has not measured all.
    left_out_models : dict of str to str
        Models that were not compared, with the reason.
    seconds_ : float
    """

    def __init__(
        self, race: Race, outcomes: Sequence[Outcome], measure: str, settings: dict[str, Any]
    ) -> None:
        self.table: Table = race.table
        self.measure = measure
        self.settings = settings
        self.classes_ = race.classes
        self.left_out_models = dict(race.left_out)
        self.stopped = race.stopped
        self.changed = ""
        self.positive_ = race.classes[race.positive] if len(race.classes) == 2 else None
        self.n_wanted = len(race.folds)
        self.cuts = (len({f.fold for f in race.folds}), len({f.repeat for f in race.folds}))
        self.seconds_ = 0.0
        self.insights_: Insights | None = None
        self.labels_: dict[str, Any] = {}
        self._race = race
        self._rivals: dict[str, Rival] = {rival.name: rival for rival in race.rivals}
        self._measures = CLASSIFICATION if race.classes else REGRESSION
        self.folds_ = _by_fold(outcomes, self._measures)
        self.n_folds = len(self.folds_.drop_duplicates(["repeat", "fold"]))
        self.partial = bool(race.stopped)
        self.results_ = self._ranked(outcomes)
        self.best_name_ = str(self.results_.index[0])
        self.simplest_name_ = self._simplest()
        self.predictions_, self.scores_ = self._left_out_answers(outcomes)

    @cached_property
    def best_(self) -> Any:
        """The best model, fitted to all rows."""
        return self.fitted(self.best_name_)

    def fitted(self, name: str) -> Any:
        """Return any of the models, fitted to all rows (or as many as it can take)."""
        return without_search(self.searched(name))

    def searched(self, name: str) -> Any:
        """Return the model of `fitted` with the search that has tuned it as its last step."""
        if name not in self._rivals:
            raise InputError(f"There is no model {name!r} here{suggestion(name, self._rivals)}")
        y = self._race.y
        if self.labels_:
            y = np.array([self.labels_[word] for word in y])
        return self._race.fitted(self._rivals[name], np.arange(len(y)), y)

    def about(self, name: str) -> dict[str, Any]:
        """Return what a file keeps of how a model was measured."""
        row, kept = self.results_.loc[name], dict[str, Any](table=self.table.name)
        kept["measure"] = self.measure
        kept |= {"title": str(row["title"]), "rows": len(self.table.target), "folds": self.n_folds}
        kept |= {"error": float(row[self.measure]), "error_sd": float(row["error_sd"])}
        if BASELINE in self.results_.index:
            kept["baseline_error"] = float(self.results_.loc[BASELINE, self.measure])
        return kept

    def save(self, path: Any) -> None:
        """Save the best model as ``mercer compare --save`` does, for ``mercer predict``.

        The file holds a `mercer.tables.TableModel`: `best_` with the columns of the table, their
        words and ranges, and its error on the folds. ``mercer.save(result.best_, path)`` keeps the
        pipeline alone; ``mercer predict`` takes it too, but has no words and ranges to warn by,
        and no target to compare with.
        """
        save(TableModel.of(self.best_, self.table, self.about(self.best_name_)), path)

    def title(self, name: str) -> str:
        """Return what people call a model."""
        return self._rivals[name].title

    def sentences(self) -> list[str]:
        """Return the answer in plain words, the best model first."""
        return sentences(self)

    def code(self) -> str:
        """Return the Python code that repeats this comparison."""
        # The task is known to the table.
        plain = {k: v for k, v in self.settings.items() if v is not None and k != "task"}
        arguments = ", ".join(f"{name}={setting!r}" for name, setting in plain.items())
        return "\n".join(
            [
                self.table.source.rstrip(),
                "",
                "import mercer",
                "",
                f"result = mercer.compare(table, {arguments})",
                "print(result)",
                'result.report("report.html")',
                "model = result.best_  # fitted to all rows",
            ]
        )

    def report(self, path: Any) -> Path:
        """Write one page that needs nothing else; see `mercer.report.write_report`."""
        return write_report(self, path)

    def plot(self) -> Any:
        """Draw the errors of all models; return the figure."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(layout="constrained")
        draw_errors(self, axes)
        return figure

    def _repr_html_(self) -> str:
        return comparison_table_html(self)

    def __repr__(self) -> str:
        rows = [
            f"{row['title']:<32} {value(self.measure, row[self.measure]):>9}  {row['verdict']}"
            for _, row in self.results_.iterrows()
        ]
        return "\n".join([*rows, "", *self.sentences()])

    def _ranked(self, outcomes: Sequence[Outcome]) -> pd.DataFrame:
        grouped = self.folds_.groupby("model", sort=False)
        table = grouped[[*self._measures, *SECONDS]].mean()
        table.insert(0, "title", [self._rivals[name].title for name in table.index])
        table["error_sd"] = grouped[self.measure].std(ddof=1)
        sizes = {o.model: (o.size_bytes, o.n_trained) for o in outcomes}
        table["size_bytes"] = [sizes[name][0] for name in table.index]
        table["trained_rows"] = [sizes[name][1] for name in table.index]
        table["folds"] = grouped.size()
        # Of equals the simplest stands first.
        order = sorted(
            table.index,
            key=lambda n: (round(table.loc[n, self.measure], 12), self._rivals[n].simplicity),
        )
        return self._judged(table.loc[order])

    def _judged(self, table: pd.DataFrame) -> pd.DataFrame:
        errors = self.folds_.pivot(index=["repeat", "fold"], columns="model", values=self.measure)
        best = table.index[0]
        ratio = float(np.mean([len(fold.test) / len(fold.train) for fold in self._race.folds]))
        differences, halves, verdicts = [], [], []
        for name in table.index:
            difference, half = paired_difference(errors[name], errors[best], ratio)
            differences.append(difference)
            halves.append(half if name != best else 0.0)
            worse = "baseline" if name == BASELINE else "worse"
            is_tied = difference <= half and not (name == BASELINE and np.isinf(half))
            verdicts.append("best" if name == best else "tied" if is_tied else worse)
        return table.assign(difference=differences, half_width=halves, verdict=verdicts)

    def _simplest(self) -> str:
        near = self.results_.index[self.results_["verdict"].isin(["best", "tied"])]
        if self.best_name_ != BASELINE:  # a tie with it means that nothing was learned
            near = near.drop(BASELINE, errors="ignore")
        return str(min(near, key=lambda name: self._rivals[name].simplicity))

    def _left_out_answers(self, outcomes: Sequence[Outcome]) -> tuple[Any, Any]:
        """Return what each model said of each row while that was left out in the first repeat."""
        n, folds = len(self.table.target), {(f.repeat, f.fold): f for f in self._race.folds}
        is_classes = self.table.task == "classification"
        said: dict[str, Any] = {}
        scores: dict[str, Any] = {}
        for o in outcomes:
            if o.repeat > 0:
                continue
            test = folds[o.repeat, o.fold].test
            empty = np.full(n, None, dtype=object) if is_classes else np.full(n, np.nan)
            own = said.setdefault(o.model, empty)
            own[test] = np.array(self.classes_)[o.said.astype(int)] if is_classes else o.said
            if o.probabilities is None:
                scores.setdefault(o.model, None)
                continue
            shape = (n, len(self.classes_))
            scores.setdefault(o.model, np.full(shape, np.nan))[test] = o.probabilities
        return said, scores


def without_search(model: Any) -> Any:
    """Return a fitted pipeline with what its steps have chosen in place of their searches.

    Parameters
    ----------
    model : Pipeline
        Of `Comparison.searched`; it is changed.
    """
    search = model[-1]
    if hasattr(search, "regressor_"):  # of a target that is scaled
        search.regressor_ = getattr(search.regressor_, "best_estimator_", search.regressor_)
        search.regressor = search.regressor_
    model.steps = [(name, getattr(step, "best_estimator_", step)) for name, step in model.steps]
    return model


def _by_fold(outcomes: Sequence[Outcome], measures: Sequence[str]) -> pd.DataFrame:
    rows = [
        {"model": o.model, "repeat": o.repeat, "fold": o.fold}
        | {name: o.measures[name] for name in measures}
        | {name: getattr(o, name) for name in SECONDS}
        for o in outcomes
    ]
    return pd.DataFrame(rows)
