"""What Planas timed beside his own eliminations: other solvers, and criteria without his means."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

from mercer.kernels import Polynomial
from mercer.studies import Configuration, Printed, Study
from studies.rfe.study import experiment, linear_machine, load_data

SOLVERS = """
 500  2.67   8.17 0.32  12.04 0.22
1000  2.94  17.30 0.17  23.84 0.12
2000  4.28  43.96 0.10  50.36 0.08
"""
"""Table 5.17: rows; seconds of LIBLINEAR; seconds and speed-up of LIBSVM, linear and with a matrix
that is given."""

NOT_OPTIMIZED = """
1e-10  47.609  48.374  76.220
1e-09  51.182  48.316  73.988
1e-08  49.338  53.185  75.945
1e-07  49.022  52.526  68.661
1e-06  51.579  54.387  67.181
1e-05  53.271  53.834  66.723
1e-04  49.130  50.594  67.257
1e-03  50.915  50.858  66.532
1e-02  48.972  48.041  66.149
1e-01  52.361  47.305  66.022
"""
"""Right half of table 5.19: C, and for degrees 1 to 3 the seconds of an elimination."""

LINEAR, GENERAL, GIVEN = "linear solver", "general solver", "matrix given"
ANEW = "every matrix anew"

SIZES = range(5, 101, 5)
"""Sizes of a validation; the source does not say which it took."""

FOLDS = 7


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Time a validation of a random ranking, or an elimination; of processors, not by the clock."""
    about = configuration.parameters
    if method == ANEW:
        X, y = load_data("5.18")
        train = _folds(y, seed)[0][0]
        selector = experiment("5.18", about["C"], about["degree"])[0]
        return {"seconds": elimination_seconds(selector, X[train], y[train], every_matrix)[0]}
    seconds, accuracy = validate(method, about["rows"], seed)
    values = {"seconds": seconds, "accuracy": accuracy}
    if method == LINEAR:
        return values
    return values | {"factor_of_seconds": validate(LINEAR, about["rows"], seed)[0] / seconds}


def validate(method: str, rows: int, seed: int) -> tuple[float, float]:
    """Learn from and judge features that chance has ranked: seconds, and the mean accuracy."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        rows, 100, n_informative=20, n_clusters_per_class=6, random_state=seed
    )
    order = np.random.default_rng(seed).permutation(X.shape[1])
    folds = _folds(y, seed)
    start = time.process_time()
    scores = [
        _judge(method, X[:, order[:size]], y, train, test)
        for size in SIZES
        for train, test in folds
    ]
    return time.process_time() - start, float(np.mean(scores))


def _judge(method: str, X: Any, y: Any, train: Any, test: Any) -> float:
    from mercer.svm import SVC

    if method == LINEAR:
        machine = linear_machine(1.0).set_params(solver="linear")
    elif method == GENERAL:
        machine = SVC(kernel="linear", solver="smo")
    else:
        kernel = Polynomial(degree=3, gamma=1.0 / X.shape[1], coef0=1.0)
        K = kernel(X)
        fitted = SVC(kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
        return float(fitted.score(K[np.ix_(test, train)], y[test]))
    return float(machine.fit(X[train], y[train]).score(X[test], y[test]))


def _folds(y: Any, seed: int) -> list[Any]:
    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return list(folds.split(y[:, np.newaxis], y))


def every_matrix(kernel: Polynomial, X: Any, beta: Any) -> Any:
    """Return the criterion of a kernel without each feature, with a matrix anew for each."""
    columns = np.arange(X.shape[1])
    return np.array([beta @ kernel(X[:, columns != k]) @ beta for k in columns])


def elimination_seconds(
    selector: Any, X: Any, y: Any, leave_out: Callable[..., Any] = Polynomial.leave_feature_out
) -> tuple[float, float]:
    """Return the seconds of an elimination, and those that go into its criterion."""
    spent = 0.0

    def timed(*given: Any) -> Any:
        nonlocal spent
        start = time.process_time()
        values = leave_out(*given)
        spent += time.process_time() - start
        return values

    with mock.patch.object(Polynomial, "leave_feature_out", timed):
        start = time.process_time()
        selector.fit(X, y)
        return time.process_time() - start, spent


def _solvers() -> list[Configuration]:
    found = []
    for line in SOLVERS.split("\n")[1:-1]:
        rows, linear, *others = line.split()
        printed = {LINEAR: Printed(float(linear))}
        for method, seconds, factor in zip((GENERAL, GIVEN), others[::2], others[1::2]):
            extra = {"factor_of_seconds": float(factor)}
            printed[method] = Printed(float(seconds), extra=extra)
        name = f"5.17 random ranking, {rows} rows"
        methods = (LINEAR, GENERAL, GIVEN)
        found.append(Configuration(name, {"rows": int(rows)}, printed, methods=methods))
    return found


def _not_optimized() -> list[Configuration]:
    found = []
    for line in NOT_OPTIMIZED.split("\n")[1:-1]:
        C, *numbers = map(float, line.split())
        for degree, seconds in zip("123", numbers):
            name = f"5.19 not optimized, degree {degree}, C {C:g}"
            about = {"C": C, "degree": degree}
            printed = {ANEW: Printed(seconds)}
            found.append(Configuration(name, about, printed, methods=(ANEW,)))
    return found


STUDY = Study(
    name="rfe-times",
    title="Times of solvers, and of eliminations that keep nothing",
    description="Table 5.17: a random ranking of 100 features, 20 of which matter, in 6 clusters a "
    "class, is validated in 7 folds at the sizes 5, 10, ..., 100 (the source does not say at "
    "which) by a linear machine with a linear solver (there LIBLINEAR), by one with the solver of "
    "all kernels (LIBSVM), and by a machine of degree 3 with its matrix given; the accuracy is the "
    "mean over these sizes, where figure 5.16 has curves. Right half of table "
    "5.19: an elimination of table 5.18 on the training rows of a fold that computes the matrix "
    "without a feature anew for each feature. Seconds are of one processor; those printed are of "
    "another machine and other programs, so that there are no verdicts.",
    citation="R. Planas, bachelor thesis, UPC Barcelona, 2021, tables 5.17 and 5.19.",
    configurations=(*_solvers(), *_not_optimized()),
    methods={method: {} for method in (LINEAR, GENERAL, GIVEN, ANEW)},
    run=run,
    measure="seconds",
    kept=("accuracy",),
    source="Planas 2021",
    duration="8 min",
    repetitions=1,
    printed_repetitions=1,
)
