"""One-class scores as probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import fit_context
from mercer._sklearn import HasMethods, Interval, StrOptions
from mercer._threads import holds_blas
from mercer.calibration import fit_sigmoid
from mercer.spheres.artificial_outliers import artificial_outliers

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Monotone:
    """A probability that does not fall with the decision value, linear between some points.

    Parameters
    ----------
    decision, level : ndarray of shape (m,)
        The points; beyond the first and the last the probability is constant.
    """

    decision: Floats
    level: Floats

    def probability(self, decision: Any) -> Floats:
        """Return P(target)."""
        return np.interp(decision, self.decision, self.level)


def fit_monotone(decision: Floats, positive: NDArray[np.bool_], sample_weight: Floats) -> Monotone:
    """Fit a probability that does not fall, kept away from 0 and 1 as Platt's targets are."""
    n_positive, n_negative = sample_weight[positive].sum(), sample_weight[~positive].sum()
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    found = IsotonicRegression().fit(decision, target, sample_weight)
    return Monotone(found.X_thresholds_, found.y_thresholds_)


class TargetProbability(OutlierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""The probability that a row is a target, from a description of the targets.

    A description knows targets only, so that a probability needs an assumption about everything
    else: here, that outliers are spread evenly over a box or a ball around the targets, and that a
    new row is an outlier with the probability ``outlier_share`` :math:`\pi`. The decision value f,
    for `SVDD` the difference of squared radius and squared distance, then has a density p among
    targets and q among outliers, and

    .. math::

        P(\text{target} \mid x) = \frac{(1 - \pi)\,p(f(x))}{(1 - \pi)\,p(f(x)) + \pi\,q(f(x))}

    is a function of f that does not fall. It is fitted to the decision values of targets and of
    points drawn from the region, weighted by their shares: as the least-squares function that does
    not fall (isotonic regression), or as Platt's sigmoid. The targets are dealt into folds, and
    each fold is judged by a description of the others: distances of rows that a ball was fitted to
    would be too short.

    Use it where a decision needs a probability and you can say how many outliers there will be;
    otherwise the decision value of the description is enough. It costs a description for each fold.

    Parameters
    ----------
    estimator : estimator
        `SVDD`, `OneClassSVM`, `OneClassSearch` or another with ``decision_function``.
    method : {"isotonic", "sigmoid"}, default="isotonic"
        The form of the function. "sigmoid", :math:`1/(1 + \exp(A f + B))`, is smooth, and safer
        with few rows, but seldom has the right shape where a narrow kernel levels distances off.
    outlier_share : float, default=0.1
        Probability of an outlier before anything is known of a row, between 0 and 1.
    region : {"box", "ball"}, default="box"
        Where outliers are drawn, see `artificial_outliers`.
    n_outliers : int, default=1000
        Their number.
    cv : int, default=5
        Number of folds.
    random_state : int, RandomState or None, default=None
        Draws folds and outliers. None draws always alike.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to all rows.
    calibrator_ : object
        The function: its ``probability`` takes decision values.
    classes_ : ndarray of shape (2,)
        -1 and 1.
    offset_ : float
        0: decision values are scores.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.SVDD : A description.
    mercer.PlattClassifier : Probabilities where both classes are known.

    References
    ----------
    B. Zadrozny, C. Elkan, "Transforming classifier scores into accurate multiclass probability
    estimates", KDD (2002).

    J. Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
    likelihood methods", in Advances in Large Margin Classifiers (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD
    >>> from mercer.spheres import TargetProbability
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = TargetProbability(SVDD(nu=0.05)).fit(X)
    >>> model.predict_proba([[0.0, 0.0], [3.0, 3.0]])[:, 1].round(2)
    array([0.95, 0.03])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "decision_function"])],
        "method": [StrOptions({"isotonic", "sigmoid"})],
        "outlier_share": [Interval(Real, 0.0, 1.0, closed="neither")],
        "region": [StrOptions({"box", "ball"})],
        "n_outliers": [Interval(Integral, 1, None, closed="left")],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "isotonic",
        outlier_share: float = 0.1,
        region: str = "box",
        n_outliers: int = 1000,
        cv: int = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.outlier_share = outlier_share
        self.region = region
        self.n_outliers = n_outliers
        self.cv = cv
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    @holds_blas
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the description and the sigmoid.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Targets.
        y : ignored
            For scikit-learn's interface.

        Returns
        -------
        TargetProbability
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        random = check_random_state(0 if self.random_state is None else self.random_state)
        values, is_target, weights = [], [], []
        folds = KFold(min(self.cv, len(X)), shuffle=True, random_state=random)
        for rest, left_out in folds.split(X):
            model = clone(self.estimator).fit(X[rest])
            outliers = artificial_outliers(
                X, self.n_outliers, region=self.region, random_state=random
            )
            values += [model.decision_function(X[left_out]), model.decision_function(outliers)]
            is_target += [np.ones(left_out.size, bool), np.zeros(self.n_outliers, bool)]
            weights.append(np.full(left_out.size, 1.0 - self.outlier_share))
            # The outliers of a fold together weigh as much as their share of its rows says.
            share = self.outlier_share * left_out.size / self.n_outliers
            weights.append(np.full(self.n_outliers, share))
        fit = fit_sigmoid if self.method == "sigmoid" else fit_monotone
        calibrator = fit(np.concatenate(values), np.concatenate(is_target), np.concatenate(weights))
        self.estimator_ = clone(self.estimator).fit(X)
        self.calibrator_ = calibrator
        self.classes_ = np.array([-1, 1])
        self.offset_ = 0.0
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of being an outlier and of being a target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
            In the order of ``classes_``.
        """
        values = self._decision_values(X)
        target = self.calibrator_.probability(values)
        return np.column_stack([1.0 - target, target])

    def decision_function(self, X: Any) -> Floats:
        """Return the logarithm of the odds of being a target, at least 0 where that is likelier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.asarray(logit(self.predict_proba(X)[:, 1]))

    def score_samples(self, X: Any) -> Floats:
        """Return the same as `decision_function`: the higher, the more normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.decision_function(X)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return +1 where a target is at least as likely as an outlier, else -1.

        This may differ from the prediction of the bare description, whose threshold knows nothing
        of probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _decision_values(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.estimator_.decision_function(X))
