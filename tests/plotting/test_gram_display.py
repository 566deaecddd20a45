"""The matrix that is drawn is the kernel matrix, sorted by class."""

import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_iris, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC
from mercer.kernels import RBF
from mercer.plotting import GramDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    order = np.random.default_rng(0).permutation(150)
    return data.data[order], data.target_names[data.target][order]


def test_matrix_is_that_of_the_machine_sorted_by_class(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    display = GramDisplay.from_estimator(model, X, y)
    order = np.argsort(y, kind="stable")
    expected = model[-1].kernel_(model[0].transform(X[order]))
    np.testing.assert_allclose(display.image_.get_array(), expected)
    np.testing.assert_array_equal(display.rows, order)
    assert display.colorbar_.ax.get_ylabel() == "kernel value, RBF(gamma=0.25)"
    assert display.ax_.get_title(loc="left") == ""


def test_borders_and_names_stand_where_the_classes_do(iris):
    X, y = iris
    unequal = np.concatenate([np.flatnonzero(y == "setosa")[:10], np.flatnonzero(y != "setosa")])
    display = GramDisplay.from_kernel("rbf", X[unequal], y[unequal])
    horizontal, vertical = display.borders_[:2], display.borders_[2:]
    assert [line.get_ydata()[0] for line in horizontal] == [9.5, 59.5]
    assert [line.get_xdata()[0] for line in vertical] == [9.5, 59.5]
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        names = [label.get_text() for label in axis.get_ticklabels()]
        assert names == ["setosa", "versicolor", "virginica"]
        np.testing.assert_allclose(axis.get_ticklocs(), [4.5, 34.5, 84.5])


@pytest.mark.parametrize(
    "machine", [svm.SVC(gamma=0.3), svm.SVC(kernel="poly", coef0=1.0, degree=2), SVC(gamma=0.3)]
)
def test_machines_of_scikit_learn_work_too(iris, machine):
    X, y = iris
    display = GramDisplay.from_estimator(machine.fit(X, y), X, y)
    rows = X[display.rows]
    expected = RBF(gamma=0.3)(rows)
    if machine.kernel == "poly":
        gamma = 1 / (X.shape[1] * X.var())
        expected = (gamma * rows @ rows.T + 1.0) ** 2
    np.testing.assert_allclose(display.matrix, expected)


def test_precomputed_matrices_are_sorted_in_both_directions(iris):
    X, y = iris
    K = RBF(gamma=0.3)(X)
    model = SVC(kernel="precomputed").fit(K, y)
    for display in (GramDisplay.from_estimator(model, K, y), GramDisplay.from_matrix(K, y)):
        np.testing.assert_allclose(display.matrix, GramDisplay.from_kernel(RBF(0.3), X, y).matrix)


def test_many_rows_are_thinned_the_same_way_each_time():
    X, y = make_blobs(3000, centers=[[0, 0], [3, 3]], random_state=0)
    y[7] = 2  # a class of one row
    display = GramDisplay.from_kernel("rbf", X, y, max_rows=200)
    assert 190 <= len(display.matrix) <= 200
    note = display.ax_.get_title(loc="left")
    assert note == f"{len(display.matrix)} of 3000 rows, evenly spaced"
    assert 7 in display.rows
    counts = np.bincount(display.labels) / len(display.labels)
    np.testing.assert_allclose(counts, [0.5, 0.5, 0.005], atol=0.02)
    np.testing.assert_array_equal(display.labels, y[display.rows])
    again = GramDisplay.from_kernel("rbf", X, y, max_rows=200)
    np.testing.assert_array_equal(display.rows, again.rows)
    # The width is that of all rows, not of those that are shown.
    np.testing.assert_allclose(display.matrix, RBF("scale").resolve(X)(X[display.rows]))


def test_negative_values_get_two_colours_that_meet_at_zero(iris):
    X, y = iris
    centred = X - X.mean(axis=0)
    display = GramDisplay.from_kernel("linear", centred, y)
    low, high = display.image_.get_clim()
    assert low == -high < 0
    assert display.image_.get_cmap().name == "RdBu_r"
    assert GramDisplay.from_kernel("rbf", X, y).image_.get_cmap().name == "viridis"


def test_a_few_large_values_do_not_hide_the_others(iris):
    X, y = iris
    X = X - X.mean(axis=0)
    X[0] *= 100
    display = GramDisplay.from_kernel("linear", X, y)
    assert display.image_.get_clim()[1] < 0.02 * display.matrix.max()
    assert display.colorbar_.extend in ("max", "both")
    # A narrow kernel, though, must show a bright diagonal on dark ground.
    narrow = GramDisplay.from_kernel(RBF(gamma=1e4), X, y)
    assert narrow.image_.get_clim() == (0.0, 1.0)
    assert narrow.colorbar_.extend == "neither"


def test_without_labels_rows_keep_their_order(iris):
    X, _ = iris
    display = GramDisplay.from_kernel("rbf", X)
    np.testing.assert_array_equal(display.rows, np.arange(150))
    assert display.borders_ == []
    assert display.ax_.get_xlabel() == "row"


def test_ten_classes_fit_beside_the_matrix():
    X, y = make_blobs(300, centers=10, random_state=0)
    for style in ("default", "dark_background"):
        with plt.style.context(style):
            display = GramDisplay.from_kernel("rbf", X, y)
        display.figure_.canvas.draw()
        labels = display.ax_.get_yticklabels()
        assert [label.get_text() for label in labels] == [f"class {c}" for c in range(10)]
        boxes = [label.get_window_extent() for label in labels]
        assert all(a.y0 >= b.y1 for a, b in pairwise(boxes))
        across = display.ax_.get_xticklabels()
        assert min(label.get_window_extent().y0 for label in across) >= 0
        assert min(box.x0 for box in boxes) >= 0


def test_draws_into_a_given_axis(iris):
    X, y = iris
    figure, (left, _) = plt.subplots(1, 2)
    display = GramDisplay.from_kernel("rbf", X, y, ax=left, vmax=2.0)
    assert display.ax_ is left
    assert display.figure_ is figure
    assert display.image_.get_clim()[1] == 2.0


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda X, y: GramDisplay.from_matrix(X, y), "A kernel matrix is square; got"),
        (lambda X, y: GramDisplay.from_kernel("rbf", X, y[:4]), "X has 150 rows, but y has 4."),
        (
            lambda X, y: GramDisplay.from_kernel("rbf", X, y, max_rows=0),
            "max_rows must be at least",
        ),
        (
            lambda X, y: GramDisplay.from_estimator(
                LogisticRegression(max_iter=999).fit(X, y), X, y
            ),
            "LogisticRegression has no kernel",
        ),
    ],
)
def test_bad_input_gets_one_sentence(iris, draw, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        draw(*iris)
    assert plt.get_fignums() == []
