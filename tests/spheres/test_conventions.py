"""What scikit-learn's own checks leave out."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import estimator_checks_generator

from mercer.spheres import (
    SVDD,
    NearestHypersphereClassifier,
    OneClassSearch,
    OneClassSVM,
    TargetProbability,
)

pandas = pytest.importorskip("pandas")
IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", [SVDD(kernel="precomputed"), OneClassSVM(kernel="precomputed")])
def test_checks_of_precomputed_kernels(model: Any) -> None:
    """All but those that give a matrix that is not square to every detector of outliers."""
    names = []
    for estimator, check in estimator_checks_generator(model):
        name = check.func.__name__
        if not name.startswith("check_outliers_") and name != "check_array_api_input":
            check(clone(estimator))
            names.append(name)
    assert len(names) > 30


ESTIMATORS = [
    SVDD(kernel="linear"),
    OneClassSVM(kernel="linear"),
    NearestHypersphereClassifier(kernel="linear"),
    OneClassSearch(SVDD(), strategy="median"),
    TargetProbability(SVDD()),
]


def documented_attributes(model: Any) -> set[str]:
    """Return the names in the Attributes section of the docstring."""
    text = inspect.getdoc(type(model)) or ""
    section = text.split("Attributes\n----------\n")[1].split("References\n----------")[0]
    lines = re.findall(r"^(\w+_(?:, \w+_)*) :", section, flags=re.MULTILINE)
    return {name for line in lines for name in line.split(", ")}


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_attributes_are_those_of_the_documentation(model: Any) -> None:
    fitted = clone(model)
    if isinstance(model, NearestHypersphereClassifier):
        fitted.fit(IRIS, SPECIES)
    else:
        fitted.fit(IRIS)
    documented = documented_attributes(model)
    public = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    # shape_fit_ is scikit-learn's own, for compatibility.
    assert public - {"shape_fit_"} <= documented
    for name in documented:
        assert hasattr(fitted, name), name
    assert fitted.feature_names_in_.tolist() == IRIS.columns.tolist()


def test_shapes_of_attributes() -> None:
    ball = SVDD(nu=0.2).fit(IRIS)
    m = ball.support_.size
    shapes = {
        "alpha_": (150,),
        "support_vectors_": (m, 4),
        "n_support_": (1,),
        "dual_coef_": (1, m),
        "support_kind_": (m,),
        "center_": (4,),
        "slack_": (150,),
        "objective_": (1,),
        "gap_": (1,),
    }
    for name, shape in shapes.items():
        assert getattr(ball, name).shape == shape, name
    for name in ("radius_", "offset_"):
        assert isinstance(getattr(ball, name), float), name
    assert isinstance(ball.n_iter_, int)
    assert ball.converged_ is True
    np.testing.assert_allclose(ball.alpha_.sum(), 1.0)
    for model in (SVDD(kernel="precomputed"), OneClassSVM(kernel="precomputed")):
        assert model.fit(IRIS @ IRIS.T).support_vectors_.shape == (0, 0)


def test_column_names_must_match() -> None:
    ball = SVDD().fit(IRIS)
    with pytest.raises(ValueError, match="feature names"):
        ball.predict(IRIS[IRIS.columns[::-1]])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_no_numbers(value: float) -> None:
    X = IRIS.to_numpy().copy()
    X[3, 2] = value
    for model in (SVDD(), OneClassSVM(), OneClassSearch(SVDD()), TargetProbability(SVDD())):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.fit(X)
