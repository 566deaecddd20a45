"""Classification by the nearest ball."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._folds import split_folds
from mercer._inputs import (
    checked_data,
    checked_rows,
    classes_of,
    fit_context,
    given_weights,
)
from mercer._sklearn import Interval, StrOptions
from mercer._threads import holds_blas
from mercer._warnings import warn
from mercer.kernels import Kernel, Linear
from mercer.machines import (
    KERNEL_CONSTRAINTS,
    SOLVER_CONSTRAINTS,
    KernelMachine,
    TrainingRows,
    warn_unless_converged,
)
from mercer.solvers import Solutions
from mercer.spheres._ball import Ball
from mercer.spheres._balls import Balls
from mercer.spheres._class_balls import (
    ClassTask,
    class_tasks,
    deal_by_value,
    fit_balls,
    out_of_fold,
    slope_of_leads,
)
from mercer.spheres.preimage import preimage

Floats = NDArray[np.float64]


def _is_calibrated(model: Any) -> bool:
    return model.cv is not None


class NearestHypersphereClassifier(ClassifierMixin, KernelMachine):
    r"""Classifier with one ball in feature space for each class.

    Around the rows of every class lies the smallest ball (``nu=0``), or a smaller one that leaves
    out up to the share nu of them, as in `SVDD`. With centre :math:`c_j` and radius :math:`r_j` a
    row belongs to the class with the least dissimilarity

    .. math::

        \delta_j(x) = \frac{\lVert \phi(x) - c_j \rVert}{r_j^{\lambda}}

    where :math:`\lambda = 1` is the relative and :math:`\lambda = 0` the absolute distance.

    A class with a single row, or whose rows are all equal, has a ball of radius 0. The least radius
    of the other classes then stands in for it, or 1 where all classes are so, and a warning says
    so.

    Use it where classes come and go, since each is learned by itself, or where a row may belong to
    none (``reject_threshold``). A fit costs a `SVDD` for each class, and as many for each fold of
    ``cv``.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", a kernel from
        `mercer.kernels`, a scikit-learn Gaussian-process kernel, or a function of X and Y.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto", "median"} or float, default="scale"
        Width of "rbf", "laplacian", "poly" and "sigmoid". "auto" is one over the number of
        features, where a search for the width may begin.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    nu : float, default=0.0
        Share of each class that may lie outside its ball, from 0 to 1.
    dissimilarity : {"relative", "absolute", "power"} or callable, default="relative"
        :math:`\delta`, with :math:`\lambda` = 1, 0 or ``power``; or a function of the distances and
        the radii, two arrays of shape (n_samples, n_classes), that returns an array of that shape.
    power : float, default=1.0
        :math:`\lambda`, not negative, for "power".
    reject_threshold : float or None, default=None
        Rows with :math:`\lVert \phi(x) - c_j \rVert / r_j` above it for every class belong to none
        and get ``reject_label``. 1 rejects what lies outside all balls.
    reject_label : object, default=-1
        The label of rejected rows. `decision_function` and `predict_proba` do not know of it: they
        compare the classes with each other.
    cv : int, splitter, iterable or None, default=5
        Number of folds from which `predict_proba` is calibrated, at least 2, or how to make them;
        None leaves it out, which makes fits faster.
    solver : {"auto", "smo", "exact", "linear"}, default="auto"
        See `mercer.solvers.solve`.
    shrinking : bool, default=True
        Whether variables that have settled at a bound are left out until the others are solved.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the solver stops, see `SVDD`.
    cache_size : float, default=200
        Megabytes for kernel values while a fit lasts.
    max_iter : int, default=-1
        Limit of the solver's iterations for each ball; -1 means none.
    time_limit : float or None, default=None
        Seconds for the balls of all classes, and as many for the folds.
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
    classes_ : ndarray of shape (n_classes,)
        Labels.
    kernel_ : Kernel
        The kernel with numbers in place of "scale".
    radii_ : ndarray of shape (n_classes,)
        Radius of each ball; 0 for a class that is a single point.
    support_ : ndarray of shape (n_SV,)
        Rows of the support vectors, sorted by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors.
    n_support_ : ndarray of shape (n_classes,)
        Their number in each class.
    dual_coef_ : ndarray of shape (n_SV,)
        Their coefficients in the centre of their ball, :math:`c_j = \sum_i \alpha_i \phi(x_i)`.
    support_kind_ : ndarray of str of shape (n_SV,)
        "margin" on the surface of its ball, "bound" where the multiplier has reached its bound.
    centers_ : ndarray of shape (n_classes, n_features)
        The centres for a linear kernel; for others the points whose images lie nearest to them, see
        `preimage`. Not for a precomputed kernel.
    objective_, gap_ : ndarray of shape (n_classes,)
        Squared radius plus the price of slack, and the largest violation of the optimality
        conditions, of each ball.
    n_iter_ : ndarray of shape (n_classes,)
        Iterations of the solver, at least 1 where it has converged.
    converged_ : bool
        Whether every gap is at most ``tol``.
    slope_ : float
        A of `predict_proba`, negative.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.SVDD : One ball, for one class.
    mercer.SVC : Sees where classes meet, mostly with fewer errors.

    References
    ----------
    S. van der Westhuizen, *Nearest Hypersphere Classification: A Comparison with Other
    Classification Techniques*, Stellenbosch University 2014, chapter 4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import NearestHypersphereClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NearestHypersphereClassifier(gamma=0.1).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.97
    >>> far = [[100.0, 0.0, 0.0, 0.0]]
    >>> model.set_params(reject_threshold=1.5).predict(far)
    array([-1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL_CONSTRAINTS,
        "nu": [Interval(Real, 0.0, 1.0, closed="both")],
        "dissimilarity": [StrOptions({"relative", "absolute", "power"}), callable],
        "power": [Interval(Real, 0.0, None, closed="left")],
        "reject_threshold": [Interval(Real, 0.0, None, closed="left"), None],
        "reject_label": "no_validation",
        "cv": ["cv_object"],
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        nu: float = 0.0,
        dissimilarity: Any = "relative",
        power: float = 1.0,
        reject_threshold: float | None = None,
        reject_label: Any = -1,
        cv: Any = 5,
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
        self.dissimilarity = dissimilarity
        self.power = power
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.cv = cv
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
    @holds_blas
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a ball to every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 is the row given twice, 0 the row left out. Weights above 0 matter for
            soft balls, widths and probabilities only.

        Returns
        -------
        NearestHypersphereClassifier
            The fitted classifier.
        """
        X, y = checked_data(self, X, y, ensure_min_samples=2, **self._data_format())
        check_classification_targets(y)
        counted = self.cv is None or isinstance(self.cv, Integral)
        fold = None if counted else split_folds(X, y, self.cv)
        given = given_weights(sample_weight, X)
        counted = y if given is None else y[given > 0]
        classes, codes = classes_of(counted, "; one class alone is described by SVDD")
        rows = self._training_rows(X, given, translate=True)
        weights, gram = rows.weights, rows.gram
        tasks = class_tasks(gram, codes, weights, classes.size, float(self.nu))
        options, starts = self._options(), self._last_solutions_of()
        balls, solutions = fit_balls(tasks, gram, options, starts)
        centres = _centres(rows.kernel, rows.points, gram.diag(), tasks, balls)
        radii = centres.clear_radii([ball.squared_radius for ball in balls])
        used = _usable_radii(radii, classes)
        slope = None
        if self.cv is not None:
            fold = self._deal(rows, codes) if fold is None else fold[rows.kept]
            slope = self._calibrate(rows, codes, fold, tasks, balls, centres, used)
        self._store(X, rows.kept, classes, tasks, balls, solutions, centres)
        self.radii_, self._used_radii = radii, used
        if slope is not None:
            self.slope_ = slope
        warn_unless_converged(solutions, self.tol * min(task.variance for task in tasks))
        return self

    def _deal(self, rows: TrainingRows, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the fold of each row; rows of a precomputed kernel are dealt by their order."""
        by_order = np.arange(float(codes.size))[:, None]
        return deal_by_value(by_order if rows.kernel.is_pairwise else rows.points, codes, self.cv)

    def _calibrate(
        self,
        rows: TrainingRows,
        codes: NDArray[np.int64],
        fold: NDArray[np.int64],
        tasks: Sequence[ClassTask],
        balls: Sequence[Ball],
        centres: Balls,
        used: Floats,
    ) -> float:
        """Return the slope of the probabilities, from rows that their own ball has not seen."""
        points, weights, is_pairwise = rows.points, rows.weights, rows.kernel.is_pairwise
        own_distance, own_radius = out_of_fold(tasks, balls, fold, rows.gram, self._options())
        own_radius = centres.clear_radii(own_radius**2)
        diagonal = centres.diagonal if is_pairwise else None
        distances = np.sqrt(centres.squared_distances(points, diagonal, *self._where()))
        radii = np.tile(used, (codes.size, 1))
        each = np.arange(codes.size)
        distances[each, codes] = own_distance
        radii[each, codes] = np.where(own_radius > 0, own_radius, used[codes])
        known = np.isfinite(own_distance)
        if not known.any():
            return -1.0
        values = self._dissimilarity(distances[known], radii[known])
        return slope_of_leads(values, codes[known], weights[known])

    def _dissimilarity(self, distances: Floats, radii: Floats) -> Floats:
        """Return the dissimilarity of every row to every class."""
        if callable(self.dissimilarity):
            values = np.asarray(self.dissimilarity(distances, radii), dtype=np.float64)
            if values.shape != distances.shape or not np.isfinite(values).all():
                raise ValueError(
                    f"dissimilarity must return finite numbers in the shape {distances.shape} of "
                    f"the distances; got the shape {values.shape}"
                    f"{'' if np.isfinite(values).all() else ' with other values'}."
                )
            return values
        exponent = {"relative": 1.0, "absolute": 0.0}.get(self.dissimilarity, self.power)
        return distances / radii**exponent

    def _store(
        self,
        X: Any,
        kept: NDArray[np.int64],
        classes: Any,
        tasks: Sequence[ClassTask],
        balls: Sequence[Ball],
        solutions: Solutions,
        centres: Balls,
    ) -> None:
        """Set the fitted attributes, all at once and only after everything has worked."""
        support = kept[centres.support]
        self.classes_ = classes
        self.kernel_ = centres.kernel
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if centres.vectors is None else centres.vectors
        self.n_support_ = centres.segments.astype(np.int32)
        self.dual_coef_ = centres.coefficients
        at_bound = np.concatenate([ball.at_bound[ball.beta != 0] for ball in balls])
        self.support_kind_ = np.where(at_bound, "bound", "margin")
        self.objective_ = np.array([ball.value for ball in balls])
        self.gap_ = solutions.gap / np.array([task.variance for task in tasks])
        self.n_iter_ = self._counted(solutions)
        self.converged_ = bool(solutions.converged.all())
        self.shape_fit_ = X.shape
        self._centres = replace(centres, support=support, rows=kept)
        if self.warm_start:
            self._last_solutions = [ball.beta for ball in balls]
        if self.verbose:
            print(
                f"{type(self).__name__}: {support.size} support vectors of {X.shape[0]} rows, "
                f"{int(self.n_iter_.sum())} iterations, largest gap {self.gap_.max():.2g}"
            )

    @property
    def centers_(self) -> Floats:
        """The centres in input space, or the points whose images are nearest to them."""
        check_is_fitted(self)
        if self.kernel_.is_pairwise:
            raise AttributeError("centers_ needs the data themselves, not a precomputed kernel.")
        if isinstance(self.kernel_, Linear):
            return self._centres.centres()
        ends = np.cumsum(self.n_support_)
        parts = [slice(end - n, end) for n, end in zip(self.n_support_, ends)]
        return np.array(
            [preimage(self.kernel_, self.support_vectors_[p], self.dual_coef_[p]) for p in parts]
        )

    def distance(self, X: Any, diagonal: Any = None) -> Floats:
        r"""Return the distances :math:`\lVert \phi(x) - c_j \rVert` to all centres.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For a precomputed kernel, the kernel values with the training rows.
        diagonal : array-like of shape (n_samples,), default=None
            k(x, x) of the rows, for a precomputed kernel only; see `SVDD.distance` for what None
            means.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = checked_rows(self, X, **self._data_format())
        return np.sqrt(self._centres.squared_distances(X, diagonal, *self._where()))

    def dissimilarities(self, X: Any, diagonal: Any = None) -> Floats:
        r"""Return :math:`\delta_j(x)` of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        diagonal : array-like of shape (n_samples,), default=None
            See `distance`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._dissimilarity(*self._distances_and_radii(X, diagonal))

    def _distances_and_radii(self, X: Any, diagonal: Any) -> tuple[Floats, Floats]:
        distances = self.distance(X, diagonal)
        return distances, np.broadcast_to(self._used_radii, distances.shape)

    def decision_function(self, X: Any, diagonal: Any = None) -> Floats:
        r"""Return the decision values, of which the largest decides.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        diagonal : array-like of shape (n_samples,), default=None
            See `distance`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: :math:`\delta_0 - \delta_1`, positive for ``classes_[1]``. More:
            :math:`-\delta_j` of each class.
        """
        values = self.dissimilarities(X, diagonal)
        return values[:, 0] - values[:, 1] if values.shape[1] == 2 else -values

    def predict(self, X: Any, diagonal: Any = None) -> Any:
        """Return the label of the class with the least dissimilarity, or ``reject_label``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        diagonal : array-like of shape (n_samples,), default=None
            See `distance`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        distances, radii = self._distances_and_radii(X, diagonal)
        labels = self.classes_[self._dissimilarity(distances, radii).argmin(axis=1)]
        if self.reject_threshold is None:
            return labels
        is_far = ((distances / radii) > self.reject_threshold).all(axis=1)
        label = np.asarray(self.reject_label)
        if (label.dtype.kind in "US") != (labels.dtype.kind in "US"):
            labels = labels.astype(object)  # or numbers would become texts
        return np.where(is_far, label, labels)

    @available_if(_is_calibrated)
    def predict_proba(self, X: Any, diagonal: Any = None) -> Floats:
        r"""Return the probability of each class, given that the row belongs to one of them.

        .. math:: P(j \mid x) = \frac{\exp(A \delta_j(x))}{\sum_i \exp(A \delta_i(x))}, \quad A < 0

        Between any two classes this is Platt's sigmoid of the difference of their dissimilarities.
        It has no shift, so that the class that is predicted has the largest probability always. The
        slope A is fitted to the lead of every training row's class over its nearest rival, with
        distances to a ball that was fitted without the row's fold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        diagonal : array-like of shape (n_samples,), default=None
            See `distance`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        values = self.dissimilarities(X, diagonal)
        return np.asarray(softmax(self.slope_ * values, axis=1))


def _centres(
    kernel: Kernel,
    points: Any,
    diagonal: Floats,
    tasks: Sequence[ClassTask],
    balls: Sequence[Ball],
) -> Balls:
    """Put the centres of all classes together."""
    own = [np.flatnonzero(ball.beta) for ball in balls]
    support = np.concatenate([task.rows[mine] for task, mine in zip(tasks, own)])
    return Balls(
        kernel,
        None if kernel.is_pairwise else points[support],
        support,
        np.concatenate([ball.beta[mine] for ball, mine in zip(balls, own)]),
        np.array([mine.size for mine in own]),
        np.array([ball.squared_norm for ball in balls]),
        diagonal,
        np.arange(diagonal.size),
    )


def _usable_radii(radii: Floats, classes: Any) -> Floats:
    """Return radii to divide by, and say where a class has none of its own."""
    is_point = radii == 0
    if not is_point.any():
        return radii
    stand_in = float(radii[~is_point].min()) if not is_point.all() else 1.0
    names = ", ".join(repr(name) for name in classes[is_point].tolist())
    several = bool(is_point.sum() > 1)
    warn(
        f"The class{'es' * several} {names} {'are' if several else 'is'} a single point, whose "
        f"ball has radius 0; {stand_in:.3g}, "
        f"{'the number 1' if is_point.all() else 'the least radius of the other classes'}, stands "
        "in for it.",
    )
    return np.where(is_point, stand_in, radii)
