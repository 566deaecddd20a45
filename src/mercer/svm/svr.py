"""Support vector regression."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._inputs import (
    OF_LINEAR_MACHINES,
    checked_data,
    checked_rows,
    fit_context,
    given_weights,
    says_instead,
)
from mercer._sklearn import Interval, StrOptions
from mercer.gram import KernelSums, gives_numbers
from mercer.kernels import Linear
from mercer.machines import (
    MARGIN_CONSTRAINTS,
    Begun,
    KernelMachine,
    TrainingRows,
    warn_unless_converged,
)
from mercer.machines.tube import (
    TubeModel,
    in_unit,
    solution_of_unit,
    tube_program,
    tube_rows,
    tube_start,
    tube_unit,
)
from mercer.problems import Programs
from mercer.solvers import Solution, Solutions

HINTS = {**OF_LINEAR_MACHINES, "nu": "use epsilon", "random_state": "nothing here is random"}
"""What stands for arguments of machines that are like this one."""


class SVR(RegressorMixin, KernelMachine):
    r"""Support vector regression: a function with all but a few targets inside a tube around it.

    It finds the function :math:`f(x) = \langle w, \phi(x) \rangle + b` that solves

    .. math::

        \min_{w, b, \xi} \tfrac12 \lVert w \rVert^2 + \sum_i C_i \ell(\xi_i)
        \quad\text{subject to}\quad |y_i - f(x_i)| \le \varepsilon + \xi_i,\; \xi_i \ge 0

    with :math:`\ell(\xi) = \xi` (epsilon-insensitive loss) or :math:`\ell(\xi) = \xi^2/2` (squared
    epsilon-insensitive loss), through the dual program. ``C=inf`` allows no target outside.

    The parameters of scikit-learn's ``SVR`` keep their meaning, so that changing the import is
    enough.

    Use it for smooth functions of scaled columns, and where some targets are wrong. C and epsilon
    have the unit of the target. Time grows with the rows times the support vectors; a wider tube
    has fewer of them.

    Parameters
    ----------
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
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the solver stops, in units of y.
    C : float, default=1.0
        Price of slack, above 0; ``inf`` allows none.
    epsilon : float, default=0.1
        Half the width of the tube, within which deviations cost nothing; not negative.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        How slack counts: as it is, or half its square.
    solver : {"auto", "smo", "exact", "linear"}, default="auto"
        See `mercer.solvers.solve`.
    shrinking : bool, default=True
        Whether variables that have settled at a bound are left out until the others are solved.
    cache_size : float, default=200
        Megabytes for kernel values while a fit lasts. The engine keeps up to 256 for the next fit;
        `mercer.gram.release_memory` gives them back.
    verbose : bool, default=False
        Whether to print a line for each fit.
    max_iter : int, default=-1
        Limit of the solver's iterations; -1 means none.
    time_limit : float or None, default=None
        Seconds for the whole fit.
    warm_start : bool, default=False
        Whether to start from the previous solution, for instance to go on after a limit.
    n_jobs : int or None, default=None
        Number of threads; None or -1 uses all processors, -2 all but one.
    device : {"cpu", "cuda", "cuda:<number>", "auto"}, default="cpu"
        Where fits and predictions are computed. "cuda" is a GPU, which needs torch (extra ``gpu``)
        and a kernel whose formula the engine knows, as all named ones but "precomputed" have;
        what is small is the processor's anyway. "auto" takes a GPU where there is one and rows are
        10,000 or more. What is fitted is the same, and predicts where there is no GPU, too.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with numbers in place of "scale".
    support_ : ndarray of shape (n_SV,)
        Rows of the support vectors: those on the edge of the tube and outside.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors.
    n_support_ : ndarray of shape (1,)
        Their number.
    dual_coef_ : ndarray of shape (1, n_SV)
        :math:`\alpha_i - \alpha_i^*`, above 0 where the target is above the tube.
    support_kind_ : ndarray of str of shape (1, n_SV)
        "margin" strictly between the bounds (on the edge of the tube, under the epsilon-insensitive
        loss), "bound" at C or -C.
    intercept_ : ndarray of shape (1,)
        b.
    coef_ : ndarray of shape (1, n_features)
        w, where the kernel is linear.
    slack_ : ndarray of shape (n_samples,)
        :math:`\xi_i` of each training row, by which its target is outside the tube.
    objective_, gap_ : ndarray of shape (1,)
        Dual objective (minimised), see `Solution` for its accuracy, and largest violation of the
        optimality conditions.
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
    mercer.RVR : Deviations of predictions, for fewer rows.
    mercer.GradientSearch : Chooses C, epsilon and the kernel.
    mercer.CellSVR : The same for hundreds of thousands of rows and more.

    References
    ----------
    A. J. Smola, B. Schölkopf, "A tutorial on support vector regression", Statistics and Computing
    14 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = SVR(C=10.0, epsilon=0.05).fit(X, np.sin(X).ravel())
    >>> bool(np.abs(model.predict(X) - np.sin(X).ravel()).max() < 0.06)
    True
    >>> int(model.n_support_[0])
    7
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MARGIN_CONSTRAINTS,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
    }

    @says_instead(HINTS)
    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        solver: str = "auto",
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.solver = solver
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.device = device

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the regression.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C for each row. A weight of 2 is the row given twice, 0 the row left out.

        Returns
        -------
        SVR
            The fitted regression.
        """
        X, y = checked_data(self, X, y, y_numeric=True, **self._data_format())
        rows = self._training_rows(X, given_weights(sample_weight, X))
        self._begin(rows, y[rows.kept]).finish(rows.gram, self._options())
        return self

    def _begin(self, rows: TrainingRows, targets: Any) -> Begun:
        """Return the fit to rows of a kernel matrix, which others may have a part in, too."""
        squared = self.loss == "squared_epsilon_insensitive"
        problem = tube_program(targets, self.C * rows.weights, self.epsilon, squared=squared)
        unit, n = tube_unit(problem), len(targets)
        start = tube_start(problem, self._last_solutions_of())

        def store(solutions: Solutions) -> None:
            solution = self._bounded(solution_of_unit(solutions[0], unit))
            model = TubeModel.of(problem, solution, n, self.tol)
            self._store(rows, targets, model)
            warn_unless_converged([model.solution], self.tol)

        return Begun(
            Programs.of([in_unit(problem, unit)]),
            tube_rows(problem, n),
            self.tol / unit,
            store,
            None if start is None else start / unit,
        )

    def _bounded(self, solution: Solution) -> Solution:
        """Return the solution, or refuse where there is none."""
        if solution.status == "unbounded":
            raise ValueError(
                "No function of this kernel keeps within epsilon of all targets, so that C=inf has "
                "no solution; use a finite C, a larger epsilon or a richer kernel."
                if np.isinf(self.C)
                else "The kernel is not positive semi-definite, or its values are so large that "
                "rounding makes it so, and the squared loss has no solution; scale the features, "
                "use loss='epsilon_insensitive' or another kernel."
            )
        return solution

    def _store(self, rows: TrainingRows, targets: Any, model: TubeModel) -> None:
        """Set the fitted attributes, all at once and only after everything has worked."""
        X, kept, kernel, solution = rows.X, rows.kept, rows.kernel, model.solution
        support = np.flatnonzero(model.coef)
        places = kept[support].astype(np.int32)
        vectors = np.empty((0, 0)) if kernel.is_pairwise else X[places]
        self._set_machine(kernel, places, vectors, model.coef[None, support])
        self.support_kind_ = np.where(model.at_bound[None, support], "bound", "margin")
        self.shape_fit_ = X.shape
        self.intercept_ = np.array([solution.offset])
        self.objective_, self.gap_ = np.array([solution.objective]), np.array([solution.gap])
        self.n_iter_, self.converged_ = self._counted(solution), solution.converged
        self.slack_ = np.zeros(X.shape[0])
        self.slack_[kept] = np.maximum(0.0, np.abs(targets - model.fitted) - self.epsilon)
        if self.warm_start:
            self._last_solutions = model.coef
        if self.verbose:
            print(
                f"SVR: {support.size} support vectors of {X.shape[0]} rows, {self.n_iter_} "
                f"iterations, gap {solution.gap:.2g}"
            )

    def _set_machine(self, kernel: Any, support: Any, vectors: Any, dual_coef: Any) -> None:
        """Set all that the function is made of but its constant."""
        self.kernel_ = kernel
        self.support_, self.support_vectors_ = support, vectors
        self.n_support_ = np.array([support.size], dtype=np.int32)
        self.dual_coef_ = dual_coef
        self._sums = KernelSums(kernel, vectors, dual_coef)

    @property
    def coef_(self) -> Any:
        """Weights of the features; only for a linear kernel."""
        self._check_linear()
        return (self.support_vectors_.T @ self.dual_coef_.T).T

    @gives_numbers
    def predict(self, X: Any) -> Any:
        """Return f(x).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For a precomputed kernel, the kernel values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = checked_rows(self, X, **self._data_format())
        if self.support_.size == 0:
            return np.full(X.shape[0], self.intercept_[0])
        if isinstance(self.kernel_, Linear):
            values = np.asarray(X @ self.coef_[0])
        elif self.kernel_.is_pairwise:
            values = self.kernel_(X)[:, self.support_] @ self.dual_coef_[0]
        else:
            values = self._sums(X, self._n_threads(), rounded=True, device=self.device)[:, 0, 0]
        return values + self.intercept_[0]
