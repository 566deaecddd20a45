"""The models of a comparison as a table for notebooks."""

from __future__ import annotations

from mercer.report._models import left_out_by_title, models_of
from mercer.report._protocol import ComparisonLike
from mercer.report._templates import render
from mercer.report._words import clean, measure_of


def comparison_table_html(comparison: ComparisonLike) -> str:
    """Return a compact table of the models, which a notebook shows in its own colours.

    Parameters
    ----------
    comparison : Comparison
        See `mercer.compare`; anything with its attributes will do.

    Returns
    -------
    str
        HTML, with everything from the data escaped.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import pandas as pd
    >>> from mercer.report import comparison_table_html
    >>> results = pd.DataFrame({"title": ["SVC"], "error": [0.1], "error_sd": [0.02], "folds": [10],
    ...                         "verdict": ["best"], "difference": [0.0], "half_width": [0.0]},
    ...                        index=["svc"])
    >>> html = comparison_table_html(SimpleNamespace(
    ...     results_=results, measure="error", partial=False, simplest_name_="svc",
    ...     best_name_="svc", left_out_models={}, sentences=lambda: ["SVC is best."]))
    >>> "10.0 ± 2.0 %" in html
    True
    """
    sentences = [clean(sentence) for sentence in comparison.sentences()]
    return render(
        "notebook.html",
        models=models_of(comparison),
        measure=measure_of(comparison.measure).name,
        partial=comparison.partial,
        left_out_models=sorted(map(clean, left_out_by_title(comparison))),
        sentence=sentences[0] if sentences else "",
    ).strip()
