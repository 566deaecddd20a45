"""Planes through data with more than two features."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer import SVC
from mercer.plotting import BoundaryDisplay
from mercer.plotting._plane import make_plane

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.mark.filterwarnings("error")
def test_principal_plane_shows_what_the_classifier_says_there(wine):
    X, y = wine
    model = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, features="pca", grid_resolution=25)
    scaler = StandardScaler().fit(X)
    pca = PCA(2).fit(scaler.transform(X))
    np.testing.assert_allclose(display.points, pca.transform(scaler.transform(X)), atol=1e-9)
    nodes = np.stack(np.meshgrid(*display.grid), axis=-1).reshape(-1, 2)
    rows = scaler.inverse_transform(pca.inverse_transform(nodes))
    expected = model.predict(pd.DataFrame(rows, columns=X.columns))
    np.testing.assert_array_equal(model.classes_[display.regions.ravel()], expected)
    first, second = pca.explained_variance_ratio_
    assert display.ax_.get_xlabel() == f"principal component 1 ({first:.1%} of variance)"
    assert display.ax_.get_ylabel() == f"principal component 2 ({second:.1%} of variance)"
    assert "rows projected" in display.ax_.get_title(loc="left")


def test_support_vectors_are_projected_like_the_rows(wine):
    X, y = wine
    model = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, features="pca", grid_resolution=10)
    drawn = np.concatenate([c.get_offsets() for c in display.support_.values()])
    expected = display.points[model[-1].support_]
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(expected, axis=0))


def test_units_do_not_decide_which_plane_is_seen(wine):
    X, _ = wine
    scale = np.logspace(-3, 3, X.shape[1])
    here, there = make_plane(X, "pca"), make_plane(X * scale, "pca")
    np.testing.assert_allclose(here.project(X), there.project(X * scale), atol=1e-8)


def test_rows_of_the_principal_plane_lie_on_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5)) @ rng.normal(size=(5, 5))
    X[3, 2] = np.nan  # counts as the mean
    X[:, 4] = 7.0
    plane = make_plane(X, "pca")
    points = rng.normal(size=(20, 2))
    rows = plane.rows(points)
    np.testing.assert_allclose(plane.project(rows), points)
    np.testing.assert_allclose(rows[:, 4], 7.0)
    assert np.isfinite(plane.project(X)).all()


@pytest.fixture(scope="module")
def penguins():
    """Numbers beside names, as tables are."""
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 30)
    shift = np.where(y == "a", 0.0, 2.0)
    frame = pd.DataFrame(
        {
            "mass": rng.normal(shift),
            "island": rng.choice(["north", "south", "south"], 60),
            "length": rng.normal(shift),
            "age": rng.integers(1, 9, 60),
        }
    )
    prepare = make_column_transformer(
        (OneHotEncoder(), ["island"]), (StandardScaler(), ["mass", "length", "age"])
    )
    return frame, y, make_pipeline(prepare, SVC()).fit(frame, y)


def test_names_are_fixed_at_the_most_frequent(penguins):
    X, y, model = penguins
    display = BoundaryDisplay.from_estimator(
        model, X, y, features=("mass", "length"), grid_resolution=15
    )
    assert display.note == "2 other features fixed at the median or most frequent value"
    nodes = np.stack(np.meshgrid(*display.grid), axis=-1).reshape(-1, 2)
    rows = pd.DataFrame(
        {"mass": nodes[:, 0], "island": "south", "length": nodes[:, 1], "age": X["age"].median()}
    )
    np.testing.assert_array_equal(model.classes_[display.regions.ravel()], model.predict(rows))
    assert display.support_


@pytest.mark.parametrize("features", [("mass", "island"), "pca"])
def test_names_cannot_be_drawn(penguins, features):
    X, y, model = penguins
    with pytest.raises(ValueError, match="Only numbers can be drawn"):
        BoundaryDisplay.from_estimator(model, X, y, features=features)


@pytest.mark.filterwarnings("error")
def test_columns_that_are_numbered_stay_numbered():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 3)))
    y = (X[0] > 0).to_numpy()
    display = BoundaryDisplay.from_estimator(
        SVC().fit(X, y), X, y, features=(0, 2), grid_resolution=10
    )
    assert display.ax_.get_ylabel() == "2"
