"""Choosing width and nu of a description from the targets alone."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import fit_context
from mercer._progress import say
from mercer._sklearn import HasMethods, Interval, StrOptions
from mercer._threads import holds_blas
from mercer.kernels import RBF
from mercer.spheres._bulk import HALF, bulk
from mercer.spheres._widths import (
    WidthChoice,
    by_artificial_outliers,
    by_rule,
    by_support_fraction,
    by_support_plateau,
    widths_between_rows,
)
from mercer.spheres.svdd import DEFAULT_NU

Floats = NDArray[np.float64]

STRATEGIES = {
    "support_fraction",
    "support_plateau",
    "artificial_outliers",
    "scott",
    "silverman",
    "median",
}

TARGET_ERROR = 0.1
"""Share of support vectors aimed at by a description without slack."""

NUS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of rows left out that are tried where none are given."""


def _inner_has(method: str) -> Any:
    return available_if(
        lambda search: hasattr(getattr(search, "best_estimator_", search.estimator), method)
    )


class OneClassSearch(OutlierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Chooses the width of a Gaussian kernel, and nu, without examples of outliers.

    The kernel is :math:`\exp(-\gamma \lVert x - y \rVert^2)` with
    :math:`\gamma = 1/(2\sigma^2)`. While :math:`\sigma` is small every row is a support vector; as
    it grows their number falls, until the region is that of a plain ball. The strategies:

    - ``"support_fraction"``: raise :math:`\sigma` from the smallest distance of two rows until the
      share of support vectors, which bounds the expected error on targets, falls to
      ``target_error``;
    - ``"support_plateau"``: raise it until the number of support vectors stops falling;
    - ``"artificial_outliers"``: draw points evenly from a box or a ball around the data and
      minimise ``mix`` times the cross-validated error on targets plus ``1 - mix`` times the share
      of those points that is accepted, over :math:`\sigma` and nu; within one standard error the
      tightest description counts;
    - ``"scott"``, ``"silverman"``: the rules of thumb of density estimation;
    - ``"median"``: :math:`1/\gamma` is the median squared distance of two rows.

    Rows that are no targets may be among the data. Where such rows stand close together, a narrow
    kernel gives them support vectors of their own and takes them for targets: nu says how many rows
    may lie outside, not which. Therefore a share t of the rows is set aside beforehand, those
    farthest from a wide ball around the bulk of the data (:math:`\sigma` is the median distance of
    two rows, nu = 0.5). Width and description come from the rest, with a :math:`\nu'` for which as
    many of all rows lie outside, :math:`t + (1 - t) \nu' = \nu`:

    .. math:: t = \nu^2, \quad \nu' = \nu / (1 + \nu) .

    On this share two descriptions agree that leave out :math:`\nu` each and know nothing of each
    other. Next to nothing is set aside where nu is small, a quarter of the rows where nu = 0.5 says
    that many may be outliers, and never more than half.

    Use it whenever a Gaussian description is wanted and no outliers are known to choose the width
    by. It takes some twenty fits to at most ``max_rows`` rows.

    Parameters
    ----------
    estimator : estimator
        `SVDD`, `OneClassSVM` or another with a Gaussian kernel, ``gamma``, ``nu`` and ``support_``.
    strategy : str, default="support_fraction"
        One of the above.
    trim : float or None, default=None
        Share of the rows that is set aside before the choice and the fit, at most 0.5. None is t
        as above, and 0 where the estimator has a price C; 0 keeps all rows, for data that are
        known to be targets.
    target_error : float or None, default=None
        For "support_fraction". None is half as much again as :math:`\nu'`, but at most 0.05 more,
        since the share of support vectors cannot fall below nu; or 0.1 where it has none.
    n_widths : int, default=20
        Number of widths to try, evenly spaced on a logarithmic scale from the smallest to the
        largest distance of two rows.
    nus : array-like of float or None, default=None
        Values of nu to try with "artificial_outliers"; None tries 0.01, 0.02, 0.05, 0.1 and 0.2.
        They hold for the rows that are kept. The other strategies take the estimator's nu.
    region : {"box", "ball"}, default="box"
        Where artificial outliers are drawn, see `artificial_outliers`.
    n_outliers : int, default=1000
        Their number.
    mix : float, default=0.5
        Weight of the error on targets, between 0 and 1.
    cv : int, default=5
        Number of folds for the error on targets.
    max_rows : int or None, default=2000
        Where there are more rows, the choice is made on so many of them, drawn at random; None
        uses all. The chosen description is fitted to all rows that are kept.
    random_state : int, RandomState or None, default=None
        Draws rows, folds and outliers.
    verbose : bool, default=False
        Whether to print a line for each stage.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted with the choice to all rows that are kept.
    best_params_ : dict
        The chosen ``gamma`` and the ``nu`` of the rows that are kept.
    kept_ : ndarray of bool of shape (n_samples,)
        Rows that were not set aside.
    sigma_ : float
        The chosen width.
    history_ : list of dict
        One record for each description that was tried, in order: its ``sigma``, ``gamma`` and
        ``nu``, what was measured (``n_support``, ``support_fraction``, ``target_error``,
        ``accepted_volume``, ``criterion``, ``standard_error``), whether it was ``chosen``, and for
        that one the ``reason``. `pandas.DataFrame` makes a table of it.
    offset_ : float
        That of the chosen estimator.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.SVDD : The description whose width is chosen.
    mercer.GradientSearch : Moves the kernel by the gradient of `region_error`, at the nu given.

    References
    ----------
    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 3.4.

    D. M. J. Tax, R. P. W. Duin, "Uniform object generation for optimizing one-class classifiers",
    Journal of Machine Learning Research 2 (2001).

    P. J. Rousseeuw, K. Van Driessen, "A fast algorithm for the minimum covariance determinant
    estimator", Technometrics 41 (1999), for trimming with an estimate that half of the rows cannot
    move.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD, OneClassSearch
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> search = OneClassSearch(SVDD(nu=0.05), strategy="support_plateau").fit(X)
    >>> [record["reason"] for record in search.history_ if record["chosen"]]
    ['beyond it the number of support vectors, 12 of 200, stops falling']
    >>> search.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict", "decision_function"])],
        "strategy": [StrOptions(STRATEGIES)],
        "trim": [Interval(Real, 0.0, HALF, closed="both"), None],
        "target_error": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "n_widths": [Interval(Integral, 2, None, closed="left")],
        "nus": ["array-like", None],
        "region": [StrOptions({"box", "ball"})],
        "n_outliers": [Interval(Integral, 1, None, closed="left")],
        "mix": [Interval(Real, 0.0, 1.0, closed="both")],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "max_rows": [Interval(Integral, 2, None, closed="left"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        strategy: str = "support_fraction",
        trim: float | None = None,
        target_error: float | None = None,
        n_widths: int = 20,
        nus: Any = None,
        region: str = "box",
        n_outliers: int = 1000,
        mix: float = 0.5,
        cv: int = 5,
        max_rows: int | None = 2000,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.trim = trim
        self.target_error = target_error
        self.n_widths = n_widths
        self.nus = nus
        self.region = region
        self.n_outliers = n_outliers
        self.mix = mix
        self.cv = cv
        self.max_rows = max_rows
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    @holds_blas
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose, and fit the choice to all rows that are kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Targets.
        y : ignored
            For scikit-learn's interface.

        Returns
        -------
        OneClassSearch
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self._width_name()
        random = check_random_state(self.random_state)
        some = np.arange(len(X))
        if self.max_rows is not None and len(X) > self.max_rows:
            some = np.sort(random.choice(len(X), self.max_rows, replace=False))
        nu = self._nu()
        kept = bulk(X, X[some], _trimmed(nu) if self.trim is None else self.trim)
        if nu is not None:
            nu = max(0.0, 1.0 - (1.0 - nu) / float(kept.mean()))
        choice = self._choose(X[some[kept[some]]], random, nu)
        best = choice.tried[choice.best]
        estimator = clone(self.estimator)
        self.best_estimator_ = self._set(estimator, best["gamma"], best["nu"]).fit(X[kept])
        self.kept_ = kept
        self.best_params_ = {"gamma": best["gamma"], "nu": best["nu"]}
        self.sigma_ = best["sigma"]
        self.history_ = [
            {"strategy": self.strategy, **record, "chosen": place == choice.best}
            for place, record in enumerate(choice.tried)
        ]
        self.history_[choice.best]["reason"] = choice.reason
        say(self, f"sigma = {self.sigma_:.4g}, {choice.reason}")
        return self

    def _width_name(self) -> str:
        """Return the name of the parameter that sets the width."""
        kernel = getattr(self.estimator, "kernel", None)
        if isinstance(kernel, RBF):
            return "kernel__gamma"
        if kernel == "rbf":
            return "gamma"
        raise ValueError(
            "OneClassSearch chooses the width of a Gaussian kernel; the estimator needs "
            f"kernel='rbf' or kernel=RBF(), got kernel={kernel!r}."
        )

    def _set(self, model: Any, gamma: float, nu: float | None) -> Any:
        """Give the estimator a width, and a nu in place of any other price of slack."""
        chosen: dict[str, Any] = {self._width_name(): gamma}
        if nu is not None:
            chosen |= {"nu": nu} | ({"C": None} if "C" in model.get_params() else {})
        return model.set_params(**chosen)

    def _nu(self) -> float | None:
        """Return the share of rows that may lie outside, or None where a price is given."""
        nu = getattr(self.estimator, "nu", None)
        if nu is None and getattr(self.estimator, "C", None) is None:
            return DEFAULT_NU
        return nu

    def _choose(self, X: Floats, random: np.random.RandomState, nu: float | None) -> WidthChoice:
        model = clone(self.estimator)
        if "warm_start" in model.get_params():
            model.set_params(warm_start=True)

        def fit(rows: Floats, *, gamma: float, nu: float | None) -> Any:
            return self._set(model, gamma, nu).fit(rows)

        if self.strategy in ("scott", "silverman", "median"):
            return by_rule(X, self.strategy, fit, nu, self._report)
        widths = widths_between_rows(X, self.n_widths)
        if self.strategy == "support_plateau":
            return by_support_plateau(X, widths, fit, nu, self._report)
        if self.strategy == "support_fraction":
            target = self.target_error
            if target is None:
                target = nu + min(0.5 * nu, 0.05) if nu else TARGET_ERROR
            return by_support_fraction(X, widths, fit, nu, target, self._report)
        folds = KFold(min(self.cv, len(X)), shuffle=True, random_state=random)
        return by_artificial_outliers(
            X,
            widths,
            fit,
            _checked_nus(self.nus),
            region=self.region,
            n_outliers=self.n_outliers,
            mix=self.mix,
            folds=folds,
            random=random,
            report=self._report,
        )

    def _report(self, record: dict[str, Any]) -> None:
        measured = f"{record['support_fraction']:.1%} support vectors"
        if "criterion" in record:
            measured += f", criterion {record['criterion']:.4g}"
        nu = "" if record["nu"] is None else f", nu = {record['nu']:.3g}"
        say(self, f"sigma = {record['sigma']:.4g}{nu}: {measured}")

    @property
    def offset_(self) -> Any:
        """Decision values are scores minus this."""
        check_is_fitted(self)
        return self.best_estimator_.offset_

    @_inner_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decision values of the chosen estimator, at least 0 for targets."""
        return self._inner(X, "decision_function")

    @_inner_has("score_samples")
    def score_samples(self, X: Any) -> Any:
        """Return the scores of the chosen estimator: the higher, the more normal."""
        return self._inner(X, "score_samples")

    @_inner_has("distance")
    def distance(self, X: Any) -> Any:
        """Return the distances to the centre of the chosen ball, in feature space."""
        return self._inner(X, "distance")

    def predict(self, X: Any) -> Any:
        """Return +1 for targets and -1 for outliers."""
        return self._inner(X, "predict")

    def _inner(self, X: Any, method: str) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return getattr(self.best_estimator_, method)(X)


def _trimmed(nu: float | None) -> float:
    return 0.0 if nu is None else min(nu**2, HALF)


def _checked_nus(nus: Any) -> list[float]:
    values = np.asarray(NUS if nus is None else nus, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"nus must be a list of numbers between 0 and 1; got {nus!r}.")
    return values.tolist()
