"""Support vector classification of all classes in one program."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._inputs import checked_data, checked_rows, classes_of, fit_context, given_weights
from mercer._sklearn import Interval
from mercer._threads import holds_blas
from mercer.gram import KernelSums, gives_numbers
from mercer.machines import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    KernelMachine,
    TrainingRows,
    class_factors,
    warn_about,
)
from mercer.solvers import MultiClassSolution, Options, solve_crammer_singer

Floats = NDArray[np.float64]

UNUSED = ("solver", "shrinking", "device")


class CrammerSingerSVC(ClassifierMixin, KernelMachine):
    r"""Support vector classifier that looks at all classes at once (Crammer and Singer).

    `SVC` learns one machine for each pair of classes, or for each class. Here there is a function
    :math:`f_k(x) = \langle w_k, \phi(x)\rangle + b_k` for each class, and all are learned together:
    that of the right class should exceed every other by 1,

    .. math::

        \min_{w, b, \xi} \tfrac12\sum_k\bigl(\lVert w_k\rVert^2 + b_k^2/s^2\bigr) + \sum_i C_i\xi_i
        \quad\text{subject to}\quad f_{y_i}(x_i) - f_k(x_i) \ge 1 - \xi_i \;\text{ for all }
        k \ne y_i,\; \xi_i \ge 0

    and the class with the largest value is predicted. The offsets are the weights of a constant
    feature s, ``intercept_scaling``, and are penalised like other weights, as in scikit-learn's
    ``LinearSVC(multi_class="crammer_singer")``, which has linear kernels only. With two classes it
    is the ordinary machine at twice the C, but for the penalty of the offset.

    The program has a variable for each row and class, and is solved row by row
    (`mercer.solvers.solve_crammer_singer`): expect it to be slower than `SVC`, and large C or
    unscaled features to need patience; ``time_limit`` ends it with the gap that was reached.

    Use it where one vector w for each class is wanted; errors are seldom below those of `SVC`, and
    a fit takes longer.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack, above 0 and finite.
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
    fit_intercept : bool, default=True
        Whether there are offsets.
    intercept_scaling : float, default=1.0
        s; the larger, the less the offsets are penalised.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the solver stops.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class.
    cache_size : float, default=200
        Megabytes for kernel values while a fit lasts.
    max_iter : int, default=-1
        Limit of the solver's iterations, of which one solves one row; -1 means none.
    time_limit : float or None, default=None
        Seconds for the whole fit.
    warm_start : bool, default=False
        Whether to start from the previous solution, for instance to go on after a limit.
    n_jobs : int or None, default=None
        Number of threads of predictions; None or -1 uses all processors, -2 all but one.
    verbose : bool, default=False
        Whether to print a line for each fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    kernel_ : Kernel
        The kernel with numbers in place of "scale".
    support_ : ndarray of shape (n_SV,)
        Rows of the support vectors.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors.
    n_support_ : ndarray of shape (n_classes,)
        Their number in each class.
    dual_coef_ : ndarray of shape (n_classes, n_SV)
        :math:`\alpha_{ik}`: at most C for the class of a row, at most 0 for the others, with sum 0.
    intercept_ : ndarray of shape (n_classes,)
        :math:`b_k`.
    coef_ : ndarray of shape (n_classes, n_features)
        :math:`w_k`, where the kernel is linear.
    slack_ : ndarray of shape (n_samples,)
        :math:`\xi_i` of each training row.
    objective_ : float
        Dual objective (minimised): minus the value of the problem above.
    gap_ : float
        Largest violation of the optimality conditions.
    n_iter_ : int
        Iterations of the solver, at least 1 where it has converged.
    converged_ : bool
        Whether the gap is at most ``tol``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.SVC : A machine for each pair of classes, which is faster.
    mercer.NearestHypersphereClassifier : A ball for each class.

    References
    ----------
    K. Crammer, Y. Singer, "On the algorithmic implementation of multiclass kernel-based vector
    machines", JMLR 2 (2001).

    S. van der Westhuizen, thesis, Stellenbosch University 2014, (3.48), for the rule.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import CrammerSingerSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CrammerSingerSVC().fit(X, y)
    >>> model.decision_function(X[:2]).shape, model.score(X, y) > 0.95
    ((2, 3), True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **{name: rule for name, rule in SOLVER_CONSTRAINTS.items() if name not in UNUSED},
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0.0, None, closed="neither")],
        "class_weight": [dict, str, None],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        class_weight: Any = None,
        cache_size: float = 200,
        max_iter: int = -1,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    @holds_blas
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
        CrammerSingerSVC
            The fitted classifier.
        """
        X, y = checked_data(self, X, y, ensure_min_samples=2, **self._data_format())
        check_classification_targets(y)
        weights = given_weights(sample_weight, X)
        classes, codes = classes_of(y if weights is None else y[weights > 0])
        rows = self._training_rows(X, weights)
        factors = class_factors(self.class_weight, classes, codes, rows.weights)
        start = self._last_solutions_of()
        if start is not None and start.shape != (codes.size, classes.size):
            start = None
        solution = solve_crammer_singer(
            rows.gram,
            codes,
            self.C * factors * rows.weights,
            self._options(),
            constant=self._constant,
            warm_start=start,
        )
        self._store(rows, classes, codes, solution)
        if not solution.converged:
            warn_about([solution], 1, self.tol)
        return self

    @property
    def _constant(self) -> float:
        """What the offsets add to the kernel."""
        return float(self.intercept_scaling) ** 2 if self.fit_intercept else 0.0

    def _options(self) -> Options:
        return Options(
            tol=self.tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            cache_bytes=self.cache_size * 1e6,
        )

    def _store(
        self, rows: TrainingRows, classes: Any, codes: Any, solution: MultiClassSolution
    ) -> None:
        """Set the fitted attributes, all at once and only after everything has worked."""
        X, kept, alpha = rows.X, rows.kept, solution.alpha
        support = np.flatnonzero(alpha.any(axis=1))
        self.classes_, self.kernel_ = classes, rows.kernel
        self.support_ = kept[support].astype(np.int32)
        pairwise = rows.kernel.is_pairwise
        self.support_vectors_ = np.empty((0, 0)) if pairwise else X[self.support_]
        self.n_support_ = np.bincount(codes[support], minlength=classes.size).astype(np.int32)
        self.dual_coef_ = np.ascontiguousarray(alpha[support].T)
        self.intercept_ = self._constant * self.dual_coef_.sum(axis=1)
        self.shape_fit_ = X.shape
        self.objective_, self.gap_ = solution.objective, solution.gap
        self.n_iter_ = self._counted(solution)
        self.converged_ = solution.converged
        self.slack_ = np.zeros(X.shape[0])
        own = solution.gradient[np.arange(codes.size), codes]
        self.slack_[kept] = np.maximum(0.0, solution.gradient.max(axis=1) - own)
        self._sums = KernelSums(rows.kernel, self.support_vectors_, self.dual_coef_)
        if self.warm_start:
            self._last_solutions = alpha
        if self.verbose:
            print(
                f"CrammerSingerSVC: {support.size} support vectors of {X.shape[0]} rows, "
                f"{self.n_iter_} iterations, gap {self.gap_:.2g}"
            )

    @property
    def coef_(self) -> Any:
        """Weights of the features, one row a class; only for a linear kernel."""
        self._check_linear()
        return np.asarray(self.dual_coef_ @ self.support_vectors_)

    @gives_numbers
    def _class_values(self, X: Any) -> Any:
        """Return the value of every class."""
        check_is_fitted(self)
        X = checked_rows(self, X, **self._data_format())
        if self.kernel_.is_pairwise:
            return self.kernel_(X)[:, self.support_] @ self.dual_coef_.T + self.intercept_
        return self._sums(X, self._n_threads(), rounded=True)[:, 0, :] + self.intercept_

    def decision_function(self, X: Any) -> Any:
        """Return the decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For a precomputed kernel, the kernel values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: the difference of the values, positive for ``classes_[1]``. More: the value
            of each class, the largest for the one that is predicted.
        """
        values = self._class_values(X)
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    def predict(self, X: Any) -> Any:
        """Return the predicted labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        best = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[best]
