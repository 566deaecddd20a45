"""The machine without the estimator: from rows and prices to programs, and back to a model."""

from mercer.machines.fold_path import BoundedStart, FoldPath, PathSettings, SharedMatrix
from mercer.machines.kernel_data import KernelData
from mercer.machines.kernel_machine import (
    KERNEL_CONSTRAINTS,
    MARGIN_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    KernelMachine,
    TrainingRows,
    centred,
    check_square,
    rows_of,
)
from mercer.machines.left_out import balanced_anew, out_of_fold_values
from mercer.machines.tasks import (
    DualModel,
    TwoClassTask,
    TwoClassTasks,
    build_dual_model,
    class_votes,
    combine_pairs,
    decompose,
    machine_coefficients,
    pairs_of,
    slacks,
)
from mercer.machines.training import (
    Penalty,
    Training,
    class_factors,
    no_minimum,
    warn_about,
    warn_if_indefinite,
    warn_unless_converged,
)
from mercer.machines.two_class_machine import TwoClassMachine

__all__ = [
    "KERNEL_CONSTRAINTS",
    "MARGIN_CONSTRAINTS",
    "SOLVER_CONSTRAINTS",
    "BoundedStart",
    "DualModel",
    "FoldPath",
    "KernelData",
    "KernelMachine",
    "PathSettings",
    "Penalty",
    "SharedMatrix",
    "Training",
    "TrainingRows",
    "TwoClassMachine",
    "TwoClassTask",
    "TwoClassTasks",
    "balanced_anew",
    "build_dual_model",
    "centred",
    "check_square",
    "class_factors",
    "class_votes",
    "combine_pairs",
    "decompose",
    "machine_coefficients",
    "no_minimum",
    "out_of_fold_values",
    "pairs_of",
    "rows_of",
    "slacks",
    "warn_about",
    "warn_if_indefinite",
    "warn_unless_converged",
]
