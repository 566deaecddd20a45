"""Pictures of balls: regions, multipliers, and how many support vectors a width needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

plt = pytest.importorskip("matplotlib.pyplot")

from mercer import (  # noqa: E402
    SVC,
    SVDD,
    MultipliersDisplay,
    NearestHypersphereClassifier,
    OneClassSearch,
    OneClassSVM,
    SupportFractionDisplay,
    SupportRegionDisplay,
)

X = np.random.default_rng(0).normal(size=(120, 2))
BALL = SVDD(nu=0.1, gamma=0.3).fit(X)


@pytest.fixture(autouse=True)
def closed_figures() -> Any:
    yield
    plt.close("all")


def texts(legend: Any) -> list[str]:
    return [text.get_text() for text in legend.get_texts()]


def vertices(contours: Any) -> np.ndarray:
    return np.vstack([path.vertices for path in contours.get_paths() if len(path.vertices)])


def test_the_outline_is_the_surface_of_the_ball() -> None:
    display = SupportRegionDisplay.from_estimator(BALL, X)
    line = vertices(display.boundary_[0])
    np.testing.assert_allclose(BALL.distance(line), BALL.radius_, rtol=2e-3)
    inside = display.fields[0] >= 0
    across, up = np.meshgrid(*display.grid)
    grid = np.column_stack([across.ravel(), up.ravel()])
    np.testing.assert_array_equal(inside.ravel(), BALL.predict(grid) == 1)


def test_lines_join_equal_relative_distances() -> None:
    display = SupportRegionDisplay.from_estimator(BALL, X, n_levels=5)
    for level, path in zip(display.contours_.levels, display.contours_.get_paths()):
        if len(path.vertices):
            relative = BALL.distance(path.vertices) / BALL.radius_
            np.testing.assert_allclose(relative, level, atol=5e-3)
    assert "equal distance / radius" in texts(display.legend_)
    assert SupportRegionDisplay.from_estimator(BALL, X, n_levels=0).contours_ is None


def test_support_vectors_by_kind() -> None:
    display = SupportRegionDisplay.from_estimator(BALL, X)
    for kind in ("margin", "bound"):
        expected = BALL.support_vectors_[BALL.support_kind_ == kind]
        np.testing.assert_allclose(display.support_[kind].get_offsets(), expected)
    squared = SVDD(C=2.0, loss="squared_hinge", gamma=0.3).fit(X)
    display = SupportRegionDisplay.from_estimator(squared, X)
    assert list(display.support_) == ["slack"]


def test_targets_and_outliers() -> None:
    y = np.where(X[:, 0] > 1, -1, 1)
    display = SupportRegionDisplay.from_estimator(BALL, X, y)
    outliers, targets = display.points_
    np.testing.assert_allclose(outliers.get_offsets(), X[y < 0])
    np.testing.assert_allclose(targets.get_offsets(), X[y > 0])
    assert {"target", "outlier"} <= set(texts(display.legend_))


def test_one_region_for_each_class() -> None:
    data, species = load_iris(return_X_y=True, as_frame=True)
    data = data.iloc[:, 2:]
    model = NearestHypersphereClassifier(gamma=0.25).fit(data, species)
    display = SupportRegionDisplay.from_estimator(model, data, species)
    assert len(display.regions_) == 3
    for code, contours in enumerate(display.boundary_):
        line = vertices(contours)
        frame = type(data)(line, columns=data.columns)
        np.testing.assert_allclose(model.distance(frame)[:, code], model.radii_[code], rtol=5e-3)
    assert display.ax_.get_xlabel() == "petal length (cm)"
    assert "support region of class 1" in texts(display.legend_)


@pytest.mark.parametrize(
    "estimator",
    [
        OneClassSVM(nu=0.1),
        OneClassSearch(SVDD(nu=0.1), strategy="median"),
        make_pipeline(StandardScaler(), SVDD(nu=0.1)),
    ],
    ids=["one-class", "search", "pipeline"],
)
def test_other_descriptions(estimator: Any) -> None:
    estimator.fit(X)
    display = SupportRegionDisplay.from_estimator(estimator, X)
    line = vertices(display.boundary_[0])
    values = estimator.decision_function(line)
    assert np.abs(values).max() < 0.02 * np.abs(estimator.decision_function(X)).max()
    assert set(display.support_) == {"margin", "bound"}


def test_given_axes_and_planes() -> None:
    data, _ = load_iris(return_X_y=True)
    _, ax = plt.subplots()
    display = SupportRegionDisplay.from_estimator(
        SVDD().fit(data), data, features=(2, 3), ax=ax, legend=False
    )
    assert display.ax_ is ax
    assert display.legend_ is None
    assert "2 other features" in ax.get_title(loc="left")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SVC().fit(X, X[:, 0] > 0), "one class and nearest hyperspheres"),
        (SVDD(kernel="precomputed").fit(np.exp(-((X[:, :1] - X[:, 0]) ** 2))), "precomputed"),
    ],
    ids=["classifier", "precomputed"],
)
def test_no_region_to_draw(model: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SupportRegionDisplay.from_estimator(model, X)


def test_index_plot_has_a_spike_for_every_support_vector() -> None:
    display = MultipliersDisplay.from_estimator(BALL)
    np.testing.assert_allclose(display.multipliers, BALL.alpha_)
    drawn = {
        kind: np.array([path.vertices for path in spikes.get_paths()])
        for kind, spikes in display.spikes_.items()
    }
    for kind, ends in drawn.items():
        rows = BALL.support_[BALL.support_kind_ == kind]
        np.testing.assert_array_equal(np.sort(ends[:, 1, 0]), rows)
        np.testing.assert_allclose(ends[:, 1, 1], BALL.alpha_[ends[:, 1, 0].astype(int)])
    n = BALL.support_.size
    assert f"{n} support vectors" in display.legend_.get_title().get_text()
    with pytest.raises(ValueError, match="index plot"):
        MultipliersDisplay.from_estimator(SVC().fit(X, X[:, 0] > 0))


def test_index_plot_of_a_one_class_machine() -> None:
    model = OneClassSVM(nu=0.1).fit(X)
    display = MultipliersDisplay.from_estimator(model)
    assert display.multipliers.sum() == pytest.approx(0.1 * len(X))


def test_share_of_support_vectors_rises_with_gamma() -> None:
    model = SVDD(nu=0.05)
    display = SupportFractionDisplay.from_estimator(model, X, gammas=[10.0, 0.01, 1000.0])
    np.testing.assert_array_equal(display.gammas, [0.01, 10.0, 1000.0])
    expected = [len(SVDD(nu=0.05, gamma=g).fit(X).support_) / len(X) for g in display.gammas]
    np.testing.assert_allclose(display.line_.get_ydata(), expected)
    assert (np.diff(expected) > 0).all()
    assert display.nu_line_.get_ydata()[0] == 0.05
    assert model.gamma == "scale"


def test_what_a_search_has_tried() -> None:
    search = OneClassSearch(SVDD(nu=0.1), strategy="support_plateau", n_widths=6).fit(X)
    display = SupportFractionDisplay.from_search(search)
    assert display.chosen_line_.get_xdata()[0] == search.best_params_["gamma"]
    assert len(display.gammas) == 6
    with pytest.raises(ValueError, match="no gamma"):
        SupportFractionDisplay.from_estimator(StandardScaler(), X)
