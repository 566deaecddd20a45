"""Experiments as data, and what runs them: in parallel, resumable, beside printed tables."""

from .registry import find_studies, get_study
from .results import StudyResults
from .runner import run_study
from .study import Configuration, Printed, Study, StudyError

__all__ = [
    "Configuration",
    "Printed",
    "Study",
    "StudyError",
    "StudyResults",
    "find_studies",
    "get_study",
    "run_study",
]
