"""Which of our classes stand for which of scikit-learn's."""

from __future__ import annotations

from typing import Any

import pytest

from mercer import SVC, SVR, KernelRFE, KernelRFECV, OneClassSVM, PathSearchCV, PlattClassifier


def platt(
    estimator: Any = None,
    *,
    method: str = "sigmoid",
    cv: Any = None,
    n_jobs: Any = None,
    ensemble: Any = False,
) -> PlattClassifier:
    """Return what stands for a ``CalibratedClassifierCV`` that has one classifier and sigmoids."""
    if method != "sigmoid" or ensemble is True:
        pytest.skip("not what PlattClassifier does")
    return PlattClassifier(SVC(kernel="linear") if estimator is None else estimator, cv=cv)


MACHINES = {"sklearn.svm": {"SVC": SVC, "SVR": SVR, "OneClassSVM": OneClassSVM}}
ELIMINATION = MACHINES | {"sklearn.feature_selection": {"RFE": KernelRFE, "RFECV": KernelRFECV}}
SEARCH = MACHINES | {"sklearn.model_selection": {"GridSearchCV": PathSearchCV}}
CALIBRATION = MACHINES | {"sklearn.calibration": {"CalibratedClassifierCV": platt}}
