"""Recursive feature elimination with the number of features chosen by cross-validation."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from mercer._inputs import fit_context
from mercer._progress import say
from mercer._sklearn import HasMethods, Interval, StrOptions
from mercer._threads import holds_blas
from mercer.feature_selection.kernel_rfe import KernelRFE, SelectedEstimatorMixin
from mercer.feature_selection.ranking_curve import RankingCurve, ranking_curve

RULES = ("best", "one_standard_error", "tolerance", "cost")


class KernelRFECV(SelectedEstimatorMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Feature elimination that chooses the number of features without selection bias.

    In every fold the features are ranked anew by the training rows alone; the estimator is then
    fitted on the best of them and scored on the rows left out. The curve of the mean score against
    the number of features decides, by one of the rules

    ====================  ====================================================================
    ``rule``              number of features
    ====================  ====================================================================
    "best"                with the highest mean score
    "one_standard_error"  the smallest within one standard error of the highest
    "tolerance"           the smallest within ``tolerance`` of the highest
    "cost"                with the least :math:`w_1(1 - \text{score}) + w_2\,\text{size}/m`
    ====================  ====================================================================

    and the features are those that an elimination on all rows leaves.

    Use it where the number of features is open. It costs an elimination for each fold and one on
    all rows. The score at the chosen size is the best of many; cross-validate the whole for an
    error of its own.

    Parameters
    ----------
    estimator : estimator or KernelRFE
        What to rank and to score with; a `KernelRFE` also says how to eliminate.
    step : int, float, callable or None, default=None
        As in `KernelRFE`; None leaves that of the `KernelRFE` given, or 1.
    min_features_to_select : int, default=1
        Smallest number of features to consider.
    sizes : array-like of int or None, default=None
        Numbers of features to score; see `ranking_curve`.
    cv : int, splitter or None, default=None
    scoring : str, callable or None, default=None
    rule : {"best", "one_standard_error", "tolerance", "cost"}, default="best"
        See above.
    tolerance : float, default=0.01
        For ``rule="tolerance"``.
    trade_off : tuple of two floats, default=(0.8, 0.2)
        w1 and w2 for ``rule="cost"``.
    n_jobs : int or None, default=None
        Folds at a time.
    verbose : bool, default=False
        Whether to print a line for each stage.

    Attributes
    ----------
    n_features_ : int
        Number of features selected.
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    ranking_, order_ : ndarray of int of shape (n_features,)
        As of the `KernelRFE` on all rows.
    selector_ : KernelRFE
        Fitted on all rows.
    estimator_ : estimator
        Fitted on the features selected.
    curve_ : RankingCurve
        The scores of all folds.
    cv_results_ : dict of ndarray
        "n_features", "mean_test_score", "std_test_score", "mean_train_score", "cost",
        "stability" (Kuncheva's index of the sets of the folds) and "split0_test_score", ...
    pareto_ : ndarray of int
        Sizes that no other beats in both score and size.
    stability_ : float
        Kuncheva's index at the size selected.
    classes_ : ndarray
        Labels, for classifiers.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where the data have them.

    See Also
    --------
    mercer.KernelRFE : The elimination.
    mercer.feature_selection.ranking_curve : The curve alone.
    mercer.model_selection.one_standard_error : The same rule for searches.

    References
    ----------
    C. Ambroise, G. J. McLachlan, "Selection bias in gene extraction on the basis of microarray
    gene-expression data", PNAS 99 (2002).

    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021,
    section 4.4.3.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from mercer import SVC, KernelRFECV
    >>> X, y = make_classification(
    ...     200, 20, n_informative=3, n_redundant=0, shuffle=False, random_state=0)
    >>> search = KernelRFECV(SVC(C=10.0), step=2, rule="one_standard_error").fit(X, y)
    >>> search.n_features_, search.get_support(indices=True)
    (3, array([0, 1, 2]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"])],
        "step": [Interval(Real, 0, None, closed="neither"), callable, None],
        "min_features_to_select": [Interval(Integral, 1, None, closed="left")],
        "sizes": ["array-like", None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "rule": [StrOptions(set(RULES))],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "trade_off": [tuple, list],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        step: Any = None,
        min_features_to_select: int = 1,
        sizes: Any = None,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "best",
        tolerance: float = 0.01,
        trade_off: tuple[float, float] = (0.8, 0.2),
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.step = step
        self.min_features_to_select = min_features_to_select
        self.sizes = sizes
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.tolerance = tolerance
        self.trade_off = trade_off
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    @holds_blas
    def fit(self, X: Any, y: Any) -> Self:
        """Choose the number of features, and the features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        KernelRFECV
            The fitted selector.
        """
        selector = self._selector()
        machine = selector.estimator
        tags = get_tags(machine)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            ensure_min_features=2,
            ensure_all_finite=not tags.input_tags.allow_nan,
            multi_output=tags.target_tags.multi_output,
        )
        if self.min_features_to_select > X.shape[1]:
            raise ValueError(
                f"min_features_to_select={self.min_features_to_select} is more than there are, "
                f"{X.shape[1]}."
            )
        if selector.groups is not None:
            raise ValueError("KernelRFECV counts features; it takes no KernelRFE with groups.")
        curve = ranking_curve(
            {"elimination": selector},
            machine,
            X,
            y,
            sizes=self.sizes,
            cv=self.cv,
            scoring=self.scoring,
            baselines=False,
            n_jobs=self.n_jobs,
            report=lambda done, n_folds: say(self, f"fold {done} of {n_folds} ranked and scored"),
        )["elimination"]
        size = self._choose(curve)
        at = int(np.searchsorted(curve.sizes, size))
        say(self, f"{size} of {X.shape[1]} features, mean score {curve.mean_test_score[at]:.4g}")
        names = getattr(self, "feature_names_in_", None)
        if names is not None and selector.protected is not None:
            selector.set_params(protected=np.isin(names, selector.protected))
        self.selector_ = selector.set_params(n_features_to_select=size).fit(X, y)
        self.curve_ = curve
        self.n_features_ = self.selector_.n_features_
        self.support_ = self.selector_.support_
        self.ranking_, self.order_ = self.selector_.ranking_, self.selector_.order_
        self.estimator_ = self.selector_.estimator_
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        self.cv_results_ = self._results(curve)
        self.pareto_ = curve.pareto()
        self.stability_ = float(self.cv_results_["stability"][at])
        return self

    def _selector(self) -> KernelRFE:
        given = self.estimator
        selector = clone(given) if isinstance(given, KernelRFE) else KernelRFE(clone(given))
        return selector if self.step is None else selector.set_params(step=self.step)

    def _choose(self, curve: RankingCurve) -> int:
        allowed = np.flatnonzero(curve.sizes >= self.min_features_to_select)
        if allowed.size == 0:
            raise ValueError(
                f"No size is at least min_features_to_select={self.min_features_to_select}."
            )
        sizes, scores = curve.sizes[allowed], curve.mean_test_score[allowed]
        if self.rule == "cost":
            error, size = self.trade_off
            return int(sizes[np.argmin(curve.cost((error, size))[allowed])])
        best = int(np.argmax(scores))
        margins = {
            "best": 0.0,
            "one_standard_error": float(curve.standard_error[allowed][best]),
            "tolerance": self.tolerance,
        }
        return int(sizes[np.argmax(scores >= scores[best] - margins[self.rule])])

    def _results(self, curve: RankingCurve) -> dict[str, NDArray[Any]]:
        error, size = self.trade_off
        results: dict[str, NDArray[Any]] = {
            "n_features": curve.sizes,
            "mean_test_score": curve.mean_test_score,
            "std_test_score": curve.std_test_score,
            "mean_train_score": curve.mean_train_score,
            "cost": curve.cost((error, size)),
            "stability": curve.stability(),
        }
        for k, scores in enumerate(curve.test_scores):
            results[f"split{k}_test_score"] = scores
        return results

    def _machine(self) -> Any:
        given = self.estimator
        return given.estimator if isinstance(given, KernelRFE) else given
