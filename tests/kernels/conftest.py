"""Data and kernels shared by the tests of this folder."""

from __future__ import annotations

import numpy as np
import pytest

from .zoo import ZOO


@pytest.fixture(params=ZOO.values(), ids=ZOO.keys())
def entry(request):
    """One kernel of the zoo with its reference formula."""
    return request.param


@pytest.fixture(name="X")
def points():
    """Twelve points with four features."""
    return np.random.default_rng(1).normal(size=(12, 4)) + 0.3


@pytest.fixture(name="Y")
def other_points():
    """Seven other points."""
    return np.random.default_rng(2).normal(size=(7, 4)) - 0.2


@pytest.fixture(name="W")
def contraction():
    """A matrix to contract with that is not symmetric and not positive."""
    return np.random.default_rng(3).normal(size=(12, 12))


@pytest.fixture
def wide():
    """Points with more features than the direct distances are used for."""
    return np.random.default_rng(4).normal(size=(30, 25))
