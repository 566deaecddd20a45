"""What rankings of features are worth: accuracy against the number of features used."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, indexable

from mercer.feature_selection.pareto import pareto_set
from mercer.feature_selection.scores import fisher_score
from mercer.feature_selection.stability import kuncheva_index
from mercer.feature_selection.stop_condition import best_size
from mercer.model_selection.grid.shared_search import accuracy

Floats = NDArray[np.float64]
Features = NDArray[np.intp]
Sizes = NDArray[np.intp]

MOST_SIZES = 100
"""Sizes looked at where none are given, evenly spread on a logarithmic scale."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """An order of the features, and how it came about.

    Parameters
    ----------
    order : ndarray of int
        The best feature first.
    seconds, processor_seconds : float
        What it took, by the clock and of the processors.
    sizes, accuracy : ndarray
        Of the machines trained on the way, where there were any.
    """

    order: Features
    seconds: float
    processor_seconds: float
    sizes: Features
    accuracy: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankingCurve:
    """Scores of an estimator on the best features of a ranking, for several numbers of them.

    Parameters
    ----------
    name : str
    sizes : ndarray of int of shape (n_sizes,)
        Ascending.
    train_scores, test_scores : ndarray of shape (n_folds, n_sizes)
    rankings : tuple of Ranking
        One for each fold.
    n_features : int
        Number of all features.
    chance : float
        Share of the largest class; NaN where there are no classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> from mercer.feature_selection import fisher_score, ranking_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = ranking_curve({"Fisher": fisher_score}, SVC(), X, y, baselines=False)["Fisher"]
    >>> curve.mean_test_score.round(2)
    array([0.95, 0.96, 0.95, 0.97])
    >>> curve.best_size((0.8, 0.2))
    1
    """

    name: str
    sizes: Sizes
    train_scores: Floats
    test_scores: Floats
    rankings: tuple[Ranking, ...]
    n_features: int
    chance: float

    @property
    def mean_test_score(self) -> Floats:
        """Mean over the folds."""
        return self.test_scores.mean(axis=0)

    @property
    def std_test_score(self) -> Floats:
        """Standard deviation over the folds, with the divisor of a sample."""
        return self.test_scores.std(axis=0, ddof=1 if len(self.test_scores) > 1 else 0)

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean over the folds."""
        return self.std_test_score / np.sqrt(len(self.test_scores))

    @property
    def mean_train_score(self) -> Floats:
        """Mean over the folds."""
        return self.train_scores.mean(axis=0)

    def cost(self, trade_off: tuple[float, float] = (0.8, 0.2)) -> Floats:
        """Return w1 (1 - score) + w2 size / all for every size."""
        error, size = trade_off
        return error * (1.0 - self.mean_test_score) + size * self.sizes / self.n_features

    def best_size(self, trade_off: tuple[float, float] = (1.0, 0.0)) -> int:
        """Return the size of least cost; the smaller of equals."""
        return best_size(self.sizes, self.mean_test_score, trade_off, self.n_features)

    def pareto(self) -> Sizes:
        """Return the sizes that no other beats in both score and size."""
        return self.sizes[pareto_set(self.mean_test_score, self.sizes)]

    def stability(self) -> Floats:
        """Return Kuncheva's index of the sets of the folds, for every size."""
        if len(self.rankings) < 2:
            return np.full(self.sizes.size, np.nan)
        orders = [ranking.order for ranking in self.rankings]
        return np.array(
            [kuncheva_index([o[:size] for o in orders], self.n_features) for size in self.sizes]
        )


def ranking_curve(
    rankings: Mapping[str, Any],
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = None,
    cv: Any = None,
    scoring: Any = None,
    baselines: bool = True,
    n_jobs: int | None = None,
    random_state: Any = None,
    report: Callable[[int, int], None] | None = None,
) -> dict[str, RankingCurve]:
    """Validate rankings of features apart from how they were made.

    In every fold each ranking is made of the training rows alone, so that no test row has a say in
    which features are used. Then the estimator is fitted on the best 1, 2, ... of them and scored
    on the test rows.

    Parameters
    ----------
    rankings : mapping of str to selector, function or order
        By name: a selector such as `KernelRFE` (anything with ``order_``, ``ranking_`` or
        ``scores_`` after its fit; eliminations go down to one feature), a function of X and y that
        scores features such as `fisher_score`, or a ready order of the features, the best first. A
        ready order that was made of all rows has seen the test rows, and its curve is too good.
    estimator : estimator
        Fitted on the chosen features; it need not be the one that ranked.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sizes : array-like of int or None, default=None
        Numbers of features to try; all for up to 100 features, else about 100 of them.
    cv : int, splitter or None, default=None
        Folds, as everywhere in scikit-learn.
    scoring : str, callable or None, default=None
        The estimator's own score if None.
    baselines : bool, default=True
        Whether to add a random ranking ("random") and one by `fisher_score` ("filter"; for
        classes only).
    n_jobs : int or None, default=None
        Folds at a time.
    random_state : int, RandomState or None, default=None
        For the random ranking.
    report : callable or None, default=None
        Told after each fold how many are done and how many there are.

    Returns
    -------
    dict of str to RankingCurve

    References
    ----------
    R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC Barcelona 2021,
    section 4.4.3.

    C. Ambroise, G. J. McLachlan, "Selection bias in gene extraction on the basis of microarray
    gene-expression data", PNAS 99 (2002).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC, KernelRFE
    >>> from mercer.feature_selection import ranking_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> curves = ranking_curve({"RFE": KernelRFE(SVC())}, SVC(), X, y, random_state=0)
    >>> sorted(curves), curves["RFE"].sizes
    (['RFE', 'filter', 'random'], array([1, 2, 3, 4]))
    """
    X, y = indexable(X if sp.issparse(X) else np.asarray(X), y)
    y = np.asarray(y)
    sources = dict(rankings)
    if baselines:
        sources.setdefault("random", "random")
        if is_classifier(estimator):
            sources.setdefault("filter", fisher_score)
    folds = list(check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y))
    sizes = checked_sizes(sizes, X.shape[1])
    seeds = check_random_state(random_state).randint(2**31 - 1, size=len(folds))
    scorer = check_scoring(estimator, scoring)
    if scoring is None and getattr(type(estimator), "score", None) is ClassifierMixin.score:
        scorer = accuracy  # the same without checks, which take longer than small machines
    found = []
    for one in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fold)(sources, estimator, X, y, train, test, sizes, scorer, int(seed))
        for (train, test), seed in zip(folds, seeds)
    ):
        found.append(one)
        if report is not None:
            report(len(found), len(folds))
    chance = _chance(y) if is_classifier(estimator) else float("nan")
    return {
        name: RankingCurve(
            name,
            sizes,
            np.array([one[name][1] for one in found]),
            np.array([one[name][2] for one in found]),
            tuple(one[name][0] for one in found),
            X.shape[1],
            chance,
        )
        for name in sources
    }


def _fold(
    sources: Mapping[str, Any],
    estimator: Any,
    X: Any,
    y: Any,
    train: Any,
    test: Any,
    sizes: Sizes,
    scorer: Any,
    seed: int,
) -> dict[str, tuple[Ranking, Floats, Floats]]:
    """Return ranking, train scores and test scores of every source in one fold."""
    some, labels, others, expected = X[train], y[train], X[test], y[test]
    found = {}
    for name, source in sources.items():
        ranking = make_ranking(source, some, labels, np.random.RandomState(seed))
        scores = np.empty((2, sizes.size))
        for k, size in enumerate(sizes):
            features = np.sort(ranking.order[:size])
            chosen = some[:, features]
            model = clone(estimator).fit(chosen, labels)
            scores[0, k] = scorer(model, chosen, labels)
            scores[1, k] = scorer(model, others[:, features], expected)
        found[name] = (ranking, scores[0], scores[1])
    return found


def checked_sizes(sizes: Any, n_features: int) -> Sizes:
    """Return the numbers of features to try, ascending."""
    if sizes is None:
        if n_features <= MOST_SIZES:
            return np.arange(1, n_features + 1)
        return np.unique(np.geomspace(1, n_features, MOST_SIZES).round().astype(np.intp))
    found = np.unique(np.asarray(sizes))
    if found.size == 0 or found.dtype.kind not in "iu" or found[0] < 1 or found[-1] > n_features:
        raise ValueError(f"sizes must be whole numbers from 1 to {n_features}; got {sizes!r}.")
    return found.astype(np.intp)


def _chance(y: Any) -> float:
    return float(np.unique(y, return_counts=True)[1].max() / len(y))


def make_ranking(source: Any, X: Any, y: Any, rng: np.random.RandomState) -> Ranking:
    """Return the ranking that a source makes of some rows.

    Parameters
    ----------
    source : estimator, callable, array-like or "random"
        A selector that is fitted and then has ``order_``, ``ranking_`` or ``scores_``; a function
        of X and y that scores features; or a ready order of the features, the best first.
    """
    start, busy = time.perf_counter(), time.process_time()
    sizes, accuracy = np.empty(0, dtype=np.intp), np.empty(0)
    if isinstance(source, str):
        if source != "random":
            raise ValueError(f"A ranking by name can only be 'random'; got {source!r}.")
        order = rng.permutation(X.shape[1])
    elif hasattr(source, "fit"):
        selector = clone(source)
        if "n_features_to_select" in selector.get_params(deep=False):
            selector.set_params(n_features_to_select=1)  # a ranking of all of them
        selector.fit(X, y)
        order = order_of(selector)
        trace = getattr(selector, "trace_", None)
        if trace is not None:
            sizes, accuracy = trace.sizes, trace.train_accuracy
    elif callable(source):
        scores = source(X, y)
        scores = scores[0] if isinstance(scores, tuple) else scores
        order = np.argsort(-np.asarray(scores), kind="stable")
    else:
        order = _checked_order(source, X.shape[1])
    taken, used = time.perf_counter() - start, time.process_time() - busy
    return Ranking(order, taken, used, sizes, accuracy)


def order_of(selector: Any) -> Features:
    """Return the order of the features that a fitted selector found."""
    for name, sign in (("order_", 0), ("ranking_", 1), ("scores_", -1)):
        if hasattr(selector, name):
            found = np.asarray(getattr(selector, name))
            return found if sign == 0 else np.argsort(sign * found, kind="stable")
    raise TypeError(f"{selector!r} has neither order_ nor ranking_ nor scores_.")


def _checked_order(order: Any, n_features: int) -> Features:
    found = np.asarray(order)
    if found.shape != (n_features,) or not np.array_equal(np.sort(found), np.arange(n_features)):
        raise ValueError(
            f"A ranking must hold each of the {n_features} features once, the best first."
        )
    return found
