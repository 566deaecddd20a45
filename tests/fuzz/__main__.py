"""The command line: ``python -m tests.fuzz --help``."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import sys
import time
from collections import Counter
from itertools import count
from pathlib import Path

from .crew import Worker
from .estimators import FIRST
from .program import draw_program
from .regions import KNOWN, is_large

FOLDER = Path("fuzz_findings")

TELL = 5000
"""Programs after which a line says how far a run has come."""


def main() -> int:
    """Run random programs; return 1 if something new was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on")
    parser.add_argument("--seed", type=int, help="run this program only, and say all about it")
    parser.add_argument("--start", type=int, help="first seed; otherwise a random one")
    parser.add_argument("--instruction-set", help="avx512, avx2 or baseline")
    parser.add_argument("--patience", type=float, default=30.0, help="processor seconds a program")
    parser.add_argument("--gigabytes", type=float, default=4.0, help="memory of a program")
    parser.add_argument("--large", action="store_true", help="only programs with huge numbers")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        return _serve(given.patience, given.gigabytes)
    worker = Worker(given.patience, given.instruction_set, given.gigabytes)
    try:
        if given.seed is not None:
            found = worker.judge(given.seed)
            print(json.dumps(found, indent=2, default=str))
            return int(bool(found["findings"]))
        return _run(worker, given)
    finally:
        worker.close()


def _run(worker: Worker, given: argparse.Namespace) -> int:
    start = FIRST + secrets.randbelow(10**9) if given.start is None else given.start
    end = time.monotonic() + 60 * given.minutes
    outcomes: Counter[str] = Counter()
    new = known = 0
    last = start - 1
    try:
        for seed in count(start):
            if time.monotonic() > end:
                break
            last = seed
            if given.large and not is_large(draw_program(seed)):
                continue
            found = worker.judge(seed)
            outcomes[found["outcome"]] += 1
            if found["findings"]:
                known, new = known + bool(found["region"]), new + (not found["region"])
                _save(found, given.instruction_set)
            if outcomes.total() % TELL == 0:
                print(f"{outcomes.total()} programs until seed {seed}, {new} findings", flush=True)
    except KeyboardInterrupt:
        last -= 1
    worker.close()  # and its time becomes known
    spent = os.times().children_user + os.times().children_system
    print(f"{outcomes.total()} programs, seeds {start} to {last}: {dict(outcomes)}")
    print(f"{new} with new findings, {known} in known regions ({', '.join(KNOWN) or 'none'})")
    print(f"{spent / 60:.1f} minutes of processor time")
    return int(new > 0)


def _save(found: dict, instruction_set: str | None) -> None:
    """Write a small file, and a line for whoever looks on."""
    FOLDER.mkdir(exist_ok=True)
    found = {**found, "instruction_set": instruction_set}
    path = FOLDER / f"seed_{found['seed']}.json"
    path.write_text(json.dumps(found, indent=2, default=str) + "\n", encoding="utf-8")
    where = f" (known: {found['region']})" if found["region"] else ""
    first = found["findings"][0].strip().splitlines()[0]
    print(f"seed {found['seed']}, {found['drawn']['kind']}{where}: {first[:160]}", flush=True)


def _serve(patience: float, gigabytes: float) -> int:
    """Judge the seeds that come in, one a line; what estimators print goes elsewhere.

    The signal ends the process, also where it does not come back from the engine.
    """
    from .judge import judge

    out = os.fdopen(os.dup(1), "w", buffering=1)
    sys.stdout = sys.stderr
    out.write("ready\n")
    _bound_memory(gigabytes)
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, patience)
        judgement = judge(int(line))
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        out.write(json.dumps(judgement, default=str) + "\n")
    return 0


def _bound_memory(gigabytes: float) -> None:
    """Allow so much more memory than there is now; whoever needs more gets an error (Linux)."""
    status = Path("/proc/self/statm")
    if status.exists():
        import resource  # there is none on Windows

        now = int(status.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        most = now + int(1e9 * gigabytes)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    sys.exit(main())
