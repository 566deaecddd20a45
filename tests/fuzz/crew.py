"""Programs run in another process, so that a hang or a crash is a finding and not the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from .program import draw_program
from .regions import region_of

ROOT = Path(__file__).parents[2]

ASLEEP = 20.0
"""Times the patience on the clock: whoever waits for a lock uses no processor."""


class Worker:
    """A process that judges one seed after another.

    Parameters
    ----------
    patience : float
        Processor seconds after which a program counts as hanging, so that a busy machine is none.
    instruction_set : str or None
        What the engine may use, everything for None.
    gigabytes : float
        Memory beyond what the libraries take, more than any of these programs should need.
    """

    module = "tests.fuzz"

    def __init__(
        self, patience: float, instruction_set: str | None = None, gigabytes: float = 4.0
    ) -> None:
        self.patience = patience
        self.gigabytes = gigabytes
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
        if instruction_set is not None:
            self.environment["MERCER_INSTRUCTION_SET"] = instruction_set
        self._process: Any = None

    def judge(self, seed: int) -> dict[str, Any]:
        """Return the judgement of a seed, whatever happens to the process."""
        process = self._running()
        process.stdin.write(f"{seed}\n")
        process.stdin.flush()
        late = threading.Event()
        end = threading.Timer(ASLEEP * self.patience, lambda: (late.set(), process.kill()))
        end.start()
        line = process.stdout.readline()  # empty as soon as the process has ended
        end.cancel()
        if line:
            return json.loads(line)
        self.close()
        hung = late.is_set() or process.returncode == -signal.SIGPROF
        what = f"no end within {self.patience} s" if hung else f"exit status {process.returncode}"
        outcome = "hung" if hung else "crashed"
        return {"seed": seed, "outcome": outcome, "findings": [what], **self._drawn(seed)}

    def _drawn(self, seed: int) -> dict[str, Any]:
        """Return what is known of a seed without judging it."""
        program = draw_program(seed)
        return {"region": region_of(program), "drawn": program.drawn}

    def _running(self) -> Any:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self.module, "--serve", *self._limits()],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                bufsize=1,
            )
            assert self._process.stdout.readline() == "ready\n"
        return self._process

    def _limits(self) -> list[str]:
        return ["--patience", str(self.patience), "--gigabytes", str(self.gigabytes)]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
