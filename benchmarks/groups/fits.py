"""Fits with two classes: time, true gap, objective, and distance from the floor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import catalogue, tasks
from ..crew import Crew
from ..floor import Floor, Rates, floor, measure_rates
from ..measure import Timing
from ..peers import OURS, PEERS, Dual
from ..problems import Data, Problem
from ..quality import Quality, assess, assess_regression
from ..report import GroupResult, Table, number, seconds_text
from .options import Options
from .rivals import ABSENT, note_reasons, rival_ratios, summarise, timing_records

# A solution whose true gap is above this multiple of tol gets a star.
MARKED = 1.5
COMPARED = ["scikit-learn", "intelex", "libsvm"]


def speed(options: Options) -> GroupResult:
    """Run the usual problems."""
    return run_fits("speed", catalogue.speed, options)


def hard(options: Options) -> GroupResult:
    """Large C, noise, overlap."""
    return run_fits("hard", catalogue.hard, options)


def run_fits(
    name: str, list_problems: Callable[[bool], list[Problem]], options: Options
) -> GroupResult:
    """Time the fits of some problems and judge what each peer found."""
    rates = measure_rates(512 if options.quick else 2048)
    result = GroupResult(name)
    with Crew(options.kernel_peers(), options.plan) as crew:
        result.tables = [_time_table(name, crew.peers, rates), _quality_table(name)]
        for problem, data in options.load(list_problems, result):
            timings = crew.time_fits(problem)
            qualities = judge(crew, problem, data, timings)
            _add(result, problem, data, timings, qualities, rates)
    summarise(result, COMPARED)
    return result


def judge(
    crew: Crew, problem: Problem, data: Data, timings: dict[str, Timing]
) -> dict[str, Quality]:
    """Recompute gap and objective of what each peer found."""
    qualities = {}
    for peer, timing in timings.items():
        dual = crew.after_fit(peer, timing, tasks.solution)
        if dual is not None:
            qualities[peer] = _assess(problem, data, dual)
    return qualities


def _assess(problem: Problem, data: Data, dual: Dual) -> Quality:
    parameters: dict[str, Any] = {"C": problem.C, "gamma": data.gamma, "kernel": problem.kernel}
    if problem.epsilon is None:
        return assess(data.X, data.y, dual, **parameters)
    return assess_regression(data.X, data.y, dual, epsilon=problem.epsilon, **parameters)


def _add(
    result: GroupResult,
    problem: Problem,
    data: Data,
    timings: dict[str, Timing],
    qualities: dict[str, Quality],
    rates: Rates,
) -> None:
    """Add one problem to both tables and to the records."""
    ratios = rival_ratios(timings, COMPARED)
    counts = [quality.n_support for quality in qualities.values()]
    least = floor(min(counts), data.X.shape[0], data.X.shape[1], rates) if counts else None
    ours = timings.get(OURS, ABSENT)
    distance = ours.best / least.compute if least and ours.ok else None
    share = 100 * min(counts) / len(data.y) if counts else None
    result.tables[0].add(
        problem.name,
        f"{problem.C:g}",
        number(share, 2),
        *(
            seconds_text(timing) + _mark(qualities.get(peer), problem.tol)
            for peer, timing in timings.items()
        ),
        *ratios.values(),
        *_gap_cells(qualities),
        *_floor_cells(least),
        number(distance),
    )
    note_reasons(result.tables[0], timings)
    lowest = min((quality.objective for quality in qualities.values()), default=0.0)
    for peer, timing in timings.items():
        result.tables[1].add(
            *_quality_row(problem, PEERS[peer].label, timing, qualities.get(peer), lowest)
        )
    record: dict[str, Any] = {
        "problem": problem,
        "gamma": data.gamma,
        "shape": data.X.shape,
        "timings": timing_records(timings),
        "qualities": qualities,
        "ratios": ratios,
        "floor": least,
        "distance from floor": distance,
    }
    result.records.append(record)


def _mark(quality: Quality | None, tol: float) -> str:
    """Return a star for a solution that is not as good as was asked for."""
    return " *" if quality is not None and quality.gap > MARKED * tol else ""


def _gap_cells(qualities: dict[str, Quality]) -> list[str]:
    """Return our gap and the largest of the others."""
    others = [quality.gap for peer, quality in qualities.items() if peer != OURS]
    ours = f"{qualities[OURS].gap:.1e}" if OURS in qualities else "-"
    return [ours, f"{max(others):.1e}" if others else "-"]


def _floor_cells(least: Floor | None) -> list[str]:
    if least is None:
        return ["-"] * 3
    return [number(least.entries / 1e6), number(least.bytes / 1e6), number(1e3 * least.compute)]


def _quality_row(
    problem: Problem, label: str, timing: Timing, quality: Quality | None, lowest: float
) -> list[str]:
    first = [f"{problem.name}, C={problem.C:g}", label, seconds_text(timing)]
    if quality is None:
        return [*first, "-", str(len(timing.seconds)), *["-"] * 7]
    above = (quality.objective - lowest) / abs(lowest) if lowest else 0.0
    return [
        *first,
        number(timing.median),
        str(len(timing.seconds)),
        f"{quality.gap:.2e}",
        f"{quality.objective:.8g}",
        f"{above:.0e}",
        f"{quality.duality_gap:.0e}",
        f"{quality.infeasibility:.0e}",
        str(quality.n_support),
        str(quality.n_bound),
    ]


def _time_table(name: str, peers: list[str], rates: Rates) -> Table:
    columns = ["problem", "C", "SV %", *(f"{PEERS[peer].label} s" for peer in peers)]
    columns += [f"× {rival}" for rival in COMPARED]
    columns += ["gap", "largest other gap", "floor: M entries", "MB", "ms", "× floor"]
    notes = [
        "seconds of one fit, best of all runs; × is the time of the other library, in its fastest "
        "form, over ours; > marks a bound from a run that was cut",
        f"* true gap above {MARKED:g} tol: the solver stopped short of what was asked for; its "
        "time counts all the same",
        f"floor: one kernel value for each pair of a support vector and a row, at {rates}",
    ]
    return Table(f"{name}: fit", columns, notes=notes)


def _quality_table(name: str) -> Table:
    columns = ["problem", "solver", "best s", "median s", "runs", "gap", "objective"]
    columns += ["above best", "duality gap", "infeasible", "SV", "at bound"]
    notes = [
        "gap and objective are recomputed in float64 from support vectors and coefficients, in "
        "the same way for all; above best: relative to the lowest objective of the row's solvers",
        "infeasible: abs(sum(beta)) or excess over the box, relative to C",
    ]
    return Table(f"{name}: what each solver reached", columns, notes=notes)
