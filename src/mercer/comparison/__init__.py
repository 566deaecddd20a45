"""Comparing models on a table: tuned inside the folds, judged by a paired test, in a given time."""

from mercer.comparison.comparing import belongs_to, compare, compare_table
from mercer.comparison.comparison import Comparison
from mercer.comparison.insights import Insights
from mercer.comparison.paired import paired_difference

__all__ = ["Comparison", "Insights", "belongs_to", "compare", "compare_table", "paired_difference"]
