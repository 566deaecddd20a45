"""The first fit of a process: ``python -m benchmarks.first_fit ROWS`` prints seconds as JSON."""

from __future__ import annotations

import time

START = time.perf_counter()

import json  # noqa: E402
import sys  # noqa: E402

from mercer import SVC  # noqa: E402

IMPORTED = time.perf_counter()


def main(rows: int) -> None:
    """Fit twice; drawing the rows and, in its place, what stands in for a card is not counted."""
    from .card import measured_device
    from .gpu_problems import easy

    problem = easy(rows)
    X, y = problem.draw()
    seconds = {"import": IMPORTED - START}
    model = SVC(C=problem.C, gamma=problem.gamma, device="cuda")
    for name in ("first", "second"):
        begin = time.perf_counter()
        with measured_device():
            model.fit(X, y)
        seconds[name] = time.perf_counter() - begin
    print(json.dumps({**seconds, "process": time.perf_counter() - START}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
