"""What a gradient search must know about a kind of machine: its criterion and its parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv

from mercer._folds import deal_folds
from mercer.kernels import Kernel
from mercer.machines import KernelData
from mercer.model_selection.criteria.criterion import Rated
from mercer.model_selection.criteria.validation_error import Splits
from mercer.model_selection.search_record import SearchRecord

if TYPE_CHECKING:
    from mercer.model_selection.gradient.search import DescentStep, Search

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

Prices = dict[str, float]
"""C, and the epsilon of a regression."""

N_FOLDS = 5
"""Folds of the score, and by which a loss is chosen."""

SOLVER_TOL = 1e-6
"""Gap to which machines are trained: a gradient must not feel where the solver stopped."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows on which parameters are chosen.

    Parameters
    ----------
    points, labels, weights : arrays of n rows
        Data for a machine; None for labels that it does not ask for.
    rows : ndarray of int
        Their places in the data.
    """

    points: Any
    labels: Any
    weights: Floats
    rows: Rows

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.weights)

    @property
    def count(self) -> float:
        """How many rows there are, each as often as it counts."""
        return float(self.weights.sum())


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One evaluation of a criterion: its value, its gradient and what it cost."""

    value: float
    gradient: Floats
    n_fits: int


class Evaluations:
    """All evaluations of a search, and the solutions from which the next one starts.

    The method of the search is deterministic, so that going through the known evaluations again
    leads to the point at which it was interrupted.

    Parameters
    ----------
    record : SearchRecord
        Holds the bytes of all numbers, so that none of them changes.

    Attributes
    ----------
    known : dict
        By the bytes of the parameters.
    solutions : dict
        Solutions of the machines, by the number of the machine and name.
    """

    def __init__(self, record: SearchRecord) -> None:
        self.record = record
        self.known: dict[bytes, Evaluation] = {}
        self.solutions: dict[int, dict[str, Floats]] = {}
        record.read(self._read)

    def _read(self, entry: dict[str, Any]) -> None:
        gradient = _numbers(entry["gradient"])
        found = Evaluation(float(entry["value"]), gradient, int(entry["n_fits"]))
        self.known[bytes.fromhex(entry["key"])] = found
        for machine, name, beta in entry["solutions"]:
            self.solutions.setdefault(machine, {})[name] = _numbers(beta)

    def add(self, key: bytes, found: Evaluation, solutions: dict[int, dict[str, Floats]]) -> None:
        """Keep an evaluation, with the solutions that it has led to."""
        changed = [
            [machine, name, beta.tobytes().hex()]
            for machine, named in solutions.items()
            for name, beta in named.items()
            if beta is not self.solutions.get(machine, {}).get(name)
        ]
        entry = {"key": key.hex(), "value": found.value, "n_fits": found.n_fits}
        self.record.add(entry | {"gradient": found.gradient.tobytes().hex(), "solutions": changed})
        self.known[key] = found
        self.solutions = solutions


def _numbers(text: str) -> Floats:
    return np.frombuffer(bytes.fromhex(text)).copy()


class RememberedObjective(ABC):
    """Evaluates a criterion at given parameters, unless it is known already.

    Parameters
    ----------
    sample : Sample
    evaluations : Evaluations
    """

    is_logarithmic = False
    """Whether the logarithm of the criterion is what should be minimised."""

    known_criteria: tuple[str, ...] = ()
    """Names of the criteria that there are for this kind of machine."""

    name = ""
    """Tells this criterion from others that are looked at in the same search."""

    def __init__(self, sample: Sample, evaluations: Evaluations) -> None:
        self.sample = sample
        self.evaluations = evaluations

    def __call__(self, prices: Prices, theta: Floats, kernel: Kernel) -> Evaluation:
        """Return the criterion with its gradient.

        It is that in the logarithms of the prices that move and in theta, the parameters of the
        kernel.
        """
        key = self.name.encode() + np.append(theta, list(prices.values())).tobytes()
        return self._remembered(key, lambda solutions: self._evaluate(prices, kernel, solutions))

    def _remembered(
        self, key: bytes, evaluate: Callable[[dict[int, dict[str, Floats]]], tuple[Rated, int]]
    ) -> Evaluation:
        if key in self.evaluations.known:
            return self.evaluations.known[key]
        # A copy: what an interruption leaves half done must not count.
        solutions = {k: dict(named) for k, named in self.evaluations.solutions.items()}
        (value, gradient), n_fits = evaluate(solutions)
        if gradient is None:
            raise ValueError(
                "The criterion of a gradient search must return a gradient; the built-in ones "
                f"that do are {', '.join(map(repr, self.known_criteria))}."
            )
        found = Evaluation(float(value), gradient, n_fits)
        self.evaluations.add(key, found, solutions)
        return found

    @abstractmethod
    def _evaluate(
        self, prices: Prices, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
        """Return value and slope, and the number of machines trained; renew the solutions."""

    def hand_over(self, model: Any, kernel: Kernel) -> bool:
        """Make a classifier the one that was fitted with a kernel, if one was; say whether."""
        return False


class MachineObjective(RememberedObjective):
    """A criterion of machines that are trained on the matrix of a kernel.

    Parameters
    ----------
    criterion : str or callable
        A name, or a function of a fitted machine, X and, unless it is one of one class, y that
        returns a `Criterion`.
    model : estimator
        The machine whose parameters are searched; not changed.
    kernel : Kernel
        Its kernel, without "scale" and the like.
    sample : Sample
    splits : list of pairs of arrays
        Folds, for the criteria that need them.
    evaluations : Evaluations
    n_threads : int or None
    """

    def __init__(
        self,
        criterion: Any,
        model: Any,
        kernel: Kernel,
        sample: Sample,
        splits: Splits,
        evaluations: Evaluations,
        n_threads: int | None,
    ) -> None:
        super().__init__(sample, evaluations)
        self.criterion = criterion
        self.is_logarithmic = isinstance(criterion, str) and criterion != "evidence"
        self.model = model
        self.splits = splits
        self.n_threads = n_threads
        self._data = KernelData(kernel, sample.points)

    def _evaluate(
        self, prices: Prices, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
        if callable(self.criterion):
            return self._judged_by_user(prices, kernel), 1
        return self._judged(prices, kernel, solutions)

    @abstractmethod
    def _judged(
        self, prices: Prices, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
        """Return what `_evaluate` does, of a criterion with a name."""

    def _judged_by_user(self, prices: Prices, kernel: Kernel) -> Rated:
        """Fit a machine and ask a function of the user about it."""
        moved = {name: value for name, value in prices.items() if np.isfinite(value)}
        model, sample = clone(self.model).set_params(kernel=kernel, **moved), self.sample
        weights = None if (sample.weights == 1.0).all() else sample.weights
        data = (sample.points,) if sample.labels is None else (sample.points, sample.labels)
        model.fit(*data, sample_weight=weights)
        weighted = {} if weights is None else {"sample_weight": weights}
        found = self.criterion(model, *data, **weighted)
        return found.value, found.gradient


def trained_on(
    model: Any, kernel: Kernel, sample: Sample, seen: Rows
) -> Callable[[Rows], NDArray[Any]]:
    """Fit a machine to some of the rows; return what it predicts of others."""
    columns = seen if kernel.is_pairwise else slice(None)
    machine = clone(model).fit(
        sample.points[seen][:, columns], sample.labels[seen], sample_weight=sample.weights[seen]
    )
    return lambda held: machine.predict(sample.points[held][:, columns])


@dataclass(frozen=True, eq=False)
class Tuning(ABC):
    """One kind of machine under a gradient search.

    Parameters
    ----------
    model : estimator
        The machine; its parameters are where the search starts.
    criterion : str or callable
    cv : int, splitter or iterable
    n_threads : int or None
    """

    model: Any
    criterion: Any
    cv: Any
    n_threads: int | None

    criteria: ClassVar[tuple[str, ...]] = ()
    """Names of criteria, beside "auto"."""

    kind: ClassVar[str] = "a machine"
    """What the machine is called in messages."""

    takes_sparse: ClassVar[bool] = True
    """Whether rows may be sparse."""

    @property
    def prices(self) -> Prices:
        """Where the prices of the machine start."""
        return {"C": np.inf}

    @abstractmethod
    def checked_targets(self, y: Any, kept: Rows) -> Any:
        """Return what the rows are labelled with, checked; only rows that are kept have weight."""

    @abstractmethod
    def objective(
        self, kernel: Kernel, sample: Sample, evaluations: Evaluations
    ) -> RememberedObjective:
        """Return the criterion as a function of the parameters."""

    def strata(self, y: Any) -> Any:
        """Return the classes whose shares a part of the rows should keep, or None."""
        return None

    def minimise(self, search: Search, kernel: Kernel, n_starts: int, random: Any) -> DescentStep:
        """Go from the start to a minimum."""
        return search.plain(kernel, self.prices, n_starts, random)

    @abstractmethod
    def chosen(self, search: Search, best: DescentStep) -> dict[str, Any]:
        """Return the parameters of the machine that stand for the best step."""

    @abstractmethod
    def step_params(self, step: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the machine that stand for one evaluation.

        ``own`` are those that stand for its kernel.
        """

    @abstractmethod
    def score(self, search: Search, best: DescentStep, sample: Sample) -> float:
        """Return how good the machine is on folds; larger is better."""

    def check_criterion(self) -> None:
        """Say so where the criterion is one of other machines."""
        if not callable(self.criterion) and self.criterion not in ("auto", *self.criteria):
            raise ValueError(
                f"The parameters of {self.kind} are chosen by "
                f"{', '.join(map(repr, ('auto', *self.criteria)))} or a function; got "
                f"{self.criterion!r}."
            )


def kernel_params(model: Any, kernels: Sequence[Kernel]) -> list[dict[str, Any]]:
    """Return the parameters of a machine that stand for kernels of one kind."""
    if isinstance(model.kernel, str):
        found = [kernel.free_parameters() for kernel in kernels]
        if found[0].keys() <= {"gamma", "coef0"}:
            return found
    return [{"kernel": kernel} for kernel in kernels]


def splits_of_rows(cv: Any, sample: Sample, codes: Rows) -> list[tuple[Rows, Rows]]:
    """Return folds; a number stands for so many that keep all copies of a row together."""
    if isinstance(cv, int | np.integer):
        fold = deal_folds(sample.points, codes, int(cv), copies_together=True)
        held = [np.flatnonzero(fold == number) for number in np.unique(fold)]
        if len(held) < 2:
            raise ValueError("All rows are equal: there is nothing to choose parameters by.")
        return [(np.setdiff1d(np.arange(sample.n), out), out) for out in held]
    return given_splits(cv, sample, codes)


def given_splits(cv: Any, sample: Sample, labels: Any) -> list[tuple[Rows, Rows]]:
    """Return the folds of a splitter, or those of a list, which speaks of all rows of the data."""
    if hasattr(cv, "split"):
        return list(cv.split(np.zeros(sample.n), labels))
    return [
        (np.flatnonzero(np.isin(sample.rows, train)), np.flatnonzero(np.isin(sample.rows, test)))
        for train, test in check_cv(cv).split()
    ]
