"""Fits machines and writes what came of it: ``python fitted_machines.py FILE.npz``.

Run by test_instruction_sets.py, once for each instruction set, in a process of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import make_classification, make_friedman1

from mercer import SVC, SVDD, SVR, KernelRFE, PathSearchCV, _engine
from mercer.kernels import RBF, Laplacian, Linear, Polynomial

# Definite kernels only: with others the problem may have several solutions.
KERNELS = {
    "rbf": RBF(0.1),
    "laplacian": Laplacian(0.1),
    "polynomial": Polynomial(3, 0.1, 1.0),
    "linear": Linear(),
}
TEST_ROWS = 500
# Rows of kernel values are held in single precision for the first, in double for the second.
TOLERANCES = {"float32": 1e-3, "float64": 1e-6}


def classes(n: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, 8, n_informative=6, flip_y=0.05, random_state=n)


def machines() -> Iterator[tuple[str, np.ndarray, np.ndarray | None, object, np.ndarray]]:
    """Yield names, training rows, labels or targets, machines, and other rows."""
    for n in (60, 700, 3000):
        X, y = classes(n + TEST_ROWS)
        for kernel_name, kernel in KERNELS.items():
            if n == 3000 and kernel_name not in ("rbf", "polynomial"):
                continue
            for rows, tol in TOLERANCES.items():
                name = f"SVC {kernel_name} {rows} n={n}"
                yield name, X[:n], y[:n], SVC(C=2.0, kernel=kernel, tol=tol), X[n:]
    for n in (60, 700):
        X, y = make_friedman1(n + TEST_ROWS, 10, noise=1.0, random_state=n)
        for rows, tol in TOLERANCES.items():
            yield f"SVR {rows} n={n}", X[:n], y[:n], SVR(C=10.0, epsilon=0.5, tol=tol), X[n:]
            yield f"SVDD {rows} n={n}", X[:n], None, SVDD(nu=0.2, tol=tol), X[n:]


def outcomes() -> Iterator[tuple[str, object]]:
    """Yield what is compared."""
    yield "set", _engine.instruction_set()
    for name, X, y, machine, others in machines():
        model = machine.fit(X) if y is None else machine.fit(X, y)
        regression = isinstance(model, SVR)
        values = model.predict(others) if regression else model.decision_function(others)
        beta = np.zeros(len(X))
        beta[model.support_] = np.ravel(model.dual_coef_)
        yield f"{name}: objective", float(np.max(model.objective_))
        yield f"{name}: gap", float(np.max(model.gap_))
        yield f"{name}: beta", beta
        yield f"{name}: values", values
    X, y = classes(200 + TEST_ROWS)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}
    search = PathSearchCV(SVC(), grid, cv=3).fit(X[:200], y[:200])
    yield "search: scores", search.cv_results_["mean_test_score"]
    yield "search: gap", float(np.max(search.best_estimator_.gap_))
    yield "search: chosen", np.array([search.best_params_[key] for key in grid])
    yield "search: values", search.decision_function(X[200:])
    for kernel_name in ("linear", "rbf"):
        ranking = KernelRFE(SVC(kernel=KERNELS[kernel_name]), n_features_to_select=1, tol=1e-6)
        yield f"elimination {kernel_name}: ranking", ranking.fit(X, y).ranking_


if __name__ == "__main__":
    np.savez(sys.argv[1], **dict(outcomes()))
