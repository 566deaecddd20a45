"""How far one walks through the package in a fit: at most two thirds of the way before."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.walk import package

WALK = Path(__file__).parents[1] / "benchmarks" / "walk.py"

BEFORE = {
    "SVC": (25, 52),
    "PathSearchCV": (30, 328),
    "GradientSearch": (43, 782),
    "KernelRFE": (42, 765),
}
"""Files and changes of package before machines had a layer of their own."""


@pytest.fixture(scope="module")
def walks():
    """What the script prints, by estimator; in a process of its own, since it listens to calls."""
    done = subprocess.run([sys.executable, str(WALK)], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()[1:]]
    return {name: (int(files), int(changes)) for name, _, files, changes in lines}


@pytest.mark.parametrize("name", BEFORE)
def test_the_walk_is_a_third_shorter(walks, name):
    files, changes = BEFORE[name]
    assert 3 * walks[name][0] <= 2 * files
    assert 3 * walks[name][1] <= 2 * changes


def test_modules_belong_to_packages():
    assert [package(name) for name in ("mercer", "mercer._inputs", "mercer.gram.base")] == [
        "mercer",
        "mercer",
        "gram",
    ]
