"""What relevance vector machines for classes and for numbers share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted

from mercer._inputs import checked_rows, checked_weights
from mercer._sklearn import Interval, StrOptions
from mercer._threads import available_threads, blas_threads
from mercer._warnings import warn
from mercer.kernels import Kernel, Linear
from mercer.machines import KernelMachine, rows_of
from mercer.relevance._basis import (
    LARGEST_COLUMN,
    LARGEST_KERNEL,
    Basis,
    check_size,
    column_basis,
    distinct_rows,
    kernel_basis,
    kernel_values,
)
from mercer.relevance._classic import fit_classic
from mercer.relevance._fast import fit_fast
from mercer.relevance._likelihood import Likelihood
from mercer.relevance._model import Fit
from mercer.relevance._posterior import NO_POSTERIOR, combine, latent_covariance

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

PREDICTED_ENTRIES = 1 << 21
"""Values of functions that a prediction holds at a time: 16 megabytes."""


MOST_ROWS = 2.0**53
"""A weight says how often its row counts; of more rows than this a float cannot tell one more."""


class BasisChoice(NamedTuple):
    """The functions to choose from, the kernel they are made of, and where each belongs.

    A place is a row of the training data or of the centres, or a column of the data.
    """

    kernel: Kernel
    basis: Basis
    places: Indices


class RelevanceMachine(KernelMachine):
    """Base of `RVC` and `RVR`."""

    basis: str
    centers: Any
    fit_intercept: bool
    method: str
    tol: float
    max_iter: int
    cache_size: float
    verbose: Any

    _widens: ClassVar[bool] = True
    """Whether method="fast" takes the second look that `fit_fast` describes."""

    _shared_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, Kernel, callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [
            StrOptions({"scale", "auto", "median"}),
            Interval(Real, 0.0, None, closed="neither"),
            "array-like",
        ],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "basis": [StrOptions({"kernel", "columns"})],
        "centers": ["array-like", "sparse matrix", None],
        "fit_intercept": ["boolean"],
        "method": [StrOptions({"fast", "classic"})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "cache_size": [Interval(Real, 0.0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def _is_pairwise(self) -> bool:
        return self.basis == "kernel" and super()._is_pairwise()

    # ---- learning ---------------------------------------------------------------------------

    def _counts(self, sample_weight: Any, X: Any) -> Floats:
        """Return how often each row counts, not more in all than the evidence can resolve."""
        counts: Floats = checked_weights(sample_weight, X)
        with np.errstate(over="ignore"):
            total = counts.sum()
        if total > MOST_ROWS:
            raise ValueError(
                f"sample_weight says how often each row counts, which must be {MOST_ROWS:.3g} "
                f"times in all at most; got {total:.3g}."
            )
        return counts

    def _choice(self, X: Any, kept: Any, weights: Floats) -> BasisChoice:
        """Return the functions of the rows that take part, none of them too large."""
        memory = self.cache_size * 1e6
        pairwise = self._is_pairwise()
        rows = rows_of(X, kept, pairwise)
        if self.basis == "columns":
            places = np.arange(X.shape[1])
            return BasisChoice(Linear(), column_basis(rows, self.fit_intercept, memory), places)
        kernel = self._make_kernel().resolve(rows, weights)
        if self.centers is not None:
            centres = self._checked_centers(X)
            places = distinct_rows(centres)
            basis = kernel_basis(kernel, rows, centres[places], self.fit_intercept, memory)
            return BasisChoice(kernel, basis, places)
        if pairwise:
            values = np.asarray(kernel(rows))
            places = distinct_rows(values.T)
            basis = column_basis(values[:, places], self.fit_intercept, memory, LARGEST_KERNEL)
        else:
            places = distinct_rows(rows)
            basis = kernel_basis(kernel, rows, rows[places], self.fit_intercept, memory)
        return BasisChoice(kernel, basis, kept[places])

    def _checked_centers(self, X: Any) -> Any:
        if self._is_pairwise():
            raise ValueError(
                "centers need a kernel of points; with a precomputed kernel matrix the functions "
                "are its columns."
            )
        centres = check_array(self.centers, accept_sparse="csr", dtype=np.float64)
        if centres.shape[1] != X.shape[1]:
            raise ValueError(
                f"centers must have as many columns as X, {X.shape[1]}; got {centres.shape[1]}."
            )
        return centres

    def _maximise(
        self, likelihood: Likelihood, basis: Basis, most_precision: float = np.inf
    ) -> Fit:
        is_fast = self.method == "fast"
        fit = partial(fit_fast, widens=self._widens) if is_fast else fit_classic
        threads = blas_threads(self._algebra_threads())
        # Where a slope is too steep for numbers, the step is far too long and is cut anyway.
        with threads, np.errstate(all="ignore"):
            found = fit(
                likelihood,
                basis,
                tol=self.tol,
                max_iter=self.max_iter,
                most_precision=most_precision,
            )
        if not np.isfinite(found.model.log_evidence):
            raise ValueError(NO_POSTERIOR)
        return found

    def _algebra_threads(self) -> int:
        return 1 if self.n_jobs is None else available_threads(self._n_threads())

    def _store(self, X: Any, choice: BasisChoice, fits: Sequence[Fit]) -> None:
        """Set the fitted attributes that both machines have, weights sorted by output and place."""
        models = [fit.model for fit in fits]
        several = len(models) > 1
        constant = choice.basis.count  # its number, whether it takes part or not
        places = np.append(choice.places, -1)
        weights = [
            (output if not several else k, places[min(index, constant)], k, j)
            for k, model in enumerate(models)
            for j, (index, output) in enumerate(zip(model.indices, model.posterior.outputs))
        ]
        n_outputs = len(models) if several else models[0].posterior.likelihood.n_outputs
        # Within an output the places rise, with the constant function last.
        order = sorted(
            range(len(weights)), key=lambda i: (weights[i][0], weights[i][1] < 0, weights[i][1])
        )
        outputs = np.array([weights[i][0] for i in order], dtype=np.int64)
        at = np.array([weights[i][1] for i in order], dtype=np.int64)
        posteriors = [model.posterior for model in models]
        self.kernel_ = choice.kernel
        self.relevance_ = np.unique(at[at >= 0])
        self.weight_output_ = outputs
        self.weight_vector_ = np.where(at >= 0, np.searchsorted(self.relevance_, at), -1)
        self.mu_ = np.concatenate([p.mean for p in posteriors])[order]
        self.alpha_ = np.concatenate([p.alpha for p in posteriors])[order]
        self.well_determined_ = np.concatenate([p.well_determined for p in posteriors])[order]
        self._whitening = block_diag(*[p.whitening for p in posteriors])[:, order]
        self.sigma_ = self._whitening.T @ self._whitening
        self.relevance_vectors_ = self._vectors(X)
        self.dual_coef_ = np.zeros((n_outputs, self.relevance_.size))
        self.intercept_ = np.zeros(n_outputs)
        of_kernel = self.weight_vector_ >= 0
        self.dual_coef_[outputs[of_kernel], self.weight_vector_[of_kernel]] = self.mu_[of_kernel]
        self.intercept_[outputs[~of_kernel]] = self.mu_[~of_kernel]
        self.log_evidence_ = float(sum(model.log_evidence for model in models))
        self.history_ = fits[0].history if not several else [fit.history for fit in fits]
        self.n_iter_ = sum(len(fit.history) for fit in fits)
        self.converged_ = all(fit.converged for fit in fits)
        self._report(X, fits)

    def _vectors(self, X: Any) -> Any:
        if self.basis == "columns" or self._is_pairwise():
            return np.empty((0, 0))
        return (
            X[self.relevance_]
            if self.centers is None
            else self._checked_centers(X)[self.relevance_]
        )

    def _report(self, X: Any, fits: Sequence[Fit]) -> None:
        name = type(self).__name__
        if self.verbose:
            print(
                f"{name}: {self.relevance_.size} relevance vectors of {X.shape[0]} rows, "
                f"{self.n_iter_} steps, log evidence {self.log_evidence_:.6g}"
            )
        if not self.converged_:
            left = max(fit.gain_left for fit in fits if not fit.converged)
            warn(
                f"{name} stopped after max_iter={self.max_iter} steps, where another one promised "
                f"to raise the log evidence by {left:.3g}; raise max_iter or tol, or choose "
                "another kernel width.",
                ConvergenceWarning,
            )

    # ---- predicting -------------------------------------------------------------------------

    def _latent(self, X: Any, spread: bool) -> tuple[Floats, Floats | None]:
        """Return mean and covariance of the functions' values, outputs first and rows last."""
        check_is_fitted(self)
        X = checked_rows(self, X, **self._data_format())
        n, n_outputs = X.shape[0], self.intercept_.size
        means = np.empty((n_outputs, n))
        covariances = np.empty((n_outputs, n_outputs, n)) if spread else None
        for part in _parts(n, max(1, self.mu_.size)):
            with np.errstate(over="ignore", invalid="ignore"):
                rows = self._functions(X[part])
            means[:, part] = combine(rows, self.weight_output_, self.mu_, n_outputs)
            if covariances is not None:
                covariances[:, :, part] = latent_covariance(
                    self._whitening, rows, self.weight_output_, n_outputs
                )
        return means, covariances

    def _functions(self, X: Any, kernel: Any = None) -> Floats:
        """Return the values of each weight's function, with this kernel or that of the machine."""
        if self.basis == "columns":
            values = column_basis(X, False, 0.0).rows(self.relevance_)
        elif self._is_pairwise():
            values = np.asarray(self.kernel_(X))[:, self.relevance_].T
        elif self.relevance_.size:
            values = kernel_values(kernel or self.kernel_, X, self.relevance_vectors_)
        else:
            values = np.empty((0, X.shape[0]))
        check_size(values, LARGEST_COLUMN)
        return np.concatenate([values, np.ones((1, X.shape[0]))])[self.weight_vector_]

    @property
    def coef_(self) -> Floats:
        """Weights of the columns, one row an output; only for ``basis="columns"`` and Linear."""
        check_is_fitted(self)
        if self.basis == "columns":
            coefficients = np.zeros((self.dual_coef_.shape[0], self.n_features_in_))
            coefficients[:, self.relevance_] = self.dual_coef_
            return coefficients
        if not isinstance(self.kernel_, Linear):
            raise AttributeError(
                "coef_ is only available for basis='columns' and for a linear kernel."
            )
        return np.asarray(self.dual_coef_ @ self.relevance_vectors_)

    def _kernel_expansion(self) -> dict[str, Any]:
        """Say how the columns of a design matrix are a kernel expansion: the points are weights."""
        if self.basis == "kernel":
            return {}
        return {"points": self.coef_, "coefficients": np.eye(len(self.coef_))}


def _parts(n: int, width: int) -> Iterator[slice]:
    step = max(1, PREDICTED_ENTRIES // width)
    for start in range(0, n, step):
        yield slice(start, min(n, start + step))
