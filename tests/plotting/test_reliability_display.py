"""Reliability diagrams are scikit-learn's, with scores that are right."""

import re

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC
from mercer.plotting import ReliabilityDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(400, noise=0.3, random_state=0)
    models = {
        "linear": LogisticRegression().fit(X[::2], y[::2]),
        "svm": CalibratedClassifierCV(SVC(), ensemble=False).fit(X[::2], y[::2]),
    }
    return X[1::2], y[1::2], models


def texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_curves_are_those_of_scikit_learn(moons):
    X, y, models = moons
    display = ReliabilityDisplay.from_estimator(models, X, y, n_bins=8, strategy="quantile")
    for drawn, model in zip(display.displays_, models.values(), strict=True):
        p = model.predict_proba(X)[:, 1]
        share, mean = calibration_curve(y, p, n_bins=8, strategy="quantile")
        np.testing.assert_allclose(drawn.line_.get_xydata(), np.column_stack([mean, share]))
    assert display.ax_.get_ylabel() == "share of class 1"
    assert display.histogram_ax_.get_xlabel() == "predicted probability of class 1"


def test_legend_names_the_scores(moons):
    X, y, models = moons
    display = ReliabilityDisplay.from_estimator(models, X, y)
    expected = []
    for name, model in models.items():
        p = model.predict_proba(X)
        expected.append(f"{name}: {brier_score_loss(y, p[:, 1]):.3f}, {log_loss(y, p):.3f}")
    assert texts(display) == [*expected, "perfectly calibrated"]
    assert display.legend_.get_title().get_text() == "Brier score, log loss"
    lines = [drawn.line_ for drawn in display.displays_]
    assert len({(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}) == 2


def test_histogram_counts_the_rows(moons):
    X, y, models = moons
    display = ReliabilityDisplay.from_estimator(models["svm"], X, y, n_bins=10)
    (steps,) = display.histogram_ax_.patches
    p = models["svm"].predict_proba(X)[:, 1]
    counts = np.histogram(p, np.linspace(0, 1, 11))[0]
    # The outline goes up and down once a bin.
    np.testing.assert_allclose(steps.get_xy()[1:-1:2, 1], counts)


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_many_classes_show_the_most_probable(load):
    X, y = load(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    display = ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2])
    p, truth = model.predict_proba(X[1::2]), y[1::2]
    share, mean = calibration_curve(p.argmax(axis=1) == truth, p.max(axis=1), n_bins=10)
    np.testing.assert_allclose(
        display.displays_[0].line_.get_xydata(), np.column_stack([mean, share])
    )
    (scores,) = display.models.values()
    np.testing.assert_allclose(scores.log_loss, log_loss(truth, p), rtol=1e-6)
    hits = np.eye(p.shape[1])[truth]
    np.testing.assert_allclose(
        scores.brier, np.mean([np.sum((a - b) ** 2) for a, b in zip(p, hits)])
    )
    assert display.ax_.get_ylabel() == "share that is right"


def test_one_class_against_the_rest():
    X, y = load_iris(return_X_y=True)
    y = load_iris().target_names[y]
    model = GaussianNB().fit(X[::2], y[::2])
    display = ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2], pos_label="versicolor")
    p, truth = model.predict_proba(X[1::2])[:, 1], y[1::2] == "versicolor"
    share, mean = calibration_curve(truth, p, n_bins=10)
    np.testing.assert_allclose(
        display.displays_[0].line_.get_xydata(), np.column_stack([mean, share])
    )
    (scores,) = display.models.values()
    np.testing.assert_allclose(scores.brier, brier_score_loss(truth, p))
    assert display.ax_.get_ylabel() == "share of versicolor"


def test_predictions_of_the_second_class_are_enough(moons):
    X, y, models = moons
    p = models["svm"].predict_proba(X)
    short = ReliabilityDisplay.from_predictions(y, p[:, 1])
    whole = ReliabilityDisplay.from_predictions(y, p)
    assert short.models[""].brier == whole.models[""].brier
    assert texts(short)[0] == f"{short.models[''].brier:.3f}, {short.models[''].log_loss:.3f}"
    first = ReliabilityDisplay.from_predictions(y, p, pos_label=0)
    np.testing.assert_allclose(first.models[""].brier, short.models[""].brier)
    np.testing.assert_allclose(first.models[""].probability, p[:, 0])


def test_certainty_that_is_wrong_costs_much_but_not_everything():
    display = ReliabilityDisplay.from_predictions([0, 1, 1, 0], [0.0, 1.0, 0.0, 0.0])
    assert display.models[""].brier == 0.25
    assert 5 < display.models[""].log_loss < 20


def test_models_without_names_are_called_by_their_type(moons):
    X, y, models = moons
    scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    display = ReliabilityDisplay.from_estimator([models["linear"], models["svm"], scaled], X, y)
    names = ["LogisticRegression", "CalibratedClassifierCV", "LogisticRegression 2"]
    assert list(display.models) == names


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_legible_in_every_style(moons, style):
    X, y, models = moons
    with plt.style.context(style):
        display = ReliabilityDisplay.from_estimator(models, X, y)
    # scikit-learn draws the diagonal in black; ours has the colour of the texts.
    diagonal = display.ax_.lines[0]
    assert diagonal.get_color() == display.ax_.xaxis.label.get_color()
    display.figure_.canvas.draw()
    whole = display.figure_.bbox
    for artist in (display.ax_, display.histogram_ax_, display.legend_):
        box = artist.get_tightbbox()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1
    upper, lower = display.ax_.get_window_extent(), display.histogram_ax_.get_window_extent()
    assert upper.y0 > lower.y1
    np.testing.assert_allclose([upper.x0, upper.x1], [lower.x0, lower.x1])


def test_draws_into_a_given_axis(moons):
    X, y, models = moons
    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    display = ReliabilityDisplay.from_estimator(models, X, y, ax=left, legend=False)
    assert display.ax_ is left
    assert display.legend_ is None
    assert left.get_legend() is None
    figure.canvas.draw()
    assert display.histogram_ax_.get_window_extent().x1 < right.get_window_extent().x0
    by_hand = plt.figure().add_axes([0.1, 0.4, 0.8, 0.5])
    display.plot(by_hand)
    assert display.histogram_ax_.get_window_extent().y1 < by_hand.get_window_extent().y0


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (
            lambda X, y: ReliabilityDisplay.from_estimator(LinearRegression().fit(X, y), X, y),
            "Reliability needs a classifier with predict_proba; got LinearRegression.",
        ),
        (lambda X, y: ReliabilityDisplay.from_estimator(SVC().fit(X, y), X, y), "got SVC."),
        (lambda X, y: ReliabilityDisplay.from_estimator({}, X, y), "At least one classifier"),
        (
            lambda X, y: ReliabilityDisplay.from_estimator(
                [GaussianNB().fit(X, y), GaussianNB().fit(X, y + 1)], X, y
            ),
            "The models must have the same classes",
        ),
        (
            lambda X, y: ReliabilityDisplay.from_predictions(y, np.full(200, 1.5)),
            "Probabilities lie from 0 to 1; got -0.5 to 1.5.",
        ),
        (
            lambda X, y: ReliabilityDisplay.from_predictions(y, np.zeros((200, 3))),
            "need probabilities of shape (200, 2); got (200, 3).",
        ),
        (
            lambda X, y: ReliabilityDisplay.from_predictions(y, np.zeros(200), pos_label="x"),
            "pos_label must be one of the classes [0, 1]; got 'x'.",
        ),
    ],
)
def test_bad_input_gets_one_sentence(moons, draw, sentence):
    X, y, _ = moons
    with pytest.raises(ValueError, match=re.escape(sentence)):
        draw(X, y)
    assert plt.get_fignums() == []
