"""When a solver has to stop: iterations, seconds of a clock that is handed in, a callback."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from mercer.solvers import _limits
from mercer.solvers._limits import Limits


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    set_by_hand = Clock()
    own_time = SimpleNamespace(monotonic=set_by_hand.monotonic)
    monkeypatch.setattr(_limits, "time", own_time)
    return set_by_hand


def test_time_ends_when_it_is_over(clock: Clock) -> None:
    limits = Limits(time_limit=5.0)
    assert limits.remaining() == 5.0
    clock.now = 104.5
    assert not limits.stop()
    assert (limits.reason, limits.remaining()) == (None, 0.5)
    clock.now = 105.0
    assert limits.stop()
    assert (limits.reason, limits.remaining()) == ("time_limit", 0.0)
    clock.now = 107.0
    assert limits.remaining() == 0.0


def test_iterations_end_at_their_number() -> None:
    limits = Limits(max_iter=2)
    assert not limits.stop()
    limits.n_iter = 1
    assert not limits.stop()
    limits.n_iter = 2
    assert limits.stop()
    limits.n_iter = 0
    assert limits.stop()  # once it must, it must for ever
    assert limits.reason == "max_iter"
    assert Limits(max_iter=0).stop()


def test_nothing_ends_without_limits() -> None:
    limits = Limits()
    limits.n_iter = 10**9
    assert not limits.stop()
    assert limits.remaining() == math.inf


def test_callback_hears_of_iterations_only() -> None:
    heard: list[tuple[int, float]] = []
    limits = Limits(callback=lambda n_iter, gap: heard.append((n_iter, gap)) or n_iter > 1)
    assert not limits.stop(3.0)
    limits.n_iter = 1
    assert not limits.stop(2.0)
    limits.n_iter = 2
    assert limits.stop(1.0)
    assert heard == [(1, 2.0), (2, 1.0)]
    assert limits.reason == "interrupted"


@pytest.mark.parametrize("seconds", [-1.0, math.nan])
def test_seconds_that_are_none(seconds: float) -> None:
    with pytest.raises(ValueError, match="time_limit must be None or a number of seconds"):
        Limits(time_limit=seconds)
