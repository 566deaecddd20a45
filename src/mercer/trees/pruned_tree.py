"""A tree that is as small as the data allow."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._folds import deal_folds, split_folds
from mercer._inputs import checked_weights, fit_context
from mercer._progress import say
from mercer._sklearn import Interval, StrOptions
from mercer.trees._pruning import ends, pruning_levels
from mercer.trees._rules import Floats, Rule, rules_of

MOST_ALPHAS = 50
"""Prunings that are tried at most; longer paths are thinned evenly."""


class PrunedTreeClassifier(ClassifierMixin, BaseEstimator):
    r"""Decision tree, pruned by cross-validation, that reads as IF-THEN rules.

    A tree T of full size is cut back to the subtree that minimises

    .. math:: R_\alpha(T) = R(T) + \alpha\,|\text{leaves of } T|,

    where R is the impurity of the leaves (scikit-learn's ``ccp_alpha``). The path of subtrees for
    growing :math:`\alpha` gives the candidates, the geometric means of neighbouring values; that of
    the best accuracy in cross-validation is taken (`rule="best"`), or the largest whose accuracy is
    within one standard error of it (`rule="one_standard_error"`, Breiman's advice), which is
    smaller and reads better.

    Use it where few columns decide, and rules shall be read. It costs a tree for each fold and one
    more; a few other rows may change its first split.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Impurity.
    rule : {"best", "one_standard_error"}, default="one_standard_error"
    cv : int, splitter, iterable or None, default=10
        Number of folds, or how to make them; None is 10. Folds of a number do not depend on the
        order of the rows.
    max_depth : int or None, default=None
        Of the full tree.
    min_samples_leaf : int, default=1
        Rows in a leaf at least.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights, in growing the tree and in its accuracy.
    random_state : int, RandomState or None, default=None
        Decides between cuts that are equally good, and deals rows into folds.
    verbose : bool, default=False
        Whether to print a line for each stage.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    tree_ : DecisionTreeClassifier
        The pruned tree, fitted to all rows.
    alpha_ : float
        The chosen :math:`\alpha`.
    alphas_ : ndarray
        The candidates.
    cv_scores_ : ndarray of shape (n_alphas, n_folds)
        Their accuracies.
    rules_ : list of Rule
        A rule for each leaf, those that hold for most rows first. ``str`` of it is a sentence.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each feature in the decrease of impurity.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where the columns have names; the rules use them.

    See Also
    --------
    mercer.FuzzyRuleClassifier : Rules in words, with soft bounds.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, *Classification and regression trees*
    (1984), chapter 3.
    A. Verikas, *Some other techniques*, lecture, Halmstad University 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import PrunedTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> species = load_iris().target_names[y]
    >>> print(PrunedTreeClassifier(random_state=0).fit(X, species).export_text())
    IF 0.8 < petal width (cm) <= 1.75 THEN versicolor (54 rows, 36 %; 91 % pure)
    IF petal width (cm) <= 0.8 THEN setosa (50 rows, 33 %; 100 % pure)
    IF petal width (cm) > 1.75 THEN virginica (46 rows, 31 %; 98 % pure)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "criterion": [StrOptions({"gini", "entropy", "log_loss"})],
        "rule": [StrOptions({"best", "one_standard_error"})],
        "cv": ["cv_object"],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        criterion: str = "gini",
        rule: str = "one_standard_error",
        cv: Any = 10,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.criterion = criterion
        self.rule = rule
        self.cv = cv
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow, prune and read the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN is allowed; each cut says where rows without a value go.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            An integer weight is that many copies of the row.

        Returns
        -------
        PrunedTreeClassifier
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        weight = checked_weights(sample_weight, X)
        kept = weight > 0
        # A splitter must see the rows that it was made for; dealing must not see rows of weight 0.
        fold = split_folds(X, y, self.cv)[kept] if self._has_splitter() else None
        X, y, weight = X[kept], y[kept], weight[kept]
        fold = self._dealt(X, y) if fold is None else fold
        factor = class_factors(self.class_weight, y, weight)
        self.classes_ = np.unique(y)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        self.alphas_ = self._candidates(X, y, factor * weight, seed)
        self.cv_scores_ = self._scores(X, y, factor * weight, fold, seed)
        self.alpha_ = float(self.alphas_[chosen(self.cv_scores_, self.rule)])
        self.tree_ = self._unfitted(seed, self.alpha_).fit(X, y, sample_weight=factor * weight)
        self.feature_importances_ = self.tree_.feature_importances_
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(X.shape[1])]
        found = rules_of(self.tree_, X, y, weight, names)
        self.rules_: list[Rule] = sorted(found, key=lambda rule: -rule.support)
        say(self, f"{len(self.rules_)} rules at alpha = {self.alpha_:.3g}")
        return self

    def predict(self, X: Any) -> Any:
        """Return the class of the leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.tree_.predict(self._checked(X))

    def predict_proba(self, X: Any) -> Floats:
        """Return the shares of the classes in the leaf.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self.tree_.predict_proba(self._checked(X))

    def export_text(self) -> str:
        """Return the rules as sentences, one a line, those that hold for most rows first."""
        check_is_fitted(self)
        return "\n".join(map(str, self.rules_))

    def export_table(self) -> list[dict[str, Any]]:
        """Return the rules as rows of a table, for ``pandas.DataFrame`` or a CSV writer."""
        check_is_fitted(self)
        return [
            {
                "condition": rule.condition,
                "prediction": rule.prediction,
                "support": rule.support,
                "share": rule.share,
                "purity": rule.purity,
            }
            for rule in self.rules_
        ]

    def _checked(self, X: Any) -> Any:
        how: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
        return validate_data(self, X, reset=False, **how)

    def _unfitted(self, seed: int, alpha: float = 0.0) -> Any:
        return DecisionTreeClassifier(
            criterion=self.criterion,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            random_state=seed,
            ccp_alpha=alpha,
        )

    def _candidates(self, X: Any, y: Any, weight: Any, seed: int) -> Floats:
        """Return an alpha inside each interval of the path, and one for the bare root."""
        full = self._unfitted(seed)
        path = full.cost_complexity_pruning_path(X, y, sample_weight=weight).ccp_alphas
        edges = np.unique(np.maximum(path, 0.0))
        inside = np.append(np.sqrt(edges[:-1] * edges[1:]), edges[-1])
        places = np.linspace(0, inside.size - 1, min(inside.size, MOST_ALPHAS)).round()
        return inside[places.astype(np.int64)]

    def _scores(self, X: Any, y: Any, weight: Any, fold: Any, seed: int) -> Floats:
        """Return the accuracy of each candidate in each fold, of which each grows one tree."""
        scores = []
        numbers = np.unique(fold[fold >= 0])
        for place, number in enumerate(numbers, start=1):
            train, test = fold != number, fold == number
            if np.unique(y[train]).size < 2:
                continue
            grown = self._unfitted(seed).fit(X[train], y[train], sample_weight=weight[train])
            ended = ends(grown.tree_, pruning_levels(grown.tree_), self.alphas_)
            labels = grown.classes_[grown.tree_.value[:, 0].argmax(axis=1)]
            correct = labels[ended[grown.apply(X[test])]] == y[test, None]
            scores.append(np.average(correct, axis=0, weights=weight[test]))
            say(
                self,
                f"fold {place} of {numbers.size}: at best {scores[-1].max():.1%} right, of "
                f"{self.alphas_.size} prunings",
            )
        return np.array(scores).T if scores else np.zeros((self.alphas_.size, 1))

    def _has_splitter(self) -> bool:
        return not (self.cv is None or isinstance(self.cv, Integral))

    def _dealt(self, X: Any, y: Any) -> Any:
        """Return the number of the fold of each row."""
        codes = np.unique(y, return_inverse=True)[1]
        return deal_folds(X, codes, self.cv or 10, self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def class_factors(class_weight: Any, y: Any, weight: Floats) -> Floats:
    """Return the factor of each row's weight, where "balanced" gives all classes the same sum."""
    if class_weight != "balanced":
        return compute_sample_weight(class_weight, y)
    codes = np.unique(y, return_inverse=True)[1]
    sums = np.bincount(codes, weights=weight)
    return (weight.sum() / (sums.size * sums))[codes]


def chosen(scores: Floats, rule: str) -> int:
    """Return the last of the best candidates, or the last within one standard error of the best.

    Examples
    --------
    >>> scores = np.array([[0.90, 0.86], [0.93, 0.95], [0.92, 0.94], [0.5, 0.5]])
    >>> chosen(scores, "best"), chosen(scores, "one_standard_error")
    (1, 2)
    """
    mean = scores.mean(axis=1)
    best = int(np.flatnonzero(mean >= mean.max() - 1e-12)[-1])
    n_folds = scores.shape[1]
    if rule == "best" or n_folds < 2:
        return best
    error = scores[best].std(ddof=1) / np.sqrt(n_folds)
    return int(np.flatnonzero(mean >= mean[best] - error)[-1])
