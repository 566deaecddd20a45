"""The evidence of a relevance vector machine, and its vectors in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import RVC, RVR, SVC, BoundaryDisplay, EvidenceDisplay
from mercer.datasets import make_ripley

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module", name="ripley")
def ripley_data() -> tuple[Any, Any]:
    return make_ripley(100, random_state=0)


@pytest.fixture(scope="module", name="model")
def fitted_model(ripley: Any) -> Any:
    return RVC(gamma=4.0).fit(*ripley)


def test_line_is_the_history_and_never_falls(model: Any) -> None:
    display = EvidenceDisplay.from_estimator(model)
    heights = display.lines_[0].get_ydata()
    np.testing.assert_array_equal(heights, [step["log_evidence"] for step in model.history_])
    assert (np.diff(heights) >= 0).all()
    counts = display.counts_[0].get_ydata()
    assert counts[-1] == model.mu_.size


def test_every_step_has_a_marker_of_its_action(model: Any) -> None:
    display = EvidenceDisplay.from_estimator(model)
    marked = sum(len(points.get_offsets()) for points in display.axes_[0].collections)
    assert marked == model.n_iter_
    named = {text.get_text() for text in display.legend_.get_texts()}
    assert named == {step["action"] for step in model.history_}


def test_machines_against_the_rest_have_a_line_each() -> None:
    X, y = load_iris(return_X_y=True)
    model = RVC(multi_class="ovr").fit(X, y)
    display = EvidenceDisplay.from_estimator(model)
    assert len(display.lines_) == 3
    assert display.lines_[1].get_label() == "1 against the rest"


def test_given_axes_and_regression() -> None:
    X = np.linspace(-5, 5, 40)[:, None]
    _, axes = plt.subplots(2, 1)
    model = RVR(gamma=0.3).fit(X, np.sin(X.ravel()))
    display = EvidenceDisplay.from_estimator(model, axes=axes, legend=False)
    assert display.axes_[0] is axes[0]
    assert display.legend_ is None


def test_other_machines_are_refused(ripley: Any) -> None:
    with pytest.raises(TypeError, match="RVC or RVR is needed; got SVC"):
        EvidenceDisplay.from_estimator(SVC().fit(*ripley))


@pytest.mark.parametrize("scaled", [False, True])
def test_relevance_vectors_are_ringed_where_they_lie(scaled: bool, ripley: Any) -> None:
    X, y = ripley
    model = RVC(gamma=1.0)
    pipeline = make_pipeline(StandardScaler(), model) if scaled else model
    pipeline.fit(X, y)
    machine = pipeline[-1] if scaled else pipeline
    rings = BoundaryDisplay.from_estimator(pipeline, X, y).support_
    assert rings.keys() == {"relevance"}
    np.testing.assert_allclose(rings["relevance"].get_offsets(), X[machine.relevance_])


def test_a_model_without_vectors_can_be_drawn(ripley: Any) -> None:
    X, y = ripley
    shuffled = np.random.default_rng(0).permutation(y)
    model = RVC(centers=[[50.0, 50.0]], gamma=1.0).fit(X, shuffled)
    assert model.relevance_.size == 0
    assert BoundaryDisplay.from_estimator(model, X, shuffled).support_ == {}
