"""Features chosen by the scales that minimise a bound on the error."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import fit_context, need_two_classes
from mercer._sklearn import Interval, StrOptions
from mercer._threads import holds_blas
from mercer.feature_selection._kernel_ranker import restricted
from mercer.feature_selection.steps import RoundState, as_step, n_dropped, percent
from mercer.kernels import Kernel, Weighted
from mercer.machines import KernelData, Penalty, TwoClassMachine, class_factors, decompose
from mercer.machines.bordered_system import NoSolutionError
from mercer.model_selection.criteria.criterion import average
from mercer.model_selection.criteria.evidence import evidence_of
from mercer.model_selection.criteria.modified_radius_margin import modified_radius_margin_of
from mercer.model_selection.criteria.press import press_of
from mercer.model_selection.criteria.radius_margin import radius_margin_of
from mercer.model_selection.criteria.span import span_of
from mercer.svm import SVC

Floats = NDArray[np.float64]
Features = NDArray[np.intp]

BOUNDS = {
    "radius_margin": radius_margin_of,
    "modified_radius_margin": modified_radius_margin_of,
    "span": span_of,
    "press": press_of,
    "evidence": evidence_of,
}
LOG_SCALES = (np.log(1e-4), np.log(1e2))
LOG_C = (np.log(1e-3), np.log(1e5))
SOLVER_TOL = 1e-6

WALL = 1.0
"""What is added to the largest objective so far where a machine has no solution."""


class ScaledFeatureSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Scales of the features by gradient descent on a bound, the smallest dropped again and again.

    The kernel is :math:`K_\sigma(x, y) = K(\sigma * x, \sigma * y)`. From :math:`\sigma = 1` on

    .. math:: T(\sigma, C)/T_0 + \lambda \sum_i \sigma_i^p

    is minimised over the scales and C, with :math:`T_0` the bound at the start; then the features
    with the smallest scales are dropped, and the others go on from where they are. With
    ``fixed_sum=True`` it is minimised subject to :math:`\sum_i \sigma_i = k`, the number of
    features wanted, so that one scale can only grow where others shrink; written as
    :math:`\sigma_i = k e^{z_i}/\sum_j e^{z_j}` that needs no constraint.

    Use it where features count together in curved ways and there are at most some hundred of them
    on some hundred rows. Each step of the descent trains a machine and takes the cube of the rows;
    `KernelRFE` is faster.

    Parameters
    ----------
    estimator : SVC or None, default=None
        The machine with its kernel; None is ``SVC(kernel="rbf", loss="squared_hinge")``.
    n_features_to_select : int or None, default=None
        None keeps half.
    bound : str, default="auto"
        T: "radius_margin" (hard margin and squared hinge), "modified_radius_margin" (hinge),
        "span", "press" or "evidence"; "auto" is the radius/margin bound that suits the loss.
    penalty : float, default=0.0
        :math:`\lambda`.
    power : float, default=1.0
        p. With a large penalty and p towards 0, few scales stay above 0.
    fixed_sum : bool, default=False
        Whether the scales of the features that are left always sum to the number of features
        wanted; they start at equal ones.
    step : int, float or callable, default=None
        How many to drop at a time, as in `KernelRFE`; None is ``percent(0.5)``.
    space : {"inputs", "components"}, default="inputs"
        Whether the features are the inputs or their principal components. In the latter case
        `transform` returns the components selected.
    tune_C : bool, default=True
        Whether C is tuned along with the scales.
    max_iter : int, default=30
        Limit of gradient steps between two drops.

    Attributes
    ----------
    support_ : ndarray of bool
        The features (or components) selected.
    order_ : ndarray of int
        All of them, the best first.
    scales_ : ndarray
        Scale of each when it was dropped, or in the end.
    C_ : float
        C in the end.
    bound_ : float
        Bound in the end.
    trace_ : list of dict
        For each stage: "size", "bound", "C", "n_evaluations".
    n_fits_ : int
        Machines trained.
    n_iter_ : int
        Gradient steps in all.
    components_ : PCA
        Only in the space of components.
    estimator_ : SVC
        The machine with the features selected, scaled, and C. It takes what `transform` returns.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where the data have them.

    See Also
    --------
    mercer.GradientSearch : One width for each feature, without dropping any.
    mercer.KernelRFE : Elimination without a gradient.

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 4.3, algorithm 9.

    J. Weston, S. Mukherjee, O. Chapelle, M. Pontil, T. Poggio, V. Vapnik, "Feature selection for
    SVMs", NIPS 13 (2000).

    O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee, "Choosing multiple parameters for support
    vector machines", Machine Learning 46 (2002).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import ScaledFeatureSelector
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> y = X[:, 2] * X[:, 7] > 0
    >>> selector = ScaledFeatureSelector(n_features_to_select=2).fit(X, y)
    >>> selector.get_support(indices=True)
    array([2, 7])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [SVC, None],
        "n_features_to_select": [None, Interval(Integral, 1, None, closed="left")],
        "bound": [StrOptions({"auto", *BOUNDS})],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "power": [Interval(Real, 0, None, closed="neither")],
        "fixed_sum": ["boolean"],
        "step": [Interval(Real, 0, None, closed="neither"), callable, None],
        "space": [StrOptions({"inputs", "components"})],
        "tune_C": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: SVC | None = None,
        *,
        n_features_to_select: int | None = None,
        bound: str = "auto",
        penalty: float = 0.0,
        power: float = 1.0,
        fixed_sum: bool = False,
        step: Any = None,
        space: str = "inputs",
        tune_C: bool = True,
        max_iter: int = 30,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.bound = bound
        self.penalty = penalty
        self.power = power
        self.fixed_sum = fixed_sum
        self.step = step
        self.space = space
        self.tune_C = tune_C
        self.max_iter = max_iter

    @fit_context(prefer_skip_nested_validation=False)
    @holds_blas
    def fit(self, X: Any, y: Any) -> Self:
        """Find the scales and choose the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        ScaledFeatureSelector
            The fitted selector.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        need_two_classes(np.unique(y).size)
        model = clone(SVC(loss="squared_hinge") if self.estimator is None else self.estimator)
        points, components = X, None
        if self.space == "components":
            components = PCA().fit(X)
            points = components.transform(X)
        wanted = self._n_wanted(points.shape[1])
        total = float(wanted) if self.fixed_sum else None
        descent = _Descent(model, points, y, self._bound_name(model), self, total)
        order = descent.run(as_step(self.step or percent(0.5), points.shape[1]), wanted)
        support = np.zeros(points.shape[1], dtype=bool)
        support[order[:wanted]] = True
        kept = np.flatnonzero(support)
        kernel = Weighted(restricted(descent.kernel, kept, support.size), descent.scales[kept])
        model.set_params(kernel=kernel, C=descent.C).fit(points[:, kept], y)
        if components is not None:
            self.components_ = components
        self.estimator_ = model
        self.support_, self.order_ = support, order
        self.scales_, self.C_, self.bound_ = descent.scales, descent.C, descent.value
        self.trace_, self.n_fits_ = descent.trace, descent.n_fits
        self.n_iter_ = descent.n_iter
        return self

    def _n_wanted(self, n: int) -> int:
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, n // 2)
        if wanted > n:
            raise ValueError(f"n_features_to_select={wanted} is more than there are, {n}.")
        return wanted

    def _bound_name(self, model: SVC) -> str:
        if self.bound != "auto":
            return self.bound
        soft = model.loss == "hinge" and np.isfinite(model.C)
        return "modified_radius_margin" if soft else "radius_margin"

    def transform(self, X: Any) -> Any:
        """Return the features (or principal components) selected."""
        check_is_fitted(self)
        if self.space == "inputs":
            return super().transform(X)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.components_.transform(X)[:, self.support_]

    def inverse_transform(self, X: Any) -> Any:
        """Return data with the features selected in their places and zeros in the others."""
        check_is_fitted(self)
        if self.space == "inputs":
            return super().inverse_transform(X)
        whole = np.zeros((len(X), self.support_.size))
        whole[:, self.support_] = X
        return self.components_.inverse_transform(whole)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the features selected; components are named "pc0" and so on."""
        check_is_fitted(self)
        if self.space == "inputs":
            return super().get_feature_names_out(input_features)
        names = [f"pc{k}" for k in np.flatnonzero(self.support_)]
        return np.array(names, dtype=object)

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class _Descent:
    """The descent in the scales, and what is dropped on the way."""

    def __init__(
        self,
        model: SVC,
        points: Floats,
        y: Any,
        bound: str,
        settings: ScaledFeatureSelector,
        total: float | None,
    ) -> None:
        self.total = total  # what the scales sum to, where that is fixed
        self.model, self.points, self.settings = model, points, settings
        self.rate = BOUNDS[bound]
        self.kernel: Kernel = model._make_kernel().resolve(points)
        classes, codes = np.unique(y, return_inverse=True)
        weights = np.ones(len(y))
        self.tasks = decompose(codes, classes.size, model.multi_class)
        factors = class_factors(model.class_weight, classes, codes, weights)
        self.penalty = Penalty.of(model, factors, weights)
        self.tunes_C = settings.tune_C and np.isfinite(model.C)
        self.scales = np.ones(points.shape[1])
        self.C = float(model.C)
        self.value = np.nan
        self.start: float | None = None
        self.worst = -np.inf
        self.memories: list[dict[str, Floats]] = [{} for _ in self.tasks]
        self.trace: list[dict[str, Any]] = []
        self.n_fits = self.n_iter = 0

    def run(self, step: Any, wanted: int) -> Features:
        """Return all features, the best first."""
        left, gone = np.arange(self.scales.size), np.empty(0, dtype=np.intp)
        while True:
            self._minimise(left)
            best_first = left[np.lexsort((left, -self.scales[left]))]
            if left.size <= wanted:
                return np.concatenate([best_first, gone])
            state = RoundState(left.size, self.scales.size, len(self.trace) - 1, self.scales[left])
            kept = left.size - n_dropped(step, state, wanted)
            gone = np.concatenate([best_first[kept:], gone])
            left = np.sort(best_first[:kept])

    def _minimise(self, left: Features) -> None:
        """Move C and the scales of the features that are left to a minimum."""
        data = KernelData(restricted(self.kernel, left, self.scales.size), self.points[:, left])
        first = np.log(self.scales[left])
        bounds = [LOG_SCALES] * left.size
        if self.tunes_C:
            first = np.append(np.log(self.C), first)
            bounds = [LOG_C, *bounds]
        found = minimize(
            lambda x: self._evaluate(x, data),
            np.clip(first, *np.array(bounds).T),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": self.settings.max_iter, "ftol": 1e-4},
        )
        self.n_iter += max(1, int(found.nit))
        self.scales[left] = self._scales(found.x[-left.size :])
        if self.tunes_C:
            self.C = float(np.exp(found.x[0]))
        self.value = self._bound(self.C, self.scales[left], data).value
        self.trace.append(
            {"size": left.size, "bound": self.value, "C": self.C, "n_evaluations": found.nfev}
        )

    def _scales(self, z: Floats) -> Floats:
        """Return the scales at a point of the descent."""
        scales = np.exp(z)
        return scales if self.total is None else self.total * scales / scales.sum()

    def _bound(self, C: float, scales: Floats, data: KernelData) -> Any:
        data, penalty = data.with_kernel(Weighted(data.kernel, scales)), self.penalty.priced(C)
        tol, n_threads = min(self.model.tol, SOLVER_TOL), self.model._n_threads()
        machines = [
            TwoClassMachine(
                data, task.rows, task.signs, penalty, memory=memory, tol=tol, n_threads=n_threads
            )
            for task, memory in zip(self.tasks, self.memories)
        ]
        found = average(self.rate, machines)
        self.n_fits += sum(machine.n_fits for machine in machines)
        return found

    def _evaluate(self, x: Floats, data: KernelData) -> tuple[float, Floats]:
        d = data.points.shape[1]
        scales = self._scales(x[-d:])
        C = float(np.exp(x[0])) if self.tunes_C else self.C
        try:
            found = self._bound(C, scales, data)
        except NoSolutionError:
            if self.start is None:
                raise
            return self.worst + WALL, np.zeros_like(x)  # a step too far: the search goes back
        if self.start is None:
            self.start = abs(found.value) or 1.0
        own = 0 if np.isinf(self.C) else 1  # where the gradient has C first
        slope = np.asarray(found.gradient)[own : own + d] / self.start
        settings = self.settings
        costs = settings.penalty * scales**settings.power
        slope = slope + settings.power * costs
        if self.total is not None:  # a step in one coordinate moves all scales
            slope = slope - slope.sum() * scales / self.total
        if self.tunes_C:
            slope = np.append(found.gradient[0] / self.start, slope)
        value = found.value / self.start + float(costs.sum())
        self.worst = max(self.worst, value)
        return value, slope
