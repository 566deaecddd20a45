"""Comparing classifiers on the same folds: error, time to fit and number of support vectors."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid")
LOSSES = ("hinge", "squared_hinge")
OURS = "mercer"
PEER = "scikit-learn"
PEER_KERNELS = ("linear", "poly", "rbf", "sigmoid")
"""Kernels that scikit-learn's SVC has; its loss is always the hinge."""


class Candidate(NamedTuple):
    """One classifier of a comparison."""

    library: str
    loss: str
    kernel: str

    def __str__(self) -> str:
        return f"{self.library} {self.kernel} kernel, {self.loss.replace('_', ' ')} loss"

    def build(self, C: float, n_threads: int | None = None, time_limit: float | None = None) -> Any:
        """Return the classifier, not fitted; scikit-learn's knows neither threads nor limits."""
        if self.library == PEER:
            from sklearn import svm

            return svm.SVC(C=C, kernel=self.kernel)
        from mercer.svm import SVC

        limits: dict[str, Any] = {"n_jobs": n_threads, "time_limit": time_limit}
        return SVC(C=C, kernel=self.kernel, loss=self.loss, **limits)


def candidates(
    kernels: Sequence[str] = KERNELS, losses: Sequence[str] = LOSSES, peer: bool = True
) -> list[Candidate]:
    """Return every classifier that is asked for, kernel by kernel.

    Examples
    --------
    >>> [(c.library, c.loss) for c in candidates(["rbf"])]
    [('mercer', 'hinge'), ('mercer', 'squared_hinge'), ('scikit-learn', 'hinge')]
    """
    chosen = []
    for kernel in kernels:
        chosen += [Candidate(OURS, loss, kernel) for loss in losses]
        if peer and kernel in PEER_KERNELS:
            chosen.append(Candidate(PEER, "hinge", kernel))
    return chosen


class Measurement(NamedTuple):
    """One fit: of which candidate, on which fold, and what came of it; NaN where it failed."""

    candidate: int
    fold: int
    error: float
    seconds: float
    n_support: float
    warning: str


def preparation(X: Floats) -> Any:
    """Return the steps before a classifier: unit variance, after medians for what is missing."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fill = [SimpleImputer(strategy="median", keep_empty_features=True)] if np.isnan(X).any() else []
    return make_pipeline(*fill, StandardScaler())


def measure(
    X: Floats,
    y: Any,
    chosen: Sequence[Candidate],
    *,
    C: float = 1.0,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    n_threads: int | None = None,
    time_limit: float | None = None,
) -> Iterator[Measurement]:
    """Fit every candidate on every fold, fold by fold, so that all meet the same machine load.

    The folds are stratified and the same for all; inputs are standardised with the training rows
    of each fold, outside the time that is measured.

    Yields
    ------
    Measurement
        As soon as it is known, so that whoever asks may stop at any time.
    """
    from sklearn.model_selection import RepeatedStratifiedKFold

    splits = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    for fold, (train, test) in enumerate(splits.split(X, y)):
        steps = preparation(X).fit(X[train])
        Z_train, Z_test = steps.transform(X[train]), steps.transform(X[test])
        for index, candidate in enumerate(chosen):
            model = candidate.build(C, n_threads, time_limit)
            fitted = _fit_and_test(model, Z_train, y[train], Z_test, y[test])
            yield Measurement(index, fold, *fitted)


def _fit_and_test(
    model: Any, Z_train: Floats, y_train: Any, Z_test: Floats, y_test: Any
) -> tuple[float, float, float, str]:
    """Return error, seconds, number of support vectors, and what the fit had to say."""
    nan = float("nan")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            model.fit(Z_train, y_train)
        except ValueError as error:
            # One machine without a solution must not end the comparison of the others.
            return nan, nan, nan, str(error)
        seconds = time.perf_counter() - start
    error_rate = float(np.mean(model.predict(Z_test) != y_test))
    said = str(caught[0].message) if caught else ""
    return error_rate, seconds, float(model.support_.size), said


@dataclass(frozen=True, eq=False)
class Comparison:
    """What is known about each candidate, on folds that all of them have seen.

    Parameters
    ----------
    candidates : list of Candidate
    errors, seconds, n_support : ndarray of shape (n_candidates, n_folds)
    test_ratio : float
        Test rows over training rows of a fold.
    warnings : list of str
        One for each candidate that had something to say.
    """

    candidates: list[Candidate]
    errors: Floats
    seconds: Floats
    n_support: Floats
    test_ratio: float
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def from_measurements(
        cls, chosen: Sequence[Candidate], measurements: Sequence[Measurement], folds: int
    ) -> Comparison | None:
        """Collect measurements; where they stop in the middle of a fold, that fold is left out.

        If not even the first fold was finished, only the candidates that were are kept; None if
        there are none.
        """
        whole = len(measurements) // len(chosen)
        kept = list(measurements[: whole * len(chosen)] if whole else measurements)
        if not kept:
            return None
        n_candidates = len(chosen) if whole else len(kept)
        values = np.array([[m.error, m.seconds, m.n_support] for m in kept])
        cube = values.reshape(-1, n_candidates, 3)
        first_warnings = {m.candidate: m.warning for m in reversed(kept) if m.warning}
        said = [f"{chosen[index]}: {text}" for index, text in sorted(first_warnings.items())]
        errors, seconds, n_support = cube.transpose(2, 1, 0)
        return cls(list(chosen[:n_candidates]), errors, seconds, n_support, 1 / (folds - 1), said)

    @property
    def best(self) -> int:
        """Position of the candidate with the lowest mean error, the first of several."""
        return int(np.argmin(np.where(self.succeeded, self.mean_errors, np.inf)))

    @property
    def mean_errors(self) -> Floats:
        """Mean error of each candidate."""
        return self.errors.mean(axis=1)

    @property
    def succeeded(self) -> NDArray[np.bool_]:
        """Which candidates could be fitted on every fold."""
        return ~np.isnan(self.mean_errors)

    def fit_seconds(self, index: int) -> float:
        """Return the shortest time of a fit, the one least disturbed by other work."""
        return float(self.seconds[index].min())

    def error_deviation(self, index: int) -> float:
        """Return the standard deviation of the error over the folds, NaN for a single fold."""
        n_folds = self.errors.shape[1]
        return float(self.errors[index].std(ddof=1)) if n_folds > 1 else float("nan")

    def peer_of(self, index: int) -> int | None:
        """Return the position of scikit-learn's candidate with the same loss and kernel, if any."""
        candidate = self.candidates[index]
        twin = candidate._replace(library=PEER)
        if candidate.library == PEER or twin not in self.candidates:
            return None
        position = self.candidates.index(twin)
        return position if self.succeeded[[index, position]].all() else None

    def records(self) -> list[dict[str, Any]]:
        """Return the table, one dictionary for each candidate."""
        return [
            {
                "kernel": candidate.kernel,
                "loss": candidate.loss,
                "library": candidate.library,
                "error_mean": float(self.mean_errors[index]),
                "error_sd": self.error_deviation(index),
                "fit_seconds": self.fit_seconds(index),
                "support_vectors": float(self.n_support[index].mean()),
            }
            for index, candidate in enumerate(self.candidates)
        ]


def paired_difference(
    first: Floats, second: Floats, test_ratio: float, confidence: float = 0.95
) -> tuple[float, float]:
    r"""Return the mean difference of two rows of errors, and the half-width of its uncertainty.

    Folds share training rows, so that their errors are not independent; the variance of the mean
    of J differences is therefore taken as :math:`(1/J + n_{test}/n_{train})\, s^2` [1]_.

    Parameters
    ----------
    first, second : ndarray of shape (n_folds,)
        Errors of two classifiers on the same folds.
    test_ratio : float
        :math:`n_{test}/n_{train}`.
    confidence : float, default=0.95

    Returns
    -------
    difference, half_width : float
        The half-width is infinite for a single fold.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52
       (2003).

    Examples
    --------
    >>> import numpy as np
    >>> difference, half = paired_difference(np.array([.2, .3, .4]), np.array([.1, .1, .1]), 0.5)
    >>> round(difference, 3), round(half, 3)
    (0.2, 0.393)
    """
    from scipy.stats import t

    gaps = np.asarray(first) - np.asarray(second)
    if gaps.size < 2:
        return float(gaps.mean()), float("inf")
    spread = gaps.std(ddof=1) * np.sqrt(1 / gaps.size + test_ratio)
    return float(gaps.mean()), float(t.ppf(0.5 + confidence / 2, gaps.size - 1) * spread)
