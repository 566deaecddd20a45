"""Interleaved timing: every round runs each contender once, so that all share the noise."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .peers import UnavailableError
from .worker import TaskError, TimeLimitError


@dataclass
class Timing:
    """The times of one contender on one problem.

    ``status`` is ``"ok"``; ``"cut"`` when the time limit ended it (``limit`` says which);
    ``"unavailable"`` or ``"failed"`` with the reason.
    """

    seconds: list[float] = field(default_factory=list)
    status: str = "ok"
    reason: str = ""
    limit: float = math.inf

    @property
    def ok(self) -> bool:
        """Whether there is a time."""
        return self.status == "ok" and bool(self.seconds)

    @property
    def best(self) -> float:
        """The shortest time; infinite when there is none."""
        return min(self.seconds) if self.ok else math.inf

    @property
    def median(self) -> float:
        """The middle time; infinite when there is none."""
        return statistics.median(self.seconds) if self.ok else math.inf


@dataclass(frozen=True)
class Plan:
    """How often to repeat.

    Parameters
    ----------
    repeats : int
        Rounds that every contender takes part in.
    most : int
        Rounds at most, for problems that cost next to nothing.
    budget : float
        Seconds that the rounds beyond ``repeats`` may start within.
    time_limit : float
        Seconds after which one fit is cut.
    slow : float
        A contender that needs longer than this share of the limit runs once.
    """

    repeats: int = 3
    most: int = 15
    budget: float = 10.0
    time_limit: float = 120.0
    slow: float = 0.5


def interleave(contenders: Mapping[str, Callable[[], float]], plan: Plan) -> dict[str, Timing]:
    """Time all contenders in rounds; each round starts one place further along the list.

    Except for the slow ones all get the same number of rounds, since the best of many is lower
    than the best of few. Each callable returns the seconds it took.
    """
    timings = {name: Timing() for name in contenders}
    spent = 0.0
    for round_number in range(plan.most):
        active = [name for name in contenders if _goes_on(timings[name], plan)]
        if not active or (round_number >= plan.repeats and spent >= plan.budget):
            break
        shift = round_number % len(active)
        for name in active[shift:] + active[:shift]:
            _run(contenders[name], timings[name], plan)
            spent += timings[name].seconds[-1] if timings[name].ok else 0.0
    return timings


def _goes_on(timing: Timing, plan: Plan) -> bool:
    if timing.status != "ok":
        return False
    return not timing.seconds or max(timing.seconds) <= plan.slow * plan.time_limit


def _run(contender: Callable[[], float], timing: Timing, plan: Plan) -> None:
    try:
        timing.seconds.append(contender())
    except TimeLimitError as error:
        timing.limit = plan.time_limit
        # A time from an earlier round stands: the limit was met at least once.
        timing.status, timing.reason = ("ok" if timing.seconds else "cut"), str(error)
    except UnavailableError as error:
        timing.status, timing.reason = "unavailable", str(error)
    except TaskError as error:
        timing.status, timing.reason = "failed", str(error)
