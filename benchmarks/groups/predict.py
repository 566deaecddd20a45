"""Prediction: decision values and labels of fitted models for rows not seen before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .. import catalogue, tasks
from ..crew import Crew, progress
from ..measure import Timing
from ..peers import OURS, PEERS
from ..problems import Data, Problem
from ..report import GroupResult, Table, number, seconds_text
from .options import Options
from .rivals import note_reasons, rival_ratios, summarise, timing_records

REFERENCE = "sklearn"
COMPARED = ["scikit-learn", "intelex"]
METHODS = {"decide": "decision_function", "predict": "predict"}


def run(options: Options) -> GroupResult:
    """Fit each model once and time both methods of every peer."""
    peers = options.choose(["mercer", "sklearn", "intelex", "intelex32"])
    columns = ["problem", "rows", "method", *(f"{PEERS[peer].label} s" for peer in peers)]
    columns += [*(f"× {rival}" for rival in COMPARED), "difference from scikit-learn"]
    note = (
        "every model comes from its own library; difference: largest absolute difference of "
        "decision values (two classes), or share of labels that differ"
    )
    result = GroupResult("predict", [Table("predict: seconds", columns, notes=[note])])
    with Crew(peers, options.plan) as crew:
        for problem, data in options.load(catalogue.predict, result):
            _add(result, crew, problem, data)
    summarise(result, COMPARED)
    return result


def _add(result: GroupResult, crew: Crew, problem: Problem, data: Data) -> None:
    fits = crew.time_fits(problem, replace(crew.plan, repeats=1, most=1))
    fitted = [peer for peer, timing in fits.items() if timing.ok]
    for method, method_name in METHODS.items():
        progress(f"  {method_name}")
        raced = crew.race({peer: _predicting(crew, peer, method) for peer in fitted})
        timings = {peer: raced.get(peer, timing) for peer, timing in fits.items()}
        difference = _difference(crew, fits, method, len(np.unique(data.y)) == 2)
        ratios = rival_ratios(timings, COMPARED)
        result.tables[0].add(
            f"{problem.name}, C={problem.C:g}",
            len(data.X_test),
            method_name,
            *(seconds_text(timing) for timing in timings.values()),
            *ratios.values(),
            number(difference),
        )
        note_reasons(result.tables[0], timings)
        result.records.append(
            {
                "problem": problem,
                "method": method_name,
                "rows": len(data.X_test),
                "timings": timing_records(timings),
                "difference": difference,
                "ratios": ratios,
            }
        )


def _predicting(crew: Crew, peer: str, method: str) -> Callable[[], float]:
    return lambda: crew.ask(peer, tasks.time_predict, method, limit=crew.plan.time_limit)


def _difference(crew: Crew, fits: dict[str, Timing], method: str, binary: bool) -> float | None:
    """Compare our answers with scikit-learn's."""
    if OURS not in fits or REFERENCE not in fits:
        return None
    task = tasks.decision_values if method == "decide" else tasks.labels
    ours, theirs = (crew.after_fit(peer, fits[peer], task) for peer in (OURS, REFERENCE))
    if ours is None or theirs is None or (method == "decide" and not binary):
        return None
    if method == "decide":
        return float(np.max(np.abs(ours - theirs)))
    return float(np.mean(ours != theirs))
