"""Each comparison is made once, and its page is written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

from mercer.report import write_report

from .browser import Browser
from .cases import CASES
from .stand_in import StandIn


@pytest.fixture(autouse=True)
def offscreen() -> Iterator[None]:
    from matplotlib import pyplot as plt

    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def comparison() -> Callable[[str], StandIn]:
    """From a case's name to its comparison."""
    return cache(lambda name: CASES[name]())


@pytest.fixture(scope="session")
def page(
    comparison: Callable[[str], StandIn], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """From a case's name to the file of its report."""
    folder = tmp_path_factory.mktemp("pages")
    return cache(lambda name: write_report(comparison(name), folder / f"{name}.html"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    window = Browser(tmp_path_factory.mktemp("browser"))
    yield window
    window.quit()
