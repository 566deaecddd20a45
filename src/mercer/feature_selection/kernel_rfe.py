"""Recursive feature elimination with kernel machines."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import classes_of, fit_context, given_weights
from mercer._sklearn import HasMethods, Interval, RealNotInt, StrOptions
from mercer._threads import holds_blas
from mercer.feature_selection._estimator_ranker import EstimatorRanker
from mercer.feature_selection._kernel_ranker import CRITERIA, JOINTS, KernelRanker, machine_for
from mercer.feature_selection._linear_elimination import eliminate_linear, suits_engine
from mercer.feature_selection.elimination import (
    EliminationTrace,
    RowSampler,
    Units,
    class_members,
    eliminate,
    joint_order,
    ranking_of,
    stratified_rows,
)
from mercer.feature_selection.steps import as_step
from mercer.gram.devices import device_for
from mercer.svm import SVC

Features = NDArray[np.intp]

DENSE_BYTES = 256 * 2**20
"""Sparse data that take no more than this when dense are made so, for the sake of speed."""


def _estimator_has(name: str) -> Callable[[Any], bool]:
    def check(selector: Any) -> bool:
        return hasattr(getattr(selector, "estimator_", selector._machine()), name)

    return check


class SelectedEstimatorMixin(SelectorMixin):
    """A selector that predicts by `estimator_`, which knows only the features of `support_`."""

    estimator: Any
    estimator_: Any
    support_: Any

    def _machine(self) -> Any:
        """Return the estimator that will be fitted on the features selected."""
        return self.estimator

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    @available_if(_estimator_has("predict"))
    def predict(self, X: Any) -> Any:
        """Return the predictions of the estimator on the features selected."""
        check_is_fitted(self)
        return self.estimator_.predict(self.transform(X))

    @available_if(_estimator_has("score"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the estimator on the features selected."""
        check_is_fitted(self)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.estimator_.score(self.transform(X), y, **given)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the decision values of the estimator on the features selected."""
        check_is_fitted(self)
        return self.estimator_.decision_function(self.transform(X))

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the estimator on the features selected."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(self.transform(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._machine())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        for kind in (tags.classifier_tags, tags.regressor_tags):
            if kind is not None:
                kind.poor_score = True  # half of the features need not be enough
        tags.target_tags.required = True
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


class KernelRFE(SelectedEstimatorMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Recursive feature elimination (SVM-RFE) with any kernel.

    Train a machine, drop the features that matter least to it, and repeat with the others. For
    mercer's `SVC` how much feature i matters is, with :math:`\beta_j = y_j\alpha_j`,

    =============  ==============================================================================
    ``criterion``  importance
    =============  ==============================================================================
    "weights"      :math:`w_i^2` (linear kernel; the default there)
    "objective"    :math:`\tfrac12|\beta^\top K\beta - \beta^\top K^{(-i)}\beta|`, where
                   :math:`K^{(-i)}` lacks feature i (the default for other kernels)
    "decrease"     the same with its sign, so that features without which the objective grows go
                   first; with an RBF that is too narrow for all features together, these are
                   the ones that make it so
    "gradient"     :math:`\tfrac12|\partial\,\beta^\top K\beta/\partial\nu_i|` for a virtual scale
                   :math:`\nu_i` of the feature
    "bound"        growth of the radius/margin bound when the feature goes, to first order
    "span"         growth of the span estimate of the leave-one-out error at unchanged
                   :math:`\beta`; takes an inversion for each feature
    "retrained"    change of the dual optimum with the machine trained anew without the feature:
                   what "objective" is at fixed :math:`\beta`; a baseline that takes a training
                   for each feature and round
    =============  ==============================================================================

    Any other estimator that has ``coef_`` or ``feature_importances_`` will do as well.

    A round starts from the solution of the round before, and matrices lose what the dropped
    features contributed instead of being computed anew. With a linear kernel and two classes all
    rounds run in the engine, at :math:`O(n^2)` a round. The rounds of `SVC` are the processor's,
    whatever its ``device``, which is that of the last fit.

    Use it for a ranking of features that may help only together. Put it into a pipeline, or use
    `KernelRFECV`, before an error is quoted. Rounds start from each other: with a share as ``step``
    all of them cost a few fits.

    Parameters
    ----------
    estimator : estimator
        `mercer.SVC`, or any estimator with ``coef_`` or ``feature_importances_``.
    n_features_to_select : int, float, "estimate" or None, default=None
        How many features (or groups) to keep: a number, a share, half of them for None, or with
        "estimate" as many as `EliminationTrace.optimal_size` says.
    step : int, float or callable, default=1
        How many to drop in a round: a number, a share of all features, or one of the functions
        `constant`, `percent`, `square_root`, `annealing`, `entropy`, `around` and `halving`.
    criterion : str, default="auto"
        "auto" or one of the names above.
    joint : {"sum", "max", "median", "variation"}, default="sum"
        How the importances in the machines of many classes become one: the sum of their powers,
        the largest, the median, or the standard deviation over the mean. The median passes over
        features that tell few classes from the others.
    joint_power : float, default=1.0
        The power in the sum.
    groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; those with the same label are dropped together, and count as one
        in ``n_features_to_select`` and ``step``. The importance of a group is the sum.
    protected : array-like or None, default=None
        Features that stay: a mask, positions, or names of columns.
    subsample : float or None, default=None
        Share of the rows to train on, drawn anew in every round and from each class alike.
    subsample_until : int, default=0
        With so many features or fewer, all rows are used.
    n_repeats : int, default=1
        How often to repeat the elimination, each time on another part of the rows; the features
        are then ranked by their mean place.
    repeat_share : float, default=0.8
        Share of the rows in each repetition, drawn from each class.
    trade_off : tuple of two floats, default=(0.8, 0.2)
        Costs of errors and of features for ``n_features_to_select="estimate"``.
    tol : float, default=1e-6
        Gap to which `mercer.SVC` is solved for the ranking. At 1e-3 a ranking is not determined.
    warm_start : bool, default=True
        Whether a round starts from the dual variables of the round before.
    importance_getter : str or callable, default="auto"
        As in scikit-learn's ``RFE``, for estimators other than `mercer.SVC`.
    random_state : int, RandomState or None, default=None
        For ``subsample`` and ``n_repeats``.
    verbose : bool, default=False
        Whether to print a line for each round (or several of them).

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    ranking_ : ndarray of int of shape (n_features,)
        1 for them, then 2 for those dropped last, and so on.
    order_ : ndarray of int of shape (n_features,)
        All features, the best first.
    n_features_ : int
        Number of features selected.
    trace_ : EliminationTrace
        The rounds; of the first repetition where there are several.
    traces_ : list of EliminationTrace
        Those of all repetitions.
    n_fits_ : int
        Machines trained for the ranking.
    estimator_ : estimator
        Fitted on the features selected.
    classes_ : ndarray
        Labels, for classifiers.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where the data have them.

    See Also
    --------
    mercer.KernelRFECV : Chooses how many, too.
    mercer.KernelSequentialSelector : Forward and backward, by the error on folds.
    mercer.feature_selection.ranking_curve : The error for each number of features.
    mercer.feature_sensitivity : What a machine listens to, without removing anything.

    References
    ----------
    I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification using
    support vector machines", Machine Learning 46 (2002).

    A. Rakotomamonjy, "Variable selection using SVM-based criteria", JMLR 3 (2003).

    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021.

    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 4.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from mercer import SVC, KernelRFE
    >>> from mercer.feature_selection import percent
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = KernelRFE(SVC(C=10.0), n_features_to_select=5, step=percent(0.2))
    >>> selector.fit(scale(X), y).get_support(indices=True)
    array([ 6, 10, 11, 20, 21])
    >>> round(selector.score(scale(X), y), 2)
    0.98
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"])],
        "n_features_to_select": [
            None,
            StrOptions({"estimate"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
        ],
        "step": [Interval(Real, 0, None, closed="neither"), callable],
        "criterion": [StrOptions(set(CRITERIA))],
        "joint": [StrOptions(set(JOINTS))],
        "joint_power": [Interval(Real, 0, None, closed="neither")],
        "groups": ["array-like", None],
        "protected": ["array-like", None],
        "subsample": [Interval(Real, 0, 1, closed="right"), None],
        "subsample_until": [Interval(Integral, 0, None, closed="left")],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "repeat_share": [Interval(Real, 0, 1, closed="right")],
        "trade_off": [tuple, list],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "warm_start": ["boolean"],
        "importance_getter": [str, callable],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: Any = None,
        step: Any = 1,
        criterion: str = "auto",
        joint: str = "sum",
        joint_power: float = 1.0,
        groups: Any = None,
        protected: Any = None,
        subsample: float | None = None,
        subsample_until: int = 0,
        n_repeats: int = 1,
        repeat_share: float = 0.8,
        trade_off: tuple[float, float] = (0.8, 0.2),
        tol: float = 1e-6,
        warm_start: bool = True,
        importance_getter: Any = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.criterion = criterion
        self.joint = joint
        self.joint_power = joint_power
        self.groups = groups
        self.protected = protected
        self.subsample = subsample
        self.subsample_until = subsample_until
        self.n_repeats = n_repeats
        self.repeat_share = repeat_share
        self.trade_off = trade_off
        self.tol = tol
        self.warm_start = warm_start
        self.importance_getter = importance_getter
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    @holds_blas
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank the features, select the best, and fit the estimator on them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts as the row given twice.

        Returns
        -------
        KernelRFE
            The fitted selector.
        """
        X, y = self._validated(X, y)
        weights = given_weights(sample_weight, X)
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, y, weights = X[kept], y[kept], weights[kept]
        units = Units.of(
            self.groups, self.protected, X.shape[1], getattr(self, "feature_names_in_", None)
        )
        rng = check_random_state(self.random_state)
        traces = self._eliminations(X, y, weights, units, rng)
        order, rounds = joint_order(traces)
        selected = np.sort(order[: self._n_selected(traces, units, order)])
        given = {} if weights is None else {"sample_weight": weights}
        fitted = machine_for(self.estimator, selected, X.shape[1]).fit(X[:, selected], y, **given)
        self.estimator_ = fitted
        if hasattr(fitted, "classes_"):
            self.classes_ = fitted.classes_
        self.traces_, self.trace_ = traces, traces[0]
        self.n_fits_ = sum(trace.n_fits for trace in traces)
        self.order_ = order
        self.ranking_ = ranking_of(rounds, selected)
        self.support_ = self.ranking_ == 1
        self.n_features_ = int(self.support_.sum())
        return self

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        if isinstance(self.estimator, SVC):  # which is not fitted before the features are ranked
            self.estimator._validate_params()
        tags = get_tags(self.estimator)
        if tags.input_tags.pairwise:
            raise ValueError(
                "A precomputed kernel has no features to choose from; use a kernel on the data."
            )
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=np.float64 if isinstance(self.estimator, SVC) else "numeric",
            ensure_min_features=2,
            ensure_min_samples=2,
            ensure_all_finite=isinstance(self.estimator, SVC),  # others judge for themselves
            multi_output=tags.target_tags.multi_output,
        )
        if isinstance(self.estimator, SVC):
            device_for(self.estimator.device, X.shape[0])  # of the last fit, refused before it
        if is_classifier(self.estimator):
            check_classification_targets(y)
        return X, y

    # ---- the eliminations -------------------------------------------------------------------

    def _eliminations(
        self, X: Any, y: Any, weights: Any, units: Units, rng: np.random.RandomState
    ) -> list[EliminationTrace]:
        least = self._least(units)
        if self.n_repeats == 1:
            return [self._eliminate(X, y, weights, units, least, rng)]
        members = class_members(self._codes(y))
        traces = []
        for _ in range(self.n_repeats):
            rows = stratified_rows(members, self.repeat_share, rng)
            some = None if weights is None else weights[rows]
            traces.append(self._eliminate(X[rows], y[rows], some, units, least, rng))
        return traces

    def _least(self, units: Units) -> int:
        """Return with how many groups an elimination ends."""
        stay = max(1, int(units.protected.sum()))
        wanted = self.n_features_to_select
        if wanted == "estimate" or self.n_repeats > 1:
            return stay
        return max(stay, self._n_wanted(units))

    def _n_wanted(self, units: Units) -> int:
        """Return the number of groups asked for."""
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, units.n // 2)
        if isinstance(wanted, Integral):
            if int(wanted) > units.n:
                raise ValueError(
                    f"n_features_to_select={wanted} is more than there are, {units.n}."
                )
            return int(wanted)
        return max(1, int(wanted * units.n))

    def _eliminate(
        self,
        X: Any,
        y: Any,
        weights: Any,
        units: Units,
        least: int,
        rng: np.random.RandomState,
    ) -> EliminationTrace:
        step = as_step(self.step, units.n)
        if isinstance(self.estimator, SVC) and _fits_memory(X):
            dense = X.toarray() if sp.issparse(X) else X
            ranker = self._kernel_ranker(dense, y, weights, rng)
            if ranker.is_linear and suits_engine(ranker, units, step):
                return eliminate_linear(ranker, units, step, least, self._report)
            return eliminate(ranker, units, step, least, self._report)
        other = EstimatorRanker(
            self.estimator,
            X,
            y,
            weights,
            criterion=self.criterion,
            joint=self.joint,
            power=self.joint_power,
            importance_getter=self.importance_getter,
            sampler=RowSampler(self._codes(y), self.subsample, self.subsample_until, rng),
        )
        return eliminate(other, units, step, least, self._report)

    def _codes(self, y: Any) -> Features:
        """Return the class of each row; one for all where there are none."""
        if not is_classifier(self.estimator):
            return np.zeros(len(y), dtype=np.intp)
        return np.unique(y, return_inverse=True)[1]

    def _kernel_ranker(
        self, X: Any, y: Any, weights: Any, rng: np.random.RandomState
    ) -> KernelRanker:
        _, codes = classes_of(y)
        return KernelRanker(
            self.estimator,
            np.ascontiguousarray(X),
            codes,
            np.ones(len(y)) if weights is None else weights,
            criterion=self.criterion,
            joint=self.joint,
            power=self.joint_power,
            tol=self.tol,
            warm_start=self.warm_start,
            sampler=RowSampler(codes, self.subsample, self.subsample_until, rng),
        )

    def _report(self, n_features: int) -> None:
        if self.verbose:
            print(f"KernelRFE: {n_features} features")

    # ---- the choice -------------------------------------------------------------------------

    def _n_selected(self, traces: list[EliminationTrace], units: Units, order: Features) -> int:
        """Return how many features of the order to select."""
        if self.n_features_to_select != "estimate":
            if self.n_repeats == 1:
                return traces[0].selected.size
            groups = list(dict.fromkeys(units.group_of[order].tolist()))
            return units.members(np.array(groups[: self._n_wanted(units)])).size
        error, size = self.trade_off
        sizes = [trace.optimal_size((error, size)) for trace in traces]
        n_selected = max(round(float(np.mean(sizes))), int(units.protected[units.group_of].sum()))
        if units.are_features:
            return n_selected
        labels = units.group_of[order]
        while n_selected < order.size and labels[n_selected] == labels[n_selected - 1]:
            n_selected += 1  # no group is cut in two
        return n_selected


def _fits_memory(X: Any) -> bool:
    return not sp.issparse(X) or X.shape[0] * X.shape[1] * 8 <= DENSE_BYTES
