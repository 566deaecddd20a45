"""Shading shows the probabilities."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from mercer import SVC
from mercer.plotting import BoundaryDisplay
from mercer.plotting.boundary import STRONGEST_TINT, WEAKEST_TINT

to_rgb = pytest.importorskip("matplotlib.colors").to_rgb

PRIMARIES = np.array([to_rgb("red"), to_rgb("lime"), to_rgb("blue")])


def drawn(display):
    """Return the image as a table of colours, and the points of the grid."""
    points = np.stack(np.meshgrid(*display.grid), axis=-1).reshape(-1, 2)
    return np.asarray(display.regions_.get_array()).reshape(-1, 3), points


def shade(model, **options):
    X, y = make_moons(100, noise=0.3, random_state=0)
    options = {"response_method": "predict_proba", "grid_resolution": 40} | options
    return BoundaryDisplay.from_estimator(model.fit(X, y), X, y, **options)


def test_colour_of_two_classes_is_as_strong_as_the_probability():
    model = LogisticRegression()
    display = shade(model, colors=["red", "blue"])
    image, points = drawn(display)
    p = model.predict_proba(points)[:, 1]
    assert p.min() < 0.1 < 0.9 < p.max()
    # On white, the channels that a colour lacks say how much of it is there.
    missing = np.where(p > 0.5, image[:, 0], image[:, 2])
    certainty = np.abs(2 * p - 1)
    expected = WEAKEST_TINT + (STRONGEST_TINT - WEAKEST_TINT) * certainty
    np.testing.assert_allclose(1 - missing, expected, atol=1e-12)
    np.testing.assert_allclose(display.probabilities.reshape(-1, 2)[:, 1], p)


def test_colour_bar_repeats_the_colours_of_the_picture():
    model = LogisticRegression()
    display = shade(model, colors=["red", "blue"])
    image, points = drawn(display)
    bar = display.colorbar_
    assert bar.ax.get_xlabel() == "probability of class 1"
    assert bar.mappable.get_clim() == (0.0, 1.0)
    at_points = bar.cmap(bar.norm(model.predict_proba(points)[:, 1]))[:, :3]
    np.testing.assert_allclose(at_points, image, atol=0.01)
    assert shade(model, legend=False).colorbar_ is None
    assert shade(model, response_method="predict").colorbar_ is None


def test_boundary_runs_where_both_classes_are_equally_probable():
    model = CalibratedClassifierCV(SVC(), ensemble=False)
    display = shade(model, grid_resolution=200)
    segments = np.concatenate([s for s in display.boundary_[0].allsegs[0] if len(s)])
    np.testing.assert_allclose(model.predict_proba(segments)[:, 1], 0.5, atol=0.02)


@pytest.mark.parametrize("n_classes", [3, 10])
def test_many_classes_have_the_colour_of_the_most_probable(n_classes):
    X, y = make_blobs(30 * n_classes, centers=n_classes, cluster_std=3.0, random_state=0)
    model = KNeighborsClassifier(15, weights="distance").fit(X, y)
    colors = [*PRIMARIES, *np.random.default_rng(0).uniform(0, 1, (7, 3))][:n_classes]
    display = BoundaryDisplay.from_estimator(
        model, X, y, response_method="predict_proba", grid_resolution=30, colors=colors
    )
    image, points = drawn(display)
    p = model.predict_proba(points)
    certainty = (p.max(axis=1) - 1 / n_classes) / (1 - 1 / n_classes)
    share = WEAKEST_TINT + (STRONGEST_TINT - WEAKEST_TINT) * certainty
    expected = share[:, None] * np.array(colors)[p.argmax(axis=1)] + (1 - share[:, None])
    np.testing.assert_allclose(image, expected, atol=1e-12)
    np.testing.assert_allclose(display.colorbar_.mappable.get_clim(), (1 / n_classes, 1.0))
    assert "most probable class" in display.colorbar_.ax.get_xlabel()


def test_everything_stays_inside_the_figure():
    display = shade(LogisticRegression())
    display.figure_.canvas.draw()
    whole = display.figure_.bbox
    for artist in (display.legend_, display.ax_, display.colorbar_.ax):
        box = artist.get_tightbbox()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1
    assert not display.colorbar_.ax.get_tightbbox().overlaps(display.legend_.get_tightbbox())
