"""Is the installed mercer whole? Fits, predicts and tells its versions; exits with 1 if not.

Run by cibuildwheel for each wheel, and by tests/test_wheel.py, with an interpreter that has the
wheel and its dependencies and nothing else.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

import mercer

FOREIGN = {".cpp", ".hpp", ".h", ".c", ".txt", ".cmake", ".o", ".a"}
"""Kinds of files that belong into the sources only."""


def problems():
    """Yield a sentence for each thing that is not as it should be."""
    home = Path(mercer.__file__).parent
    if Path(__file__).parents[1] in home.parents and "site-packages" not in home.parts:
        yield "mercer was imported from the sources, not from the wheel"
    for name in ("py.typed", "_engine.pyi"):
        if not (home / name).is_file():
            yield f"{name} is missing"
    for path in home.rglob("*"):
        if path.suffix in FOREIGN or "tests" in path.relative_to(home).parts:
            yield f"{path.relative_to(home)} does not belong into a wheel"

    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(scale(X), y, random_state=0)
    for kernel in ("rbf", "linear", "laplacian"):
        model = mercer.SVC(C=10.0, kernel=kernel).fit(X_train, y_train)
        score, gap = model.score(X_test, y_test), model.gap_.max()
        print(f"{kernel}: {score:.3f} of the new rows right, gap {gap:.1e}")
        if not score > 0.9:
            yield f"only {score:.3f} of the new rows are right with the {kernel} kernel"
        if not gap <= model.tol:
            yield f"the gap {gap} of the {kernel} kernel is above {model.tol}"
        signs = (model.decision_function(X_test) > 0).astype(int)
        if not np.array_equal(model.predict(X_test), signs):
            yield f"predictions and decision values disagree with the {kernel} kernel"


found = list(problems())
mercer.show_versions()
sys.exit("\n".join(found) or None)
