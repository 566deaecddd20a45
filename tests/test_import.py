"""Importing the package is cheap."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

HEAVY = ("matplotlib", "torch", "pandas", "polars", "clarabel", "sklearn.svm")


def imported(statement: str) -> tuple[float, set[str]]:
    """Return the processor's seconds for a statement in a new interpreter, and what it loads."""
    script = (
        "import json, sys, time; start = time.process_time()\n"
        f"{statement}\n"
        "print(json.dumps([time.process_time() - start, sorted(sys.modules)]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ
    )
    seconds, modules = json.loads(result.stdout)
    return seconds, set(modules)


def test_import_is_fast() -> None:
    """The best of three, since the first may have to read everything from the disk."""
    assert min(imported("import mercer")[0] for _ in range(3)) < 0.5


def test_heavy_packages_stay_out() -> None:
    assert not imported("import mercer")[1] & set(HEAVY)


def test_the_classifier_brings_nothing_heavy_either() -> None:
    """Beyond what scikit-learn's base classes load themselves, which depends on their version."""
    needed = imported("import scipy.sparse, sklearn.base, sklearn.utils.validation")[1]
    assert not (imported("from mercer import SVC")[1] - needed) & set(HEAVY)


def test_names_are_there() -> None:
    import mercer

    assert set(mercer.__all__) <= set(dir(mercer))
    for name in ("SVC", "is_mercer", "explicit_map", "kernels", "gram", "problems", "solvers"):
        assert getattr(mercer, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        mercer.no_such_name  # noqa: B018
