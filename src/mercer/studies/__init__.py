"""Published experiments as runnable studies, and the runner for studies of one's own."""

from .registry import STUDIES, get_study
from .results import StudyResults
from .runner import run_study
from .study import Configuration, Printed, Study, StudyError

__all__ = [
    "STUDIES",
    "Configuration",
    "Printed",
    "Study",
    "StudyError",
    "StudyResults",
    "get_study",
    "run_study",
]
