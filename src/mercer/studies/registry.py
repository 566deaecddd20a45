"""The studies by name; a study is imported when it is asked for."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from .study import Study, StudyError

STUDIES = {
    "artificial": "mercer.studies.artificial:STUDY",
    "baselines": "mercer.studies.baselines:STUDY",
    "genes": "mercer.studies.genes:STUDY",
    "rfe": "mercer.studies.rfe:STUDY",
    "rfe-stop": "mercer.studies.rfe_stop:STUDY",
    "ida": "mercer.studies.ida:STUDY",
    "relevance": "mercer.studies.relevance:STUDY",
    "simulation": "mercer.studies.simulation:STUDY",
    "tiny": "mercer.studies.tiny:STUDY",
}
"""Where each study is: ``module:attribute``."""


def get_study(name: str) -> Study:
    """Return a study by its name, or a study of one's own by ``module:attribute``.

    Examples
    --------
    >>> from mercer.studies import get_study
    >>> get_study("tiny").title
    'Mean and median of normal draws'
    >>> get_study("mercer.studies.tiny:STUDY") is get_study("tiny")
    True
    """
    place = STUDIES.get(name, name)
    module_name, colon, attribute = place.partition(":")
    if not colon:
        near = get_close_matches(name, STUDIES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise StudyError(f"There is no study {name!r} among {', '.join(sorted(STUDIES))}{hint}")
    try:
        study = getattr(import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise StudyError(f"The study {name!r} cannot be loaded: {error}.") from error
    if not isinstance(study, Study):
        raise StudyError(f"{name!r} is not a study but {type(study).__name__}.")
    return study
