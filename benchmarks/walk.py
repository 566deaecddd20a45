"""How far one walks through the package in a fit: ``python benchmarks/walk.py``.

Counts, for fits of each estimator on breast_cancer (scaled) after the first, the calls of functions
of mercer, the files that these stand in, and how often one call stands in another package than the
call before it in the same thread: of three fits the one with the fewest such changes, since beside
other work threads take turns otherwise, which adds one or two. Modules directly below mercer count
as one package. It is run as a file, so that the Python of another checkout can run it.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from mercer import SVC
from mercer.feature_selection import KernelRFE
from mercer.model_selection import GradientSearch, PathSearchCV

GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1]}

WALKS: dict[str, Callable[[], Any]] = {
    "SVC": SVC,
    "PathSearchCV": lambda: PathSearchCV(SVC(), GRID, n_jobs=1),
    "GradientSearch": GradientSearch,
    "KernelRFE": lambda: KernelRFE(SVC()),
}


def modules_called(work: Callable[[], Any]) -> list[list[str]]:
    """Return the module of each call of a function of mercer, one list for each thread."""
    calls: dict[int, list[str]] = defaultdict(list)

    def note(frame: FrameType, event: str, _: Any) -> None:
        module = str(frame.f_globals.get("__name__"))
        if event == "call" and module.split(".")[0] == "mercer":
            calls[threading.get_ident()].append(module)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(calls.values())


def package(module: str) -> str:
    """Return the package of a module.

    Examples
    --------
    >>> package("mercer.gram.base"), package("mercer._inputs")
    ('gram', 'mercer')
    """
    below = module.split(".")[1:2]
    return "mercer" if not below or below[0].startswith("_") else below[0]


def changes_of(threads: list[list[str]]) -> int:
    """Return how often one call stands in another package than the one before it.

    Examples
    --------
    >>> changes_of([["mercer.svm.svc", "mercer.gram.base", "mercer.gram.pairwise"], ["mercer.svm"]])
    1
    """
    packages = [[package(module) for module in calls] for calls in threads]
    return sum(a != b for walk in packages for a, b in pairwise(walk))


def main() -> None:
    """Print one line for each walk."""
    warnings.simplefilter("ignore")
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    print(f"{'fit of':16}{'calls':>8}{'files':>8}{'changes of package':>22}")
    for name, make in WALKS.items():
        make().fit(X, y)  # imports and caches
        fits = [make() for _ in range(3)]
        walks = [modules_called(lambda fit=fit: fit.fit(X, y)) for fit in fits]
        threads = min(walks, key=changes_of)
        changes = changes_of(threads)
        files = {module for calls in threads for module in calls}
        print(f"{name:16}{sum(map(len, threads)):8}{len(files):8}{changes:22}")


if __name__ == "__main__":
    main()
