"""Where rows are, and the answers of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from mercer._threads import available_threads, blas_threads
from mercer.gram import KernelColumns
from mercer.kernels.blocks import row_blocks
from mercer.lowrank.descent import Search
from mercer.lowrank.statistics import Answer, Request, add_block, empty_answers
from mercer.lowrank.targets import Targets

Floats = NDArray[np.float64]

ENTRIES = 1 << 20
"""Kernel values of a block: 8 MiB, which stay in the cache between products."""

ROWS_AT_ONCE = 1 << 14
"""Rows whose answers are summed by one thread; not a matter of their number, so that the sums are
the same for all."""


Part = tuple[Any, Targets]


@dataclass(frozen=True)
class HeldRows:
    """Features of rows, in memory.

    Parameters
    ----------
    held : list of (ndarray, Targets)
    """

    held: list[Part]
    kind: ClassVar[str] = "held"

    def parts(self) -> Iterator[Part]:
        """Yield rows and targets, not too many at a time."""
        return _in_parts(self.held)

    def columns(self, rows: Floats) -> Floats:
        """Return what the sums are of."""
        return rows


@dataclass(frozen=True)
class ComputedRows:
    """Rows whose kernel values with the landmarks are computed whenever they are needed.

    Parameters
    ----------
    given : callable
        Yields rows and targets from the beginning whenever it is called.
    columns : KernelColumns
    """

    given: Callable[[], Iterator[Part]]
    kernel_columns: KernelColumns
    kind: ClassVar[str] = "all"

    def parts(self) -> Iterator[Part]:
        """Yield rows and targets, not too many at a time."""
        return _in_parts(self.given())

    def columns(self, rows: Any) -> Floats:
        """Return what the sums are of."""
        return self.kernel_columns(rows, n_threads=1)


Rows = HeldRows | ComputedRows


def _in_parts(given: Iterable[Part]) -> Iterator[Part]:
    for X, targets in given:
        for part in row_blocks(X.shape[0], 1, ROWS_AT_ONCE):
            yield X[part], targets.part(part)


def answer_part(
    requests: list[Request], X: Any, targets: Targets, columns: Callable[[Any], Floats], width: int
) -> list[Answer]:
    """Return the answers of some rows.

    Parameters
    ----------
    requests : list of Request
    X : ndarray or sparse matrix of shape (n, n_features)
    targets : Targets
    columns : callable
        From rows to what the sums are of.
    width : int
        How many columns these have.

    Returns
    -------
    list of Answer
    """
    answers = empty_answers(requests)
    machines = {request.machine for request in requests}
    for block in row_blocks(X.shape[0], width, ENTRIES):
        of_block = targets.part(block)
        kinks = {machine: of_block.kinks(machine) for machine in machines}
        add_block(requests, answers, columns(X[block]), kinks)
    return answers


def answer(requests: list[Request], rows: Rows, n_threads: int | None = None) -> list[Answer]:
    """Return the answers of all rows, the same for any number of threads.

    Parameters
    ----------
    requests : list of Request
    rows : HeldRows or ComputedRows
    n_threads : int or None, default=None

    Returns
    -------
    list of Answer
    """
    width = requests[0].planes[0].size - 1
    parts = rows.parts()
    first = list(islice(parts, 2))
    asked = ((requests, *part, rows.columns, width) for part in chain(first, parts))
    threads = available_threads(n_threads) if len(first) > 1 else 1
    with blas_threads(1):
        if threads == 1:
            found: Any = (answer_part(*one) for one in asked)
        else:
            found = Parallel(threads, prefer="threads", return_as="generator")(
                delayed(answer_part)(*one) for one in asked
            )
        total = next(found)
        for answers in found:
            for place, one in enumerate(answers):
                total[place] += one
    return total


def run(searches: dict[int, Search], ask: Callable[[list[Request]], list[Answer]]) -> Any:
    """Drive searches side by side, all requests of a round together, and return what each found.

    Parameters
    ----------
    searches : dict
        By the number of the machine.
    ask : callable
        From requests to answers.

    Returns
    -------
    dict
    """
    found: dict[int, Any] = {}
    sent: dict[int, Any] = dict.fromkeys(searches)
    while sent:
        requests = {}
        for machine, reply in sent.items():
            try:
                requests[machine] = searches[machine].send(reply)
            except StopIteration as end:
                found[machine] = end.value
        answers = ask(list(requests.values())) if requests else []
        sent = dict(zip(requests, answers))
    return found
