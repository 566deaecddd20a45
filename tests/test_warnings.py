"""Warnings point at the line of the user, not at a line of the library."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    RVC,
    RVR,
    SVC,
    SVDD,
    SVR,
    KernelPerceptron,
    NearestHypersphereClassifier,
    OneClassSVM,
)
from mercer.discriminant import LinearPerceptron

MACHINES = [SVC, SVR, SVDD, OneClassSVM, NearestHypersphereClassifier]


def data(n: int) -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.filterwarnings("ignore:y is ignored")
@pytest.mark.parametrize("machine", MACHINES)
def test_kernels_that_are_none(machine: Any) -> None:
    model = machine(kernel="sigmoid", gamma=1.0, coef0=-2.0)
    with pytest.warns(UserWarning, match="not positive semi-definite") as caught:
        model.fit(*data(60))
    assert [warning.filename for warning in caught] == [__file__] * len(caught)


@pytest.mark.filterwarnings("ignore:y is ignored")
@pytest.mark.parametrize("machine", MACHINES)
def test_solvers_stopped_early(machine: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="max_iter was reached") as caught:
        machine(max_iter=3).fit(*data(360))
    assert [warning.filename for warning in caught] == [__file__] * len(caught)


STOPPED = [
    KernelPerceptron(kernel="linear", max_iter=1),
    LinearPerceptron(max_iter=1),
    RVR(max_iter=1),
    make_pipeline(StandardScaler(), SVC(max_iter=3)),
    GridSearchCV(SVC(max_iter=3), {"C": [1.0]}, cv=2),
]


@pytest.mark.parametrize("model", STOPPED, ids=lambda model: type(model).__name__)
def test_others_stopped_early(model: Any) -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(*data(360))
    assert [warning.filename for warning in caught] == [__file__] * len(caught)


def test_rows_whose_kernel_values_with_themselves_are_unknown() -> None:
    X, y = data(40)
    K = (1.0 + X @ X.T) ** 2
    model = NearestHypersphereClassifier(kernel="precomputed").fit(K, y)
    with pytest.warns(UserWarning, match="is not known") as caught:
        model.predict(K[:7])
    assert [warning.filename for warning in caught] == [__file__] * len(caught)


def overflowing(X: Any, Y: Any) -> Any:
    """A Gaussian function in whose exponent a user's own number overflows."""
    distances = ((X[:, None] - Y) ** 2).sum(axis=2)
    return np.exp(-distances) + 0.0 * np.minimum(np.exp(1000.0 + 0.0 * distances), 1.0)


@pytest.mark.parametrize("machine", [SVC, RVC, SVDD])
def test_overflow_in_a_function_of_the_user_is_heard(machine: Any) -> None:
    """As outside of the fit: a warning, nothing, or an error."""
    X, y = data(20)
    arguments = (X,) if machine is SVDD else (X, y)
    with pytest.warns(RuntimeWarning, match="overflow encountered in exp"):
        machine(kernel=overflowing).fit(*arguments)
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        machine(kernel=overflowing).fit(*arguments)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        machine(kernel=overflowing).fit(*arguments)
