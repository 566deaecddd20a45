"""The one-class support vector machine."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer._inputs import checked_rows, fit_context, says_instead
from mercer._sklearn import Interval
from mercer.gram import gives_numbers, kernel_products
from mercer.kernels import Linear
from mercer.machines import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    TrainingRows,
    warn_unless_converged,
)
from mercer.problems import QuadraticProgram, one_class
from mercer.solvers import Solution
from mercer.spheres._ball import in_units, level_offset, without_dust
from mercer.spheres._balls import ROUNDING
from mercer.spheres._machine import OneClassMachine

Floats = NDArray[np.float64]


HINTS = {
    "C": "use nu, the share of rows outside",
    "contamination": "use nu",
    "random_state": "nothing here is random",
}
"""What stands for arguments of machines that are like this one."""


class OneClassSVM(OneClassMachine):
    r"""One-class support vector machine: a hyperplane that keeps the data away from the origin.

    .. math::

        \min_{w, \rho, \xi} \tfrac12 \lVert w \rVert^2 - \rho + \frac{1}{\nu n} \sum_i \xi_i
        \quad\text{subject to}\quad \langle w, \phi(x_i) \rangle \ge \rho - \xi_i,\; \xi_i \ge 0

    nu is an upper bound on the share of training rows outside and a lower bound on the share of
    support vectors. For kernels with constant k(x, x) the region is that of `SVDD`.

    The parameters and attributes of scikit-learn's ``OneClassSVM`` keep their meaning, so that
    changing the import is enough.

    Use it as scikit-learn's, for examples of one kind only. The default of nu is scikit-learn's;
    shares of 0.01 to 0.1 are what is mostly meant. Time grows with the rows times the support
    vectors, at least nu times the rows.

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
        Largest violation of the optimality conditions at which the solver stops.
    nu : float, default=0.5
        Share of rows that may be left outside, above 0 and at most 1.
    solver : {"auto", "smo", "exact", "linear"}, default="auto"
        See `mercer.solvers.solve`.
    shrinking : bool, default=True
        Whether variables that have settled at a bound are left out until the others are solved.
    cache_size : float, default=200
        Megabytes for kernel values while a fit lasts.
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
    verbose : bool, default=False
        Whether to print a line for each fit.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with numbers in place of "scale".
    support_ : ndarray of shape (n_SV,)
        Rows of the support vectors.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors.
    n_support_ : ndarray of shape (1,)
        Their number.
    dual_coef_ : ndarray of shape (1, n_SV)
        Multipliers in units of their bound: from 0 to the weight of the row, with the sum nu n.
    support_kind_ : ndarray of str of shape (n_SV,)
        "margin" on the hyperplane, "bound" where the multiplier has reached its bound.
    intercept_ : ndarray of shape (1,)
        Constant of the decision function.
    offset_ : float
        :math:`\rho` in the same units, minus the intercept.
    coef_ : ndarray of shape (1, n_features)
        w in the same units, where the kernel is linear.
    objective_ : ndarray of shape (1,)
        Dual objective (minimised), in the same units.
    gap_ : ndarray of shape (1,)
        Largest violation of the optimality conditions.
    n_iter_ : int
        Iterations of the solver, at least 1 where it has converged.
    converged_ : bool
        Whether the gap is at most ``tol``.
    fit_status_ : int
        0 if it is, else 1.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.SVDD : The ball around the data, for all kernels and with outliers among the rows.
    mercer.OneClassSearch : Chooses width and nu without examples of outliers.
    mercer.CellOneClassSVM : The same for hundreds of thousands of rows and more.

    References
    ----------
    B. Schölkopf et al., "Estimating the support of a high-dimensional distribution", Neural
    Computation 13 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    >>> bool((model.predict(X) == -1).mean() <= 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        **SOLVER_CONSTRAINTS,
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
        nu: float = 0.5,
        solver: str = "auto",
        shrinking: bool = True,
        cache_size: float = 200,
        max_iter: int = -1,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.solver = solver
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or the kernel matrix for a precomputed kernel.
        y : ignored
            For scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 is the row given twice, 0 the row left out.

        Returns
        -------
        OneClassSVM
            The fitted machine.
        """
        data = self._training_data(X, sample_weight, translate=False)
        unit = self.nu * data.weights.sum()
        problem = in_units(one_class(data.gram.n, self.nu, data.weights), unit)
        solution = self._solve(problem, data.gram, self.tol, unit)
        self._store(data, solution, level_offset(problem, solution), problem.upper, unit)
        self._say(data.X.shape[0], self.support_.size, solution, solution.gap)
        warn_unless_converged([solution], self.tol)
        return self

    def _program(self, diagonal: Floats, signs: Floats, weights: Floats) -> QuadraticProgram:
        """Return the program of some rows; neither k(x, x) nor signs play a part."""
        return one_class(weights.size, self.nu, weights)

    def _store(
        self, data: TrainingRows, solution: Solution, intercept: float, upper: Floats, unit: float
    ) -> None:
        """Set the fitted attributes, all at once and only after everything has worked."""
        beta = without_dust(solution.beta)
        support = np.flatnonzero(beta)
        places = data.kept[support].astype(np.int32)
        vectors = np.empty((0, 0)) if data.kernel.is_pairwise else data.X[places]
        largest = float(np.abs(data.gram.diag()).max())
        self._set_machine(
            data.kernel, places, vectors, beta[None, support], intercept, unit * largest
        )
        at_bound = beta[support] == upper[support]
        self.support_kind_ = np.where(at_bound, "bound", "margin")
        self.objective_ = np.array([solution.objective])
        self.gap_ = np.array([solution.gap])
        self.n_iter_ = self._counted(solution)
        self.converged_ = solution.converged
        self.fit_status_ = 0 if solution.converged else 1
        self.shape_fit_ = data.X.shape
        if self.warm_start:
            self._last_solution = solution.beta / unit

    def _set_machine(
        self,
        kernel: Any,
        support: Any,
        vectors: Any,
        dual_coef: Any,
        intercept: float,
        scale: float,
    ) -> None:
        """Set all that decision values are made of; ``scale`` is the largest that a sum can be."""
        self.kernel_ = kernel
        self.support_, self.support_vectors_ = support, vectors
        self.n_support_ = np.array([support.size], dtype=np.int32)
        self.dual_coef_ = dual_coef
        self.intercept_ = np.array([intercept])
        self.offset_ = -intercept
        self._rounding = ROUNDING * scale

    @property
    def coef_(self) -> Any:
        """Weights of the features; only for a linear kernel."""
        self._check_linear()
        return np.asarray(self.dual_coef_ @ self.support_vectors_)

    def score_samples(self, X: Any) -> Floats:
        """Return the kernel sums: the higher, the more normal.

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
        scores = self._kernel_sums(X)
        # Rows on the boundary are inside, whichever way their sum was rounded.
        scores[np.abs(scores - self.offset_) <= self._rounding] = self.offset_
        return scores

    @gives_numbers
    def _kernel_sums(self, X: Any) -> Floats:
        if isinstance(self.kernel_, Linear):
            return np.asarray(X @ self.coef_[0])
        if self.kernel_.is_pairwise:
            return np.asarray(self.kernel_(X)[:, self.support_] @ self.dual_coef_[0])
        sums = kernel_products(
            self.kernel_,
            X,
            self.support_vectors_,
            self.dual_coef_,
            n_threads=self._n_threads(),
            device=self.device,
        )
        return sums.ravel()

    def decision_function(self, X: Any) -> Floats:
        """Return the kernel sums minus ``offset_``, at least 0 for inliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            0 for rows that rounding cannot tell from the boundary.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return +1 for inliers and -1 for outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
