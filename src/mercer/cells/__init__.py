"""Machines for many rows: one for each part of the space."""

from mercer.cells.cell_one_class_svm import CellOneClassSVM
from mercer.cells.cell_svc import CellSVC
from mercer.cells.cell_svr import CellSVR
from mercer.cells.metric import gradient_directions
from mercer.cells.partition import Partition

__all__ = ["CellOneClassSVM", "CellSVC", "CellSVR", "Partition", "gradient_directions"]
