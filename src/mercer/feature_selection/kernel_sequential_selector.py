"""Adding or dropping features one by one, by scores on folds."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv, cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from mercer._inputs import fit_context
from mercer._sklearn import Scorer, asks_for_probabilities
from mercer._threads import holds_blas, wanted_threads
from mercer.feature_selection._candidate_scores import CandidateScores, are_held
from mercer.feature_selection._kernel_ranker import machine_for
from mercer.model_selection.grid.shared_search import accuracy
from mercer.svm import SVC

Features = NDArray[np.intp]


class KernelSequentialSelector(SequentialFeatureSelector):
    r"""Forward and backward selection of features, with shared kernels and warm starts.

    Forward, the set S begins empty and gains the feature whose addition has the highest mean score
    on the folds; backward, it begins with all features and loses the one whose removal has:

    .. math:: S \leftarrow S \cup \{\arg\max_{j \notin S} \mathrm{CV}(S \cup \{j\})\}
       \quad\text{or}\quad S \leftarrow S \setminus \{\arg\max_{j \in S}
       \mathrm{CV}(S \setminus \{j\})\}

    and of equal scores the first feature. That is scikit-learn's ``SequentialFeatureSelector``
    with the same parameters and the same rule, but it costs a fit from scratch for each
    candidate and fold. (Scores are counts of rows: one within rounding of the boundary can turn a
    choice, so that libraries may differ.) Here, for `mercer.SVC`,

    - squared distances and dot products of a candidate are those of S with one feature more or
      less, :math:`D \pm (x_j - x_j')^2` and :math:`XX^\top \pm x_jx_j^\top`;
    - the rows of a fold are left out by closing their variables, so that all folds use one kernel
      matrix (one each where ``gamma`` depends on their rows), and the gradient of the solution
      holds the decision values of the rows left out;
    - machines start from those of S;
    - the machines of many candidates and all folds are one call of the engine, on the processor,
      whatever the ``device`` of the machine.

    Other estimators are fitted from scratch, and so is `SVC` with a hard margin, sparse data,
    another solver, or scores that need probabilities or more than answers to rows.

    Use it for few features, where the error itself shall decide. Each step trains a machine for
    each feature and fold.

    Parameters
    ----------
    estimator : estimator
        `mercer.SVC`, or any other.
    n_features_to_select : "auto", int or float, default="auto"
        A number, a share, or "auto": half of the features, or with ``tol`` as many as pay.
    tol : float or None, default=None
        With "auto", the selection ends when the score does not grow by so much. It may be negative
        in backward selection.
    direction : {"forward", "backward"}, default="forward"
        Whether to add features or to drop them.
    scoring : str, callable or None, default=None
        None takes the ``score`` of the estimator.
    cv : int, splitter or iterable, default=5
        Folds; they are drawn once for the whole selection.
    n_jobs : int or None, default=None
        Threads for `mercer.SVC`, None uses all; processes for others, None means one.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features selected.
    n_features_to_select_ : int
        Their number.
    order_ : ndarray of int
        The features in the order in which they were added or dropped.
    scores_ : ndarray
        Mean score on the folds after each of these steps.
    n_fits_ : int
        Machines trained; each fold of each candidate has one, or several for many classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, where the data have them.

    See Also
    --------
    mercer.KernelRFE : Elimination by criteria of the machine, for many features.

    References
    ----------
    R. Kohavi, G. H. John, "Wrappers for feature subset selection", Artificial Intelligence 97
    (1997).

    K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en feature
    selectie*, Universiteit Antwerpen 2006, section 4.1.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from mercer import SVC
    >>> from mercer.feature_selection import KernelSequentialSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = KernelSequentialSelector(SVC(), n_features_to_select=3).fit(scale(X), y)
    >>> selector.order_, selector.scores_.round(3)
    (array([ 6,  0, 10]), array([0.798, 0.933, 0.961]))
    """

    @fit_context(prefer_skip_nested_validation=False)
    @holds_blas
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Select the features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
        **params : dict
            For estimator, folds and score, where scikit-learn's metadata routing is enabled;
            fits are then from scratch.

        Returns
        -------
        KernelSequentialSelector
            The fitted selector.
        """
        tags = get_tags(self.estimator)
        if tags.input_tags.pairwise:
            raise ValueError(
                "A precomputed kernel has no features to choose from; use a kernel on the data."
            )
        X = validate_data(
            self,
            X,
            accept_sparse="csc",
            ensure_min_features=2,
            ensure_all_finite=not tags.input_tags.allow_nan,
        )
        n_steps = self._n_steps(X.shape[1])
        candidates = self._candidates(X, y, params)
        left, last = np.arange(X.shape[1]), -np.inf
        order: list[int] = []
        scores: list[float] = []
        while len(order) < n_steps:
            feature, score = candidates.best(left)
            if self._is_open() and score - last < self.tol:
                break
            left, last = left[left != feature], score
            order.append(feature)
            scores.append(score)
        candidates.warn()
        self.order_, self.scores_ = np.array(order, dtype=np.intp), np.array(scores)
        self.n_fits_ = candidates.n_fits
        self.support_ = np.full(X.shape[1], self.direction == "backward")
        self.support_[self.order_] = self.direction == "forward"
        self.n_features_to_select_ = int(self.support_.sum())
        return self

    def _is_open(self) -> bool:
        """Whether the scores say how many features to select."""
        return self.n_features_to_select == "auto" and self.tol is not None

    def _n_steps(self, n_features: int) -> int:
        """Return how many features are added or dropped, at most."""
        wanted = self.n_features_to_select
        if self.tol is not None and self.tol < 0 and self.direction == "forward":
            raise ValueError(f"tol must be above 0 in forward selection; got {self.tol}.")
        if wanted == "auto":
            return n_features - 1 if self.tol is not None else n_features // 2
        if isinstance(wanted, Integral) and int(wanted) >= n_features:
            raise ValueError(
                f"n_features_to_select must be < n_features; got {wanted} of {n_features}."
            )
        n_selected = int(wanted) if isinstance(wanted, Integral) else int(n_features * wanted)
        return n_selected if self.direction == "forward" else n_features - n_selected

    def _candidates(self, X: Any, y: Any, params: dict[str, Any]) -> _Candidates:
        """Return what finds the best candidate, the fast one where it knows the estimator."""
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        if type(self.estimator) is SVC and not params and self._asks_for_answers():
            self.estimator._validate_params()
            y = column_or_1d(y, warn=True)
            check_classification_targets(y)
            splits = list(cv.split(X, y))
            if (
                not sp.issparse(X)
                and self.estimator.solver in ("auto", "smo")
                and np.isfinite(self.estimator.C)
                and are_held(X.shape[0], len(splits))
            ):
                score: Any = accuracy
                if self.scoring not in (None, "accuracy"):
                    score = check_scoring(self.estimator, scoring=self.scoring)
                return CandidateScores(
                    self.estimator,
                    np.ascontiguousarray(X, dtype=np.float64),
                    y,
                    splits,
                    score,
                    self.direction == "forward",
                    wanted_threads(self.n_jobs),
                )
        return _FromScratch(self, X, y, cv, params)

    def _asks_for_answers(self) -> bool:
        """Say whether scores ask for labels or decision values, and for nothing else."""
        if self.scoring is None:
            return True
        return isinstance(self.scoring, str | Scorer) and not asks_for_probabilities(self.scoring)


class _Candidates(Protocol):
    """Judges features that may join a set, or leave it, and takes the best of them."""

    n_fits: int

    def best(self, candidates: Features) -> tuple[int, float]:
        """Return the candidate with the highest mean score, the first of equals, and take it."""

    def warn(self) -> None:
        """Say what went wrong."""


class _FromScratch:
    """Fits any estimator to each fold of each candidate.

    Parameters
    ----------
    selector : KernelSequentialSelector
    X, y : array-like
    cv : splitter
    params : dict
        Metadata for `cross_val_score`.
    """

    def __init__(
        self, selector: KernelSequentialSelector, X: Any, y: Any, cv: Any, params: dict[str, Any]
    ) -> None:
        self.selector, self.X, self.y, self.params = selector, X, y, params
        self.cv: Any = cv if params else list(cv.split(X, y))  # splitters may ask for metadata
        self.taken = np.empty(0, dtype=np.intp)
        self.n_fits = 0

    def best(self, candidates: Features) -> tuple[int, float]:
        """Return the candidate with the highest mean score, the first of equals, and take it."""
        scores = [self._score(feature) for feature in candidates.tolist()]
        best = max(range(len(scores)), key=scores.__getitem__)
        self.taken = np.append(self.taken, candidates[best])
        return int(candidates[best]), scores[best]

    def warn(self) -> None:
        """Do nothing: every fit has warned on its own."""

    def _score(self, feature: int) -> float:
        selector, n_features = self.selector, self.X.shape[1]
        features = np.sort(np.append(self.taken, feature))
        if selector.direction == "backward":
            features = np.setdiff1d(np.arange(n_features), features)
        scores = cross_val_score(
            machine_for(clone(selector.estimator), features, n_features),
            self.X[:, features],
            self.y,
            cv=self.cv,
            scoring=selector.scoring,
            n_jobs=selector.n_jobs,
            params=self.params or None,
            error_score="raise",  # a score that is no number would choose the feature
        )
        self.n_fits += len(scores)
        return float(scores.mean())
