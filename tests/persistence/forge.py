"""Forges files with a right checksum and counts what becomes of them.

``python -m tests.persistence.forge --files 2000 --seed 5`` takes the files of the seeds from 5 on
(from a random one without it), each of a model of the zoo with one thing changed: loads it, and
lets what is loaded answer about fresh rows. Whatever is neither refused nor gives the same answers
is printed with its seed; ``--only SEED`` repeats one.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import secrets
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fuzz.crew import Worker

MODELS = "FORGED_MODELS"
"""Variable of the environment by which a process knows of which models files are forged."""

SOUND = ("refused", "same")


class Forger(Worker):
    """A process that forges the files of the seeds that it is given."""

    module = "tests.persistence.forge"

    def _drawn(self, seed: int) -> dict[str, Any]:
        return {"model": "unknown", "done": "", "said": ""}

    def _limits(self) -> list[str]:  # memory is measured file by file
        return ["--patience", str(self.patience)]


def main() -> int:
    """Count outcomes; return 1 if a model was given that does not work."""
    parser = argparse.ArgumentParser(prog="python -m tests.persistence.forge", description=__doc__)
    parser.add_argument("--files", type=int, default=2000, help="how many")
    parser.add_argument("--seed", type=int, nargs="+", help="of the first file, for each run")
    parser.add_argument("--only", type=int, help="forge this one, and say all about it")
    parser.add_argument("--models", default="", help="only those with this in their names")
    parser.add_argument("--patience", type=float, default=20.0, help="processor seconds a file")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        return _serve(given.patience)
    forger = Forger(given.patience)
    forger.environment[MODELS] = given.models
    try:
        if given.only is not None:
            print(json.dumps(forger.judge(given.only), indent=2))
            return 0
        starts = given.seed or [secrets.randbelow(10**9)]
        return max([_run(forger, start, given.files) for start in starts])
    finally:
        forger.close()


def _run(forger: Forger, start: int, count: int) -> int:
    outcomes: Counter[str] = Counter()
    for seed in range(start, start + count):
        found = forger.judge(seed)
        outcomes[found["outcome"]] += 1
        if found["outcome"] not in SOUND:
            words = " | ".join(found.get(key, "") for key in ("model", "done", "said"))
            print(f"{seed} {found['outcome']}: {words}", flush=True)
    print(f"{count} files, seeds {start} to {start + count - 1}: {dict(outcomes)}")
    return int(any(outcomes[name] for name in outcomes if name not in (*SOUND, "another")))


def _serve(patience: float) -> int:
    """Judge the seeds that come in, one a line; what libraries print goes elsewhere.

    Models are made without a limit of time, which is theirs to keep.
    """
    sys.path.insert(0, str(Path(__file__).parents[1]))  # where pytest finds the variants
    from .forge_judge import judge, limit_memory

    out = os.fdopen(os.dup(1), "w", buffering=1)
    sys.stdout = sys.stderr
    limit_memory()
    gc.freeze()  # modules and what they hold are not gone through again
    out.write("ready\n")
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, patience)
        found = judge(int(line), os.environ.get(MODELS, ""))
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        out.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
