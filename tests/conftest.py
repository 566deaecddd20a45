"""Settings and fixtures of all tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests that compile something begin first: the other processes take the rest meanwhile."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


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
