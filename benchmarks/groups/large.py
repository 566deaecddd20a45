"""A hundred thousand rows in 4 GiB of address space."""

from __future__ import annotations

from .. import catalogue, tasks
from ..crew import PREPARATION_LIMIT, progress
from ..machine import GIB
from ..measure import Timing
from ..peers import PEERS, UnavailableError
from ..problems import Data, Problem
from ..quality import assess
from ..report import GroupResult, Table, number, seconds_text
from ..worker import TaskError, TimeLimitError, Worker
from .options import Options
from .rivals import note_reasons

MEMORY = 4 * GIB
COLUMNS = ("problem", "solver", "seconds", "peak MB", "gap", "objective", "duality gap", "SV %")


def run(options: Options) -> GroupResult:
    """Fit each problem once with each peer, in a fresh process with limited memory."""
    notes = [
        f"one fit in a process whose address space is limited to {MEMORY / GIB:g} GiB; the peak is "
        "that of the whole process"
    ]
    result = GroupResult("large", [Table("large: bounded memory", COLUMNS, notes=notes)])
    peers = options.kernel_peers() if options.peers else ["mercer", "intelex32"]
    for problem, data in options.load(catalogue.large, result):
        progress(f"{problem.name} ({problem.parameters})")
        for peer in peers:
            _add(result, peer, problem, data, options.plan.time_limit)
    return result


def _add(result: GroupResult, peer: str, problem: Problem, data: Data, limit: float) -> None:
    worker = Worker(memory_limit=MEMORY)
    timing, peak, quality = Timing(), None, None
    try:
        worker.call(tasks.prepare, peer, problem, timeout=PREPARATION_LIMIT)
        seconds, _, peak = worker.call(tasks.fit_with_peak, peer, timeout=limit)
        timing.seconds.append(seconds)
        dual = worker.call(tasks.solution, peer, timeout=PREPARATION_LIMIT)
        quality = assess(data.X, data.y, dual, C=problem.C, gamma=data.gamma)
    except TimeLimitError as error:
        timing = Timing(status="cut", reason=str(error), limit=limit)
    except (TaskError, UnavailableError) as error:
        kind = "unavailable" if isinstance(error, UnavailableError) else "failed"
        timing = Timing(status=kind, reason=str(error))
    finally:
        worker.stop()
    outcome = seconds_text(timing)
    progress(f"  {peer:10s} {outcome} {timing.reason}")
    result.tables[0].add(
        f"{problem.name}, C={problem.C:g}",
        PEERS[peer].label,
        outcome,
        number(peak / 1e6 if peak else None),
        number(quality.gap if quality else None),
        f"{quality.objective:.8g}" if quality else None,
        number(quality.duality_gap if quality else None),
        number(100 * quality.n_support / len(data.y) if quality else None),
    )
    note_reasons(result.tables[0], {peer: timing})
    result.records.append(
        {
            "problem": problem,
            "peer": peer,
            "timing": vars(timing),
            "peak": peak,
            "quality": quality,
        }
    )
