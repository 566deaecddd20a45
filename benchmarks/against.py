"""One checkout against another: ``python -m benchmarks.against ../before``.

All works that both know (fits, predictions, searches, everything public on two data sets), each
checkout in a process of its own, interleaved, best of several. A checkout is run by the Python of
its ``.venv`` where it has one, else by this one with mercer as it lies in ``src/``. With
``--answers`` nothing is timed: the models of both say what they think of the rows they have seen.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import machine
from .crew import progress
from .measure import Plan, Timing, interleave
from .report import GroupResult, Table, geometric_mean, head, ratio, seconds_text, write_json
from .worker import TaskError

HERE = Path(__file__).parents[1]
WORKER = Path(__file__).with_name("checkout_worker.py")
DATA = ("breast_cancer", "digits")
"""Sets of the public works, as `checkout_worker` names them."""


class Checkout:
    """A process in the folder of a checkout.

    Parameters
    ----------
    folder : Path
        Root of the checkout.
    processor : bool, default=False
        Whether seconds are those of the processor (with all threads), not of the clock.
    """

    def __init__(self, folder: Path, processor: bool = False) -> None:
        own, environment = folder / ".venv" / "bin" / "python", dict(os.environ)
        if not own.exists():  # built in place, then
            own = Path(sys.executable)
            places = [str(folder.resolve() / "src"), environment.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, places))
        self._process = subprocess.Popen(
            [str(own), str(WORKER), *(["--processor"] if processor else [])],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.works: list[str] = self._answer()

    def seconds(self, work: str) -> float:
        """Return the seconds of one run."""
        return float(self._asked(work)["seconds"])

    def numbers(self, work: str) -> NDArray[np.float64]:
        """Return what the model of a work says of its rows, or the value of a function."""
        return np.array(self._asked([work])["numbers"])

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _asked(self, question: Any) -> Any:
        assert self._process.stdin is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        answer = self._answer()
        if "error" in answer:
            raise TaskError(answer["error"])
        return answer

    def _answer(self) -> list | dict:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of a checkout ended with {self._process.wait()}")
        return json.loads(line)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the file."""
    given = parser().parse_args(arguments)
    facts = machine.describe()
    print(head(facts), flush=True)
    plan = Plan(repeats=given.repeats, budget=2.0)
    part = {"match": given.match, "share": given.share}
    if given.answers:
        result = differences(HERE, given.other, **part)
    else:
        result = compare(HERE, given.other, plan, **part, processor=given.processor)
    print(result)
    if given.json is not None:
        write_json(given.json, facts, [result])
    return 0


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    line = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    line.add_argument("other", type=Path, help="root of the other checkout")
    line.add_argument("--match", default="", metavar="TEXT", help="only works that contain TEXT")
    line.add_argument("--repeats", type=int, default=5, help="runs at least (default: 5)")
    line.add_argument(
        "--share", default="1/1", help="K/N: every Nth work from the Kth on (default: all)"
    )
    line.add_argument(
        "--processor",
        action="store_true",
        help="time of the processor, for machines that do other work too (with OMP_NUM_THREADS=1)",
    )
    line.add_argument(
        "--answers", action="store_true", help="compare what the models say, not their times"
    )
    line.add_argument("--json", type=Path, metavar="FILE", help="write all records")
    return line


def compare(
    here: Path,
    other: Path,
    plan: Plan,
    *,
    match: str = "",
    share: str = "1/1",
    processor: bool = False,
) -> GroupResult:
    """Time the works that both checkouts know, those that match and of them a share."""
    note = "ratio: how many times as long the other takes; best of interleaved runs"
    note += " (processor time)" if processor else ""
    table = Table("against", ["work", "here, s", "other, s", "ratio"], notes=[note])
    result = GroupResult("against", [table])
    with _both(here, other, processor) as sides:
        works, unknown = _shared_works(sides, match, share)
        for work in works:
            timings = interleave(
                {name: partial(side.seconds, work) for name, side in sides.items()}, plan
            )
            _add(result, work, timings)
    mean = geometric_mean(record["ratio"] for record in result.records)
    table.notes.append(f"geometric mean {mean}; works that one of the two does not know: {unknown}")
    return result


SAME = 1e-12
"""Numbers that differ by no more, in units of the largest of the work, differ by rounding."""


def differences(here: Path, other: Path, *, match: str = "", share: str = "1/1") -> GroupResult:
    """Set beside each other what the models of both say of their rows, on the public data sets."""
    table = Table("answers", ["work", "numbers", "largest", "largest difference", "relative"])
    result = GroupResult("answers", [table])
    with _both(here, other) as sides:
        works, _ = _shared_works(sides, match, share)
        for work in works:
            if work.partition(":")[0] in DATA:
                _add_difference(result, work, sides)
    relative = [record["relative"] for record in result.records]
    same = sum(value <= SAME for value in relative)
    table.notes.append(
        f"{same} of {len(relative)} within {SAME:g}, {relative.count(0.0)} of them to the last bit"
    )
    return result


def _add_difference(result: GroupResult, work: str, sides: dict[str, Checkout]) -> None:
    try:
        ours, others = (side.numbers(work) for side in sides.values())
    except TaskError as error:  # of what is no number, as that of an imputer
        result.tables[0].notes.append(f"{work}: {error}")
        return
    size = max(np.abs(others).max(initial=0.0), np.finfo(float).tiny)
    apart = float(np.abs(ours - others).max(initial=0.0)) if ours.shape == others.shape else np.inf
    texts = [str(others.size), f"{size:.3g}", f"{apart:.2g}", f"{apart / size:.2g}"]
    progress(" | ".join([work, *texts]))
    result.tables[0].add(work, *texts)
    result.records.append({"work": work, "largest": float(size), "relative": float(apart / size)})


@contextmanager
def _both(here: Path, other: Path, processor: bool = False) -> Iterator[dict[str, Checkout]]:
    """Start the processes of two checkouts, and stop them at the end."""
    with ExitStack() as at_the_end:
        sides = {}
        for name, folder in (("here", here), ("other", other)):
            sides[name] = Checkout(folder, processor)
            at_the_end.callback(sides[name].stop)
        yield sides


def _shared_works(sides: dict[str, Checkout], match: str, share: str) -> tuple[list[str], int]:
    """Return a share of the works that both know and that match, and how many only one knows."""
    first, every = map(int, share.split("/"))
    known = [side.works for side in sides.values()]
    both = set(known[0]) & set(known[1])
    works = [work for work in known[0] if work in both and match in work]
    return works[first - 1 :: every], sum(work not in both for part in known for work in part)


def _add(result: GroupResult, work: str, timings: dict[str, Timing]) -> None:
    times = ratio(timings["here"], timings["other"])
    texts = [seconds_text(timing) for timing in timings.values()]
    progress(f"{work} | {texts[0]} | {texts[1]} | {times}")
    result.tables[0].add(work, *texts, times)
    result.records.append({"work": work, "timings": timings, "ratio": times})


if __name__ == "__main__":
    raise SystemExit(main())
