"""The classifier whose model is a handful of fuzzy rules."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._inputs import fit_context, need_two_classes
from mercer._progress import say
from mercer._sklearn import Interval, StrOptions, check_sample_weight
from mercer._threads import holds_blas
from mercer.fuzzy._clusters import find_clusters
from mercer.fuzzy._search import Cost, Found, Population, Start, search, start_from
from mercer.fuzzy._votes import Floats, class_votes, log_firing, rule_weights, vote_shares
from mercer.fuzzy._words import round_for_reading, sentence, term_of, term_range
from mercer.fuzzy.explanation import Explanation

SMALL_CLASS = 30
"""Rows that a class keeps in the search, if it has so many."""

DECIMALS = 3
"""Of rule weights."""

REPORTED = 50
"""Generations from one line of progress to the next."""


class FuzzyRuleClassifier(ClassifierMixin, BaseEstimator):
    r"""Classifier made of a few rules that can be read: IF x₁ is low AND x₂ is high THEN class q.

    Each antecedent is a Gaussian set over one feature, and a rule fires as strongly as its
    antecedents are true together,

    .. math:: \mu_{ji}(x_i) = \exp\bigl(-(x_i - c_{ji})^2 / \sigma_{ji}^2\bigr), \qquad
              \mu_{A_j}(x) = T\bigl(\mu_{j1}(x_1), \dots, \mu_{jn}(x_n)\bigr),

    where T is the product or the minimum. The weight of a rule for class q tells how much more it
    fires on rows of q than on all others,

    .. math:: z_j^q = \max\Bigl(0, \frac{\sum_{p \in q} \mu_{A_j}(x_p) -
              \sum_{p \notin q} \mu_{A_j}(x_p)}{\sum_p \mu_{A_j}(x_p)}\Bigr),

    which is clipped at 0, because a negative weight could never win. At most one class has a
    positive weight: it stands behind THEN. A row is given the class of the largest vote
    :math:`\mu_{A_j}(x)\, z_j^q` ("winner"), or of the largest sum of votes ("additive").

    Rules start from clusters of the rows of each class. A genetic search then moves centres and
    widths and drops antecedents of all rules together, so that the votes surprise little,

    .. math:: -\sum_p w_p \ln \frac{v_{y_p}(x_p)}{\sum_q v_q(x_p)} \Big/ \sum_p w_p
              + \text{parsimony} \cdot (\text{antecedents} + \text{rules}),

    with :math:`v_q` the votes for q, and at the end drops one by one what costs more than it is
    worth. Numbers are rounded before the rule weights are computed: the sentences
    `rules_` are the whole model, no more digits are hidden behind them.

    Use it where somebody must read and follow the rules in words. Some tenths of a second for
    hundreds of rows, seconds for twenty thousand.

    Parameters
    ----------
    max_rules : int, default=10
        Largest number of rules; at least one for each class.
    max_antecedents : int, default=8
        Largest number of features in a rule: those in which the rows of other classes lie furthest
        from it. The search drops more.
    clustering : {"kmeans", "subtractive"}, default="kmeans"
        How the rows of each class are divided at the start: always into as many clusters as there
        are rules for the class, or into as many as there are dense places.
    t_norm : {"product", "min"}, default="product"
        What AND means.
    vote : {"winner", "additive"}, default="winner"
        Whether the strongest rule alone decides.
    search : {"differential", "genetic"}, default="differential"
        SciPy's differential evolution, or pymoo's genetic algorithm with crossover and mutation,
        which needs ``pip install "mercer[fuzzy]"``. They are about equally good.
    n_generations : int, default=300
        Generations of the search; with 0 the rules stay where the clusters are and are only
        simplified.
    population_size : int, default=20
        Rule bases in a generation.
    parsimony : float, default=0.003
        Price of an antecedent or a rule, in nats of mean surprise.
    search_rows : int, default=2000
        Rows that clusters and search look at, drawn from each class; rule weights are those of all
        rows.
    terms : sequence of str, default=("low", "medium", "high")
        Words for the values of a feature, rising. They divide the range between the 5 % and the
        95 % quantile into equal parts; the centre of a set decides which is used.
    random_state : int, RandomState or None, default=None
        Seed of clusters and search.
    verbose : bool, default=False
        Whether to print a line for each stage.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    rules_ : list of str
        The rules, sorted by class and importance. ``1.5 ± 0.5`` is centre and width of a set: at
        1.5 the antecedent is true, at 1.0 and at 2.0 it is so to 37 %.
    centers_, widths_ : ndarray of shape (n_rules, n_features)
        c and σ; NaN for features that a rule does not ask.
    antecedents_ : ndarray of bool of shape (n_rules, n_features)
        Which features a rule asks.
    rule_weights_ : ndarray of shape (n_rules, n_classes)
        z, clipped.
    rule_classes_ : ndarray of shape (n_rules,)
        The class that stands behind THEN.
    term_ranges_ : ndarray of shape (2, n_features)
        Ends of the range that the terms divide.
    class_prior_ : ndarray of shape (n_classes,)
        Shares of the training rows: the answer where there is no rule at all.
    costs_ : ndarray
        The least cost so far, at the start and after each generation.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they are all strings.

    See Also
    --------
    mercer.PrunedTreeClassifier : Rules with sharp bounds.
    mercer.MembershipsDisplay : Draws its fuzzy sets.

    Notes
    -----
    Rows that occur more than once are joined and their weights added, so that weights mean
    repetition, and the order of the rows does not matter.

    References
    ----------
    A. Verikas, *Some other techniques*, lecture, Halmstad University 2013, (11) to (14).

    H. Ishibuchi, T. Nakashima, M. Nii, *Classification and modeling with linguistic information
    granules*, Springer 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.fuzzy import FuzzyRuleClassifier
    >>> iris = load_iris(as_frame=True)
    >>> names = iris.target_names[iris.target]
    >>> model = FuzzyRuleClassifier(max_rules=3, random_state=0).fit(iris.data, names)
    >>> for rule in model.rules_:
    ...     print(rule)
    IF petal ... is low (... cm) THEN setosa (weight ...)
    IF petal length is medium (... cm) AND petal width is medium (... cm) THEN versicolor ...
    IF petal length is high (... cm) AND petal width is high (... cm) THEN virginica ...
    >>> print(model.explain(iris.data.iloc[70]))
    virginica, with ...% of the votes
      rule 3 fires 0..., votes 0...: IF petal length is high ...
      rule 2 fires 0..., votes 0...: IF petal length is medium ...
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_rules": [Interval(Integral, 2, None, closed="left")],
        "max_antecedents": [Interval(Integral, 1, None, closed="left")],
        "clustering": [StrOptions({"kmeans", "subtractive"})],
        "t_norm": [StrOptions({"product", "min"})],
        "vote": [StrOptions({"winner", "additive"})],
        "search": [StrOptions({"differential", "genetic"})],
        "n_generations": [Interval(Integral, 0, None, closed="left")],
        "population_size": [Interval(Integral, 5, None, closed="left")],
        "parsimony": [Interval(Real, 0.0, None, closed="left")],
        "search_rows": [Interval(Integral, 10, None, closed="left")],
        "terms": ["array-like"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        max_rules: int = 10,
        max_antecedents: int = 8,
        clustering: str = "kmeans",
        t_norm: str = "product",
        vote: str = "winner",
        search: str = "differential",
        n_generations: int = 300,
        population_size: int = 20,
        parsimony: float = 0.003,
        search_rows: int = 2000,
        terms: Any = ("low", "medium", "high"),
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.max_rules = max_rules
        self.max_antecedents = max_antecedents
        self.clustering = clustering
        self.t_norm = t_norm
        self.vote = vote
        self.search = search
        self.n_generations = n_generations
        self.population_size = population_size
        self.parsimony = parsimony
        self.search_rows = search_rows
        self.terms = terms
        self.random_state = random_state
        self.verbose = verbose

    # ---- learning ---------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    @holds_blas
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find rules.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; 2 is the same as the row twice, 0 the same as no row.

        Returns
        -------
        FuzzyRuleClassifier
            The fitted classifier.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        classes, codes = np.unique(y[weight > 0], return_inverse=True)
        self._check(classes)
        X, codes, weight = _distinct_rows(X[weight > 0], codes, weight[weight > 0])
        mean = np.average(X, axis=0, weights=weight)
        scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
        usable = np.flatnonzero(scale > 1e-10 * np.abs(mean))
        if not usable.size:
            raise ValueError("X holds no feature that varies; a rule needs at least one.")
        scale = np.where(np.isin(np.arange(scale.size), usable), scale, 1.0)
        class_weights = _class_weights(codes, weight)

        found, start = self._search_rules((X - mean) / scale, codes, weight, usable)
        self.classes_ = classes
        self.class_prior_ = class_weights.sum(axis=0)
        self.costs_ = found.costs
        self.term_ranges_ = term_range(X, weight)
        self._store_sets(found.best, start, mean, scale)
        self._store_weights(X, class_weights)
        self.rules_ = self._sentences()
        say(self, f"{len(self.rules_)} rules with {self.antecedents_.sum()} antecedents")
        return self

    def _search_rules(
        self, Z: Floats, codes: Any, weight: Floats, usable: Any
    ) -> tuple[Found, Start]:
        """Cluster and search on some of the standardised rows."""
        random_state = check_random_state(self.random_state)
        some = _some_rows(codes, self.search_rows, random_state)
        if some.size < codes.size:
            # The rows drawn from a class stand for all of it.
            in_all = np.bincount(codes, weights=weight)
            drawn = np.bincount(codes[some], weights=weight[some])
            weight = weight * (in_all / drawn)[codes]
        Z, codes, weight = Z[some], codes[some], weight[some]
        clusters = find_clusters(Z, codes, weight, self.max_rules, self.clustering, random_state)
        start = start_from(clusters, Z, codes, weight, usable, self.max_antecedents)
        cost = Cost(
            Z[:, start.features],
            _class_weights(codes, weight),
            t_norm=self.t_norm,
            vote=self.vote,
            parsimony=self.parsimony,
        )
        say(self, f"{len(start.features)} clusters of {len(Z)} rows")
        found = search(
            start,
            cost,
            report=self._report,
            method=self.search,
            n_generations=self.n_generations,
            population_size=self.population_size,
            random_state=random_state,
        )
        return found, start

    def _report(self, generation: int, cost: float) -> None:
        if generation % REPORTED == 0 or generation == self.n_generations:
            say(self, f"generation {generation} of {self.n_generations}: cost {cost:.4g}")

    def _check(self, classes: Any) -> None:
        need_two_classes(classes.size)
        if self.max_rules < classes.size:
            raise ValueError(
                f"max_rules={self.max_rules} is too few for {classes.size} classes; each needs at "
                "least one rule."
            )
        terms = list(self.terms)
        if len(terms) < 2 or not all(isinstance(term, str) and term for term in terms):
            raise ValueError(f"terms must be at least 2 words; got {self.terms!r}.")

    def _store_sets(self, best: Population, start: Start, mean: Floats, scale: Floats) -> None:
        """Unfold the rules over all features, in the units of the data and rounded."""
        shape = len(start.features), mean.size
        centers, widths = np.full(shape, np.nan), np.full(shape, np.nan)
        rule, slot = np.nonzero(best.kept[0])
        feature = start.features[rule, slot]
        centers[rule, feature] = best.centers[0, rule, slot]
        widths[rule, feature] = best.widths[0, rule, slot]
        self.centers_ = round_for_reading(mean + scale * centers, scale)
        self.widths_ = round_for_reading(scale * widths, scale)
        self.antecedents_ = ~np.isnan(self.centers_)

    def _store_weights(self, X: Floats, class_weights: Floats) -> None:
        """Weigh the rules, and keep those that have a vote: by class, the most important first."""
        firing = np.exp(self._log_firing(X))
        weights = np.round(rule_weights(firing, class_weights), DECIMALS)
        codes, best = weights.argmax(axis=1), weights.max(axis=1)
        importance = best * (class_weights.sum(axis=1) @ firing)
        order = [j for j in np.lexsort([-importance, codes]) if best[j] > 0]
        self.rule_weights_ = weights[order]
        self.rule_classes_ = self.classes_[codes[order]]
        self.centers_, self.widths_ = self.centers_[order], self.widths_[order]
        self.antecedents_ = self.antecedents_[order]

    def _sentences(self) -> list[str]:
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        low, high = self.term_ranges_
        rules = []
        for j, kept in enumerate(self.antecedents_):
            parts = [
                (
                    names[i],
                    term_of(self.centers_[j, i], low[i], high[i], self.terms),
                    float(self.centers_[j, i]),
                    float(self.widths_[j, i]),
                )
                for i in np.flatnonzero(kept)
            ]
            rules.append(sentence(parts, self.rule_classes_[j], float(self.rule_weights_[j].max())))
        return rules

    # ---- predicting -------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """Return the share of each class in the votes, a fuzzy degree rather than a frequency.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Shares, with the sum 1 in every row.
        """
        fired = self._log_firing(self._rows(X))
        return vote_shares(fired, self.rule_weights_, self.vote, self.class_prior_)

    def predict(self, X: Any) -> Any:
        """Return the class with the most votes for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def firing(self, X: Any) -> Floats:
        """Return how strongly each rule fires on each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_rules)
            From 0 to 1.
        """
        return np.exp(self._log_firing(self._rows(X)))

    def explain(self, x: Any) -> Explanation:
        """Return which rules fire for a row, how strongly, and how they decide.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features)
            One row; also a row of a pandas table.

        Returns
        -------
        Explanation
            To be printed, or read field by field.
        """
        row = self._rows(_as_table(x))
        if len(row) != 1:
            raise ValueError(f"explain takes one row; got {len(row)}.")
        firing = np.exp(self._log_firing(row))
        of_class = class_votes(firing, self.rule_weights_, self.vote)[0]
        shares = vote_shares(
            self._log_firing(row), self.rule_weights_, self.vote, self.class_prior_
        )[0]
        labels = self.classes_.tolist()
        return Explanation(
            prediction=labels[shares.argmax()],
            rules=list(self.rules_),
            rule_classes=self.rule_classes_,
            memberships=np.exp(-(((row - self.centers_) / self.widths_) ** 2)),
            firing=firing[0],
            votes=firing[0] * self.rule_weights_.max(axis=1, initial=0.0),
            class_votes=dict(zip(labels, of_class.tolist())),
            probabilities=dict(zip(labels, shares.tolist())),
        )

    def _rows(self, X: Any) -> Floats:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def _log_firing(self, X: Floats) -> Floats:
        """Return the logarithm of the firing of each rule, (rows, rules)."""
        fired = np.full((len(X), len(self.centers_)), -np.inf)
        for j, kept in enumerate(self.antecedents_):
            if kept.any():
                sets = self.centers_[j, kept], self.widths_[j, kept]
                fired[:, j] = log_firing(X[:, kept], *sets, np.True_, self.t_norm)
        return fired


def _as_table(x: Any) -> Any:
    """Return a single row as a table of one row, with its names."""
    if hasattr(x, "to_frame") and hasattr(x, "index"):
        return x.to_frame().T
    return np.reshape(x, (1, -1)) if np.ndim(x) == 1 else x


def _class_weights(codes: Any, weight: Floats) -> Floats:
    """Return the share of each row in all weights, in the column of its class."""
    return np.eye(codes.max() + 1)[codes] * (weight / weight.sum())[:, None]


def _some_rows(codes: Any, most: int, random_state: Any) -> Any:
    """Return the positions of about `most` rows: a share of every class, more of small ones."""
    if codes.size <= most:
        return np.arange(codes.size)
    chosen = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        count = max(-(-most * rows.size // codes.size), SMALL_CLASS)
        chosen.append(random_state.permutation(rows)[:count])
    return np.sort(np.concatenate(chosen))


def _distinct_rows(X: Floats, codes: Any, weight: Floats) -> tuple[Floats, Any, Floats]:
    """Return every distinct row of a class once, sorted, with the sum of its weights."""
    table, where = np.unique(np.column_stack([codes, X]), axis=0, return_inverse=True)
    mass: Floats = np.bincount(where.ravel(), weights=weight).astype(np.float64)
    return table[:, 1:], table[:, 0].astype(np.int64), mass
