"""A copy of the package with one change, and the tests that should notice."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from .mutants import Mutant
from .workshop import ROOT

ASLEEP = 20.0
"""Times the patience on the clock: whoever waits for a lock uses no processor."""


class Runner:
    """Runs tests on copies of the package, one after another."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.mutation.nursery"]
        self._nursery = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def who_notices(
        self,
        mutant: Mutant | None,
        engine: Path,
        tests: list[str],
        patience: float,
        **settings: str,
    ) -> tuple[str | None, float]:
        """Return the first test that fails with the change in place, or what else goes wrong.

        Parameters
        ----------
        mutant : Mutant or None
            None changes nothing, which no test should notice.
        engine : Path
            As it is compiled with the change.
        tests : list of str
        patience : float
            Processor seconds, so that a busy machine notices nothing.
        **settings : str
            Of the environment.

        Returns
        -------
        str or None
            None where all tests pass.
        float
            The processor seconds that the tests took.
        """
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "mercer"
            # With what Python has compiled, which is sooner read than made again.
            left_out = shutil.ignore_patterns("_engine*")
            shutil.copytree(ROOT / "src" / "mercer", package, ignore=left_out)
            shutil.copy(engine, package)
            if mutant is not None and mutant.path.suffix == ".py":
                changed = package / mutant.path.relative_to(ROOT / "src" / "mercer")
                changed.write_text(mutant.applied(), encoding="utf-8")
                for compiled in (changed.parent / "__pycache__").glob(f"{changed.stem}.*"):
                    compiled.unlink()
                tests = [str(changed), *tests]  # its examples
            return self._first_failure(Path(folder), tests, patience, settings)

    def _first_failure(
        self, folder: Path, tests: list[str], patience: float, settings: dict[str, str]
    ) -> tuple[str | None, float]:
        arguments = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "-q", "-x"]
        report = folder / "report"
        run = {
            "folder": str(folder),
            "arguments": [*arguments, *"-n 0 -p no:cacheprovider -p no:randomly".split(), *tests],
            "patience": patience,
            "longest": ASLEEP * patience,
            "settings": settings,
            "report": str(report),
        }
        print(json.dumps(run), file=_present(self._nursery.stdin), flush=True)
        status, seconds = json.loads(_present(self._nursery.stdout).readline())
        if status == 0:
            return None, seconds
        text = report.read_text(encoding="utf-8", errors="replace")
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
        return failed[1] if failed else f"the end of the run (status {status})", seconds


def _present(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream
