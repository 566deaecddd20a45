"""What all tests of threads begin with, and must leave behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from blas import held
from threadpoolctl import threadpool_limits

from mercer import _threads


@pytest.fixture(autouse=True)
def _four_threads() -> Iterator[None]:
    """Begin with as many threads of the BLAS everywhere, and see that they are restored."""
    with threadpool_limits(4, user_api="blas"):
        if set(held()) != {4}:
            pytest.skip("there is no BLAS here whose threads can be set")
        yield
        assert set(held()) == {4}


@pytest.fixture(name="plain")
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four processors, and nothing said about threads."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(_threads, "_processors", lambda affinity: 4)
