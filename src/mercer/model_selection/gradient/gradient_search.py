"""Parameters by gradient descent on an estimate of the error."""

from __future__ import annotations

from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import joblib
import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._inputs import (
    checked_data,
    checked_rows,
    checked_weights,
    fit_context,
)
from mercer._sklearn import Interval, StrOptions
from mercer._threads import blas_for, wanted_threads
from mercer.gram import device_of
from mercer.machines import rows_of
from mercer.model_selection.gradient.classifier import ClassifierTuning
from mercer.model_selection.gradient.region import RegionTuning
from mercer.model_selection.gradient.regression import RegressionTuning
from mercer.model_selection.gradient.relevance import RelevanceTuning
from mercer.model_selection.gradient.search import DescentStep, Search, results_table
from mercer.model_selection.gradient.tuning import Evaluations, Sample, Tuning, kernel_params
from mercer.model_selection.search_record import SearchRecord, stable_key
from mercer.relevance import RVC
from mercer.spheres import SVDD, OneClassSVM
from mercer.svm import SVC, SVR

IRRELEVANT = ("warm_start", "checkpoint", "n_jobs", "verbose", "max_evaluations")
"""Settings that may change before an interrupted search is taken up again."""

Machine = SVC | RVC | SVR | SVDD | OneClassSVM


TUNINGS: dict[Any, type[Tuning]] = {
    SVC: ClassifierTuning,
    RVC: RelevanceTuning,
    SVR: RegressionTuning,
    SVDD: RegionTuning,
    OneClassSVM: RegionTuning,
}
"""What the search must know about each kind of machine."""

NAMES = {"auto"}.union(*[tuning.criteria for tuning in TUNINGS.values()])


def _inner_has(method: str) -> Any:
    """Offer a method only where the machine has it."""

    def has(search: Any) -> bool:
        model = getattr(search, "best_estimator_", search.estimator)
        return hasattr(SVC() if model is None else model, method)

    return available_if(has)


class GradientSearch(MetaEstimatorMixin, BaseEstimator):
    r"""Tune a kernel machine by the gradient of a criterion.

    C and all parameters of the kernel are moved, in their logarithms, by L-BFGS-B to a minimum of
    a criterion of `mercer.model_selection`: about ten evaluations where a grid takes hundreds, and
    hardly more where there is one width for each feature.

    The default, ``criterion="auto"``, minimises the negative log evidence of the least-squares
    machine [1]_, first over C and one width. For an RBF kernel it then goes on with one width for
    each feature, held together by a normal prior (standard deviation 1 in the logarithm), and keeps
    the result only if the log evidence has gained more than :math:`\tfrac d2\ln n`. Vectors of
    parameters that the kernel has from the start, such as the scales of `Weighted`, are treated
    alike: they first move as one, then each on its own. The evidence speaks of squared slack; where
    the loss is the hinge, or left open (``estimator=None``), five folds decide between a few values
    of C around its choice, and between the losses. With ``class_weight`` the evidence is that of
    equal weights, and five folds, whose errors have the weights of their classes, decide between it
    and smaller values of C.

    Of a regression, "auto" takes the kernel by the same evidence, whose noise also tells where C
    and :math:`\varepsilon` start [3]_; these then follow the gradient of the squared error on five
    folds. Of one class it tries five multiples of the kernel's parameters, since far from their
    best the error is flat, and from there follows the gradient of `region_error`, the errors on
    targets left out and on artificial outliers, at the given nu or C; `OneClassSearch` has
    strategies that need no gradient and may change nu.

    Use it instead of a grid wherever the kernel has parameters; for one kernel and one width
    `PathSearchCV` looks at a whole grid, and tells more about what lies around the best. An
    evaluation takes the cube of the rows, of which there are ``max_rows`` at most.

    The criteria are computed by the processor, whatever the ``device`` of the machine, which is
    that of the last fit where this is of more rows than the search.

    Parameters
    ----------
    estimator : SVC, RVC, SVR, SVDD, OneClassSVM, Pipeline or None, default=None
        The machine to tune; of an `RVC` the kernel, by its own evidence. Its parameters are
        where the search starts. None is ``SVC(loss="squared_hinge")``, of which "auto" chooses
        the loss too. Of a pipeline, whose last step must be one of them, that step is tuned; the
        steps before it are fitted once, to all rows given to `fit`, and stay as they are: neither
        the criterion nor its folds know that they have seen every row. To tune on scaled rows
        without that, score the whole search by cross-validation.
    criterion : str or callable, default="auto"
        "auto", "evidence", "press", "radius_margin" (hard margin and squared hinge),
        "modified_radius_margin" and "gacv" (hinge), "span", "smoothed_validation_error" or
        "posterior_error" (both on folds) for `SVC`; "evidence", "press",
        "regression_radius_margin" (all three for squared slack) or "regression_error" (on folds,
        any loss) for `SVR`;
        "region_error" (on folds) for one class; or a function of a fitted machine, X and, unless it
        is one of one class, y that returns a `Criterion` with a gradient.
    n_starts : int, default=1
        Starting points: the estimator's parameters, and random ones around them.
    C_bounds : tuple of float, default=(1e-2, 1e4)
        Range of C; of a regression without squared slack, whose C has the unit of the targets, in
        multiples of their standard deviation. Where that of the estimator lies outside, the search
        starts at the nearest bound; an infinite C, the hard margin, stays infinite.
    kernel_bounds : tuple of float, default=(1e-3, 1e3)
        Range of each kernel parameter and of epsilon, as multiples of where it starts; an epsilon
        of 0 stays 0.
    max_evaluations : int, default=60
        Limit of evaluations of the criterion from each start.
    max_rows : int or None, default=1000
        With more rows than this, parameters are chosen on a random part of them; None uses all.
    ftol, gtol : float, default=1e-5, 1e-3
        Where L-BFGS-B stops: relative decrease of what is minimised (the logarithm of the
        criterion, or the evidence for each row) and largest slope.
    cv : int, splitter or iterable, default=5
        Folds of the criteria that need them. A number is that of shuffled folds, stratified where
        there are classes.
    warm_start : bool, default=False
        Whether `fit` takes up a search that was interrupted, on the same data.
    checkpoint : str, path or None, default=None
        File that keeps all evaluations, so that a search goes on even in another process.
    n_jobs : int or None, default=None
        Threads, as in `SVC`.
    verbose : int, default=0
        1 prints a line for each stage, 2 for each evaluation.
    random_state : int, RandomState or None, default=None
        For the part of the rows and for further starts.

    Attributes
    ----------
    best_params_ : dict
        Parameters for ``estimator.set_params``: "C"; "epsilon" of a regression; "loss" where it was
        chosen; "gamma" and "coef0" where the kernel was given by name, else "kernel"; "tol" of a
        regression, where the tolerance given is not between 1e-9 and 1e-2 standard deviations of
        the targets, whose unit it has: the nearer of these two. In a pipeline they have the name of
        its last step in front, as in "svc__C".
    best_estimator_ : estimator
        Fitted with them on all rows.
    best_criterion_ : float
        Value of the criterion at the best parameters; smaller is better.
    best_score_ : float
        Accuracy of the best parameters, from 0 to 1: the share of the `n_rows_` rows, by weight,
        that machines trained without their fold, one of five, get right ("balanced" class weights
        are those of all rows; an `RVC` of two classes is content with the first maximum of its
        evidence without a fold, which changes the accuracy by 0.003 in the mean). Of a regression
        it is :math:`R^2` of what these say, of one class 1 minus the mean of the shares of targets
        left out that are rejected and of artificial outliers that are accepted. The parameters have
        seen all of these rows, so that it is a little too good, as in any search.
    best_index_ : int
        The best parameters' row in `cv_results_`.
    cv_results_ : dict of arrays
        One row an evaluation: "params", "param_C" and so on for each of them, "stage" and "start"
        as in `history_`, "mean_test_score", minus the criterion, so that larger is better, and
        "rank_test_score", 1 for the best. The scores of different stages are not of one kind:
        where errors on folds have decided between losses, those rows come before all others, and
        where "auto" has not accepted one width for each feature, the best row is one with one.
    best_kernel_ : Kernel
        The kernel with its best parameters.
    n_evaluations_ : int
        Evaluations of the criterion.
    n_fits_ : int
        Machines trained, the final ones included and those behind `best_score_` not. Evidence and
        PRESS need none.
    history_ : list of dict
        Every evaluation, with the keys "stage", "start", "C" (infinite where there is none that
        moves), "epsilon" of a regression, "kernel", "criterion" and "objective" (what was
        minimised). The last ones may be errors on folds for the losses.
    n_rows_ : int
        Rows on which the parameters were chosen.
    classes_ : ndarray
        Labels, of a classifier.
    offset_ : float
        That of the best estimator, of one class.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray
        Their names, where they are all strings.

    See Also
    --------
    mercer.model_selection.evidence : The default criterion.

    References
    ----------
    .. [1] T. Van Gestel et al., "Bayesian framework for least-squares support vector machine
       classifiers", Neural Computation 14 (2002).
    .. [2] K. Smets, *Studie van kernel-gebaseerde technieken voor single-class classificatie en
       feature selectie*, Universiteit Antwerpen 2006, algorithm 5 and section 5.1.
    .. [3] V. Cherkassky, Y. Ma, "Practical selection of SVM parameters and noise estimation for SVM
       regression", Neural Networks 17 (2004).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import GradientSearch
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = make_pipeline(StandardScaler(), GradientSearch()).fit(X[:400], y[:400])
    >>> search.score(X[400:], y[400:]) > 0.95
    True
    >>> search[-1].n_evaluations_ <= 60
    True
    >>> from mercer import SVC
    >>> search = GradientSearch(make_pipeline(StandardScaler(), SVC())).fit(X[:400], y[:400])
    >>> sorted(search.best_params_)
    ['svc__C', 'svc__gamma']
    >>> search.best_score_ > 0.95
    True
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import SVR
    >>> search = GradientSearch(SVR()).fit(*load_diabetes(return_X_y=True))
    >>> sorted(search.best_params_), search.best_score_ > 0.45  # SVR() as it is has 0.14
    (['C', 'epsilon', 'gamma'], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [*TUNINGS, Pipeline, None],
        "criterion": [StrOptions(NAMES), callable],
        "n_starts": [Interval(Integral, 1, None, closed="left")],
        "C_bounds": ["array-like"],
        "kernel_bounds": ["array-like"],
        "max_evaluations": [Interval(Integral, 1, None, closed="left")],
        "max_rows": [Interval(Integral, 2, None, closed="left"), None],
        "ftol": [Interval(Real, 0.0, None, closed="left")],
        "gtol": [Interval(Real, 0.0, None, closed="left")],
        "cv": ["cv_object"],
        "warm_start": ["boolean"],
        "checkpoint": [str, Path, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Machine | Pipeline | None = None,
        criterion: Any = "auto",
        *,
        n_starts: int = 1,
        C_bounds: tuple[float, float] = (1e-2, 1e4),
        kernel_bounds: tuple[float, float] = (1e-3, 1e3),
        max_evaluations: int = 60,
        max_rows: int | None = 1000,
        ftol: float = 1e-5,
        gtol: float = 1e-3,
        cv: Any = 5,
        warm_start: bool = False,
        checkpoint: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.criterion = criterion
        self.n_starts = n_starts
        self.C_bounds = C_bounds
        self.kernel_bounds = kernel_bounds
        self.max_evaluations = max_evaluations
        self.max_rows = max_rows
        self.ftol = ftol
        self.gtol = gtol
        self.cv = cv
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the parameters, and fit with them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Labels, or targets of a regression; for one class None, or -1 for rows that are known
            outliers, where the machine takes such.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        GradientSearch
            The fitted search.
        """
        part = TunedPart.of(self.estimator)
        model, tuning = part.machine, self._tuning(part)
        model._validate_params()
        tuning.check_criterion()
        X, y = self._entering(part, tuning, X, y)
        weights = checked_weights(sample_weight, X)
        kept = np.flatnonzero(weights)
        y = tuning.checked_targets(y, kept)
        evaluations = self._take_up(X, y, weights)
        random = check_random_state(evaluations.record.seed)
        kernel = model._make_kernel()
        kernel = kernel.resolve(rows_of(X, kept, kernel.is_pairwise), weights[kept])
        device_of(kernel, model.device, X.shape[0])  # of the last fit: refused before the search
        rows = self._choose_rows(kept, tuning.strata(y), random)
        labels = None if y is None else y[rows]
        sample = Sample(rows_of(X, rows, kernel.is_pairwise), labels, weights[rows], rows)
        search = Search(
            tuning.objective(kernel, sample, evaluations),
            self.C_bounds,
            self.kernel_bounds,
            self.max_evaluations,
            self.ftol,
            self.gtol,
            int(self.verbose),
        )
        self._evaluations = evaluations
        with blas_for(sample.n, wanted_threads(self.n_jobs)):
            best = tuning.minimise(search, kernel, self.n_starts, random)
            params = tuning.chosen(search, best)
            model.set_params(**params)
            score = tuning.score(search, best, sample)
        search.say(f"score {score:.4f} on folds; fits {X.shape[0]} rows")
        if rows.size < X.shape[0] or not search.objective.hand_over(model, best.kernel):
            model.fit(X, y, sample_weight=sample_weight)
        self._store(part, tuning, search, best, params)
        self.best_score_ = score
        self.n_rows_ = sample.n
        return self

    def _tuning(self, part: TunedPart) -> Tuning:
        """Return what the search must know about the machine."""
        given = (part.machine, self.criterion, self.cv, wanted_threads(self.n_jobs))
        if self.estimator is None:
            return ClassifierTuning(*given, chooses_loss=True)
        kind = next(kind for machine, kind in TUNINGS.items() if isinstance(part.machine, machine))
        return kind(*given)

    def _entering(self, part: TunedPart, tuning: Tuning, X: Any, y: Any) -> tuple[Any, Any]:
        """Return rows and labels as the machine gets them, checked."""
        model = part.machine
        for name in ("C_bounds", "kernel_bounds"):
            _check_bounds(name, getattr(self, name))
        holder = self if part.pipeline is None else model
        how = model._data_format() | {"ensure_min_samples": 2}
        if not tuning.takes_sparse:
            how["accept_sparse"] = False
        X = part.prepare(X, y)
        if y is None and not get_tags(model).target_tags.required:
            X = checked_rows(holder, X, reset=True, **how)
        else:
            numeric = isinstance(model, SVR)
            X, y = checked_data(holder, X, y, y_numeric=numeric, **how)
        model._check_square(X)
        return X, y

    def _store(
        self,
        part: TunedPart,
        tuning: Tuning,
        search: Search,
        best: DescentStep,
        params: dict[str, Any],
    ) -> None:
        """Set the fitted attributes."""
        model = part.machine
        self.best_params_ = part.named(params)
        self.best_estimator_ = part.whole()
        self.best_kernel_ = best.kernel
        self.best_criterion_ = best.criterion
        self.history_ = search.history
        self.best_index_ = _index_of(search.history, best, params)
        of_kernels = kernel_params(model, [step["kernel"] for step in search.history])
        tried = [
            part.named(tuning.step_params(step, own))
            for step, own in zip(search.history, of_kernels)
        ]
        self.cv_results_ = results_table(search.history, tried, self.best_index_)
        self.n_evaluations_ = len(search.history)
        self.n_fits_ = search.n_fits + np.size(model.n_iter_)
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if part.pipeline is not None and hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what only a warm start looks at; another process goes on by `checkpoint`."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_evaluations"}

    def _take_up(self, X: Any, y: Any, weights: Any) -> Evaluations:
        """Return what an interrupted search on these data has left, or an empty record."""
        settings = self.get_params()
        for name in ("estimator", *IRRELEVANT):
            settings.pop(name)
        fingerprint = str(joblib.hash((X, y, weights)))
        fingerprint += "".join([stable_key(value) for _, value in sorted(settings.items())])
        last = getattr(self, "_evaluations", None)
        on_file = self.checkpoint is not None and Path(self.checkpoint).exists()
        if self.warm_start and not on_file and last and last.record.fingerprint == fingerprint:
            return last
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return Evaluations(SearchRecord.open(fingerprint, self.checkpoint, seed))

    def _choose_rows(self, kept: Any, strata: Any, random: Any) -> Any:
        """Return all rows, or a random part of them with the classes in proportion."""
        most = self.max_rows
        if most is None or kept.size <= most:
            return kept
        if strata is None:
            return np.sort(random.permutation(kept)[:most])
        _, counts = np.unique(strata[kept], return_counts=True)
        if counts.min() < 2 or counts.size > min(most, kept.size - most):
            return np.sort(random.permutation(kept)[:most])
        own = strata[kept]
        part, _ = train_test_split(kept, train_size=most, stratify=own, random_state=random)
        return np.sort(part)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(SVC() if self.estimator is None else self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags"):
            setattr(tags, name, getattr(inner, name))
        tags.input_tags = inner.input_tags
        if inner.estimator_type == "outlier_detector":
            tags.input_tags.sparse = False
        return tags

    def _checked(self, X: Any) -> Any:
        """Return the rows for the best estimator, after a check of their names and number."""
        check_is_fitted(self)
        if isinstance(self.best_estimator_, Pipeline):  # which looks after them itself
            return X
        return checked_rows(self, X, **self.best_estimator_._data_format())

    def predict(self, X: Any) -> Any:
        """Return what the best estimator predicts: labels, numbers, or +1 and -1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._checked(X)
        return self.best_estimator_.predict(X)

    @_inner_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decision values of the best estimator, as its own method does.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, k)
        """
        X = self._checked(X)
        return self.best_estimator_.decision_function(X)

    @_inner_has("score_samples")
    def score_samples(self, X: Any) -> Any:
        """Return the scores of the best estimator of one class: the higher, the more normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._checked(X)
        return self.best_estimator_.score_samples(X)

    @property
    def offset_(self) -> float:
        """Decision values of one class are scores minus this."""
        check_is_fitted(self)
        return float(self.best_estimator_.offset_)

    @_inner_has("score")
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the best classifier, or R^2 of the best regression.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        X = self._checked(X)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.best_estimator_.score(X, y, **weights))

    @_inner_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the best estimator, where it has any.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        X = self._checked(X)
        return self.best_estimator_.predict_proba(X)


def _index_of(history: list[dict[str, Any]], best: DescentStep, params: dict[str, Any]) -> int:
    """Return the number of the evaluation that was chosen."""
    C = params.get("C", best.prices["C"])
    found = [k for k, step in enumerate(history) if step["kernel"] is best.kernel]
    last = [
        k
        for k in found
        if history[k]["stage"] in ("hinge", "squared_hinge") and history[k]["C"] == C
    ]
    if "loss" in params:
        last = [k for k in last if history[k]["stage"] == params["loss"]]
    return last[0] if last else found[0]


def _check_bounds(name: str, bounds: Any) -> None:
    values = np.asarray(bounds, dtype=np.float64)
    if values.shape != (2,) or not (0 < values[0] <= values[1] < np.inf):
        raise ValueError(
            f"{name} must be two numbers above 0, the smaller one first; got {bounds!r}."
        )


class TunedPart(NamedTuple):
    """The machine, the steps before it and the prefix of its parameters.

    Parameters
    ----------
    machine : SVC, RVC, SVR, SVDD or OneClassSVM
    pipeline : Pipeline or None
        A copy of the whole, to be filled with fitted steps.
    prefix : str
        "svc__" where the last step is called svc; empty without a pipeline.
    """

    machine: Machine
    pipeline: Pipeline | None
    prefix: str

    @classmethod
    def of(cls, estimator: Any) -> TunedPart:
        """Return unfitted copies of the parts of an estimator; None is a squared hinge."""
        if not isinstance(estimator, Pipeline):
            model = SVC(loss="squared_hinge") if estimator is None else clone(estimator)
            return cls(model, None, "")
        name, last = estimator.steps[-1]
        if not isinstance(last, tuple(TUNINGS)):
            names = [kind.__name__ for kind in TUNINGS]
            raise ValueError(
                f"The last step of a pipeline must be the machine to tune, {', '.join(names[:-1])} "
                f"or {names[-1]}; got {type(last).__name__}."
            )
        return cls(clone(last), clone(estimator), f"{name}__")

    def prepare(self, X: Any, y: Any) -> Any:
        """Fit the steps before the machine, and return the rows as they leave them."""
        if self.pipeline is None or len(self.pipeline.steps) == 1:
            return X
        before = self.pipeline[:-1]
        rows = before.fit_transform(X, y)
        self.pipeline.steps[:-1] = before.steps
        return rows

    def whole(self) -> Any:
        """Return the machine, behind the steps where there are any."""
        if self.pipeline is None:
            return self.machine
        self.pipeline.steps[-1] = (self.pipeline.steps[-1][0], self.machine)
        return self.pipeline

    def named(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return parameters of the machine under the names that the whole has for them."""
        return {self.prefix + name: value for name, value in params.items()}
