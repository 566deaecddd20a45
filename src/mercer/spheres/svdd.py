"""Support vector data description: a small ball around the data in feature space."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from mercer._inputs import checked_rows, fit_context
from mercer._sklearn import Interval, StrOptions
from mercer._warnings import warn
from mercer.kernels import Linear
from mercer.machines import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    TrainingRows,
    warn_unless_converged,
)
from mercer.problems import QuadraticProgram, squared_svdd, svdd_with_outliers
from mercer.spheres._ball import Ball, ball_of, feature_variance, in_units, price_of
from mercer.spheres._balls import ROUNDING, Balls
from mercer.spheres._essential import never_zero
from mercer.spheres._machine import OneClassMachine
from mercer.spheres.preimage import preimage

DEFAULT_NU = 0.1
"""Share of rows that may be left outside where neither nu nor C says otherwise."""

Floats = NDArray[np.float64]


class SVDD(OneClassMachine):
    r"""Support vector data description: the smallest ball around most of the data.

    .. math::

        \begin{aligned}
        \min_{a, R, \xi}\quad & R^2 + \sum_i C_i \ell(\xi_i) \\
        \text{subject to}\quad
        & y_i \left( \lVert \phi(x_i) - a \rVert^2 - R^2 \right) \le \xi_i,\quad
        \xi_i \ge 0
        \end{aligned}

    with :math:`\ell(\xi) = \xi` (``loss="hinge"``) or :math:`\xi^2` (``"squared_hinge"``), and
    :math:`y_i = +1` for targets, which belong inside, and -1 for outliers, which belong outside.
    ``nu=0`` allows no slack: the smallest ball around all rows. Otherwise :math:`C = 1/(\nu n)`,
    and nu is an upper bound on the share of targets outside and a lower bound on the share of
    support vectors.

    For kernels with constant k(x, x) the region is that of the one-class machine, see
    `OneClassSVM`. Others work as well: the kernel is asked for k(x, x). Moving the data in feature
    space changes nothing.

    Use it where examples of one kind only are known, or next to nothing of the other; where both
    are known a classifier is better. Few rows have a multiplier, so that it is the fastest of the
    machines.

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
    nu : float or None, default=None
        Between 0 and 1: sets C = 1/(nu n), n the sum of the weights of the targets. 0 allows no
        slack. None uses ``C``, or 0.1 where that is None too. With squared slack nu sets the
        price only, and bounds nothing.
    C : float or None, default=None
        Price of slack, instead of ``nu``. With linear slack it must be at least 1/n, since no ball
        pays otherwise; from 1 on it allows no slack (as long as there are no outliers).
    C_outlier : float or None, default=None
        Price of slack of rows with y = -1; None takes that of the targets.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        How slack counts: as it is, or squared.
    solver : {"auto", "smo", "exact", "linear"}, default="auto"
        See `mercer.solvers.solve`.
    shrinking : bool, default=True
        Whether variables that have settled at a bound are left out until the others are solved.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the solver stops, with multipliers
        in units of C (where C is below 1), as in `OneClassSVM`, and squared distances in units of
        the variance of the data in feature space.
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
    radius_ : float
        R, from the rows strictly between their bounds; 0 with a warning if slack is so cheap that
        no ball is left.
    alpha_ : ndarray of shape (n_samples,)
        Multiplier :math:`\alpha_i \ge 0` of every training row.
    support_ : ndarray of shape (n_SV,)
        Rows whose multiplier is above 0.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors.
    n_support_ : ndarray of shape (1,)
        Their number.
    dual_coef_ : ndarray of shape (1, n_SV)
        :math:`y_i \alpha_i`; the centre is :math:`a = \sum_i y_i \alpha_i \phi(x_i)`.
    support_kind_ : ndarray of str of shape (n_SV,)
        "margin" for a multiplier below its bound C: the row lies on the surface (with squared
        slack there is no bound, and it lies beyond the surface by its slack). "bound" for one at C:
        the row lies on the surface or on the wrong side of it. See `essential_support` for the
        third kind.
    center_ : ndarray of shape (n_features,)
        The centre for a linear kernel; for others the point whose image lies nearest to it, see
        `preimage`. Not for a precomputed kernel.
    offset_ : float
        :math:`-R^2`, so that ``decision_function`` is ``score_samples`` minus ``offset_``.
    slack_ : ndarray of shape (n_samples,)
        :math:`\xi_i` of each training row.
    objective_ : ndarray of shape (1,)
        Value of the problem above.
    gap_ : ndarray of shape (1,)
        Largest violation of the optimality conditions, in the units of ``tol``.
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
    mercer.OneClassSVM : The same region for Gaussian kernels, with the parameters of scikit-learn.
    mercer.OneClassSearch : Chooses width and nu without examples of outliers.
    mercer.NearestHypersphereClassifier : A ball for each of several classes.
    mercer.spheres.TargetProbability : Probabilities of its answers.

    References
    ----------
    D. M. J. Tax, R. P. W. Duin, "Support vector data description", Machine Learning 54 (2004).

    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD
    >>> square = np.array([[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0], [1.0, 1.0]])
    >>> ball = SVDD(kernel="linear", nu=0).fit(square)
    >>> ball.center_.round(3), round(ball.radius_**2, 3)
    (array([1., 1.]), 2.0)
    >>> ball.predict([[1.0, 2.0], [1.0, 3.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        "nu": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "C": [Interval(Real, 0.0, None, closed="right"), None],
        "C_outlier": [Interval(Real, 0.0, None, closed="right"), None],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        nu: float | None = None,
        C: float | None = None,
        C_outlier: float | None = None,
        loss: str = "hinge",
        solver: str = "auto",
        shrinking: bool = True,
        tol: float = 1e-3,
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
        self.nu = nu
        self.C = C
        self.C_outlier = C_outlier
        self.loss = loss
        self.solver = solver
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the ball.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,), default=None
            +1 for targets and -1 for outliers; None means targets only. Labels of any other kind
            are ignored with a warning, as scikit-learn's outlier detectors ignore all labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C for each row. A weight of 2 is the row given twice, 0 the row left out.

        Returns
        -------
        SVDD
            The fitted ball.
        """
        self._price()  # refused before anything is computed
        data = self._training_data(X, sample_weight, translate=True)
        signs = _signs(y, data.X)[data.kept]
        problem, unit = self._problem(data, signs)
        variance = feature_variance(data.gram, data.weights)
        solution = self._solve(problem, data.gram, self.tol * variance, unit)
        if solution.status == "unbounded":
            raise ValueError(
                "No ball holds all targets and no outlier with this kernel; give nu above 0, a "
                "finite C or C_outlier, or a richer kernel."
            )
        self._store(data, problem, ball_of(problem, solution, unit), unit)
        self.gap_ = np.array([solution.gap / variance])
        self.n_iter_ = self._counted(solution)
        self.converged_ = solution.converged
        self._say(data.X.shape[0], self.support_.size, solution, self.gap_[0])
        warn_unless_converged([solution], self.tol * variance)
        return self

    def _price(self) -> float | None:
        """Return C, or None where it follows from nu."""
        if self.nu is not None and self.C is not None:
            raise ValueError("Only one of nu and C can be given; the other must be None.")
        return self.C

    def _problem(self, data: TrainingRows, signs: Floats) -> tuple[QuadraticProgram, float]:
        """Return the program and the unit in which its multipliers are counted."""
        problem = self._program(data.gram.diag(), signs, data.weights)
        if problem.ridge.any():
            return problem, 1.0
        unit = max(1.0, 1.0 / self._price_of(signs, data.weights))
        return in_units(problem, unit), unit

    def _price_of(self, signs: Floats, weights: Floats) -> float:
        """Return C, where need be from nu."""
        price = self._price()
        if price is not None:
            return float(price)
        nu = DEFAULT_NU if self.nu is None else float(self.nu)
        return price_of(nu, weights[signs > 0].sum())

    def _program(self, diagonal: Floats, signs: Floats, weights: Floats) -> QuadraticProgram:
        """Return the program of some rows, from k(x, x), signs and weights of each."""
        price = self._price_of(signs, weights)
        targets = price * weights
        outliers = (price if self.C_outlier is None else self.C_outlier) * weights
        if self.loss == "squared_hinge" and np.isfinite(price):
            return squared_svdd(diagonal, np.where(signs > 0, targets, outliers), signs)
        return svdd_with_outliers(diagonal, signs, targets, outliers)

    def _store(
        self, data: TrainingRows, problem: QuadraticProgram, ball: Ball, unit: float
    ) -> None:
        """Set the fitted attributes, all at once and only after everything has worked."""
        if ball.squared_radius < -ROUNDING * float(np.abs(data.gram.diag()).max()):
            warn(
                "Slack is so cheap that no ball is left: the best squared radius is "
                f"{ball.squared_radius:.3g}, and 0 is used; lower nu or raise C.",
            )
        squared_radius = max(0.0, ball.squared_radius)
        support = np.flatnonzero(ball.beta)
        n = data.X.shape[0]
        self.kernel_ = data.kernel
        self.support_ = data.kept[support].astype(np.int32)
        pairwise = data.kernel.is_pairwise
        self.support_vectors_ = np.empty((0, 0)) if pairwise else data.X[self.support_]
        self.n_support_ = np.array([support.size], dtype=np.int32)
        self.dual_coef_ = ball.beta[None, support]
        self.alpha_ = _spread(np.abs(ball.beta), data.kept, n)
        self.support_kind_ = np.where(ball.at_bound[support], "bound", "margin")
        self.radius_ = float(np.sqrt(squared_radius))
        self.offset_ = -squared_radius
        signs = np.where(problem.lower < 0, -1.0, 1.0)
        beyond = signs * (ball.squared_distances - squared_radius)
        self.slack_ = _spread(np.maximum(0.0, beyond), data.kept, n)
        self.objective_ = np.array([ball.value])
        self.shape_fit_ = data.X.shape
        self._balls = Balls(
            data.kernel,
            None if pairwise else self.support_vectors_,
            data.kept[support],
            ball.beta[support],
            np.array([support.size]),
            np.array([ball.squared_norm]),
            data.gram.diag(),
            data.kept,
        )
        self._bounds = tuple(
            _spread(bound / unit, data.kept, n) for bound in (problem.lower, problem.upper)
        )
        if self.warm_start:
            self._last_solution = ball.beta

    @property
    def center_(self) -> Floats:
        """The centre in input space, or the point whose image is nearest to it."""
        check_is_fitted(self)
        if self.kernel_.is_pairwise:
            raise AttributeError("center_ needs the data themselves, not a precomputed kernel.")
        if isinstance(self.kernel_, Linear):
            return self._balls.centres()[0]
        return preimage(self.kernel_, self.support_vectors_, self.dual_coef_[0])

    def essential_support(self, X: Any) -> NDArray[np.bool_]:
        r"""Tell which support vectors are part of every expansion of the centre.

        :math:`a = \sum_i \beta_i \phi(x_i)` may have several expansions, for instance where a row
        is given twice or where more rows lie on the surface than are needed to span the ball. Only
        an essential support vector changes the ball when it is left out of the training, and then
        lies outside. Essential support vectors may be of either kind.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows that the ball was fitted on, in the same order; for a precomputed kernel its
            matrix.

        Returns
        -------
        ndarray of bool of shape (n_SV,)

        References
        ----------
        K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en
        feature selectie*, Universiteit Antwerpen 2006, table 3.1.

        Examples
        --------
        >>> from mercer import SVDD
        >>> X = [[0.0], [2.0], [2.0], [1.0]]
        >>> ball = SVDD(kernel="linear", nu=0).fit(X)
        >>> dict(zip(ball.support_.tolist(), ball.essential_support(X).tolist()))
        {0: True, 1: False}
        """
        squared = self._squared_distances(X, None)
        X = checked_rows(self, X, **self._data_format())
        if X.shape[0] != self.shape_fit_[0]:
            raise ValueError(
                f"X must hold the {self.shape_fit_[0]} rows of the fit; got {X.shape[0]} rows."
            )
        beta = np.zeros(X.shape[0])
        beta[self.support_] = self.dual_coef_[0]
        lower, upper = self._bounds
        # Rows on the surface can replace a support vector even if their coefficient is zero now.
        touching = np.abs(squared + self.offset_) <= 1e-9 * self._balls.scale
        rows = np.flatnonzero((beta != 0) | (touching & (lower < upper)))
        part = X[np.ix_(rows, rows)] if self.kernel_.is_pairwise else X[rows]
        essential = never_zero(self.kernel_(part), beta[rows], lower[rows], upper[rows])
        return essential[np.searchsorted(rows, self.support_)]

    def distance(self, X: Any, diagonal: Any = None) -> Floats:
        r"""Return the distances :math:`\lVert \phi(x) - a \rVert` to the centre, in feature space.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For a precomputed kernel, the kernel values with the training rows.
        diagonal : array-like of shape (n_samples,), default=None
            k(x, x) of the rows, for a precomputed kernel only. Where it is None, a constant
            diagonal of the training matrix holds for these rows too; otherwise the least value
            that the kernel values allow, :math:`\max_i k(x, x_i)^2 / k(x_i, x_i)`, stands in for
            it with a warning. For the training rows it is exact.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.sqrt(self._squared_distances(X, diagonal))

    def decision_function(self, X: Any, diagonal: Any = None) -> Floats:
        r"""Return :math:`R^2 - \lVert \phi(x) - a \rVert^2`, at least 0 inside the ball.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        diagonal : array-like of shape (n_samples,), default=None
            See `distance`.

        Returns
        -------
        ndarray of shape (n_samples,)
            0 for rows that rounding cannot tell from the surface.
        """
        return self.score_samples(X, diagonal) - self.offset_

    def score_samples(self, X: Any, diagonal: Any = None) -> Floats:
        """Return minus the squared distances to the centre: the higher, the more normal.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        diagonal : array-like of shape (n_samples,), default=None
            See `distance`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return -self._squared_distances(X, diagonal)

    def predict(self, X: Any, diagonal: Any = None) -> NDArray[np.int64]:
        """Return +1 for rows in the ball and -1 for rows outside.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        diagonal : array-like of shape (n_samples,), default=None
            See `distance`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X, diagonal) >= 0, 1, -1)

    def _squared_distances(self, X: Any, diagonal: Any) -> Floats:
        check_is_fitted(self)
        X = checked_rows(self, X, **self._data_format())
        squared = self._balls.squared_distances(X, diagonal, *self._where())[:, 0]
        # Rows on the surface are inside, whichever way their distance was rounded.
        on_surface = np.abs(squared + self.offset_) <= ROUNDING * self._balls.scale
        squared[on_surface] = -self.offset_
        return squared


def _signs(y: Any, X: Any) -> Floats:
    """Return +1 and -1 for each row; labels of any other kind do not count."""
    n = X.shape[0]
    if y is None:
        return np.ones(n)
    check_consistent_length(X, y)
    labels = np.asarray(y)
    if labels.ndim != 1 or not np.isin(labels, [-1, 1]).all():
        warn(
            "y is ignored: only labels +1 (targets) and -1 (outliers) tell the ball what belongs "
            "inside.",
        )
        return np.ones(n)
    if not (labels > 0).any():
        raise ValueError("y must mark at least one row as a target (+1); all are outliers (-1).")
    return labels.astype(np.float64)


def _spread(values: Floats, rows: NDArray[np.int64], n: int) -> Floats:
    """Return values for all rows, zero where there are none."""
    everywhere = np.zeros(n)
    everywhere[rows] = values
    return everywhere
