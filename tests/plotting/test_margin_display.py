"""Histograms of margins: who is on the wrong side, who inside the margin."""

import re

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC
from mercer.plotting import MarginDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(200, noise=0.3, random_state=0)
    return X, y, SVC().fit(X, y)


def texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def heights(display, code):
    """Return the bars of a class, the first bin's left edge and the width of a bin."""
    values, edges, base = display.bars_[code].get_data()
    return values - base, edges


def test_margins_of_two_classes_are_y_f(moons):
    X, y, model = moons
    display = MarginDisplay.from_estimator(model, X, y)
    expected = np.where(y == 1, 1, -1) * model.decision_function(X)
    np.testing.assert_allclose(display.margins, expected)
    errors, within = display.shares()
    for code in (0, 1):
        assert errors[code] == np.mean(model.predict(X[y == code]) != code)
    # Inside the margin lies what has slack but no error; the rest of the slack are errors.
    inside = [np.mean(model.slack_[y == code] > 0.01) for code in (0, 1)]
    np.testing.assert_allclose(errors + within, inside)
    assert texts(display) == [
        f"class 0: {errors[0]:.1%}, {within[0]:.1%}",
        f"class 1: {errors[1]:.1%}, {within[1]:.1%}",
        "boundary",
        "margin",
    ]
    assert display.legend_.get_title().get_text() == "errors, within the margin"
    assert display.ax_.get_xlabel() == "functional margin y f(x)"
    assert [line.get_xdata()[0] for line in display.lines_] == [0.0, 1.0]


def test_bars_hold_every_row_and_part_at_0_and_1(moons):
    X, y, model = moons
    display = MarginDisplay.from_estimator(model, X, y)
    for code in (0, 1):
        bars, edges = heights(display, code)
        assert np.isclose(edges, 0.0).any()
        assert np.isclose(edges, 1.0).any()
        share = bars / bars.sum()
        errors, within = (shares[code] for shares in display.shares())
        left = edges[1:] <= 1e-9
        np.testing.assert_allclose(share[left].sum(), errors, atol=1e-9)
        np.testing.assert_allclose(share[(edges[1:] < 1 + 1e-9) & ~left].sum(), within, atol=1e-9)
    assert edges[0] <= display.margins.min()
    assert edges[-1] > display.margins.max()


def test_rows_do_not_overlap_and_bear_the_names():
    X, y = load_iris(return_X_y=True)
    y = load_iris().target_names[y]
    display = MarginDisplay.from_estimator(SVC().fit(X, y), X, y)
    bases = [float(np.ravel(patch.get_data().baseline)[0]) for patch in display.bars_]
    assert bases == [2, 1, 0]
    assert all(
        patch.get_data().values.max() < base + 1 for patch, base in zip(display.bars_, bases)
    )
    ticks = dict(zip(display.ax_.get_yticks(), display.ax_.get_yticklabels()))
    assert [ticks[base].get_text() for base in bases] == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize("n_classes", [3, 10])
def test_margins_of_many_classes_are_differences(n_classes):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    display = MarginDisplay.from_estimator(model, X, y)
    values = model.decision_function(X)
    for row in range(0, len(X), 37):
        others = np.delete(values[row], y[row])
        np.testing.assert_allclose(display.margins[row], values[row, y[row]] - others.max())
    wrong = model.predict(X) != y
    np.testing.assert_array_equal(display.margins < 0, wrong)
    assert len(display.bars_) == n_classes
    assert not display.has_margin
    assert len(display.lines_) == 1
    assert "best other" in display.ax_.get_xlabel()


def test_machines_in_pairs_show_the_weakest_pair():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    display = MarginDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(display.margins, model[-1].margins(model[0].transform(X), y))
    assert display.legend_.get_title().get_text() == "a pair lost, within the margin"
    assert "pairs with the true class" in display.ax_.get_xlabel()
    rest = SVC(multi_class="ovr").fit(X, y)
    display = MarginDisplay.from_estimator(rest, X, y)
    np.testing.assert_array_equal(display.margins < 0, rest.predict(X) != y)
    assert display.legend_.get_title().get_text() == "errors"


def test_only_machines_with_a_margin_have_a_line_at_1(moons):
    X, y, _ = moons
    assert not MarginDisplay.from_estimator(LogisticRegression().fit(X, y), X, y).has_margin
    assert MarginDisplay.from_estimator(svm.SVC().fit(X, y), X, y).has_margin
    assert MarginDisplay.from_estimator(svm.LinearSVC().fit(X, y), X, y).has_margin


def test_predictions_are_enough():
    y = ["no", "no", "yes", "yes"]
    display = MarginDisplay.from_predictions(y, [-2.0, 0.5, 0.5, 3.0], has_margin=True)
    np.testing.assert_allclose(display.margins, [2.0, -0.5, 0.5, 3.0])
    errors, within = display.shares()
    np.testing.assert_allclose(errors, [0.5, 0.0])
    np.testing.assert_allclose(within, [0.0, 0.5])
    assert texts(display)[:2] == ["no: 50.0%, 0.0%", "yes: 0.0%, 50.0%"]


def test_wide_ranges_have_whole_numbers_as_edges():
    rng = np.random.default_rng(0)
    display = MarginDisplay.from_predictions(rng.integers(0, 2, 500), 100 * rng.normal(size=500))
    _, edges = heights(display, 0)
    np.testing.assert_allclose(edges, np.round(edges))
    assert 15 < len(edges) < 45


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_nothing_is_cut_off(n_classes, style):
    rng = np.random.default_rng(0)
    y = np.arange(200) % n_classes
    decision = rng.normal(size=200) if n_classes == 2 else rng.normal(size=(200, n_classes))
    with plt.style.context(style):
        display = MarginDisplay.from_predictions(y, decision)
    display.figure_.canvas.draw()
    whole = display.figure_.bbox
    for artist in (display.ax_, display.legend_):
        box = artist.get_tightbbox()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1


def test_draws_into_a_given_axis_without_legend(moons):
    X, y, model = moons
    figure, ax = plt.subplots()
    display = MarginDisplay.from_estimator(model, X, y, ax=ax, legend=False, bins=10)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.legend_ is None
    assert len(heights(display, 0)[0]) <= 15


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (
            lambda X, y: MarginDisplay.from_estimator(LinearRegression().fit(X, y), X, y),
            "Margins need a classifier with decision_function; got LinearRegression.",
        ),
        (
            lambda X, y: MarginDisplay.from_estimator(KNeighborsClassifier().fit(X, y), X, y),
            "got KNeighborsClassifier.",
        ),
        (
            lambda X, y: MarginDisplay.from_estimator(
                svm.SVC(decision_function_shape="ovo").fit(X, np.arange(len(X)) % 3),
                X,
                np.arange(len(X)) % 3,
            ),
            "set decision_function_shape='ovr'.",
        ),
        (
            lambda X, y: MarginDisplay.from_predictions(y, np.zeros((200, 2))),
            "need decision values of shape (200,); got (200, 2).",
        ),
        (
            lambda X, y: MarginDisplay.from_predictions(y, np.zeros(5)),
            "X has 5 rows, but y has 200.",
        ),
        (
            lambda X, y: MarginDisplay.from_predictions(y, np.zeros(200), bins=0),
            "bins must be at least 1; got 0.",
        ),
    ],
)
def test_bad_input_gets_one_sentence(moons, draw, sentence):
    X, y, _ = moons
    with pytest.raises(ValueError, match=re.escape(sentence)):
        draw(X, y)
