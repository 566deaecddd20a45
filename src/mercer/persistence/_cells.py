"""Whether cells and the machines in them fit together."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.persistence._lengths import Facts

State = dict[str, Any]


def is_partition(state: State, facts: Facts) -> bool:
    """Tell whether cells have centres in one space, and a reach."""
    centres, middle, directions = (state[name] for name in ("centres", "middle", "directions"))
    n_cells, columns = centres.shape
    return (
        n_cells > 0
        and middle.shape == (columns,)
        and _finite(centres)
        and _finite(middle)
        and isinstance(state["reach"], float | int)
        and 1.0 <= state["reach"] < np.inf
        and (directions is None or (directions.shape[1:] == (columns,) and _finite(directions)))
    )


def one_machine_each(state: State, facts: Facts) -> bool:
    """Tell whether every cell has a machine of the columns of the whole."""
    partition, machines = state["partition_"], state["estimators_"]
    directions, n_columns = partition.directions, state["n_features_in_"]
    offset = state.get("offset_", 0.0)
    return (
        n_columns == (partition.centres.shape[1] if directions is None else len(directions))
        and len(partition) == len(machines) == state["n_cells_"] == len(state["cell_sizes_"])
        and isinstance(offset, float | int)
        and -np.inf < offset < np.inf
        and all(_fits(machine, n_columns, state.get("classes_")) for machine in machines)
        and _has_all(machines, state.get("classes_"))
    )


def _fits(machine: Any, n_columns: int, classes: Any) -> bool:
    """Tell whether a machine has these columns, and of these classes some, by their positions."""
    stands_for_one = type(machine).__name__ == "OnlyClass"
    if not stands_for_one and machine.n_features_in_ != n_columns:
        return False
    if classes is None:
        return hasattr(machine, "predict") and not hasattr(machine, "classes_")
    codes = machine.classes_
    return (
        codes.dtype.kind == "i"
        and codes.shape == (codes.size,)
        and 0 < codes.size
        and (codes.size == 1 or not stands_for_one)
        and bool(0 <= codes[0] and codes[-1] < classes.size and (np.diff(codes) > 0).all())
    )


def _has_all(machines: Any, classes: Any) -> bool:
    """Tell whether each class is known to a machine."""
    if classes is None:
        return True
    known = np.concatenate([machine.classes_ for machine in machines])
    return np.unique(known).size == classes.size


def _finite(values: Any) -> bool:
    return values.dtype == np.float64 and bool(np.isfinite(values).all())
