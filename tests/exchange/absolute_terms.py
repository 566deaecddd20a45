"""The sums of absolute terms, in shares of which rounding is measured."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from mercer import SVC, SVR, OneClassSVM
from mercer.inspection.expansion import kernel_expansion

ROUNDING = 1e-13
"""Share of the sum of the absolute terms by which values of other programs may differ."""


def absolute_terms(model: Any, X: Any) -> Any:
    """Return sum |c_i| k(|x|, |z_i|) + |b| for each row and machine."""
    found = kernel_expansion(model)
    values = found.kernel(np.abs(X), np.abs(found.points))
    return values @ np.abs(found.coefficients.T) + np.abs(model.intercept_)


@cache
def unscaled() -> dict[str, tuple[Any, Any]]:
    """Return machines on data far from zero, whose terms cancel, and the data."""
    machines = {}
    for name, load in {"cancer": load_breast_cancer, "wine": load_wine}.items():
        X, y = load(return_X_y=True)
        for kernel in ("linear", "poly"):
            params = {"kernel": kernel, "gamma": 1e-3, "coef0": 1.0, "degree": 2}
            pairs = SVC(decision_function_shape="ovo", **params).fit(X, y)
            machines[f"{name}_{kernel}_svc"] = (pairs, X)
            machines[f"{name}_{kernel}_svr"] = (SVR(C=1e-3, **params).fit(X, X[:, 0]), X)
            machines[f"{name}_{kernel}_one"] = (OneClassSVM(nu=0.2, **params).fit(X), X)
    return machines
