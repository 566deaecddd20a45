"""The picture shows what the classifier says."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs, make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mercer import SVC, MinimumCostClassifier
from mercer._extras import how_to_get
from mercer.plotting import BoundaryDisplay

plt = pytest.importorskip("matplotlib.pyplot")
to_rgba = pytest.importorskip("matplotlib.colors").to_rgba


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(120, noise=0.25, random_state=0)
    return X, y, SVC(C=5.0, gamma=1.0).fit(X, y)


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


def vertices(contours, level=0):
    return np.concatenate([s for s in contours.allsegs[level] if len(s)])


def test_boundary_lies_where_the_decision_function_changes_sign(moons):
    X, y, model = moons
    display = BoundaryDisplay.from_estimator(model, X, y)
    (boundary,) = display.boundary_
    steepness = np.abs(np.gradient(display.fields[0])[0]).max()
    assert np.abs(model.decision_function(vertices(boundary))).max() < 0.1 * steepness
    margin = display.margin_
    assert list(margin.levels) == [-1.0, 1.0]
    for level, f in enumerate(margin.levels):
        away = np.abs(model.decision_function(vertices(margin, level)) - f)
        assert away.max() < 0.1 * steepness


def test_regions_have_the_colour_of_the_prediction(moons):
    X, y, model = moons
    display = BoundaryDisplay.from_estimator(
        model, X, y, grid_resolution=40, colors=["#ff0000", "#0000ff"]
    )
    points = np.stack(np.meshgrid(*display.grid), axis=-1).reshape(-1, 2)
    image = np.asarray(display.regions_.get_array()).reshape(-1, 3)
    predicted = model.predict(points)
    assert set(predicted) == {0, 1}
    assert (image[predicted == 0, 0] > image[predicted == 0, 2]).all()
    assert (image[predicted == 1, 0] < image[predicted == 1, 2]).all()


def test_support_vectors_are_marked_by_kind_where_they_are(moons):
    X, y, model = moons
    display = BoundaryDisplay.from_estimator(model, X, y)
    for kind in ("margin", "bound"):
        expected = model.support_vectors_[model.support_kind_[0] == kind]
        assert len(expected) > 0
        drawn = display.support_[kind].get_offsets()
        np.testing.assert_allclose(drawn, expected)
    on_margin = np.asarray(display.support_["margin"].get_offsets())
    np.testing.assert_allclose(np.abs(model.decision_function(on_margin)), 1.0, atol=0.01)


def test_every_row_is_drawn_once_under_its_class(moons):
    X, y, model = moons
    display = BoundaryDisplay.from_estimator(model, X, y)
    for code, collection in enumerate(display.points_):
        np.testing.assert_allclose(collection.get_offsets(), X[y == code])
    shapes = [collection.get_paths()[0].vertices.tolist() for collection in display.points_]
    assert shapes[0] != shapes[1]


def test_legend_explains_everything_and_hides_no_data(moons):
    X, y, model = moons
    display = BoundaryDisplay.from_estimator(model, X, y)
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == [
        "class 0",
        "class 1",
        "boundary, f = 0",
        "margin, f = ±1",
        "support vector on the margin",
        "support vector at the bound C",
    ]
    display.figure_.canvas.draw()
    axes = display.ax_.get_window_extent()
    legend = display.legend_.get_window_extent()
    assert legend.x0 >= axes.x1
    assert legend.x1 <= display.figure_.bbox.x1
    assert BoundaryDisplay.from_estimator(model, X, y, legend=False).legend_ is None


def test_squared_hinge_does_not_claim_that_vectors_lie_on_the_margin(moons):
    X, y, _ = moons
    model = SVC(loss="squared_hinge").fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    assert list(display.support_) == ["slack"]
    np.testing.assert_allclose(display.support_["slack"].get_offsets(), model.support_vectors_)
    assert (model.slack_[model.support_] > 0).all()
    hard = SVC(C=np.inf, loss="squared_hinge", gamma=20.0).fit(X, y)
    display = BoundaryDisplay.from_estimator(hard, X, y)
    assert list(display.support_) == ["margin"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_a_frame_label_the_axes(iris, library):
    frame, y = iris
    X = frame.iloc[:, 2:]
    if library == "polars":
        X = pytest.importorskip("polars").DataFrame({name: X[name].to_numpy() for name in X})
    display = BoundaryDisplay.from_estimator(SVC().fit(X, y), X, y, grid_resolution=30)
    assert display.ax_.get_xlabel() == "petal length (cm)"
    assert display.ax_.get_ylabel() == "petal width (cm)"
    assert display.note == ""


def test_three_classes_have_regions_and_no_margin(iris):
    frame, y = iris
    X = frame.iloc[:, 2:]
    model = SVC().fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    assert set(np.unique(display.regions)) == {0, 1, 2}
    assert display.margin_ is None
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts[:4] == ["setosa", "versicolor", "virginica", "boundary"]
    at_bound = (model.support_kind_ == "bound").any(axis=0)
    assert len(display.support_["bound"].get_offsets()) == at_bound.sum()
    assert len(display.support_["margin"].get_offsets()) == (~at_bound).sum()


@pytest.mark.parametrize("classifier", [SVC(), DecisionTreeClassifier(random_state=0)])
def test_outlines_lie_where_the_prediction_changes(classifier):
    X, y = make_blobs(150, centers=4, cluster_std=2.0, random_state=1)
    classifier.fit(X, y)
    display = BoundaryDisplay.from_estimator(classifier, X, y, grid_resolution=60)
    assert len(display.boundary_) == 4
    cell = np.array([axis[1] - axis[0] for axis in display.grid])
    offsets = [(i, j) for i in (-1, 1) for j in (-1, 1)]
    for contours in display.boundary_:
        places = vertices(contours)
        around = [classifier.predict(places + 0.2 * cell * offset) for offset in offsets]
        changes = (np.array(around) != around[0]).any(axis=0)
        # At corners the straight piece of a line cuts the angle by a fraction of a cell.
        assert changes.mean() > 0.9


def test_other_features_are_fixed_at_the_median_and_it_says_so(iris):
    frame, y = iris
    model = SVC().fit(frame, y)
    display = BoundaryDisplay.from_estimator(
        model, frame, y, features=("petal length (cm)", 1), grid_resolution=25
    )
    assert display.ax_.get_title(loc="left") == "2 other features fixed at the median"
    rows = np.tile(frame.median().to_numpy(), (25 * 25, 1))
    across, up = np.meshgrid(*display.grid)
    rows[:, 2], rows[:, 1] = across.ravel(), up.ravel()
    frame_rows = type(frame)(rows, columns=frame.columns)
    shown = model.classes_[display.regions.ravel()]
    np.testing.assert_array_equal(shown, model.predict(frame_rows))


def test_pipelines_and_searches_show_their_support_vectors_in_the_data(moons):
    X, y, _ = moons
    scale = np.array([1.0, 1000.0])
    pipeline = make_pipeline(StandardScaler(), SVC(C=5.0))
    search = GridSearchCV(pipeline, {"svc__C": [1.0, 5.0]}, cv=3).fit(X * scale, y)
    display = BoundaryDisplay.from_estimator(search, X * scale, y)
    machine = search.best_estimator_[-1]
    drawn = np.concatenate([c.get_offsets() for c in display.support_.values()])
    expected = (X * scale)[machine.support_]
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(expected, axis=0))
    # Other rows than those of the fit: nothing is known of where the vectors lie.
    assert BoundaryDisplay.from_estimator(search, (X * scale)[::-1], y[::-1]).support_ == {}


@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(), RandomForestClassifier(10, random_state=0)],
    ids=lambda c: type(c).__name__,
)
def test_other_classifiers_have_a_boundary_but_no_margin(moons, classifier):
    X, y, _ = moons
    display = BoundaryDisplay.from_estimator(classifier.fit(X, y), X, y, grid_resolution=40)
    assert len(display.boundary_) == 1
    assert display.margin_ is None
    assert display.support_ == {}


def test_machines_of_scikit_learn_show_margin_and_support_vectors(moons):
    X, y, _ = moons
    model = svm.SVC(C=5.0, gamma=1.0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    for level, f in enumerate(display.margin_.levels):
        values = model.decision_function(vertices(display.margin_, level))
        np.testing.assert_allclose(values, f, atol=0.02)
    assert list(display.support_) == [""]
    np.testing.assert_allclose(display.support_[""].get_offsets(), model.support_vectors_)
    assert display.legend_.get_texts()[-1].get_text() == "support vector"
    linear = BoundaryDisplay.from_estimator(svm.LinearSVC().fit(X, y), X, y)
    assert list(linear.margin_.levels) == [-1.0, 1.0]


def test_support_vectors_behind_a_selection_of_features_are_rows_of_the_data():
    X, y = make_blobs(60, n_features=4, centers=2, cluster_std=4.0, random_state=0)
    selection = RFE(SVC(kernel="linear"), n_features_to_select=2).fit(X, y)
    display = BoundaryDisplay.from_estimator(selection, X, y, features=(0, 3), grid_resolution=20)
    drawn = np.concatenate([c.get_offsets() for c in display.support_.values()])
    expected = X[selection.estimator_.support_][:, [0, 3]]
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(expected, axis=0))


def test_a_threshold_of_its_own_moves_the_boundary(moons):
    X, y, model = moons
    moved = FixedThresholdClassifier(model, threshold=0.7, response_method="decision_function")
    display = BoundaryDisplay.from_estimator(moved.fit(X, y), X, y)
    values = model.decision_function(vertices(display.boundary_[0]))
    np.testing.assert_allclose(values, 0.7, atol=0.1)


@pytest.mark.parametrize("response_method", ["predict", "predict_proba"])
def test_what_is_rejected_has_no_colour(moons, response_method):
    X, y, _ = moons
    names = np.array(["left", "right"])[y]
    model = MinimumCostClassifier(LogisticRegression(), reject_cost=0.2, reject_label="?")
    model = make_pipeline(StandardScaler(), model).fit(X, names)
    display = BoundaryDisplay.from_estimator(model, X, names, response_method=response_method)
    across, up = np.meshgrid(*display.grid)
    said = model.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    np.testing.assert_array_equal(display.regions == 2, said == "?")
    image = np.asarray(display.regions_.get_array())
    white = (image == np.array(display.ax_.get_facecolor()[:3])).all(axis=-1)
    assert white[said == "?"].all()
    if response_method == "predict":
        assert not white[said != "?"].any()
    assert len(display.boundary_) == 2  # the outlines of both classes, with room between them
    found = model.predict_proba(np.concatenate([vertices(one) for one in display.boundary_]))
    np.testing.assert_allclose(found.max(axis=1), 0.8, atol=0.01)
    assert "rejected" in [text.get_text() for text in display.legend_.get_texts()]


def test_without_labels_all_points_look_alike(moons):
    X, _, model = moons
    display = BoundaryDisplay.from_estimator(model, sp.csr_array(X))
    (collection,) = display.points_
    assert len(collection.get_offsets()) == len(X)
    # Nothing but the legend says then which class a region belongs to.
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts[:2] == ["class 0", "class 1"]
    region = np.asarray(display.regions_.get_array())[display.regions == 1][0]
    np.testing.assert_allclose(display.legend_.get_patches()[1].get_facecolor()[:3], region)


def test_many_classes_differ_in_colour():
    X, y = make_blobs(200, centers=12, random_state=0)
    display = BoundaryDisplay.from_estimator(SVC().fit(X, y), X, y, grid_resolution=30)
    colors = {tuple(collection.get_facecolor()[0]) for collection in display.points_}
    assert len(colors) == 12
    handles = display.legend_.legend_handles[:12]
    assert {tuple(to_rgba(handle.get_color())) for handle in handles} == colors


def test_many_points_are_small_and_do_not_hide_lines_or_colours():
    X, y = make_moons(1500, noise=0.35, random_state=0)
    model = SVC().fit(X, y)
    assert model.support_.size > 300
    few = BoundaryDisplay.from_estimator(model, X[:100], y[:100], grid_resolution=30)
    many = BoundaryDisplay.from_estimator(model, X, y, grid_resolution=30)
    assert many.points_[0].get_sizes()[0] < 0.5 * few.points_[0].get_sizes()[0]
    assert many.boundary_[0].get_zorder() > many.points_[0].get_zorder()
    assert many.support_["bound"].get_zorder() < many.points_[0].get_zorder()
    assert few.boundary_[0].get_zorder() < few.points_[0].get_zorder()


def test_draws_into_a_given_axis_and_again(moons):
    X, y, model = moons
    figure, (left, right) = plt.subplots(1, 2)
    display = BoundaryDisplay.from_estimator(model, X, y, ax=left)
    assert display.ax_ is left
    assert display.figure_ is figure
    assert display.plot(right).ax_ is right
    assert right.has_data()


def test_lines_are_readable_in_a_dark_style(moons):
    X, y, model = moons
    with plt.style.context("dark_background"):
        display = BoundaryDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(display.boundary_[0].get_edgecolor()[0][:3], 1.0)
    assert np.asarray(display.regions_.get_array()).mean() < 0.3


def test_constant_column_and_no_boundary_in_sight():
    X = np.array([[0.0, 1.0], [1.0, 1.0], [9.0, 1.0], [10.0, 1.0]])
    y = ["a", "a", "b", "b"]
    model = SVC(kernel="linear").fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X[:2], y[:2])
    assert display.boundary_ == []
    assert display.grid[1][0] < 1.0 < display.grid[1][-1]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"X": np.arange(480.0).reshape(120, 4)},
            "X has 4 features, but SVC is expecting 2 features",
        ),
        ({"X": np.zeros((3, 1))}, "X has 1 feature; give it two."),
        ({"X": np.zeros((0, 2))}, "at least one row"),
        ({"X": [["a", "b"]]}, "Only numbers can be drawn"),
        ({"features": (0, 0)}, "two different columns"),
        ({"features": (0,)}, "features must name two columns"),
        ({"features": (0, 7)}, "there is no column 7"),
        ({"features": ("width", 0)}, "no column named 'width'"),
        ({"y": [0, 1]}, "X has 120 rows, but y has 2."),
        ({"y": np.full(120, 5)}, "which is none of the classes"),
        ({"grid_resolution": 1}, "grid_resolution must be at least 2; got 1."),
        ({"eps": -0.1}, "eps must be a number from 0 upwards"),
        ({"estimator": LinearRegression()}, "Only classifiers and one-class machines"),
        ({"features": "umap"}, "features must name two columns or be 'pca'; got 'umap'."),
        ({"X": np.zeros((3, 1)), "features": "pca"}, "at least two rows and two features"),
        ({"response_method": "margin"}, "response_method must be one of"),
        ({"response_method": "predict_proba"}, "SVC gives no probabilities to shade"),
    ],
)
def test_bad_input_gets_one_sentence(moons, change, sentence):
    X, y, model = moons
    arguments = {"estimator": model, "X": X, "y": y} | change
    with pytest.raises(ValueError, match=re.escape(sentence)):
        BoundaryDisplay.from_estimator(**arguments)
    assert plt.get_fignums() == []


def test_many_columns_are_projected():
    """The README's line runs as it stands: 30 features get their principal plane."""
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC(C=10.0)).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    chosen = BoundaryDisplay.from_estimator(model, X, y, features="pca")
    np.testing.assert_array_equal(display.regions, chosen.regions)
    assert display.ax_.get_xlabel().startswith("principal component 1 (44")
    assert 0 < (display.regions == 1).mean() < 1


def test_columns_of_text_are_not_projected():
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [3.0, 1.0, 2.0], "c": ["u", "v", "u"]})
    encoder = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    model = make_pipeline(encoder, SVC()).fit(table, [0, 1, 1])
    with pytest.raises(ValueError, match=r"not numbers.*features=\(i, j\)"):
        BoundaryDisplay.from_estimator(model, table)
    display = BoundaryDisplay.from_estimator(model, table, features=("a", "b"))
    assert display.note == "1 other feature fixed at the most frequent value"


def test_precomputed_kernels_have_no_picture(moons):
    X, y, _ = moons
    model = SVC(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="no features to draw"):
        BoundaryDisplay.from_estimator(model, X, y)


def test_says_how_to_get_matplotlib(moons, monkeypatch):
    X, y, model = moons
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=re.escape(how_to_get("app"))):
        BoundaryDisplay.from_estimator(model, X, y)
