"""A comparison as one self-contained page, as a table for notebooks, and as pictures."""

from mercer.report.confusion import draw_confusion
from mercer.report.elimination import draw_elimination
from mercer.report.errors import draw_errors
from mercer.report.features import draw_features
from mercer.report.learning import draw_learning
from mercer.report.page import write_report
from mercer.report.reliability import draw_reliability
from mercer.report.residuals import draw_residuals
from mercer.report.table import comparison_table_html

__all__ = [
    "comparison_table_html",
    "draw_confusion",
    "draw_elimination",
    "draw_errors",
    "draw_features",
    "draw_learning",
    "draw_reliability",
    "draw_residuals",
    "write_report",
]
