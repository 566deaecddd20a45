"""One checkout against another: ``python -m benchmarks.against ../before``.

All works that both know (fits, predictions, searches, everything public on two data sets), each
checkout in a process of its own, interleaved, best of several. A checkout is run by the Python of
its ``.venv`` where it has one, else by this one with mercer as it lies in ``src/``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from . import machine
from .crew import progress
from .measure import Plan, Timing, interleave
from .report import GroupResult, Table, geometric_mean, head, ratio, seconds_text, write_json
from .worker import TaskError

HERE = Path(__file__).parents[1]
WORKER = Path(__file__).with_name("checkout_worker.py")


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
        assert self._process.stdin is not None
        print(json.dumps(work), file=self._process.stdin, flush=True)
        answer = self._answer()
        if "error" in answer:
            raise TaskError(answer["error"])
        return float(answer["seconds"])

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

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
    options = {"match": given.match, "share": given.share, "processor": given.processor}
    result = compare(HERE, given.other, plan, **options)
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
    first, every = map(int, share.split("/"))
    sides = {"here": Checkout(here, processor), "other": Checkout(other, processor)}
    try:
        both = set(sides["here"].works) & set(sides["other"].works)
        works = [work for work in sides["here"].works if work in both and match in work]
        for work in works[first - 1 :: every]:
            timings = interleave(
                {name: partial(side.seconds, work) for name, side in sides.items()}, plan
            )
            _add(result, work, timings)
    finally:
        for side in sides.values():
            side.stop()
    mean = geometric_mean(record["ratio"] for record in result.records)
    unknown = sum(work not in both for side in sides.values() for work in side.works)
    table.notes.append(f"geometric mean {mean}; works that one of the two does not know: {unknown}")
    return result


def _add(result: GroupResult, work: str, timings: dict[str, Timing]) -> None:
    times = ratio(timings["here"], timings["other"])
    texts = [seconds_text(timing) for timing in timings.values()]
    progress(f"{work} | {texts[0]} | {texts[1]} | {times}")
    result.tables[0].add(work, *texts, times)
    result.records.append({"work": work, "timings": timings, "ratio": times})


if __name__ == "__main__":
    raise SystemExit(main())
