"""Settings and fixtures of all tests."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The problems and reference solutions of this folder are shared by the tests below it.
sys.path.insert(0, str(Path(__file__).parent))

# Several test processes share the processors: one thread each, unless a test asks for more.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile(
    "mercer",
    derandomize=True,
    database=None,
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("mercer")

_DATA_BESIDE = Path(__file__).parents[2] / "shared" / "data"
if "MERCER_DATA" not in os.environ and _DATA_BESIDE.is_dir():
    os.environ["MERCER_DATA"] = str(_DATA_BESIDE)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Look for garbage neither while tests are collected nor, later, among what was collected."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests that compile something begin first, and in all processes.

    Each process is given one piece of the list and takes from the others when it is through. Tests
    of one file stay together, because they share what was compiled.
    """
    n_pieces = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    files: dict[Path, list[pytest.Item]] = {}
    rest = []
    for item in items:
        is_slow = item.get_closest_marker("slow") is not None
        (files.setdefault(item.path, []) if is_slow else rest).append(item)
    pieces: list[list[pytest.Item]] = [[] for _ in range(n_pieces)]
    for slow in sorted(files.values(), key=len, reverse=True):
        min(pieces, key=len).extend(slow)
    ends = [len(items) * (k + 1) // n_pieces for k in range(n_pieces)]
    items.clear()
    for piece, end in zip(pieces, ends):
        n_more = max(0, end - len(items) - len(piece))
        items += piece + rest[:n_more]
        del rest[:n_more]
    items += rest


class ClosedFigures:
    """Closes the figures of each test, of examples in docstrings too."""

    @staticmethod
    def pytest_runtest_teardown() -> None:
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")


def pytest_configure(config: pytest.Config) -> None:
    """Add what holds outside of this folder too."""
    config.pluginmanager.register(ClosedFigures())


@pytest.fixture(autouse=True)
def same_seed() -> None:
    """``random_state=None`` means the same numbers in every run, whatever ran before."""
    import numpy as np  # not before the number of threads is set

    np.random.seed(0)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of data sets that are too large to ship; skips where there is none."""
    folder = os.environ.get("MERCER_DATA")
    if not folder:
        pytest.skip("no data folder: set MERCER_DATA to one")
    if not Path(folder).is_dir():
        pytest.skip(f"MERCER_DATA names {folder}, which is not a folder")
    return Path(folder)
