"""Warnings point at the line of the user, not at a line of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVDD, SVR, NearestHypersphereClassifier, OneClassSVM

MACHINES = [SVC, SVR, SVDD, OneClassSVM, NearestHypersphereClassifier]


def data(n: int) -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, (X[:, 0] > 0).astype(int)


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
