"""Comparing models on a table: tuned inside the folds, judged by a paired test, in a given time."""

from mercer.comparison.compare import compare, compare_table
from mercer.comparison.comparison import Comparison
from mercer.comparison.insights import Insights
from mercer.comparison.paired import paired_difference

__all__ = ["Comparison", "Insights", "compare", "compare_table", "paired_difference"]
