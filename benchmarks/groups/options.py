"""What the command line asks of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..crew import progress
from ..measure import Plan
from ..peers import KERNEL_PEERS
from ..problems import Data, MissingDataError, Problem
from ..report import GroupResult


@dataclass(frozen=True)
class Options:
    """Options of a run.

    Parameters
    ----------
    peers : list of str, optional
        The solvers that take part; by default all that the group knows.
    plan : Plan
        Repeats and limits.
    quick : bool
        Small problems, to see that everything works.
    match : str, optional
        Only problems whose name contains this text.
    minutes : float
        What a comparison of models may take.
    tables : list of str, optional
        Only tables of these names, for groups that go through tables.
    cuts : int, optional
        How often each of them is cut anew into rows to learn from and rows held out; by default as
        often as its number of rows asks for.
    kept : Path, optional
        A file that takes what is measured of each cut, and that a later run goes on with.
    """

    peers: list[str] | None = None
    plan: Plan = field(default_factory=Plan)
    quick: bool = False
    match: str | None = None
    minutes: float = 3.0
    tables: list[str] | None = None
    cuts: int | None = None
    kept: Path | None = None

    def choose(self, default: list[str]) -> list[str]:
        """Return the peers that were asked for among those that the group knows."""
        return [peer for peer in default if self.peers is None or peer in self.peers]

    def kernel_peers(self) -> list[str]:
        """Return the peers that fit kernel machines."""
        return self.choose(KERNEL_PEERS)

    def load(
        self, list_problems: Callable[[bool], list[Problem]], result: GroupResult
    ) -> Iterator[tuple[Problem, Data]]:
        """Yield the problems with their data; those without data are recorded and named."""
        for problem in list_problems(self.quick):
            if self.match is not None and self.match.lower() not in problem.name.lower():
                continue
            try:
                data = problem.load()
            except MissingDataError as absent:
                progress(f"{problem.name}: {absent}")
                result.records.append({"problem": problem, "status": str(absent)})
                result.tables[0].rows.append(
                    [problem.name, str(absent)] + ["-"] * (len(result.tables[0].columns) - 2)
                )
                continue
            yield problem, data
