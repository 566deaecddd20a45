"""Pictures are drawn off screen and closed after each test."""

import pytest


@pytest.fixture(autouse=True)
def offscreen():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield
    plt.close("all")
