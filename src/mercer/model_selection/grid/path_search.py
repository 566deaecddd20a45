"""Grid search that shares its work."""

from __future__ import annotations

import time
from numbers import Integral
from os import PathLike
from threading import Lock
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, column_or_1d, indexable
from sklearn.utils.multiclass import check_classification_targets

from mercer._inputs import fit_context, need_two_classes
from mercer._sklearn import (
    Interval,
    InvalidParameterError,
    Scorer,
    StrOptions,
    asks_for_probabilities,
    take_rows,
)
from mercer._warnings import warn
from mercer.model_selection.grid.default_grid import coarse_grid, finer_grid
from mercer.model_selection.grid.groups import Group, groups_of, machine_of
from mercer.model_selection.grid.machine_search import MachineSearch
from mercer.model_selection.grid.shared_search import (
    MOST_BYTES,
    FoldScores,
    SharedSearch,
    accuracy,
)
from mercer.model_selection.search_record import SearchRecord, stable_key
from mercer.svm import SVC

# Parameters of a search that change nothing about its scores.
_NEUTRAL = {
    "estimator",
    "n_jobs",
    "refit",
    "verbose",
    "pre_dispatch",
    "warm_start",
    "checkpoint",
    "cv",
}


class PathSearchCV(GridSearchCV):
    """Cross-validated grid search in which all candidates share kernel values and solutions.

    A drop-in for scikit-learn's ``GridSearchCV``: the same arguments, the same ``cv_results_``. For
    `mercer.SVC`, alone or as the last step of a pipeline, kernel matrices are computed once for
    all folds (where no step before depends on them), and each machine starts from the solution
    for the next smaller C. Decision values of the rows left out fall off on the way. For `SVR`,
    and with radial kernels for `SVDD`, `OneClassSVM` and `NearestHypersphereClassifier`, the
    machines are fitted to parts of one kernel matrix, along C or nu. Scores agree with those of
    separate fits to within what ten times ``tol`` leaves open: kernel rows are float32, and float64
    where those leave more. Times in ``cv_results_`` are the shares of the common work.

    Searches that cannot share, because the estimator is another one, the grid has other parameters
    than those of the machine, scores need probabilities (``SVC(probability=True)``), or `fit` gets
    sample weights, run as in scikit-learn.

    What is shared is computed by the processor, whatever the ``device`` of the machine; the best
    one is fitted on that, and so are all in searches that cannot share.

    Use it wherever a grid is searched for one of these machines, and where a score other than the
    error decides. A hundred candidates cost a few fits to each fold.

    Parameters
    ----------
    estimator : estimator
        One of these machines or a pipeline that ends in one.
    param_grid : dict, list of dict or "auto", default="auto"
        As in scikit-learn. "auto" is C from 2^-2 to 2^12 and gamma from 2^-15 to 2^15 times the
        inverse of the number of features, in steps of 2^2 and 2^3 [1]_.
    refine : int, default=0
        Rounds of finer grids around the best candidate, each with a quarter of the last step, for
        C and gamma. Their candidates follow in ``cv_results_``.
    scoring : str, callable, list, tuple or dict, default=None
        As in scikit-learn.
    n_jobs : int or None, default=None
        Threads; None or -1 uses all processors, -2 all but one.
    refit : bool, str or callable, default=True
        As in scikit-learn; `one_standard_error` will do, too.
    cv : int, splitter or iterable, default=None
        As in scikit-learn.
    verbose : int, default=0
        As in scikit-learn.
    pre_dispatch : int or str, default="2*n_jobs"
        As in scikit-learn, for searches that cannot share.
    error_score : "raise" or float, default=nan
        As in scikit-learn.
    return_train_score : bool, default=False
        As in scikit-learn.
    warm_start : bool, default=False
        Whether `fit` takes up a search that was interrupted, on the same data.
    checkpoint : str, path or None, default=None
        File that keeps the scores found, so that a search goes on even in another process.

    Attributes
    ----------
    cv_results_, best_estimator_, best_params_, best_score_, best_index_, ...
        As in scikit-learn.

    See Also
    --------
    mercer.GradientSearch : Fewer evaluations, more parameters.
    mercer.model_selection.one_standard_error : The simplest candidate that is not clearly worse.
    mercer.ErrorSurfaceDisplay : Draws the error over the grid.

    References
    ----------
    .. [1] C.-W. Hsu, C.-C. Chang, C.-J. Lin, "A practical guide to support vector classification"
       (2003).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import SVC, PathSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"svc__C": [0.1, 1.0, 10.0, 100.0], "svc__gamma": [0.001, 0.01, 0.1]}
    >>> search = PathSearchCV(make_pipeline(StandardScaler(), SVC()), grid).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    cv: Any
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GridSearchCV._parameter_constraints,
        "param_grid": [dict, list, StrOptions({"auto"})],
        "refine": [Interval(Integral, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "checkpoint": [str, PathLike, None],
    }
    param_grid: Any
    _unfinished: SearchRecord | None = None

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = "auto",
        *,
        refine: int = 0,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        warm_start: bool = False,
        checkpoint: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.refine = refine
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Evaluate all candidates and fit the best one to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **params : dict
            ``groups`` for the splitter; with anything else the search runs as in scikit-learn.

        Returns
        -------
        PathSearchCV
        """
        X, y = indexable(X, y)
        candidates = list(ParameterGrid(self._first_grid(X)))
        groups = self._groups(candidates)
        if groups is None or y is None or self._is_apart(y, groups) or set(params) - {"groups"}:
            return self._fit_separately(X, y, params)
        given, (X, y) = X, self._checked(X, y)
        scorers, metric = self._get_scorers()
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = [_positions(split) for split in cv.split(X, y, params.get("groups"))]
        if self._searches_classifiers() and any(_is_one_class(y[train]) for train, _ in splits):
            return self._fit_separately(given, y, params, cv)  # as above all with an error_score
        rows = self._used(len(y))
        if rows is not None:
            splits = [tuple(np.searchsorted(rows, part) for part in split) for split in splits]
        judged = (X, y) if rows is None else (take_rows(X, rows), y[rows])
        search = self._search(*judged, splits, scorers)
        scores = _KeptScores(self._record(*judged, splits))
        out: list[dict[str, Any]] = []
        done = 0
        for left in range(self.refine, -1, -1):
            new = candidates[done:]
            try:
                search.run(groups, scores)
            except BaseException:
                scores.record.fingerprint = self._fingerprint(*judged, splits)
                raise
            if search.refusal is not None:  # scikit-learn has ways to deal with that
                return self._fit_separately(given, y, params, cv)
            out += _collect(groups, scores, len(new), splits)
            done = len(candidates)
            results = self._format_results(candidates, len(splits), out)
            if self.verbose:
                print(f"PathSearchCV: {done} candidates on {len(splits)} folds evaluated")
            if left:
                best = candidates[self._select_best_index(self.refit, metric, results)]
                candidates += finer_grid(candidates, best)
                groups = groups_of(self.estimator, candidates[done:]) or []
        self._unfinished = None
        search.warn()
        self._conclude(given, y, results, out, scorers, metric)
        return self

    def _groups(self, candidates: list[dict[str, Any]]) -> list[Group] | None:
        """Return who shares what; None where scikit-learn shall search, which marks bad values."""
        try:
            return groups_of(self.estimator, candidates)
        except InvalidParameterError:
            if self.refine:
                raise
            return None

    def _used(self, n_rows: int) -> Any:
        """Return the rows of folds that are given one by one, where these leave out some."""
        if not isinstance(self.cv, list):
            return None
        rows = np.unique(np.concatenate([part for split in self.cv for part in _positions(split)]))
        return rows if len(rows) < n_rows else None

    def _is_apart(self, y: Any, groups: list[Group]) -> bool:
        """Say whether the matrix is too large, or a score may ask for more than it tells."""
        used = self._used(len(y))
        y = y if used is None else used
        if self._searches_classifiers():
            too_large = bool(4 * len(y) ** 2 > MOST_BYTES)
            return too_large or not _asks_for_answers(self.scoring) or self._needs_chances(groups)
        named = self.scoring is None or isinstance(self.scoring, str)
        return bool(8 * len(y) ** 2 > MOST_BYTES) or not named

    def _needs_chances(self, groups: list[Group]) -> bool:
        """Say whether scores need probabilities, and refuse to search where there are none."""
        if self.scoring is None or not asks_for_probabilities(self.scoring):
            return False
        if not any(model.probability for group in groups for model in group.models):
            raise ValueError(
                f"scoring={self.scoring!r} needs probabilities, which an SVC has only with "
                "SVC(probability=True), or inside PlattClassifier."
            )
        return True

    def _searches_classifiers(self) -> bool:
        found = machine_of(self.estimator)
        return found is not None and isinstance(found[1], SVC)

    def _search(self, X: Any, y: Any, splits: Any, scorers: Any) -> SharedSearch:
        if not self._searches_classifiers():
            return MachineSearch(
                self.estimator, X, y, splits, scorers, self.return_train_score, self.n_jobs
            )
        score = accuracy if self.scoring in (None, "accuracy") else scorers
        return SharedSearch(
            self.estimator, X, y, splits, score, self.return_train_score, self.n_jobs
        )

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Refuse what the machine would refuse, before any work."""
        if not isinstance(self.estimator, Pipeline):
            X = check_array(X, accept_sparse="csr", dtype=np.float64, estimator=self.estimator)
        y = column_or_1d(y, warn=True)
        if not is_classifier(self.estimator):
            return X, y
        check_classification_targets(y)
        need_two_classes(len(np.unique(y)))
        return X, y

    def _first_grid(self, X: Any) -> Any:
        return coarse_grid(self.estimator, X) if self.param_grid == "auto" else self.param_grid

    def _fit_separately(self, X: Any, y: Any, params: dict[str, Any], cv: Any = None) -> Self:
        """Search as scikit-learn does; with ``cv`` where an iterator has been used up for it."""
        if self.refine:
            raise ValueError(
                "refine needs a machine that can share its work, such as an SVC with finite C, "
                "alone or at a pipeline's end."
            )
        if self.checkpoint is not None:
            warn(
                "This search runs as scikit-learn's GridSearchCV, which cannot be taken up again: "
                "no checkpoint is read or written."
            )
        given = self.param_grid, self.cv
        try:
            self.param_grid = self._first_grid(X)
            self.cv = self.cv if cv is None else cv
            super().fit(X, y, **params)
        finally:
            self.param_grid, self.cv = given
        return self

    def _record(self, X: Any, y: Any, splits: Any) -> SearchRecord:
        """Return what is known already."""
        last = self._unfinished if self.warm_start else None
        # To look at all data takes a while: without need only when the search is interrupted.
        needed = last is not None or self.checkpoint is not None
        fingerprint = self._fingerprint(X, y, splits) if needed else ""
        if last is None or last.fingerprint != fingerprint:
            last = SearchRecord.open(fingerprint, self.checkpoint)
        self._unfinished = last
        return last

    def _fingerprint(self, X: Any, y: Any, splits: Any) -> str:
        """Return a number that other data and other settings would not have."""
        settings = {k: v for k, v in self.get_params(deep=False).items() if k not in _NEUTRAL}
        settings["estimator"] = repr(self.estimator.get_params())
        keys = {name: stable_key(value) for name, value in settings.items()}
        return str(joblib.hash([keys, X, y, splits]))

    def _conclude(
        self, X: Any, y: Any, results: Any, out: list[Any], scorers: Any, metric: str
    ) -> None:
        """Set what a search of scikit-learn sets, after the refit, which may fail."""
        multimetric, found = isinstance(out[0]["test_scores"], dict), {}
        if self.refit or not multimetric:
            best = self._select_best_index(self.refit, metric, results)
            found = {"best_index_": best, "best_params_": results["params"][best]}
            if not callable(self.refit):
                found["best_score_"] = results[f"mean_test_{metric}"][best]
        if self.refit:
            found |= self._refitted(X, y, found["best_params_"])
        self.multimetric_ = multimetric
        self.n_splits_ = len(out) // len(results["params"])
        for name, value in found.items():
            setattr(self, name, value)
        self.scorer_ = getattr(scorers, "_scorers", scorers)
        self.cv_results_ = results

    def _refitted(self, X: Any, y: Any, params: Any) -> dict[str, Any]:
        """Return the best model, fitted to all rows, and what goes with it."""
        model = clone(self.estimator).set_params(**clone(params, safe=False))
        start = time.perf_counter()
        model.fit(X, y)
        found = {"best_estimator_": model, "refit_time_": time.perf_counter() - start}
        if hasattr(model, "feature_names_in_"):
            found["feature_names_in_"] = model.feature_names_in_
        return found


def _positions(split: tuple[Any, Any]) -> tuple[Any, ...]:
    """Return the rows of both parts of a split by number; splits of users may be masks."""
    parts = [np.asarray(part) for part in split]
    return tuple(np.flatnonzero(part) if part.dtype == bool else part for part in parts)


class _KeptScores(dict[tuple[str, int], FoldScores]):
    """Scores by group and fold, which are written down as soon as they are there."""

    def __init__(self, record: SearchRecord) -> None:
        super().__init__()
        self.record, self.lock = record, Lock()
        record.read(self._read)

    def _read(self, entry: dict[str, Any]) -> None:
        group, fold = entry["group and fold"]
        test, train, seconds = entry["scores"]
        super().__setitem__((group, fold), FoldScores(list(test), list(train), float(seconds)))

    def __setitem__(self, where: tuple[str, int], found: FoldScores) -> None:
        with self.lock:
            super().__setitem__(where, found)
            self.record.add({"group and fold": where, "scores": found})


def _asks_for_answers(scoring: Any) -> bool:
    """Say whether scores ask for answers to the rows that they are given, and for nothing else."""
    if isinstance(scoring, dict):
        return all(map(_asks_for_answers, scoring.values()))
    if isinstance(scoring, list | tuple | set):
        return all(map(_asks_for_answers, scoring))
    return scoring is None or isinstance(scoring, str | Scorer)


def _is_one_class(labels: Any) -> bool:
    return bool((labels == labels[0]).all())


def _collect(groups: Any, scores: Any, n_candidates: int, splits: Any) -> list[dict[str, Any]]:
    """Return the results of all candidates on all folds, in the order of scikit-learn."""
    out: list[Any] = [None] * (n_candidates * len(splits))
    for group in groups:
        for k, (_, test) in enumerate(splits):
            found = scores[group.key, k]
            for j, position in enumerate(group.positions):
                out[position * len(splits) + k] = found.as_result(j, len(test))
    return out
