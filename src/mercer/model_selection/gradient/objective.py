"""A criterion as a function of the parameters, with the solves warm-started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.kernels import Kernel
from mercer.machines import Penalty, class_factors, decompose
from mercer.machines.kernel_data import KernelData
from mercer.machines.two_class_machine import TwoClassMachine, refuse_weights
from mercer.model_selection.criteria.criterion import Criterion, average
from mercer.model_selection.criteria.evidence import evidence_of
from mercer.model_selection.criteria.fitted import untrained_machines
from mercer.model_selection.criteria.gacv import gacv_of
from mercer.model_selection.criteria.held_out import HeldOut, OtherRows, Splits, judge, on_folds
from mercer.model_selection.criteria.modified_radius_margin import modified_radius_margin_of
from mercer.model_selection.criteria.press import press_of
from mercer.model_selection.criteria.radius_margin import radius_margin_of
from mercer.model_selection.criteria.span import span_of
from mercer.model_selection.criteria.validation_error import posterior_rate, sigmoid_rate
from mercer.model_selection.gradient.evaluations import Evaluation, Evaluations
from mercer.model_selection.gradient.weighted_folds import weighted_folds
from mercer.svm import SVC

Floats = NDArray[np.float64]

SMOOTH = {
    "evidence": evidence_of,
    "press": press_of,
    "radius_margin": radius_margin_of,
    "modified_radius_margin": modified_radius_margin_of,
    "span": span_of,
    "gacv": gacv_of,
}
"""Criteria with a gradient, as functions of one machine."""

ON_FOLDS = {"smoothed_validation_error": sigmoid_rate(5.0), "posterior_error": posterior_rate}
"""Criteria that need machines trained without a fold."""

N_FOLDS = 5
"""Folds by which the loss is chosen."""

NOTHING = 1e-9
"""Smaller shares of a weight are what rounding left of a row that is wholly in a fold."""

NAMES = ("auto", *SMOOTH, *ON_FOLDS)

SOLVER_TOL = 1e-6
"""Gap to which machines are trained: a gradient must not feel where the solver stopped."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows on which parameters are chosen.

    Parameters
    ----------
    points, labels, weights : arrays of n rows
        Data for a classifier.
    """

    points: Any
    labels: Any
    weights: Floats

    @property
    def count(self) -> float:
        """How many rows there are, each as often as it counts."""
        return float(self.weights.sum())


class Objective:
    """Evaluates a criterion at given parameters, unless it is known already.

    Parameters
    ----------
    criterion : str or callable
        A name, or a function of a fitted classifier, X and y that returns a `Criterion`.
    model : SVC
        The classifier whose parameters are searched; not changed.
    kernel : Kernel
        Its kernel, without "scale" and the like.
    sample : Sample
    splits : list of pairs of arrays
        Folds, for the criteria that need them.
    evaluations : Evaluations
    checkpoint : path or None
        Where to save all of them after each evaluation.
    n_threads : int or None
    """

    def __init__(
        self,
        criterion: Any,
        model: SVC,
        kernel: Kernel,
        sample: Sample,
        splits: Splits,
        evaluations: Evaluations,
        checkpoint: Any,
        n_threads: int | None,
    ) -> None:
        self.criterion = criterion
        self.model = model
        self.sample = sample
        self.evaluations = evaluations
        self.splits = splits
        self.checkpoint = checkpoint
        self.n_threads = n_threads
        self._data = KernelData(kernel, sample.points)
        classes, codes = np.unique(sample.labels, return_inverse=True)
        self._tasks = decompose(codes, classes.size, model.multi_class)
        self._factors = class_factors(model.class_weight, classes, codes, sample.weights)

    @property
    def is_logarithmic(self) -> bool:
        """Whether the logarithm of the criterion is what should be minimised."""
        return isinstance(self.criterion, str) and self.criterion != "evidence"

    def __call__(self, C: float, kernel: Kernel) -> Evaluation:
        """Return the criterion with its gradient in (ln C, theta)."""
        key = np.append(kernel.theta, C).tobytes()
        return self._recall(key) or self._keep(key, lambda: self._evaluate(C, kernel))

    def fold_error(self, loss: str, C: float, kernel: Kernel) -> Evaluation:
        """Return the error on folds with another loss; it has no gradient."""
        key = loss.encode() + np.append(kernel.theta, C).tobytes()
        return self._recall(key) or self._keep(key, lambda: self._fold_error(loss, C, kernel))

    def _recall(self, key: bytes) -> Evaluation | None:
        return self.evaluations.known.get(key)

    def _keep(self, key: bytes, evaluate: Callable[[], tuple[Criterion, int]]) -> Evaluation:
        found, n_fits = evaluate()
        if found.gradient is None:
            raise ValueError(
                "The criterion of a gradient search must return a gradient; the built-in ones "
                f"that do are {', '.join(map(repr, NAMES[1:]))}."
            )
        kept = Evaluation(found.value, found.gradient, n_fits)
        self.evaluations.known[key] = kept
        if self.checkpoint is not None:
            self.evaluations.save(self.checkpoint)
        return kept

    def _fold_error(self, loss: str, C: float, kernel: Kernel) -> tuple[Criterion, int]:
        sample, data = self.sample, self._data.with_kernel(kernel)
        errors, n_fits = [], 0
        for k, (task, memory) in enumerate(zip(self._tasks, self._solutions())):
            wrong = 0.0
            for fold, held in enumerate(self._folds[task.rows].T):
                least = NOTHING * sample.weights[task.rows]
                left = sample.weights.copy()
                left[task.rows] -= held
                kept = np.flatnonzero(left[task.rows] > least)
                penalty = Penalty(C, loss, self._factors, left)
                machine = TwoClassMachine(
                    data,
                    task.rows[kept],
                    task.signs[kept],
                    penalty,
                    memory=memory,
                    name=f"{loss} fold {fold}",
                    tol=self.model.tol,
                    n_threads=self.n_threads,
                )
                out = np.flatnonzero(held > least)
                test = HeldOut(machine, OtherRows(data, task.rows[out]), task.signs[out])
                wrong += float(held[out] @ ((test.decision() > 0) != (test.signs > 0)))
                n_fits += machine.n_fits
            errors.append(wrong / float(sample.weights[task.rows].sum()))
            self._remember(k, memory)
        return Criterion(float(np.mean(errors)), np.empty(0), ()), n_fits

    @cached_property
    def _folds(self) -> Floats:
        """How much of each row lies in each fold."""
        codes = np.unique(self.sample.labels, return_inverse=True)[1]
        return weighted_folds(self.sample.points, codes, self.sample.weights, N_FOLDS)

    def _evaluate(self, C: float, kernel: Kernel) -> tuple[Criterion, int]:
        if callable(self.criterion):
            sample = self.sample
            model = clone(self.model).set_params(C=C, kernel=kernel)
            weights = None if (sample.weights == 1.0).all() else sample.weights
            model.fit(sample.points, sample.labels, sample_weight=weights)
            more = {} if weights is None else {"sample_weight": weights}
            return self.criterion(model, sample.points, sample.labels, **more), 1
        memories = self._solutions()
        machines = untrained_machines(
            self._data.with_kernel(kernel),
            self._tasks,
            Penalty.of(self.model, self._factors, self.sample.weights).priced(C),
            memories,
            tol=min(self.model.tol, SOLVER_TOL),
            n_threads=self.n_threads,
        )
        found = average(self._rate(), machines)
        for k, memory in enumerate(memories):
            self._remember(k, memory)
        return found, sum(machine.n_fits for machine in machines)

    def _remember(self, machine: int, solutions: dict[str, Floats]) -> None:
        self.evaluations.solutions.update({(machine, name): b for name, b in solutions.items()})

    def _solutions(self) -> list[dict[str, Floats]]:
        """Return the last solutions of each machine."""
        return [
            {name: beta for (m, name), beta in self.evaluations.solutions.items() if m == k}
            for k in range(len(self._tasks))
        ]

    def _rate(self) -> Callable[[TwoClassMachine], Criterion]:
        if self.criterion in SMOOTH:
            return SMOOTH[self.criterion]
        rate = ON_FOLDS[self.criterion]

        def evaluate(machine: TwoClassMachine) -> Criterion:
            refuse_weights([machine], self.criterion)
            return judge(on_folds(machine, self.splits), rate, True)

        return evaluate
