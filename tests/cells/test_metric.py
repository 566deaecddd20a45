"""The directions along which a decision function changes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from mercer import RVR, SVC, SVDD, SVR, NearestHypersphereClassifier, OneClassSVM
from mercer.cells import gradient_directions


def differences(function, X: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of the values, for each feature."""
    steps = step * np.eye(X.shape[1])
    return np.stack([(function(X + one) - function(X - one)) / (2 * step) for one in steps], axis=1)


@pytest.fixture(name="rings")
def rings_data() -> tuple[np.ndarray, np.ndarray]:
    """A ring in the first two of five features."""
    X = np.random.default_rng(0).normal(size=(400, 5))
    return X, (np.hypot(X[:, 0], X[:, 1]) > 1.2).astype(int)


@pytest.mark.parametrize(
    "model",
    [
        SVC(C=3.0, tol=1e-8),
        SVC(C=3.0, kernel="poly", degree=2, coef0=1.0),
        SVR(C=3.0),
        OneClassSVM(nu=0.2),
        SVDD(nu=0.2),
        RVR(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fourth_power_is_the_mean_outer_product(model, rings):
    """U L^(1/4) from central differences, up to the unit and the sign of each direction."""
    X, y = rings
    model.fit(X, y if isinstance(model, SVC | SVR | RVR) else None)
    function = getattr(model, "decision_function", model.predict)
    slopes = differences(function, X)
    expected = slopes.T @ slopes / len(X)
    found = gradient_directions(model, X)
    sizes = np.linalg.norm(found, axis=0)
    outer = (found * sizes) @ (found * sizes).T  # U L U', in units of the largest
    np.testing.assert_allclose(outer, expected / np.linalg.eigvalsh(expected)[-1], atol=2e-3)


def test_more_features_than_rows():
    """The eigenvalues are those of the other square matrix then."""
    X = np.random.default_rng(0).normal(size=(30, 80))
    model = SVR(C=3.0, gamma=0.01).fit(X, X[:, 0])
    slopes = differences(model.predict, X)
    found = gradient_directions(model, X)
    _, sizes, directions = np.linalg.svd(slopes, full_matrices=False)
    count = found.shape[1]
    expected = directions[:count].T * np.sqrt(sizes[:count] / sizes[0])
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-5)


def test_many_classes_count_alike():
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 2] > 0)
    found = np.linalg.norm(gradient_directions(SVC(C=10.0).fit(X, y), X), axis=1)
    assert min(found[[0, 2]]) > 1.5 * max(found[[1, 3]])


def test_noise_has_no_direction(rings):
    X, y = rings
    found = np.linalg.norm(gradient_directions(SVC(C=10.0).fit(X, y), X), axis=1)
    assert found[:2].min() > 1.5 * found[2:].max()


def test_balls_have_directions(rings):
    X, y = rings
    model = NearestHypersphereClassifier().fit(X, y)
    assert gradient_directions(model, X).shape[0] == 5


def test_sparse_rows(rings):
    X, y = rings
    X = np.maximum(X, 0)
    model = SVC().fit(X, y)
    np.testing.assert_allclose(
        np.abs(gradient_directions(model, sp.csr_array(X))),
        np.abs(gradient_directions(model, X)),
        atol=1e-6,
    )


def test_others_have_none(rings):
    X, y = rings
    assert gradient_directions(LogisticRegression().fit(X, y), X) is None


def test_a_constant_function_has_none():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert gradient_directions(SVR(epsilon=1.0).fit(X, np.zeros(50)), X) is None
