"""Change one line at a time and report the changes that no test notices."""

from __future__ import annotations

import argparse
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .equivalents import outdated, read_equivalents
from .mutants import Mutant, mutants_of
from .trial import ROOT, is_noticed

SOURCES = ROOT / "src" / "mercer"
TESTS = {
    "engine": ["tests/engine", "tests/solvers", "tests/svm"],
    "model_selection": ["tests/model_selection"],
    "problems": ["tests/problems", "tests/engine/test_verdict.py", "tests/solvers/test_exact.py"],
    "svm": [  # without the zoos, which are slow
        "tests/svm/test_geometry.py",
        "tests/svm/test_against_libsvm.py",
        "tests/svm/test_svr_against_libsvm.py",
        "tests/svm/test_svr.py::test_squared_loss_without_a_tube_is_ridge_regression",
        "tests/svm/test_offset.py",
        "tests/svm/test_hard_margin.py",
        "tests/svm/test_svr_limits.py",
        "tests/svm/test_limits.py::test_converged_means_all_machines",
        "tests/test_common.py::test_zero_weight_is_removal",
        "tests/test_common.py::test_a_class_of_weight_zero_is_gone",
        "tests/test_common.py::test_documented_attributes",
        "tests/test_common.py::test_slack_of_many_classes",
        "tests/test_common.py::test_verbose_says_one_line",
        "tests/calibration/test_platt.py",
    ],
}


def main() -> int:
    """Return 1 where more than one in twenty survives, or the list of equivalents is outdated."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("package", help="engine, or a package of mercer such as solvers")
    parser.add_argument("--count", type=int, default=40, help="changes to try (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    parser.add_argument("--tests", nargs="+", help="default: those of the package")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds for the tests")
    given = parser.parse_args()
    tests = given.tests or TESTS.get(given.package, [f"tests/{given.package}"])
    if is_noticed(None, tests, given.patience):
        sys.exit(f"{' '.join(tests)} fail or last too long as it is.")
    equivalents = read_equivalents()
    gone = outdated(equivalents, SOURCES)
    for entry in gone:
        print(f"no such line any more: {entry.file}: {entry.line} -> {entry.new}")
    everything = drawn(given.package, given.count, given.seed)
    chosen = [
        mutant for mutant in everything if not any(entry.is_change(mutant) for entry in equivalents)
    ]
    with ThreadPoolExecutor(given.jobs) as pool:
        noticed = list(pool.map(lambda mutant: _tried(mutant, tests, given.patience), chosen))
    survivors = [mutant for mutant, seen in zip(chosen, noticed) if not seen]
    print(
        f"{given.package}: {len(chosen)} changes, {len(survivors)} not noticed; "
        f"beside {len(everything) - len(chosen)} that change nothing"
    )
    return int(20 * len(survivors) > len(chosen) or bool(gone))


def drawn(package: str, count: int, seed: int) -> list[Mutant]:
    """Return some of the changes of a package, always the same for a seed."""
    folder = ROOT / "engine" if package == "engine" else SOURCES / package
    pattern = "*.[ch]pp" if package == "engine" else "*.py"
    files = sorted(folder.rglob(pattern)) if folder.is_dir() else [folder.with_suffix(".py")]
    everything = [mutant for file in files for mutant in mutants_of(Path(file))]
    return random.Random(seed).sample(everything, min(count, len(everything)))


def _tried(mutant: Mutant, tests: list[str], patience: float) -> bool:
    seen = is_noticed(mutant, tests, patience)
    if not seen:
        print(f"not noticed: {mutant}    {mutant.marked()}", flush=True)
    return seen


if __name__ == "__main__":
    sys.exit(main())
