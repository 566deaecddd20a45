"""What scikit-learn's tests expect of their surroundings, and which of them cannot hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sklearn
from exceptions import Exceptions
from substitution import meets_ours

HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    """Accept the marks of scikit-learn's tests."""
    config.addinivalue_line("markers", "thread_unsafe: scikit-learn's own, for runs in threads")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Leave out tests in which nothing of ours takes part, and mark those that cannot hold."""
    apart = [item for item in items if _is_peer(item) and not _takes_part(item)]
    gone = set(map(id, apart))
    items[:] = [item for item in items if id(item) not in gone]
    config.hook.pytest_deselected(items=apart)
    exceptions = Exceptions.read()
    known = sklearn.__version__.startswith(f"{exceptions.scikit_learn}.")
    other = f"the list of exceptions is that of scikit-learn {exceptions.scikit_learn}"
    for item in filter(_is_peer, items):
        item.add_marker(pytest.mark.filterwarnings("ignore"))  # they expect some, and do not say so
        if not known:
            item.add_marker(pytest.mark.skip(reason=other))
            continue
        reason = exceptions.reason_of(item.module._peer, item.name)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def _is_peer(item: pytest.Item) -> bool:
    return item.path.parent == HERE and item.path.name.startswith("test_peer_")


def _takes_part(item: Any) -> bool:
    arguments = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return meets_ours(item.function, arguments)


@pytest.fixture
def global_random_seed() -> int:
    """One of the seeds with which scikit-learn runs its tests."""
    return 42
