"""Support vector classification."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._folds import deal_folds
from mercer._inputs import (
    OF_LINEAR_MACHINES,
    checked_data,
    checked_rows,
    classes_of,
    fit_context,
    given_weights,
    says_instead,
)
from mercer._sklearn import StrOptions
from mercer.calibration import PairSigmoids
from mercer.gram import KernelSums, gives_numbers
from mercer.kernels import Linear
from mercer.machines import (
    MARGIN_CONSTRAINTS,
    Begun,
    KernelMachine,
    Penalty,
    Training,
    TrainingRows,
    balanced_anew,
    build_dual_model,
    class_factors,
    class_votes,
    combine_pairs,
    decompose,
    mark_of,
    out_of_fold_values,
    pairs_of,
    slacks,
    start_of,
    warn_unless_converged,
    with_image,
)
from mercer.solvers import Solutions
from mercer.svm._geometry import MarginGeometry

N_FOLDS = 5
"""Folds on which probabilities are learned."""


def _has_probability(model: SVC) -> bool:
    if not model.probability:
        raise AttributeError(
            f"{type(model).__name__} has probabilities only with probability=True, or inside "
            "mercer.PlattClassifier."
        )
    return True


HINTS = {**OF_LINEAR_MACHINES, "nu": "use C", "epsilon": "that is an argument of SVR"}
"""What stands for arguments of machines that are like this one."""


class SVC(MarginGeometry, ClassifierMixin, KernelMachine):
    r"""Support vector classifier: hard and soft margins, any kernel, any number of classes.

    For two classes with labels :math:`y_i = \pm 1` it finds the function
    :math:`f(x) = \langle w, \phi(x) \rangle + b` that solves

    .. math::

        \min_{w, b, \xi} \tfrac12 \lVert w \rVert^2 + \sum_i C_i \ell(\xi_i)
        \quad\text{subject to}\quad y_i f(x_i) \ge 1 - \xi_i,\; \xi_i \ge 0

    with :math:`\ell(\xi) = \xi` (hinge loss, L1 soft margin) or :math:`\ell(\xi) = \xi^2/2`
    (squared hinge loss, L2 soft margin), through the dual program. ``C=inf`` is the hard margin.

    The parameters of scikit-learn's ``SVC`` keep their meaning, so that changing the import is
    enough.

    Use it for curved boundaries between numeric columns, scaled beforehand, on up to some hundred
    thousand rows, or with a linear kernel where columns outnumber rows. Time grows with the rows
    times the support vectors, a prediction with the support vectors.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack, above 0; ``inf`` allows none.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", a kernel from
        `mercer.kernels`, a scikit-learn Gaussian-process kernel, or a function of X and Y.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto", "median"} or float, default="scale"
        Width of "rbf", "laplacian", "poly" and "sigmoid". "scale" is one over the number of
        features times the (weighted) variance of X.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"hinge", "squared_hinge"}, default="hinge"
        How slack counts: as it is (L1), or half its square (L2).
    solver : {"auto", "smo", "exact", "linear"}, default="auto"
        See `mercer.solvers.solve`.
    shrinking : bool, default=True
        Whether variables that have settled at a bound are left out until the others are solved.
    probability : bool, default=False
        Whether `fit` adds what `predict_proba` needs, Platt's sigmoids on five folds. These share
        the kernel matrix and start from the solution: together they take as long as one fit to
        thousands of rows, and up to ten times as long where fits take milliseconds. `predict` does
        not look at them; `mercer.PlattClassifier` has folds of your choice and predicts the most
        probable class.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the solver stops.
    cache_size : float, default=200
        Megabytes for kernel values while a fit lasts. The engine keeps up to 256 for the next fit;
        `mercer.gram.release_memory` gives them back.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One machine for each pair of classes, or one for each class against the rest.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether decision values of one-against-one machines are given for each class or each pair.
        Pairs come as from scikit-learn's ``SVC``: (0, 1), (0, 2), ..., positive for the first one,
        and two classes give one value, positive for the second. Their arg max is no prediction,
        which scikit-learn's own checks ask of a classifier and its ``SVC`` does not keep either.
    break_ties : bool, default=False
        How equal votes of one-against-one machines are decided: True by the sum of the decision
        values, False for the first of the tied classes. Either way `predict` is the arg max of
        `decision_function` of shape "ovr".
    max_iter : int, default=-1
        Limit of the solver's iterations; -1 means none.
    time_limit : float or None, default=None
        Seconds for the whole fit.
    warm_start : bool, default=False
        Whether to start from the previous solution, for instance to go on after a limit. From
        10,000 rows on nothing is computed twice then, also after `mercer.save` and `mercer.load`:
        the model keeps the product of solution and kernel matrix, one number a row and machine.
    n_jobs : int or None, default=None
        Number of threads; None or -1 uses all processors, -2 all but one.
    device : {"cpu", "cuda", "cuda:<number>", "auto"}, default="cpu"
        Where fits and predictions are computed. "cuda" is a GPU, which needs torch (extra ``gpu``)
        and a kernel whose formula the engine knows, as all named ones but "precomputed" have;
        what is small is the processor's anyway. "auto" takes a GPU where there is one and rows are
        10,000 or more. What is fitted is the same, and predicts where there is no GPU, too.
    verbose : bool, default=False
        Whether to print a line for each fit.
    random_state : int, RandomState or None, default=None
        Deals the rows into folds for `probability`; None deals always alike. Nothing else is
        random.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    kernel_ : Kernel
        The kernel with numbers in place of "scale".
    support_ : ndarray of shape (n_SV,)
        Rows of the support vectors, sorted by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors.
    n_support_ : ndarray of shape (n_classes,)
        Their number in each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_SV) or (n_machines, n_SV)
        :math:`y_i \alpha_i`, laid out as in scikit-learn; one row a machine for two classes and for
        one against the rest.
    support_kind_ : ndarray of str, same shape as ``dual_coef_``
        "margin" strictly between the bounds, "bound" at C, "" where the vector takes no part.
    intercept_ : ndarray of shape (n_machines,)
        b of each machine. Where all multipliers are at their bounds, b may be anywhere in an
        interval, and this is its middle; that of scikit-learn may be an end of it.
    coef_ : ndarray of shape (n_machines, n_features)
        w of each machine, where the kernel is linear.
    margin_ : ndarray of shape (n_machines,)
        :math:`1/\lVert w \rVert`, the distance in feature space from the boundary to the margin.
    margin_width_ : ndarray of shape (n_machines,)
        :math:`2/\lVert w \rVert`, from one edge of the margin to the other.
    slack_ : ndarray of shape (n_samples,) or sparse array of shape (n_samples, n_machines)
        :math:`\xi_i` of each training row.
    objective_, gap_ : ndarray of shape (n_machines,)
        Dual objective (minimised), see `Solution` for its accuracy, and largest violation of the
        optimality conditions.
    n_iter_ : ndarray of shape (n_machines,)
        Iterations of the solver, at least 1 where it has converged.
    converged_ : bool
        Whether every gap is at most ``tol``.
    sigmoids_ : PairSigmoids
        What turns decision values of each pair into probabilities, with ``probability=True``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.PlattClassifier : Probabilities, and predictions that agree with them.
    mercer.GradientSearch : Chooses C and the kernel.
    mercer.CrammerSingerSVC : All classes in one program.
    mercer.CellSVC : The same for hundreds of thousands of rows and more.
    mercer.RVC : Fewer vectors and probabilities, for fewer rows.

    References
    ----------
    C. Cortes, V. Vapnik, "Support-vector networks", Machine Learning 20 (1995).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10.0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    >>> bool(model.gap_.max() <= 1e-3)
    True
    """

    _last_image: tuple[str, Any] | None = None
    """The kernel matrix times the last solutions, with what tells it from others."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MARGIN_CONSTRAINTS,
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "multi_class": [StrOptions({"ovo", "ovr"})],
        "decision_function_shape": [StrOptions({"ovo", "ovr"})],
        "break_ties": ["boolean"],
        "probability": ["boolean"],
        "random_state": ["random_state"],
    }

    @says_instead(HINTS)
    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        loss: str = "hinge",
        solver: str = "auto",
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        multi_class: str = "ovo",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.loss = loss
        self.solver = solver
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C for each row. A weight of 2 is the row given twice, 0 the row left out.

        Returns
        -------
        SVC
            The fitted classifier.
        """
        rows, training = self._fit(X, y, sample_weight)
        if self.probability:
            codes = np.searchsorted(self.classes_, np.ravel(y)[rows.kept])
            points, seed = rows.X[rows.kept], self.random_state
            # Copies together, so that a weight of 2 is the row given twice here too.
            dealt = deal_folds(points, codes, N_FOLDS, seed, copies_together=True)
            values = self._out_of_fold(rows, training, codes, dealt)[rows.kept]
            self.sigmoids_ = PairSigmoids.fit(values, codes, rows.weights)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingRows, Training]:
        X, y = checked_data(self, X, y, ensure_min_samples=2, **self._data_format())
        if y.dtype.kind not in "biuUS":  # whole numbers and strings are labels whatever they are
            check_classification_targets(y)
        weights = given_weights(sample_weight, X)
        classes, codes = classes_of(y if weights is None else y[weights > 0])
        rows = self._training_rows(X, weights)
        training = self._begin_with(rows, classes, codes).finish(rows.gram, self._options())
        return rows, training

    def _begin(self, rows: TrainingRows, y: Any) -> Begun:
        """Return the fit to rows of a kernel matrix, which others may have a part in, too."""
        return self._begin_with(rows, *classes_of(y))

    def _begin_with(self, rows: TrainingRows, classes: Any, codes: Any) -> Begun:
        """Return the fit to rows of known classes."""
        factors = class_factors(self.class_weight, classes, codes, rows.weights)
        penalty = Penalty.of(self, factors, rows.weights)
        tasks = decompose(codes, classes.size, self.multi_class)
        programs = penalty.programs(tasks)
        mark = mark_of(rows, tasks, self.tol) if self.warm_start else None
        solved = partial(Training.solved, rows.gram, tasks, programs, penalty)
        store = partial(self._store, rows, classes, codes, mark, solved)
        places = None if len(tasks) == 1 else tasks.rows
        start = start_of(self._last_solutions_of(), tasks)
        if mark is not None:
            start = with_image(start, mark, self._last_image)
        return Begun(programs, places, self.tol, store, start)

    @fit_context(prefer_skip_nested_validation=True)
    def _fit_out_of_fold(self, X: Any, y: Any, sample_weight: Any, fold: Any) -> Any:
        """Fit, and return decision values of every row by machines without the row's fold.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        fold : ndarray of int of shape (n_samples,)
            Negative for rows that are never left out.

        Returns
        -------
        ndarray of shape (n_samples, n_pairs)
            As `_pair_decision_function`; NaN for rows of other classes in one against one, and for
            rows that are never left out.
        """
        rows, training = self._fit(X, y, sample_weight)
        codes = np.searchsorted(self.classes_, np.ravel(y)[rows.kept])
        return self._out_of_fold(rows, training, codes, fold[rows.kept])

    def _out_of_fold(self, rows: TrainingRows, training: Training, codes: Any, fold: Any) -> Any:
        """Return what `_fit_out_of_fold` does; classes and folds are those of rows with weight."""
        values = np.full((self.shape_fit_[0], len(training.tasks)), np.nan)
        is_balanced = self.class_weight == "balanced"
        anew = balanced_anew(codes, rows.weights, fold) if is_balanced else None
        values[rows.kept] = out_of_fold_values(training, fold, self._options(), anew)
        return self._pair_values(values)

    def _pair_decision_function(self, X: Any) -> Any:
        """Return, for each pair of classes, a value that is positive for the second of them."""
        return self._pair_values(self._machine_values(X))

    def _pair_values(self, values: Any) -> Any:
        if self._one_vs_one:
            return -values
        if values.shape[1] == 1:
            return values
        first, second = pairs_of(self.classes_.size)
        return values[:, second] - values[:, first]

    def _store(
        self,
        rows: TrainingRows,
        classes: Any,
        codes: Any,
        mark: str | None,
        solved: Callable[[Solutions], Training],
        solutions: Solutions,
    ) -> Training:
        """Set the fitted attributes, all at once and only after everything has worked."""
        X, training = rows.X, solved(solutions)
        one_vs_one = self.multi_class == "ovo"
        model = build_dual_model(training, codes, classes.size, one_vs_one)
        support = rows.kept[model.support].astype(np.int32)
        vectors = np.empty((0, 0)) if self._is_pairwise() else X[support]
        self._set_machines(classes, rows.kernel, support, vectors, model.n_support, model.dual_coef)
        self.support_kind_ = model.kind
        self.shape_fit_ = X.shape
        self.intercept_ = solutions.offset
        self.objective_ = solutions.objective
        self.gap_ = solutions.gap
        self.n_iter_ = self._counted(solutions)
        self.converged_ = bool(solutions.converged.all())
        self.margin_ = training.margin
        self.slack_ = slacks(training, rows.kept, X.shape[0])
        if self.warm_start:
            self._last_solutions = training.warm_start()
            self._last_image = None if mark is None else (mark, training.image)
        if self.verbose:
            print(
                f"SVC: {self.support_.size} support vectors of {X.shape[0]} rows, "
                f"{int(self.n_iter_.sum())} iterations, largest gap {self.gap_.max():.2g}"
            )
        warn_unless_converged(solutions, self.tol)
        return training

    def _set_machines(
        self, classes: Any, kernel: Any, support: Any, vectors: Any, n_support: Any, dual_coef: Any
    ) -> None:
        """Set all that decision values are made of but the constants."""
        for name in ("sigmoids_", "_order_of_ties"):  # of an earlier fit or file
            self.__dict__.pop(name, None)
        self.classes_ = classes
        self.kernel_ = kernel
        self._one_vs_one = classes.size > 2 and self.multi_class == "ovo"
        self.support_, self.support_vectors_ = support, vectors
        self.n_support_, self.dual_coef_ = n_support, dual_coef
        if isinstance(kernel, Linear):
            self._weights = self._feature_weights()
        elif not kernel.is_pairwise:
            self._sums = KernelSums(kernel, vectors, dual_coef, self._segments())

    @property
    def coef_(self) -> Any:
        """Weights of the features, one row a machine; only for a linear kernel."""
        self._check_linear()
        return self._weights.copy()

    def _feature_weights(self) -> Any:
        """Return the weights of the features, one row a machine."""
        vectors, ends = self.support_vectors_, np.concatenate([[0], np.cumsum(self._segments())])
        if issparse(vectors):
            parts = [(self.dual_coef_[:, a:b] @ vectors[a:b]).T for a, b in pairwise(ends)]
        else:  # not by the BLAS, whose threads would wait busily into the next fit
            parts = [
                np.einsum("mi,rm->ir", vectors[a:b], self.dual_coef_[:, a:b])
                for a, b in pairwise(ends)
            ]
        return combine_pairs(np.stack(parts, axis=1), self._one_vs_one).T

    def _segment_sums(self, values: Any) -> Any:
        """Multiply values at the support vectors, one a column, with their coefficients."""
        ends = np.concatenate([[0], np.cumsum(self._segments())])
        return np.stack(
            [values[:, a:b] @ self.dual_coef_[:, a:b].T for a, b in pairwise(ends)], axis=1
        )

    def _segments(self) -> Any:
        """Return the numbers of support vectors whose coefficients belong together."""
        return self.n_support_ if self._one_vs_one else [self.support_.size]

    def decision_function(self, X: Any) -> Any:
        """Return the decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For a precomputed kernel, the kernel values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_machines)
            Two classes: f(x), positive for ``classes_[1]``. More: one value for each class, whose
            arg max is the prediction, or with ``decision_function_shape="ovo"`` one for each pair,
            positive for the first of the two classes.
        """
        values = self._machine_values(X)
        if values.shape[1] == 1:
            return values.ravel()
        if self._one_vs_one and self.decision_function_shape == "ovr":
            return self._class_values(values)
        return values

    def predict(self, X: Any) -> Any:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self._machine_values(X)
        if values.shape[1] == 1:
            return self.classes_[(values.ravel() > 0).astype(int)]
        if self._one_vs_one and self.break_ties:
            values = self._class_values(values)
        elif self._one_vs_one:
            votes, _ = class_votes(values, self.classes_.size)
            return self.classes_[self._winners(votes)]
        return self.classes_[values.argmax(axis=1)]

    @available_if(_has_probability)
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class; only with ``probability=True``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        if not hasattr(self, "sigmoids_"):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False; fit again."
            )
        return self.sigmoids_.probabilities(self._pair_decision_function(X))

    @available_if(_has_probability)
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities; only with ``probability=True``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _class_values(self, values: Any) -> Any:
        """Return votes plus confidences below one vote, the largest for the class to predict."""
        votes, sums = class_votes(values, self.classes_.size)
        totals = votes + sums / (3.0 * (np.abs(sums) + 1.0))
        if self.break_ties:
            return totals
        # The first of the classes with most votes wins: it takes the largest of their values.
        winner = self._winners(votes)
        rows = np.arange(totals.shape[0])
        leader = np.where(votes == votes.max(axis=1, keepdims=True), totals, -np.inf).argmax(axis=1)
        largest = totals[rows, leader].copy()
        totals[rows, leader] = totals[rows, winner]
        totals[rows, winner] = largest
        return totals

    def _winners(self, votes: Any) -> Any:
        """Return the first of the classes with most votes, in the order of a file it came from."""
        order = getattr(self, "_order_of_ties", None)
        return votes.argmax(axis=1) if order is None else order[votes[:, order].argmax(axis=1)]

    @gives_numbers
    def _machine_values(self, X: Any) -> Any:
        """Return f(x) of every machine."""
        check_is_fitted(self)
        X = checked_rows(self, X, **self._data_format())
        if isinstance(self.kernel_, Linear):
            return np.asarray(X @ self._weights.T) + self.intercept_
        if self.kernel_.is_pairwise:
            sums = self._segment_sums(self.kernel_(X)[:, self.support_])
        else:
            sums = self._sums(X, self._n_threads(), rounded=True, device=self.device)
        return combine_pairs(sums, self._one_vs_one) + self.intercept_


class KnownValues(SVC):
    """A classifier whose decision values are known, for one set of rows."""

    values: Any

    @classmethod
    def of(cls, model: SVC, classes: Any, values: Any) -> KnownValues:
        """Return a classifier with the parameters of ``model`` and the values of its machines."""
        known = copy(model)
        known.__class__ = cls
        assert isinstance(known, cls)
        known.classes_ = classes
        known._one_vs_one = len(classes) > 2 and model.multi_class == "ovo"
        known.values = values
        return known

    def _machine_values(self, X: Any) -> Any:
        return self.values
