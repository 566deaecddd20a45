"""Programs run in another process, so that a hang or a crash is a finding and not the end."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

from .program import draw_program
from .regions import region_of

ROOT = Path(__file__).parents[2]


class Worker:
    """A process that judges one seed after another.

    Parameters
    ----------
    patience : float
        Seconds after which a program counts as hanging.
    instruction_set : str or None
        What the engine may use, everything for None.
    """

    def __init__(self, patience: float, instruction_set: str | None = None) -> None:
        self.patience = patience
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
        if instruction_set is not None:
            self.environment["MERCER_INSTRUCTION_SET"] = instruction_set
        self._process: Any = None

    def judge(self, seed: int) -> dict[str, Any]:
        """Return the judgement of a seed, whatever happens to the process."""
        process = self._running()
        process.stdin.write(f"{seed}\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self.patience)
        line = process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.close()
        what = f"exit status {process.returncode}" if ready else f"no end within {self.patience} s"
        program = draw_program(seed)
        return {
            "seed": seed,
            "region": region_of(program),
            "outcome": "crashed" if ready else "hung",
            "findings": [what],
            "drawn": program.drawn,
        }

    def _running(self) -> Any:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz", "--serve"],
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

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
