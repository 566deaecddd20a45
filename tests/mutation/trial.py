"""A copy of the package with one change, and the tests that should notice."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mercer import _engine

from .mutants import Mutant
from .workshop import ROOT, Workshop

ASLEEP = 20.0
"""Times the patience on the clock: whoever waits for a lock uses no processor."""

SAME = "nothing to notice: the same engine"


def who_notices(
    mutant: Mutant | None, tests: list[str], patience: float, workshop: Workshop | None = None
) -> str | None:
    """Return the first test that fails with the change in place, or what else goes wrong.

    Parameters
    ----------
    mutant : Mutant or None
        None changes nothing, which no test should notice.
    tests : list of str
    patience : float
        Processor seconds, so that a busy machine notices nothing.
    workshop : Workshop or None
        Where the engine is compiled, without which it stays as it is.

    Returns
    -------
    str or None
        None where all tests pass, SAME where the compiler makes no difference.
    """
    engine = Path(_engine.__file__) if workshop is None else workshop.engine(mutant)
    if engine is None:
        return "the compiler"
    if mutant is not None and workshop is not None and workshop.is_unchanged(engine):
        return SAME
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "mercer"
        left_out = shutil.ignore_patterns("__pycache__", "_engine*")
        shutil.copytree(ROOT / "src" / "mercer", package, ignore=left_out)
        shutil.copy(engine, package)
        if mutant is not None and mutant.path.suffix == ".py":
            changed = package / mutant.path.relative_to(ROOT / "src" / "mercer")
            changed.write_text(mutant.applied(), encoding="utf-8")
            tests = [str(changed), *tests]  # its examples
        return _first_failure(Path(folder), tests, patience)


def processor_seconds() -> float:
    """Return what the processes have used that were started from here and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _first_failure(folder: Path, tests: list[str], patience: float) -> str | None:
    # The copy comes first: an editable installation would otherwise be found before it.
    start = (
        f"import resource; resource.setrlimit(resource.RLIMIT_CPU, 2 * ({round(patience) + 1},)); "
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'ditable' not in repr(f)]; "
        f"sys.path.insert(0, {str(folder)!r}); import mercer; "
        f"assert mercer.__file__.startswith({str(folder)!r}); "
        "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    )
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    options = [
        *settings,
        "-q",
        "-x",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        *tests,
    ]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", start, *options],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            timeout=ASLEEP * patience,
        )
    except subprocess.TimeoutExpired:
        return "the clock"
    if done.returncode == 0:
        return None
    failed = re.search(
        r"^(?:FAILED|ERROR) (\S+)", done.stdout.decode(errors="replace"), re.MULTILINE
    )
    return failed[1] if failed else f"the end of the run (status {done.returncode})"
