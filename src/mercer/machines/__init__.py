"""The machine without the estimator: from rows and prices to programs, and back to a model."""

from mercer.machines.fold_path import Fold, FoldPath, PathSettings, SharedMatrix
from mercer.machines.going_on import mark_of, with_image
from mercer.machines.joint import shared_rows, solve_together
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
from mercer.machines.region_machine import RegionMachine
from mercer.machines.row_machine import KernelData, RowMachine
from mercer.machines.training import (
    Begun,
    DualModel,
    Penalty,
    Training,
    TwoClassTask,
    TwoClassTasks,
    build_dual_model,
    class_factors,
    class_votes,
    combine_pairs,
    decompose,
    machine_coefficients,
    no_minimum,
    pairs_of,
    slacks,
    start_of,
    warn_about,
    warn_if_indefinite,
    warn_unless_converged,
)
from mercer.machines.tube_machine import TubeMachine, TubePrice
from mercer.machines.two_class_machine import TwoClassMachine

__all__ = [
    "KERNEL_CONSTRAINTS",
    "MARGIN_CONSTRAINTS",
    "SOLVER_CONSTRAINTS",
    "Begun",
    "DualModel",
    "Fold",
    "FoldPath",
    "KernelData",
    "KernelMachine",
    "PathSettings",
    "Penalty",
    "RegionMachine",
    "RowMachine",
    "SharedMatrix",
    "Training",
    "TrainingRows",
    "TubeMachine",
    "TubePrice",
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
    "mark_of",
    "no_minimum",
    "out_of_fold_values",
    "pairs_of",
    "rows_of",
    "shared_rows",
    "slacks",
    "solve_together",
    "start_of",
    "warn_about",
    "warn_if_indefinite",
    "warn_unless_converged",
    "with_image",
]
