"""One-class machines have an inside, an outside, and a boundary between them."""

import numpy as np
import pytest
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import make_moons
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from mercer import SVDD
from mercer.plotting import BoundaryDisplay


@pytest.fixture(scope="module")
def data():
    return make_moons(120, noise=0.1, random_state=0)[0]


def texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


@pytest.mark.parametrize(
    "machine",
    [
        OneClassSVM(nu=0.1, gamma=2.0),
        EllipticEnvelope(random_state=0),
        LocalOutlierFactor(novelty=True),
        make_pipeline(StandardScaler(), OneClassSVM(nu=0.1)),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_regions_and_boundary_are_those_of_the_machine(data, machine):
    machine.fit(data)
    display = BoundaryDisplay.from_estimator(machine, data, grid_resolution=80)
    points = np.stack(np.meshgrid(*display.grid), axis=-1).reshape(-1, 2)
    inside = machine.predict(points) == 1
    assert 0 < inside.sum() < inside.size
    np.testing.assert_array_equal(display.classes[display.regions.ravel()] == "inlier", inside)
    # The two sides of the drawn line differ: it lies where f changes its sign.
    line = np.concatenate([s for s in display.boundary_[0].allsegs[0] if len(s)])
    values = machine.decision_function(line)
    assert np.abs(values).max() < 0.1 * np.ptp(machine.decision_function(points))
    assert display.margin_ is None
    assert texts(display)[:3] == ["inlier", "outlier", "boundary"]


def test_support_vectors_are_marked(data):
    machine = OneClassSVM(nu=0.1, gamma=2.0).fit(data)
    display = BoundaryDisplay.from_estimator(machine, data, grid_resolution=30)
    np.testing.assert_allclose(display.support_[""].get_offsets(), machine.support_vectors_)
    assert texts(display)[-1] == "support vector"


def test_kinds_of_support_vector_have_words_of_their_own(data):
    """A machine that tells the kinds, as those of this package do."""
    machine = OneClassSVM(nu=0.1, gamma=2.0).fit(data)
    inside_bounds = machine.dual_coef_[0] < machine.dual_coef_.max() - 1e-6
    machine.support_kind_ = np.where(inside_bounds, "margin", "bound")
    display = BoundaryDisplay.from_estimator(machine, data, grid_resolution=30)
    assert texts(display)[-2:] == ["support vector on the boundary", "support vector at the bound"]
    rings = np.asarray(display.support_["margin"].get_offsets())
    np.testing.assert_allclose(rings, machine.support_vectors_[inside_bounds])
    np.testing.assert_allclose(machine.decision_function(rings), 0.0, atol=0.01)


@pytest.mark.parametrize("price", [{"nu": 0.1}, {"C": 0.1}])
def test_a_ball_with_the_squared_hinge_has_slack_and_no_margin(data, price):
    ball = SVDD(loss="squared_hinge", **price).fit(data)
    display = BoundaryDisplay.from_estimator(ball, data, grid_resolution=30)
    assert list(display.support_) == ["slack"]
    assert display.margin_ is None
    hard = SVDD(loss="squared_hinge", nu=0).fit(data)
    display = BoundaryDisplay.from_estimator(hard, data, grid_resolution=30)
    assert list(display.support_) == ["margin"]


def test_labels_tell_inliers_from_outliers(data):
    far = np.array([[5.0, 5.0], [-4.0, 5.0]])
    X, y = np.vstack([data, far]), np.append(np.ones(len(data)), [-1, -1])
    machine = IsolationForest(n_estimators=20, random_state=0).fit(data)
    display = BoundaryDisplay.from_estimator(machine, X, y, grid_resolution=30)
    inliers, outliers = display.points_
    np.testing.assert_allclose(inliers.get_offsets(), data)
    np.testing.assert_allclose(outliers.get_offsets(), far)
    with pytest.raises(ValueError, match="none of the classes"):
        BoundaryDisplay.from_estimator(machine, X, np.zeros(len(X), dtype=int))


def test_a_detector_without_predict_is_refused(data):
    with pytest.raises(ValueError, match="LocalOutlierFactor says nothing about new points"):
        BoundaryDisplay.from_estimator(LocalOutlierFactor().fit(data), data)
