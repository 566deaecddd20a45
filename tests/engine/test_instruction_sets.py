"""What a user gets is the same at every instruction set: labels, objectives, choices, rankings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).parent / "fitted_machines.py"


def outcomes(level: str, folder: Path) -> dict[str, Any] | None:
    """Return what a process at this level found; None where the processor lacks the level."""
    file = folder / f"{level}.npz"
    environment = os.environ | {"MERCER_INSTRUCTION_SET": level}
    command = [sys.executable, str(SCRIPT), str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode and level != "baseline" and "ImportError" in done.stderr:
        return None
    assert done.returncode == 0, done.stderr
    with np.load(file) as stored:
        found = dict(stored)
    return found if found["set"] == level else None


def test_machines_are_the_same(tmp_path: Path) -> None:
    """One process for each level that this processor has, compared with the baseline."""
    levels = {level: outcomes(level, tmp_path) for level in ("baseline", "avx2", "avx512")}
    plain = levels.pop("baseline")
    assert plain is not None
    present = {level: found for level, found in levels.items() if found is not None}
    if not present:
        pytest.skip("this processor has the baseline only")
    names = [name.removesuffix(": beta") for name in plain if name.endswith(": beta")]
    assert len(names) == 28
    for level, found in present.items():
        for name in names:
            compare_machines(name, level, found, plain)
        compare_choices(level, found, plain)


def compare_machines(name: str, level: str, found: dict[str, Any], plain: dict[str, Any]) -> None:
    """Compare objectives within what the gaps allow, and labels beyond the gap.

    For feasible points a and b of a convex problem f(a) - f(b) <= gap(a) / 2 |a - b|_1.
    """
    (f, gap, beta, values), (plain_f, plain_gap, plain_beta, plain_values) = (
        [those[f"{name}: {what}"] for what in ("objective", "gap", "beta", "values")]
        for those in (found, plain)
    )
    where = f"{name}, {level}"
    widest = max(gap, plain_gap)
    assert widest <= (1e-3 if "float32" in name else 1e-6), where
    # The objective is told by the rows that the solver had.
    rounding = 1e-5 if "float32" in name else 1e-9
    allowed = widest / 2 * np.abs(beta - plain_beta).sum() + rounding * abs(plain_f)
    assert abs(f - plain_f) <= allowed, where
    if name.startswith("SVR"):
        np.testing.assert_allclose(values, plain_values, atol=20 * widest, err_msg=where)
    else:
        assert_same_labels(values, plain_values, widest, where)


def compare_choices(level: str, found: dict[str, Any], plain: dict[str, Any]) -> None:
    """Compare what a search chose, its scores up to one row, and rankings of features."""
    np.testing.assert_array_equal(found["search: chosen"], plain["search: chosen"], level)
    scores, plain_scores = found["search: scores"], plain["search: scores"]
    np.testing.assert_allclose(scores, plain_scores, atol=1.5 / 200, err_msg=level)
    widest = max(found["search: gap"], plain["search: gap"])
    assert_same_labels(found["search: values"], plain["search: values"], widest, level)
    for kernel in ("linear", "rbf"):
        ranking = f"elimination {kernel}: ranking"
        np.testing.assert_array_equal(found[ranking], plain[ranking], level)


def assert_same_labels(values: Any, plain: Any, gap: float, where: str) -> None:
    clear = np.abs(plain) > gap
    assert clear.mean() > 0.9, where
    np.testing.assert_array_equal(np.sign(values[clear]), np.sign(plain[clear]), where)
