"""Change one line at a time and report the changes that no test notices."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from mercer import _engine

from .equivalents import outdated, read_equivalents
from .mutants import Mutant, mutants_of
from .order import Order
from .runner import Runner
from .workshop import ROOT, Workshop

LONGEST = 600.0
"""Processor seconds for the tests as they are."""

PATIENCE = "how many times as long the tests may take, in processor time (default: 3)"
SOURCES = ROOT / "src" / "mercer"
TESTS = {
    "engine": [  # without what compiles the engine itself, from where it is not changed
        "tests/engine/test_verdict.py",
        "tests/solvers/test_programs.py",
        "tests/solvers/test_path.py",
        "tests/solvers/test_degenerate.py",
        "tests/solvers/test_smo.py",
        "tests/gram",
        "tests/feature_selection/test_linear_elimination.py",
        "tests/solvers/test_bounded_start.py",
        "tests/engine/test_engine.py",
        "tests/engine/test_refusals.py",
        "tests/svm/test_crammer_singer.py",
    ],
    "model_selection": ["tests/model_selection"],
    "problems": ["tests/problems", "tests/engine/test_verdict.py", "tests/solvers/test_exact.py"],
    "solvers": ["tests/solvers", "tests/svm/test_crammer_singer.py"],
    "svm": [  # without the zoos, which are slow
        "tests/svm/test_geometry.py",
        "tests/svm/test_crammer_singer.py",
        "tests/svm/test_against_libsvm.py",
        "tests/svm/test_svr_against_libsvm.py",
        "tests/svm/test_svr.py::test_squared_loss_without_a_tube_is_ridge_regression",
        "tests/svm/test_offset.py",
        "tests/svm/test_hard_margin.py",
        "tests/svm/test_svr_limits.py",
        "tests/svm/test_limits.py::test_converged_means_all_machines",
        "tests/test_common.py::test_zero_weight_is_removal",
        "tests/test_common.py::test_a_class_of_weight_zero_is_gone",
        "tests/test_common.py::test_bad_input_gets_one_sentence",
        "tests/test_common.py::test_documented_attributes",
        "tests/test_common.py::test_slack_of_many_classes",
        "tests/test_common.py::test_verbose_says_one_line",
        "tests/svm/test_probability.py::test_without_probability_there_is_none",
        "tests/calibration/test_platt.py",
    ],
}

TESTS_OF_LOOPS = [
    f"tests/engine/test_hot_loops.py::{test}"
    for test in ("test_as_shipped", "test_vectors_of_other_compilers")
]
"""They compile the hot loops, so that they are run only where no other test notices a change."""
SAME = "nothing to notice: the same engine"


def main() -> int:
    """Return 1 where more than one in twenty survives, or the list of equivalents is outdated."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("package", help="engine, or a package of mercer such as solvers")
    parser.add_argument("--count", type=int, default=40, help="changes to try (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--skip", type=int, default=0, help="go on after so many of them")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    parser.add_argument("--tests", nargs="+", help="default: those of the package")
    parser.add_argument("--patience", type=float, default=3.0, help=PATIENCE)
    given = parser.parse_args()
    tests = given.tests or TESTS.get(given.package, [f"tests/{given.package}"])
    equivalents = read_equivalents()
    gone = outdated(equivalents, SOURCES, ROOT)
    for entry in gone:
        print(f"no such line any more: {entry.file}: {entry.line} -> {entry.new}")
    everything = drawn(given.package, given.count, given.seed)[given.skip :]
    chosen = [
        mutant for mutant in everything if not any(entry.is_change(mutant) for entry in equivalents)
    ]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        trials = Trials(given.package, tests, Path(folder), given.jobs)
        trials.patience = given.patience * trials.unchanged()
        notices = list(pool.map(trials.notice, chosen))
    n_changes, n_left = len(notices) - notices.count(SAME), notices.count(None)
    print(
        f"{given.package}: {n_changes} changes, {n_left} not noticed; "
        f"beside {len(everything) - n_changes} that change nothing"
    )
    return int(20 * n_left > n_changes or bool(gone))


def drawn(package: str, count: int, seed: int) -> list[Mutant]:
    """Return some of the changes of a package, always the same for a seed."""
    folder = ROOT / "engine" if package == "engine" else SOURCES / package
    pattern = "*.[ch]pp" if package == "engine" else "*.py"
    files = sorted(folder.rglob(pattern)) if folder.is_dir() else [folder.with_suffix(".py")]
    everything = [mutant for file in files for mutant in mutants_of(Path(file))]
    return random.Random(seed).sample(everything, min(count, len(everything)))


class Trials:
    """The tests of a package, run again and again.

    Parameters
    ----------
    package : str
    tests : list of str
    folder : Path
        Where the engine is compiled, if it is what changes.
    jobs : int
        How many run at a time.
    """

    patience = LONGEST

    def __init__(self, package: str, tests: list[str], folder: Path, jobs: int) -> None:
        self._order = Order(tests)
        self._places: Queue[tuple[Runner, Workshop | None]] = Queue()
        for job in range(jobs):
            (folder / str(job)).mkdir()
            of_engine = Workshop(folder / str(job)) if package == "engine" else None
            self._places.put((Runner(), of_engine))

    def unchanged(self) -> float:
        """Return the processor seconds of the tests where nothing is changed."""
        failed, seconds = self._run(None)
        if failed:
            sys.exit(f"{failed} fails or lasts too long as it is.")
        return seconds

    def notice(self, mutant: Mutant) -> str | None:
        """Return which test fails, and print it: a run cut short tells what it has done."""
        failed, _ = self._run(mutant)
        if failed is None:
            print(f"not noticed: {mutant}    {mutant.marked()}", flush=True)
        elif failed == SAME:
            print(f"alters nothing: {mutant}    {mutant.marked()}", flush=True)
        else:
            self._order.note(failed)
            print(f"noticed: {mutant}    {failed}", flush=True)
        return failed

    def _run(self, mutant: Mutant | None) -> tuple[str | None, float]:
        runner, workshop = self._places.get()
        try:
            return self._run_at(runner, workshop, mutant)
        finally:
            self._places.put((runner, workshop))

    def _run_at(
        self, runner: Runner, workshop: Workshop | None, mutant: Mutant | None
    ) -> tuple[str | None, float]:
        engine = Path(_engine.__file__) if workshop is None else workshop.engine(mutant)
        if engine is None:
            return "the compiler", 0.0
        found: tuple[str | None, float] = SAME, 0.0
        if mutant is None or workshop is None or not workshop.is_unchanged(engine):
            tests = self._order.tests(mutant)
            found = runner.who_notices(mutant, engine, tests, self.patience)
        if workshop is None or found[0] not in (None, SAME):
            return found
        if mutant is None or workshop.is_of_loops(mutant):
            checked = {"MERCER_CHECKED_SOURCES": str(workshop.folder)}
            more = runner.who_notices(mutant, engine, TESTS_OF_LOOPS, self.patience, **checked)
            return more[0], found[1] + more[1]
        return found


if __name__ == "__main__":
    sys.exit(main())
