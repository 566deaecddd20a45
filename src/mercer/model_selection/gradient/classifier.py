"""Classifiers under a gradient search."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets

from mercer._folds import deal_folds, fold_splits, weighted_folds
from mercer._inputs import need_two_classes
from mercer.gram import StoredGram
from mercer.kernels import Kernel
from mercer.kernels.blocks import submatrix
from mercer.machines import (
    Penalty,
    TwoClassMachine,
    TwoClassTasks,
    class_factors,
    decompose,
    no_minimum,
)
from mercer.machines.bordered_system import NoSolutionError
from mercer.machines.row_machine import refuse_weights
from mercer.model_selection.criteria.criterion import Rated, mean_over
from mercer.model_selection.criteria.evidence import evidence_of
from mercer.model_selection.criteria.gacv import gacv_of
from mercer.model_selection.criteria.modified_radius_margin import modified_radius_margin_of
from mercer.model_selection.criteria.press import press_of
from mercer.model_selection.criteria.radius_margin import radius_margin_of
from mercer.model_selection.criteria.span import span_of
from mercer.model_selection.criteria.validation_error import (
    judge,
    on_folds,
    posterior_rate,
    sigmoid_rate,
)
from mercer.model_selection.gradient.search import DescentStep, Search
from mercer.model_selection.gradient.tuning import (
    N_FOLDS,
    SOLVER_TOL,
    Evaluation,
    Evaluations,
    Floats,
    MachineObjective,
    Prices,
    RememberedObjective,
    Rows,
    Sample,
    Tuning,
    given_splits,
    kernel_params,
    trained_on,
)
from mercer.solvers import Options, Solutions, solve_all
from mercer.svm import SVC
from mercer.svm.svc import KnownValues

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

NEARBY = 2.0
"""Factor between the C of squared slack and those that are tried with the hinge."""

LADDER = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
"""Multiples of C that are tried where classes have weights."""

NOTHING = 1e-9
"""Smaller shares of a weight are what rounding left of a row that is wholly in a fold."""


class HeldOut(NamedTuple):
    """What a machine without a fold is judged by: rows of its task with their signs and weights."""

    task: int
    fold: int
    rows: Rows
    signs: Floats
    weights: Floats


class FoldMachines(NamedTuple):
    """All machines without each fold in turn, laid end to end.

    ``rows`` are those of the sample and ``left`` their weights without the fold; ``tasks`` counts
    the entries of both. Machines of which nothing is left are not among them.
    """

    rows: Rows
    left: Floats
    tasks: TwoClassTasks
    held_out: list[HeldOut]

    @classmethod
    def of(cls, tasks: Any, weights: Floats, shares: Floats) -> FoldMachines:
        """Lay out the machines of some tasks; ``shares`` says how much of a row is in each fold."""
        rows, left, signs, held_out = [], [], [], []
        for k, task in enumerate(tasks):
            own = weights[task.rows]
            for number, held in enumerate(shares[task.rows].T):
                kept = np.flatnonzero(own - held > NOTHING * own)
                if kept.size == 0:
                    continue
                out = np.flatnonzero(held > NOTHING * own)
                rows.append(task.rows[kept])
                left.append((own - held)[kept])
                signs.append(task.signs[kept])
                held_out.append(HeldOut(k, number, task.rows[out], task.signs[out], held[out]))
        ends = np.concatenate([[0], np.cumsum([part.size for part in rows])])
        laid = TwoClassTasks(np.arange(ends[-1]), np.concatenate(signs), ends)
        return cls(np.concatenate(rows), np.concatenate(left), laid, held_out)


class Objective(MachineObjective):
    """A criterion of a support vector classifier.

    Parameters
    ----------
    *given
        As in `MachineObjective`.
    weighs_classes : bool
        Whether the criterion knows the weights of classes; errors on folds always do.
    """

    known_criteria = (*SMOOTH, *ON_FOLDS)

    def __init__(self, *given: Any, weighs_classes: bool = True) -> None:
        super().__init__(*given)
        sample, model = self.sample, self.model
        classes, codes = np.unique(sample.labels, return_inverse=True)
        self._classes, self._codes = classes, codes
        self._tasks = list(decompose(codes, classes.size, model.multi_class))
        self._factors = class_factors(model.class_weight, classes, codes, sample.weights)
        factors = self._factors if weighs_classes else np.ones_like(self._factors)
        self._penalty = Penalty.of(model, factors, sample.weights)

    def _judged(
        self, prices: Prices, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
        self._use(kernel)
        data, penalty = self._data, self._penalty.priced(prices["C"])
        tol, machines = min(self.model.tol, SOLVER_TOL), []
        for k, task in enumerate(self._tasks):
            memory = solutions.setdefault(k, {})
            options: dict[str, Any] = {"memory": memory, "tol": tol, "n_threads": self.n_threads}
            machines.append(TwoClassMachine(data, task.rows, task.signs, penalty, **options))
        found = mean_over(SMOOTH.get(self.criterion, self._judged_on_folds), machines)
        return found, sum([machine.n_fits for machine in machines])

    def _judged_on_folds(self, machine: TwoClassMachine) -> Rated:
        refuse_weights([machine], self.criterion)
        return judge(on_folds(machine, self.splits), ON_FOLDS[self.criterion], True)

    # ---- the choice of the loss -------------------------------------------------------------

    def fold_error(self, loss: str, C: float, theta: Floats, kernel: Kernel) -> Evaluation:
        """Return the error on folds with another loss; it has no gradient."""
        key = loss.encode() + np.append(theta, C).tobytes()
        return self._remembered(key, lambda found: self._fold_error(loss, C, kernel, found))

    def _fold_error(
        self, loss: str, C: float, kernel: Kernel, solutions: dict[int, dict[str, Floats]]
    ) -> tuple[Rated, int]:
        """Train all machines without each fold in turn, all of them at once."""
        folds, memory = self._folds, solutions.setdefault(-1, {})
        penalty = Penalty(C, loss, self._factors[folds.rows], folds.left)
        options = Options("smo", self.model.tol, n_threads=self.n_threads)
        found = self._without_folds(folds, kernel, penalty, options, memory.get(loss))
        memory[loss] = found.beta
        errors = np.zeros(len(self._tasks))
        for k, (task, _, out, signs, held) in enumerate(folds.held_out):
            wrong = (self._values(folds, found, k, out) > 0) != (signs > 0)
            errors[task] += float((held * self._factors[out]) @ wrong)
        counts = self.sample.weights * self._factors
        totals = [float(counts[task.rows].sum()) for task in self._tasks]
        return (float(np.mean(errors / totals)), np.empty(0)), len(folds.held_out)

    def _without_folds(
        self, folds: FoldMachines, kernel: Kernel, penalty: Penalty, options: Options, start: Any
    ) -> Solutions:
        """Train machines without folds, whose entries the penalty has; leave the matrix behind."""
        self._use(kernel)
        gram, programs = StoredGram(self._data.matrix), penalty.programs(folds.tasks)
        found = solve_all(programs, gram, options, rows=folds.rows, warm_start=start)
        if "unbounded" in found.status:
            raise NoSolutionError(no_minimum(penalty.loss))
        return found

    def _values(self, folds: FoldMachines, found: Solutions, k: int, out: Rows) -> Floats:
        """Return what one of these machines says of some rows."""
        part = slice(folds.tasks.ends[k], folds.tasks.ends[k + 1])
        beta = found.beta[part]
        used = np.flatnonzero(beta)
        values: Floats = submatrix(self._data.matrix, out, folds.rows[part][used]) @ beta[used]
        return values + found.offset[k]

    def _use(self, kernel: Kernel) -> None:
        """Take a kernel; the matrix of the last one stays as long as it is asked for again."""
        if self._data.kernel is not kernel:
            self._data = self._data.with_kernel(kernel)

    @cached_property
    def _folds(self) -> FoldMachines:
        sample = self.sample
        shares = weighted_folds(sample.points, self._codes, sample.weights, N_FOLDS)
        return FoldMachines.of(self._tasks, sample.weights, shares)

    # ---- the accuracy -----------------------------------------------------------------------

    def accuracy(self, model: SVC, kernel: Kernel) -> float:
        """Train the machines without each fold, all at once, on the kernel matrix of the search."""
        if callable(self.criterion):  # such a search has no matrix, and need not have room for one
            return accuracy_by_fits(model, kernel, self.sample)
        sample = self.sample
        fold = deal_folds(sample.points, self._codes, N_FOLDS)
        shares = np.where(fold[:, None] == np.arange(N_FOLDS), sample.weights[:, None], 0.0)
        folds = FoldMachines.of(self._tasks, sample.weights, shares)
        penalty = Penalty.of(model, self._factors[folds.rows], folds.left)
        options = replace(model._options(), solver="smo", n_threads=self.n_threads)
        found = self._without_folds(folds, kernel, penalty, options, None)
        values = np.zeros((fold.size, len(self._tasks)))
        out = [np.flatnonzero(fold == number) for number in range(N_FOLDS)]
        for k, machine in enumerate(folds.held_out):
            held = out[machine.fold]  # votes of machines of other classes count too
            values[held, machine.task] = self._values(folds, found, k, held)
        answers = KnownValues.of(model, self._classes, values).predict(None)
        return float(sample.weights @ (answers == sample.labels)) / sample.count


@dataclass(frozen=True, eq=False)
class ClassifierTuning(Tuning):
    """An `SVC` under a gradient search.

    Parameters
    ----------
    model, criterion, cv, n_threads
        As in `Tuning`.
    chooses_loss : bool, default=False
        Whether the loss is left open.
    """

    chooses_loss: bool = False

    criteria = Objective.known_criteria
    kind = "an SVC"

    @property
    def prices(self) -> Prices:
        """C."""
        return {"C": float(self.model.C)}

    def checked_targets(self, y: Any, kept: Rows) -> Any:
        """Return labels of two classes at least."""
        check_classification_targets(y)
        need_two_classes(np.unique(y[kept]).size)
        return y

    def strata(self, y: Any) -> Any:
        """Return the labels."""
        return y

    def objective(
        self, kernel: Kernel, sample: Sample, evaluations: Evaluations
    ) -> RememberedObjective:
        """Return the criterion as a function of C and the kernel."""
        on_folds = isinstance(self.criterion, str) and self.criterion in ON_FOLDS
        return Objective(
            "evidence" if self.criterion == "auto" else self.criterion,
            self.model,
            kernel,
            sample,
            self._splits(sample) if on_folds else [],
            evaluations,
            self.n_threads,
            # As precisions of the noise they would call for widths that know each rare row.
            weighs_classes=self.criterion != "auto",
        )

    def _splits(self, sample: Sample) -> Any:
        if isinstance(self.cv, int | np.integer):
            return fold_splits(self.cv, sample.labels)
        return given_splits(self.cv, sample, sample.labels)

    def minimise(self, search: Search, kernel: Kernel, n_starts: int, random: Any) -> DescentStep:
        """Go from the start to a minimum."""
        minimise = search.auto if self.criterion == "auto" else search.plain
        return minimise(kernel, self.prices, n_starts, random)

    def chosen(self, search: Search, best: DescentStep) -> dict[str, Any]:
        """Return loss, C and kernel."""
        loss, C = self.model.loss, best.prices["C"]
        if self.criterion == "auto" and np.isfinite(C):
            loss, C = self._choose_loss(search, best)
        params = {"C": C, "loss": loss} if self.chooses_loss else {"C": C}
        return params | kernel_params(self.model, [best.kernel])[0]

    def _choose_loss(self, search: Search, best: DescentStep) -> tuple[str, float]:
        """Return the loss and C with the fewest errors on folds, the first of equal ones.

        The evidence knows squared slack only. Where the loss is open its choice competes with the
        hinge at a smaller and a larger C, within the bounds; for the hinge it is but the first of
        three. Nor does it know that classes have weights: these multiply C, so that where there are
        any, smaller ones are tried too.
        """
        weighted = self.model.class_weight is not None
        loss, C = None if self.chooses_loss else self.model.loss, best.prices["C"]
        if loss == "squared_hinge" and not weighted:
            return loss, C
        candidates = list(dict.fromkeys(_candidates(C, loss, weighted, search.C_bounds)))
        objective, errors = search.objective, []
        assert isinstance(objective, Objective)
        for loss, C in candidates:
            try:
                found = objective.fold_error(loss, C, best.theta, best.kernel)
            except NoSolutionError:  # in some fold; another candidate may have one in each
                errors.append(np.inf)
                continue
            search.n_fits += found.n_fits
            record = {"stage": loss, "start": 0, "C": C, "kernel": best.kernel}
            search.history.append(record | {"criterion": found.value, "objective": found.value})
            errors.append(found.value)
            search.say(f"{loss} at C = {C:.4g}: {100 * found.value:.2f} % errors on folds")
        if np.isinf(errors).all():
            raise NoSolutionError(no_minimum("squared_hinge"))
        return candidates[int(np.argmin(errors))]

    def step_params(self, step: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        """Return loss, C and kernel of one evaluation."""
        if self.chooses_loss:
            loss = "hinge" if step["stage"] == "hinge" else "squared_hinge"
            own = {"loss": loss} | own
        return {"C": step["C"]} | own

    def score(self, search: Search, best: DescentStep, sample: Sample) -> float:
        """Return the share of the rows that machines without their fold get right."""
        assert isinstance(search.objective, Objective)
        return search.objective.accuracy(self.model, best.kernel)


def _candidates(C: float, loss: str | None, ladder: bool, C_bounds: Any) -> list[tuple[str, float]]:
    """Return losses with the values of C at which they are tried."""
    if ladder:
        losses = ("squared_hinge", "hinge") if loss is None else (loss,)
        rungs = np.clip(np.multiply(C, LADDER), *C_bounds).tolist()
        return [(one, rung) for one in losses for rung in rungs]
    near = np.clip([C / NEARBY, C * NEARBY], *C_bounds).tolist()
    return [(loss or "squared_hinge", C), ("hinge", near[0]), ("hinge", near[1])]


def accuracy_by_fits(model: Any, kernel: Kernel, sample: Sample) -> float:
    """Return the share of the rows, by weight, that a classifier without their fold gets right.

    Parameters
    ----------
    model : SVC or RVC
        With the parameters that were chosen.
    kernel : Kernel
        Its kernel, without "scale" and the like.
    sample : Sample
    """
    right, model = 0.0, clone(model)
    if "probability" in model.get_params():  # which labels do not depend on
        model.set_params(probability=False)
    classes, codes = np.unique(sample.labels, return_inverse=True)
    fold = deal_folds(sample.points, codes, N_FOLDS)
    for number in np.unique(fold):
        seen, held = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        known = np.unique(codes[seen])
        if known.size == 1:  # there is nothing to learn, and one answer
            answers = classes[known]
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the last fit says it
                answers = trained_on(model, kernel, sample, seen)(held)
        right += float(sample.weights[held] @ (answers == sample.labels[held]))
    return right / sample.count
