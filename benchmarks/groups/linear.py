"""Linear kernel with rows ≫ columns: the time to come within a distance of the optimum.

LinearSVC regularises the bias, so it solves another problem than the machines with a free bias,
and its ``tol`` means another thing. Each solver is therefore run with falling ``tol``, judged by
its own primal objective relative to its own optimum, and timed at the loosest ``tol`` that reaches
the target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .. import catalogue, tasks
from ..crew import Crew, progress
from ..measure import Timing
from ..peers import PEERS, UnavailableError
from ..problems import Data, Problem
from ..reference import optimal_objective, primal_objective
from ..report import GroupResult, Table, seconds_text
from ..worker import TaskError, TimeLimitError
from .options import Options
from .rivals import note_reasons, rival_ratios, summarise, timing_records

TARGETS = (1e-3, 1e-5)
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
COMPARED = ["LinearSVC", "scikit-learn", "intelex"]
SOLVERS = ["mercer", "liblinear", "sklearn", "intelex", "intelex32"]


@dataclass(frozen=True)
class Step:
    """A run with one tolerance: what it cost and how far from the optimum it ended."""

    tol: float
    seconds: float
    excess: float


@dataclass(frozen=True)
class Ladder:
    """The runs of one solver, and what ended them early."""

    steps: list[Step]
    stop: Timing

    def reaching(self, target: float) -> Step | None:
        """Return the run with the loosest tolerance that came within the target."""
        return next((step for step in self.steps if step.excess <= target), None)


def run(options: Options) -> GroupResult:
    """Compare the times to the same relative distance from each solver's optimum."""
    solvers = options.choose(SOLVERS)
    columns = ["problem", "loss", "target"]
    columns += [f"{PEERS[key].label} s (tol)" for key in solvers]
    columns += [f"× {rival}" for rival in COMPARED]
    notes = [
        "seconds at the tol in brackets, which comes within the target of the solver's own "
        "optimum: (primal objective - optimum) / optimum; the optimum is clarabel's",
        "loss squared_hinge: C times the sum of squares, as in LinearSVC",
    ]
    result = GroupResult("linear", [Table("linear: time to an objective", columns, notes=notes)])
    with Crew(solvers, options.plan) as crew:
        for problem, data in options.load(catalogue.linear, result):
            _add(result, crew, problem, data)
    summarise(result, COMPARED)
    return result


def _add(result: GroupResult, crew: Crew, problem: Problem, data: Data) -> None:
    progress(f"{problem.name}, {problem.loss} ({problem.parameters})")
    sign = np.where(data.y == data.y.max(), 1.0, -1.0)
    optima = {
        biased: optimal_objective(
            data.X, sign, C=problem.C, loss=problem.loss, regularised_bias=biased
        )
        for biased in (False, True)
    }

    def excess(solver: str, plane: tuple[np.ndarray, float]) -> float:
        biased = solver == "liblinear"
        reached = primal_objective(
            data.X, sign, plane, C=problem.C, loss=problem.loss, regularised_bias=biased
        )
        return reached / optima[biased] - 1.0

    ladders = {solver: _climb(crew, solver, problem, excess) for solver in crew.peers}
    for target in TARGETS:
        _add_target(result, crew, problem, target, ladders)


def _climb(
    crew: Crew, solver: str, problem: Problem, excess: Callable[[str, tuple], float]
) -> Ladder:
    """Run one solver with falling tolerance until the strictest target is reached."""
    steps: list[Step] = []
    stop = Timing(status="missed", reason="no tol reaches the target")
    for tol in TOLERANCES:
        try:
            seconds = crew.fit(solver, replace(problem, tol=tol))
            plane = crew.ask(solver, tasks.plane, limit=None)
        except TimeLimitError as error:
            stop = Timing(status="cut", reason=str(error), limit=crew.plan.time_limit)
            break
        except (UnavailableError, TaskError) as error:
            kind = "unavailable" if isinstance(error, UnavailableError) else "failed"
            stop = Timing(status=kind, reason=str(error))
            break
        steps.append(Step(tol, seconds, excess(solver, plane)))
        progress(f"  {solver:10s} tol={tol:g} {seconds:.3f} s, excess {steps[-1].excess:.1e}")
        if steps[-1].excess <= min(TARGETS):
            break
    return Ladder(steps, stop)


def _add_target(
    result: GroupResult, crew: Crew, problem: Problem, target: float, ladders: dict[str, Ladder]
) -> None:
    """Time every solver at the tolerance that reaches the target."""
    reached = {solver: ladder.reaching(target) for solver, ladder in ladders.items()}
    contenders = {
        solver: _fitting(crew, solver, replace(problem, tol=step.tol))
        for solver, step in reached.items()
        if step is not None
    }
    raced = crew.race(contenders)
    timings = {solver: raced.get(solver, ladder.stop) for solver, ladder in ladders.items()}
    ratios = rival_ratios(timings, COMPARED)
    cells = []
    for solver, step in reached.items():
        tol = "" if step is None else f" ({step.tol:g})"
        cells.append(seconds_text(timings[solver]) + tol)
    result.tables[0].add(
        f"{problem.name}, C={problem.C:g}", problem.loss, f"{target:g}", *cells, *ratios.values()
    )
    note_reasons(result.tables[0], timings)
    result.records.append(
        {
            "problem": problem,
            "target": target,
            "steps": {solver: ladder.steps for solver, ladder in ladders.items()},
            "timings": timing_records(timings),
            "ratios": ratios,
        }
    )


def _fitting(crew: Crew, solver: str, problem: Problem) -> Callable[[], float]:
    return lambda: crew.fit(solver, problem)
