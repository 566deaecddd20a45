"""One small adapter for each solver, so that the rest of the package treats all alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from .machine import cache_megabytes
from .problems import Array, Data, Problem


class UnavailableError(Exception):
    """A solver cannot take part, and the message says why."""


@dataclass(frozen=True, eq=False)
class Dual:
    """What a solver found: the rows used as support vectors and their signed coefficients.

    ``coef`` has one row for two classes and for regression; for more classes it has scikit-learn's
    layout of one-vs-one pairs (``n_support`` gives the number of support vectors of each class).
    """

    support: NDArray[np.int64]
    coef: Array
    n_support: NDArray[np.int64]


class Peer(ABC):
    """A solver under test. ``prepare`` is never timed, ``fit`` is."""

    key: str
    label: str
    settings: str

    @abstractmethod
    def prepare(self, problem: Problem, data: Data) -> Any:
        """Return the training data in the form that the solver prefers."""

    @abstractmethod
    def fit(self, problem: Problem, data: Data, prepared: Any) -> Any:
        """Return the fitted model."""

    @abstractmethod
    def dual(self, model: Any) -> Dual:
        """Return the solution that the model holds."""

    def rows(self, X: Array) -> Any:
        """Return rows to predict in the form that the solver prefers."""
        return X

    def decide(self, model: Any, rows: Any) -> Any:
        """Return decision values."""
        return model.decision_function(rows)

    def predict(self, model: Any, rows: Any) -> Any:
        """Return labels."""
        return model.predict(rows)


class EstimatorPeer(Peer):
    """A solver with scikit-learn's interface."""

    dtype: type = np.float64
    # Rows with a smaller share of entries other than 0 are given in compressed form.
    sparse_below: float = 0.0

    @abstractmethod
    def estimator(self, problem: Problem, gamma: float) -> Any:
        """Return the estimator, not fitted."""

    def prepare(self, problem: Problem, data: Data) -> Any:
        """Return the rows in the solver's form, and the labels or targets."""
        targets = data.y if problem.epsilon is None else data.y.astype(self.dtype)
        return self.rows(data.X), targets

    def rows(self, X: Array) -> Any:
        """Return contiguous or compressed rows in the solver's dtype."""
        if np.count_nonzero(X) < self.sparse_below * X.size:
            return csr_matrix(X, dtype=self.dtype)
        return np.ascontiguousarray(X, dtype=self.dtype)

    def fit(self, problem: Problem, data: Data, prepared: Any) -> Any:
        """Fit the estimator."""
        return self.estimator(problem, data.gamma).fit(*prepared)

    def dual(self, model: Any) -> Dual:
        """Return the fitted attributes; the coefficients of a sparse fit are sparse themselves."""
        coef = model.dual_coef_.toarray() if issparse(model.dual_coef_) else model.dual_coef_
        return Dual(
            np.asarray(model.support_, dtype=np.int64),
            np.asarray(coef, dtype=np.float64),
            np.asarray(model.n_support_, dtype=np.int64),
        )


class Mercer(EstimatorPeer):
    """The library under test."""

    key, label = "mercer", "mercer"
    settings = "float64 input, n_jobs=-1"

    def estimator(self, problem: Problem, gamma: float) -> Any:
        """Return mercer's machine; its squared hinge is halved, so C is doubled there."""
        try:
            import mercer.svm as library
        except ImportError as error:
            raise UnavailableError(f"mercer.svm.SVC does not import ({error})") from error
        machine = _machine(library, problem, gamma).set_params(n_jobs=-1)
        if problem.epsilon is not None:
            return machine
        factor = 2.0 if problem.loss == "squared_hinge" else 1.0
        return machine.set_params(C=factor * problem.C, loss=problem.loss)


class ScikitLearn(EstimatorPeer):
    """scikit-learn's SVC: LIBSVM with dense rows."""

    key, label = "sklearn", "scikit-learn"
    settings = "float64 input (compressed when mostly 0), shrinking, one thread (it has no more)"
    sparse_below = 0.2

    def estimator(self, problem: Problem, gamma: float) -> Any:
        """Return scikit-learn's machine."""
        from sklearn import svm as library

        _only_hinge(problem)
        return _machine(library, problem, gamma)


class Intelex(EstimatorPeer):
    """scikit-learn-intelex's SVC; every fit is checked to have run in oneDAL."""

    key, label = "intelex", "intelex f64"
    settings = (
        "float64 input (compressed when mostly 0), all threads, each fit checked to run in oneDAL"
    )
    sparse_below = 0.2

    def estimator(self, problem: Problem, gamma: float) -> Any:
        """Return scikit-learn-intelex's machine."""
        try:
            from sklearnex import svm as library
        except ImportError as error:
            raise UnavailableError(f"sklearnex does not import ({error})") from error
        _only_hinge(problem)
        return _machine(library, problem, gamma)

    def fit(self, problem: Problem, data: Data, prepared: Any) -> Any:
        """Fit, and refuse a result that scikit-learn computed in oneDAL's place."""
        model = super().fit(problem, data, prepared)
        if not hasattr(model, "_onedal_estimator"):
            raise UnavailableError("scikit-learn-intelex fell back to scikit-learn")
        return model


class IntelexSingle(Intelex):
    """The same with float32 rows."""

    key, label = "intelex32", "intelex f32"
    settings = "float32 input, all threads, each fit checked to run in oneDAL"
    dtype = np.float32
    sparse_below = 0.0  # dense rows are as fast here, where float64 gains a quarter


class Libsvm(Peer):
    """libsvm-official. Its conversion of the rows to nodes is left out of the time."""

    key, label = "libsvm", "libsvm"
    settings = "sparse nodes made beforehand, shrinking, OpenMP where the wheel has it"

    def prepare(self, problem: Problem, data: Data) -> Any:
        """Return LIBSVM's problem structure."""
        try:
            from libsvm.svm import svm_problem
        except ImportError as error:
            raise UnavailableError(f"libsvm does not import ({error})") from error
        _only_hinge(problem)
        return svm_problem(data.y.astype(float), csr_matrix(data.X))

    def fit(self, problem: Problem, data: Data, prepared: Any) -> Any:
        """Train a model."""
        from libsvm.svmutil import svm_train

        kernel = {"linear": 0, "rbf": 2}[problem.kernel]
        kind = "-s 0" if problem.epsilon is None else f"-s 3 -p {problem.epsilon!r}"
        return svm_train(
            prepared,
            f"{kind} -t {kernel} -c {problem.C!r} -g {data.gamma!r} -e {problem.tol!r} "
            f"-m {cache_megabytes()} -q",
        )

    def dual(self, model: Any) -> Dual:
        """Return the model's arrays, signed so that the second of the sorted classes is positive.

        The arrays are read through their pointers: the lists that LIBSVM offers take a second for
        every few thousand support vectors.
        """
        n_class, n_sv = model.nr_class, model.l
        rows = [np.ctypeslib.as_array(model.sv_coef[k], (n_sv,)) for k in range(n_class - 1)]
        support = np.ctypeslib.as_array(model.sv_indices, (n_sv,)).astype(np.int64) - 1
        if not model.label:  # a regression has no classes
            return Dual(support, np.array(rows), np.array([n_sv]))
        labels = np.ctypeslib.as_array(model.label, (n_class,))
        sign = 1.0 if n_class > 2 or labels[0] == labels.max() else -1.0
        counts = np.ctypeslib.as_array(model.nSV, (n_class,)).astype(np.int64)
        return Dual(support, sign * np.array(rows), counts)

    def rows(self, X: Array) -> Any:
        """Return compressed rows."""
        return csr_matrix(X)

    def decide(self, model: Any, rows: Any) -> Any:
        """Refuse: the Python interface makes lists row by row, and that is what one would time."""
        raise UnavailableError("its Python interface predicts row by row")

    def predict(self, model: Any, rows: Any) -> Any:
        """Return labels."""
        from libsvm.svmutil import svm_predict

        return np.array(svm_predict([], rows, model, "-q")[0], dtype=np.int64)


class Liblinear(EstimatorPeer):
    """scikit-learn's LinearSVC: LIBLINEAR, which regularises the bias. For linear kernels only."""

    key, label = "liblinear", "LinearSVC"
    settings = "float64 input, dual coordinate descent for hinge and Newton for squared hinge"

    def estimator(self, problem: Problem, gamma: float) -> Any:
        """Return LinearSVC; the primal solver is the faster one when rows outnumber columns."""
        from sklearn.svm import LinearSVC

        return LinearSVC(
            C=problem.C,
            loss=problem.loss,
            dual=problem.loss == "hinge",
            tol=problem.tol,
            max_iter=100_000,
            random_state=0,
        )

    def dual(self, model: Any) -> Dual:
        """Refuse: LIBLINEAR does not give its dual variables."""
        raise UnavailableError("it keeps no dual solution")


def _machine(library: Any, problem: Problem, gamma: float) -> Any:
    """Return the SVC, or for regression the SVR, of a library with scikit-learn's names."""
    usual = {
        "C": problem.C,
        "kernel": problem.kernel,
        "gamma": gamma,
        "tol": problem.tol,
        "cache_size": cache_megabytes(),
    }
    if problem.epsilon is None:
        return library.SVC(**usual)
    return library.SVR(epsilon=problem.epsilon, **usual)


def _only_hinge(problem: Problem) -> None:
    if problem.loss != "hinge":
        raise UnavailableError("it has the hinge loss only")


PEERS: dict[str, Peer] = {
    peer.key: peer
    for peer in (Mercer(), ScikitLearn(), Intelex(), IntelexSingle(), Libsvm(), Liblinear())
}
OURS = "mercer"
KERNEL_PEERS = [key for key in PEERS if key != "liblinear"]
