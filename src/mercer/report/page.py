"""The report of a comparison: one page that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from markupsafe import Markup

from mercer import __version__
from mercer._files import write_text_whole
from mercer.report._data import (
    class_listing,
    columns_in_words,
    facts,
    folds_measured,
    left_out_listing,
    target_in_words,
)
from mercer.report._models import (
    left_out_by_title,
    majority_error,
    meanings,
    measures_of,
    models_of,
)
from mercer.report._pictures import best_title, pictures_of
from mercer.report._protocol import ComparisonLike
from mercer.report._rows import hard_rows, unusual_rows
from mercer.report._templates import render, source
from mercer.report._words import clean, measure_of


def write_report(comparison: ComparisonLike, path: Any) -> Path:
    """Write a comparison as one page of HTML, which asks nothing of the network.

    The answer comes first in plain words, then the models, pictures, rows that are worth a look,
    data, methods, and the Python code that repeats it. It can be read on a phone, in the dark and
    on paper. A file of that name is replaced when the page is complete, not before.

    Parameters
    ----------
    comparison : Comparison
        See `mercer.compare`; anything with its attributes will do.
    path : path-like
        Of the file; its folder must exist.

    Returns
    -------
    pathlib.Path
        The path, as it was given.

    Raises
    ------
    ValueError
        If there is no such folder, or the path is a folder.

    Examples
    --------
    >>> from mercer.report import write_report
    >>> write_report(None, "no such folder/report.html")
    Traceback (most recent call last):
    ...
    ValueError: The report cannot be written: there is no folder 'no such folder'.
    """
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"The report cannot be written: {str(target)!r} is a folder.")
    if not target.parent.is_dir():
        raise ValueError(
            f"The report cannot be written: there is no folder {str(target.parent)!r}."
        )
    write_text_whole(target, page_of(comparison))
    return target


def page_of(comparison: ComparisonLike) -> str:
    """Return the whole page."""
    table = comparison.table
    is_classification = table.task == "classification"
    script = source("page.js")
    measured, lines = measures_of(comparison)
    n_folds, n_repeats = comparison.cuts
    page = render(
        "page.html",
        version=__version__,
        style=Markup(source("page.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        name=clean(table.name),
        target_name=clean("the target" if table.target.name is None else table.target.name),
        task=table.task,
        partial=comparison.partial,
        sentences=[clean(sentence) for sentence in comparison.sentences()],
        facts=facts(comparison),
        measure=measure_of(comparison.measure),
        models=models_of(comparison),
        unbalanced=majority_error(comparison, comparison.measure) is not None,
        measures=measured,
        measure_lines=lines,
        left_out_models=left_out_listing(left_out_by_title(comparison)),
        pictures=[
            (picture, Markup(picture.svg(comparison))) for picture in pictures_of(comparison)
        ],
        best=best_title(comparison),
        unusual=unusual_rows(comparison),
        hard=hard_rows(comparison),
        columns=columns_in_words(comparison),
        classes=class_listing(comparison) if is_classification else None,
        target_range="" if is_classification else target_in_words(comparison),
        positive=None if table.positive is None else clean(table.positive),
        groups=None if table.groups is None else clean(table.groups.name or "groups"),
        time=None if table.time is None else clean(table.time.name or "time"),
        notices=[clean(notice) for notice in table.notices],
        left_out=left_out_listing(table.left_out),
        meanings=meanings(comparison),
        n_folds=n_folds,
        n_repeats=n_repeats,
        n_measured=folds_measured(comparison),
        code=comparison.code(),
    )
    # What is no character, as half of a pair, cannot be written.
    return page.encode("utf-8", errors="replace").decode("utf-8")
