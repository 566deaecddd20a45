"""A process that has imported what tests import, and forks for each of their runs.

``python -m tests.mutation.nursery`` reads runs from its input, a line of JSON each, and answers
with a line for each: the status that it ended with, and its processor seconds.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

IMPORTED = [
    *["clarabel", "hypothesis", "joblib", "numpy", "pytest", "threadpoolctl"],
    *[f"scipy.{name}" for name in ("linalg", "optimize", "sparse", "spatial", "special", "stats")],
    *["sklearn.calibration", "sklearn.datasets", "sklearn.model_selection", "sklearn.pipeline"],
    *["sklearn.preprocessing", "sklearn.svm", "sklearn.utils.estimator_checks"],
]
"""Most of the time of a short run would be spent on these; mercer is of each run."""


def main() -> None:
    """Run what is asked for until there is no more."""
    answers = os.fdopen(os.dup(1), "w")
    for name in IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        status, seconds = _waited_for(json.loads(line))
        print(json.dumps([status, seconds]), file=answers, flush=True)


def _waited_for(run: dict[str, Any]) -> tuple[int, float]:
    child = os.fork()
    if child == 0:
        os._exit(_tests(**run))
    until = time.monotonic() + run["longest"]
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)


def _tests(
    folder: str,
    arguments: list[str],
    patience: float,
    longest: float,
    settings: dict[str, str],
    report: str,
) -> int:
    """Run pytest on the package in a folder; what it prints goes to the report."""
    os.setsid()
    with open(report, "w") as file, open(os.devnull) as nothing:
        for number, stream in enumerate((nothing, file, file)):
            os.dup2(stream.fileno(), number)
    resource.setrlimit(resource.RLIMIT_CPU, 2 * (round(patience) + 1,))
    os.environ.update(settings, PYTHONPATH=folder)
    # The copy comes first: an editable installation would otherwise be found before it.
    sys.meta_path = [finder for finder in sys.meta_path if "ditable" not in repr(finder)]
    sys.path.insert(0, folder)
    import pytest

    import mercer

    assert Path(mercer.__file__).is_relative_to(folder)
    status = int(pytest.main(arguments))
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    main()
