"""Missing values from the rows that a forest finds alike."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import BayesianRidge
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from mercer._inputs import fit_context
from mercer._progress import say
from mercer._sklearn import HasMethods, Interval, StrOptions
from mercer._threads import holds_blas
from mercer.trees._columns import Columns, Mask, categorical_mask, is_missing
from mercer.trees._forest import Floats
from mercer.trees._similarity import Similarity, similarity

FEWEST_IN_LEAF = 5
"""Leaves of regression trees must hold several rows, or no two rows would be alike."""


class ProximityImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Replace missing values by those of the rows that a forest finds alike, again and again.

    Gaps are first filled with medians and most frequent categories (of the row's class, where `fit`
    gets labels). Then a forest is grown on the filled table, and every gap of a numeric column gets
    the average of the observed values, weighted by proximity,

    .. math:: \hat x_{ij} = \frac{\sum_{k:\, x_{kj}\ \text{observed}} p_{ik}\, x_{kj}}
              {\sum_{k:\, x_{kj}\ \text{observed}} p_{ik}} = \bar x_j(i),

    a gap of a categorical column the category of the largest sum of proximities. Forest and values
    are renewed until the values settle. This is `value="mean"`, Breiman's method. `value="linear"`
    also uses where a row lies among those alike: with the same averages of the other numeric
    columns,

    .. math:: \hat x_{ij} = \bar x_j(i) + \sum_{l \ne j} b_{jl}\,(x_{il} - \bar x_l(i)),

    and slopes b from a Bayesian ridge regression of such differences on each other over the rows
    with :math:`x_j` observed (Robinson's estimator of a partly linear model).

    Memory grows with rows times trees; no matrix of all pairs is made, except in blocks for "oob".

    Use it for gaps in tables whose columns hang together. It costs a forest for each round.

    Parameters
    ----------
    estimator : forest, default=None
        A forest of scikit-learn; None takes a random forest of 100 trees. It learns the labels or
        targets that `fit` gets, and where there are none the table itself.
    value : {"linear", "mean"}, default="linear"
        How a number is made from those of the rows alike.
    kind : {"all", "oob", "gap"}, default="all"
        Which proximities, see `proximity`.
    categorical_features : array-like of int, str or bool, default=None
        Positions or names of columns with categories, or a mask. Such columns may hold text.
    max_iter : int, default=5
        Rounds at most.
    tol : float, default=1e-3
        Ends when the root mean square change of filled numbers, in standard deviations of their
        columns, is below this and no category changes.
    random_state : int, RandomState or None, default=None
        Seed of the default forest, the same in each round.
    verbose : bool, default=False
        Whether to print a line for each stage.

    Attributes
    ----------
    forest_ : forest
        The last one.
    n_iter_ : int
        Rounds.
    change_ : float
        The change in the last round.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where the columns have names.

    See Also
    --------
    mercer.trees.proximity : How alike rows are.

    Notes
    -----
    `fit_transform` fills the training rows with what `fit` found, for which it used their labels.
    `transform` knows no labels: it fills a new row first from the class that makes the forest
    surest of itself, then from the training rows alike.

    References
    ----------
    L. Breiman, A. Cutler, *Random forests* (software and manual, 2004).
    P. M. Robinson, "Root-N-consistent semiparametric regression", Econometrica 56 (1988).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from mercer.trees import ProximityImputer
    >>> X, y = load_iris(return_X_y=True)
    >>> gaps = X.copy()
    >>> gaps[0, 2] = gaps[120, 2] = np.nan
    >>> imputer = ProximityImputer(random_state=0)
    >>> filled = imputer.fit_transform(gaps, y)
    >>> X[[0, 120], 2], filled[[0, 120], 2].round(1)
    (array([1.4, 5.7]), array([1.5, 5.8]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "apply"]), None],
        "value": [StrOptions({"linear", "mean"})],
        "kind": [StrOptions({"all", "oob", "gap"})],
        "categorical_features": ["array-like", None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        value: str = "linear",
        kind: str = "all",
        categorical_features: Any = None,
        max_iter: int = 5,
        tol: float = 1e-3,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.value = value
        self.kind = kind
        self.categorical_features = categorical_features
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    @holds_blas
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fill the training rows and keep the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN (or None, among texts) is missing.
        y : array-like of shape (n_samples,), default=None
            Labels or targets, if there are any.

        Returns
        -------
        ProximityImputer
        """
        self._fit(X, y)
        return self

    @fit_context(prefer_skip_nested_validation=False)
    def fit_transform(self, X: Any, y: Any = None, **unused: Any) -> Any:
        """Fill the training rows, and return them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        table, missing = self._fit(X, y)
        return self._columns.fill(table, missing, self._filled)

    def _fit(self, X: Any, y: Any) -> tuple[Any, Mask]:
        table = self._table(X, reset=True)
        names = getattr(self, "feature_names_in_", None)
        mask = categorical_mask(self.categorical_features, names, table.shape[1])
        columns = Columns.of(table, mask)
        codes = columns.encode(table)
        missing = np.isnan(codes)
        if missing.all(axis=0).any():
            empty = int(missing.all(axis=0).argmax())
            raise ValueError(f"Column {empty} of X has no value at all; leave it out.")
        groups = _labels(y, len(table))
        self._columns, self._observed = columns, ~missing
        self._starts = _middles(codes, columns, groups)
        start = np.where(missing, self._starts[_positions(groups, len(codes))], codes)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        filled, self.n_iter_, self.change_ = start, 0, np.inf
        while True:
            self.forest_ = self._grow(filled, y, groups, seed)
            self._filled = filled
            if self.change_ <= self.tol or self.n_iter_ == self.max_iter:
                return table, is_missing(table)
            pairs = similarity(self.forest_, filled, None, self.kind)
            self._slopes = self._regress(pairs, filled)
            better = self._better(pairs, filled, missing)
            self.change_ = _change(filled, better, missing, columns.numeric)
            self.n_iter_ += 1
            filled = better
            say(
                self,
                f"round {self.n_iter_} of at most {self.max_iter}: gaps moved by "
                f"{self.change_:.3g} standard deviations",
            )

    def transform(self, X: Any) -> Any:
        """Fill the gaps of other rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        table = self._table(X, reset=False)
        codes = self._columns.encode(table)
        missing = np.isnan(codes)
        some = missing.any(axis=1)
        filled = codes.copy()
        filled[some] = self._first_fill(codes[some], missing[some])
        for _ in range(self.n_iter_ if some.any() else 0):
            pairs = similarity(self.forest_, filled[some], self._filled, self.kind)
            better = self._better(pairs, filled[some], missing[some])
            change = _change(filled[some], better, missing[some], self._columns.numeric)
            filled[some] = better
            if change <= self.tol:
                break
        return self._columns.fill(table, is_missing(table), filled)

    def _first_fill(self, codes: Floats, missing: Mask) -> Floats:
        """Fill new rows from the class that then has the largest probability, or from all rows."""
        starts = [np.where(missing, middle, codes) for middle in self._starts]
        if len(starts) == 1 or not len(codes):
            return starts[0]
        likely = [self.forest_.predict_proba(rows)[:, c] for c, rows in enumerate(starts)]
        return np.stack(starts)[np.argmax(likely, axis=0), np.arange(len(codes))]

    def _table(self, X: Any, reset: bool) -> Any:
        dtype: Any = np.float64 if self.categorical_features is None else object
        return validate_data(self, X, reset=reset, dtype=dtype, ensure_all_finite="allow-nan")

    def _grow(self, filled: Floats, y: Any, groups: Any, seed: int) -> Any:
        """Fit a forest to labels, targets or the table itself."""
        target = self._columns.spread(filled) if y is None else y
        if self.estimator is not None:
            return clone(self.estimator).fit(filled, target)
        if groups is not None:
            return RandomForestClassifier(random_state=seed).fit(filled, groups)
        forest = RandomForestRegressor(min_samples_leaf=FEWEST_IN_LEAF, random_state=seed)
        return forest.fit(filled, target)

    def _averages(self, pairs: Similarity, rows: Floats) -> tuple[Floats, Floats]:
        """Return averages over rows alike: of observed values, and of all; NaN where none is."""
        weight = self._observed.astype(np.float64)
        stacked = np.hstack([weight * self._filled, weight, self._filled])
        sums = pairs.dot(np.hstack([stacked, np.ones((len(stacked), 1))]))
        if pairs.same_rows:  # a row must not speak for itself
            own = np.hstack([weight * rows, weight, rows, np.ones((len(rows), 1))])
            sums -= pairs.diagonal()[:, None] * own
        d = rows.shape[1]
        sums[:, d : 2 * d][sums[:, d : 2 * d] <= 1e-9] = np.nan
        sums[:, -1][sums[:, -1] <= 1e-9] = np.nan
        return sums[:, :d] / sums[:, d : 2 * d], sums[:, 2 * d : 3 * d] / sums[:, -1:]

    def _regress(self, pairs: Similarity, filled: Floats) -> dict[int, Any]:
        """Return the slopes of each numeric column with gaps on the other numeric columns."""
        slopes: dict[int, Any] = {}
        numeric = np.flatnonzero(self._columns.numeric)
        if self.value == "mean" or numeric.size < 2:
            return slopes
        own, others = (filled - average for average in self._averages(pairs, filled))
        for j in numeric[~self._observed[:, numeric].all(axis=0)]:
            rest = numeric[numeric != j]
            rows = self._observed[:, j] & np.isfinite(own[:, j]) & np.isfinite(others[:, 0])
            if rows.sum() > 1:
                model = BayesianRidge(fit_intercept=False)
                slopes[int(j)] = rest, model.fit(others[np.ix_(rows, rest)], own[rows, j]).coef_
        return slopes

    def _better(self, pairs: Similarity, filled: Floats, missing: Mask) -> Floats:
        """Return the table with new values in its gaps."""
        averages, of_all = self._averages(pairs, filled)
        better = filled.copy()
        for j in np.flatnonzero(missing.any(axis=0)).tolist():
            gaps = np.flatnonzero(missing[:, j])
            known = self._columns.categories[j]
            if known is not None:
                better[gaps, j] = self._vote(pairs, j, len(known), filled[:, j])[gaps]
                continue
            values = averages[gaps, j]
            if j in self._slopes:
                rest, slope = self._slopes[j]
                values = values + (filled[np.ix_(gaps, rest)] - of_all[np.ix_(gaps, rest)]) @ slope
            better[gaps, j] = np.where(np.isfinite(values), values, filled[gaps, j])
        return better

    def _vote(self, pairs: Similarity, column: int, n_categories: int, before: Floats) -> Floats:
        seen = self._observed[:, [column]]
        each = seen & (self._filled[:, [column]] == np.arange(n_categories))
        votes = pairs.dot(each.astype(np.float64))
        return np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), before)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = self.categorical_features is not None
        return tags


def _labels(y: Any, n: int) -> Any:
    """Return the labels where the target has classes, else None."""
    if y is None:
        return None
    target = column_or_1d(y, warn=True)
    if len(target) != n:
        raise ValueError(f"X has {n} rows but y has {len(target)}.")
    return target if type_of_target(target) in ("binary", "multiclass") else None


def _middle(codes: Floats, columns: Columns) -> Floats:
    """Return the median of numbers and the most frequent code of categories, without gaps."""
    middle = np.empty(codes.shape[1])
    for j, known in enumerate(columns.categories):
        present = codes[~np.isnan(codes[:, j]), j]
        if not present.size:
            middle[j] = np.nan
        elif known is None:
            middle[j] = np.median(present)
        else:
            middle[j] = np.bincount(present.astype(np.int64)).argmax()
    return middle


def _middles(codes: Floats, columns: Columns, groups: Any) -> Floats:
    """Return the middle of each class, of all rows where it has none or there are no classes."""
    middle = _middle(codes, columns)
    if groups is None:
        return middle[None]
    own = np.array([_middle(codes[groups == label], columns) for label in np.unique(groups)])
    return np.where(np.isnan(own), middle, own)


def _positions(groups: Any, n: int) -> Any:
    """Return the position of each row's class among the classes."""
    return np.zeros(n, np.int64) if groups is None else np.unique(groups, return_inverse=True)[1]


def _change(before: Floats, after: Floats, missing: Mask, numeric: Mask) -> float:
    """Return how far numbers moved, in standard deviations; infinite if a category changed."""
    if (before != after)[:, ~numeric].any():
        return float("inf")
    gaps = missing & numeric
    if not gaps.any():
        return 0.0
    scale = after.std(axis=0)
    moved = (after - before) / np.where(scale > 0, scale, 1.0)
    return float(np.sqrt(np.mean(moved[gaps] ** 2)))
