"""A comparison in plain words."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np

from mercer._numbers import number as plain
from mercer.comparison.rivals import BASELINE

if TYPE_CHECKING:
    from mercer.comparison.comparison import Comparison

UNKNOWN = "–"
FEW_FOLDS = 3
"""Folds so few that hardly any difference is clear."""

ONE_FIT = "one fit took more than"
NO_FOLDS = "not all folds could be done in time beside better or cheaper models"
NO_TIME = "no time was left"
FEW_SLOW = 2
"""Models that were left out for their time of which the reasons are told one by one."""

TOGETHER = {
    ONE_FIT: "one fit of each took too long; more minutes help",
    NO_FOLDS: f"{NO_FOLDS}; more minutes help",
}
"""What is said of more of them, by how their reasons begin."""

NAMES = {"error": "error", "balanced_error": "balanced error", "rmse": "RMSE"}


def percent(share: float) -> str:
    """Return a share in percent, with a dash for what is not known.

    Examples
    --------
    >>> percent(0.0231), percent(float("nan"))
    ('2.3', '–')
    """
    return UNKNOWN if np.isnan(share) else f"{100 * share:.1f}"


def value(measure: str, number: float) -> str:
    """Return an error as people read it: a share in percent, or a number of the target's kind.

    Examples
    --------
    >>> value("balanced_error", 0.1234), value("rmse", 31270.4)
    ('12.3 %', '31,270')
    """
    if measure == "rmse":
        return plain(number)
    return f"{percent(number)} %" if not np.isnan(number) else UNKNOWN


def spread(measure: str, deviation: float, mean: float) -> str:
    """Return a deviation as it stands after its mean and a ±.

    Examples
    --------
    >>> spread("error", 0.0234, 0.1), spread("rmse", 0.046391, 0.4737)
    ('2.3', '0.0464')
    """
    return plain(deviation, like=mean) if measure == "rmse" else percent(deviation)


def listed(names: list[str], most: int = 4) -> str:
    """Return names with commas and "and".

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(names) > most:
        return ", ".join(names[: most - 1]) + f" and {len(names) - most + 1} others"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def sentences(found: Comparison) -> list[str]:
    """Say which model is best, how far that can be trusted, and what was left out."""
    return [
        text
        for text in (
            *(_unfinished(found), _best(found), *_alone(found), _ties(found), _balance(found)),
            *(_features(found), found.changed, _parts(found), _out(found)),
        )
        if text
    ]


def _unfinished(found: Comparison) -> str:
    if not found.partial:
        return ""
    return f"Partial: {found.stopped} after {found.n_folds} of {found.n_wanted} folds."


def _best(found: Comparison) -> str:
    row, measure = found.results_.loc[found.best_name_], found.measure
    base = found.results_.loc[BASELINE] if BASELINE in found.results_.index else None
    name, title = NAMES[measure], row["title"]
    if len(found.results_) == 1:
        return f"Nothing was compared with {title}: {name} {value(measure, row[measure])}."
    if found.best_name_ == BASELINE:
        return f"No model does better than {title}: {name} {value(measure, row[measure])}."
    over = f" over {found.n_folds} folds" if found.n_folds > 1 else " on one fold"
    about = f" ± {spread(measure, row['error_sd'], row[measure])}" if found.n_folds > 1 else ""
    so_far = " so far" if found.partial else ""
    text = f"Lowest {name}{so_far}: {title}, {value(measure, row[measure])}{about}{over}"
    if base is None:
        return f"{text}."
    return f"{text} ({base['title']}: {value(measure, base[measure])})."


def _alone(found: Comparison) -> list[str]:
    """Ask of columns that alone decide the target whether they may be known."""
    alone = None if found.insights_ is None else found.insights_.alone
    if alone is None:
        return []
    said = []
    for _, group in alone.groupby("group"):
        names = group["feature"].tolist()
        column = (
            f"Column {names[0]!r}"
            if len(names) == 1
            else f"Each of {listed([repr(name) for name in names])}"
        )
        errors = [value(found.measure, group[name].iloc[0]) for name in ("error", "error_without")]
        what, it = NAMES[found.measure], "it" if len(names) == 1 else "them"
        known = f"is {it} known" if len(names) == 1 else "are they known"
        drop = shlex.quote(",".join(names))
        said.append(
            f"{column} alone almost decides the target ({what} {errors[0]}, {errors[1]} without "
            f"{it}): {known} before the target is? If not, leave {it} out: --drop {drop}."
        )
    return said


def _ties(found: Comparison) -> str:
    results = found.results_
    if len(results) == 1:
        return ""
    if found.n_folds < 2:
        return "One fold cannot tell whether the differences mean anything."
    tied = results.index[results["verdict"] == "tied"].tolist()
    if not tied:
        return "Every other model is clearly worse (corrected paired test, 95 %)."
    titles = [results.loc[name, "title"] for name in tied]
    verb = "is" if len(titles) == 1 else "are"
    names = listed(titles)
    names = names[0].upper() + names[1:]
    text = f"{names} {verb} not clearly worse (corrected paired test, 95 %)"
    if BASELINE in (*tied, found.best_name_):
        few = f" in {found.n_folds} folds" if found.n_folds <= FEW_FOLDS else ""
        return f"{text}, so that nothing has been shown to be learned{few}."
    if found.simplest_name_ == found.best_name_:
        return f"{text}; the best is also the simplest of them."
    if len(tied) == 1:
        return f"{text}; it is the simpler one."
    simplest = results.loc[found.simplest_name_, "title"]
    return f"{text}; the simplest of them is {simplest}."


def _balance(found: Comparison) -> str:
    if found.measure != "balanced_error":
        return ""
    counts = found.table.class_counts()
    name = min(counts, key=lambda one: counts[one])
    return (
        f"The classes are unbalanced ({counts[name]} of {sum(counts.values())} rows are {name!r}): "
        "models are ranked by the mean error of all classes."
    )


def _features(found: Comparison) -> str:
    """Name the columns that the best model leans on, as far as that is more than noise."""
    features = None if found.insights_ is None else found.insights_.features
    if features is None or not len(features):
        return ""
    clear = features["feature"][features["clear"]].tolist()
    if not clear:
        return "No single column stands out from noise."
    title = found.title(found.best_name_)
    title = title[0].upper() + title[1:]
    n_rest = len(features) - len(clear)
    rest = "another column is" if n_rest == 1 else f"{n_rest} other columns are"
    return f"{title} leans on {listed(clear)}" + (f"; {rest} within noise." if n_rest else ".")


def _parts(found: Comparison) -> str:
    """Say of the best models whether they have learned from a part of the rows only."""
    results, most = found.results_, int(found.results_["trained_rows"].max())
    near = results[results["verdict"].isin(["best", "tied"]) & (results["trained_rows"] < most)]
    told = [f"{row['title']} from {row['trained_rows']:,}" for _, row in near.iterrows()]
    if not told:
        return ""
    return f"For want of time or memory, of {most:,} rows to learn from, learned {listed(told)}."


def _out(found: Comparison) -> str:
    if not found.left_out_models:
        return ""
    together: dict[str, list[str]] = {}
    for name, why in found.left_out_models.items():
        together.setdefault(why, []).append(found.title(name))
    for begin, why_all in TOGETHER.items():
        slow = [why for why in together if why.startswith(begin)]
        if len(slow) > FEW_SLOW:
            titles = [title for why in slow for title in together.pop(why)]
            together = {why_all: titles} | together
    parts = [f"{listed(titles, len(titles))} ({why})" for why, titles in together.items()]
    return f"Left out: {'; '.join(parts)}."
