"""Many classes: fit time, agreement of the labels, test accuracy, gap of the worst pair."""

from __future__ import annotations

import numpy as np

from .. import catalogue, tasks
from ..crew import Crew
from ..peers import OURS, PEERS
from ..problems import Data, Problem
from ..quality import assess_pairs
from ..report import GroupResult, Table, number, ratio, seconds_text
from .options import Options
from .rivals import ABSENT, note_reasons, rival_ratios, summarise, timing_records

REFERENCE = "sklearn"
COMPARED = ["scikit-learn", "intelex", "libsvm"]
COLUMNS = ("problem", "solver", "fit s", f"time / {OURS}", "runs", "gap of worst pair", "SV")
MORE_COLUMNS = ("test accuracy %", "same label as scikit-learn %")


def run(options: Options) -> GroupResult:
    """Fit one-vs-one machines with every peer."""
    note = "one-vs-one; labels compared on the test rows"
    table = Table("multiclass: fit", [*COLUMNS, *MORE_COLUMNS], notes=[note])
    result = GroupResult("multiclass", [table])
    with Crew(options.kernel_peers(), options.plan) as crew:
        for problem, data in options.load(catalogue.multiclass, result):
            _add(result, crew, problem, data)
    summarise(result, COMPARED)
    return result


def _add(result: GroupResult, crew: Crew, problem: Problem, data: Data) -> None:
    timings = crew.time_fits(problem)
    labels = {peer: crew.after_fit(peer, timing, tasks.labels) for peer, timing in timings.items()}
    outcomes = {}
    for peer, timing in timings.items():
        dual = crew.after_fit(peer, timing, tasks.solution)
        outcome = {
            "gap": dual and assess_pairs(data.X, data.y, dual, C=problem.C, gamma=data.gamma),
            "support": dual and len(dual.support),
            "accuracy": _share(labels[peer], data.y_test),
            "agreement": _share(labels[peer], labels.get(REFERENCE)),
        }
        outcomes[peer] = outcome
        result.tables[0].add(
            f"{problem.name}, C={problem.C:g}",
            PEERS[peer].label,
            seconds_text(timing),
            ratio(timings.get(OURS, ABSENT), timing),
            len(timing.seconds),
            number(outcome["gap"]),
            outcome["support"],
            number(outcome["accuracy"], 4),
            number(outcome["agreement"], 5),
        )
    note_reasons(result.tables[0], timings)
    result.records.append(
        {
            "problem": problem,
            "gamma": data.gamma,
            "shape": data.X.shape,
            "timings": timing_records(timings),
            "outcomes": outcomes,
            "ratios": rival_ratios(timings, COMPARED),
        }
    )


def _share(labels: np.ndarray | None, others: np.ndarray | None) -> float | None:
    """Return the percentage of equal labels."""
    if labels is None or others is None:
        return None
    return 100.0 * float(np.mean(labels == others))
