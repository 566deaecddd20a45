"""Pictures of choosing parameters show the numbers of the searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

plt = pytest.importorskip("matplotlib.pyplot")

from mercer import (  # noqa: E402
    SVC,
    CriterionDisplay,
    ErrorSurfaceDisplay,
    GradientSearch,
    PathSearchCV,
    WidthsDisplay,
)
from mercer.kernels import RBF, Linear, Weighted  # noqa: E402
from mercer.model_selection import evidence, span  # noqa: E402

X, Y = make_moons(90, noise=0.3, random_state=0)
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0, 10.0]}
L2 = SVC(loss="squared_hinge")


@pytest.fixture(scope="module", name="grid")
def a_grid() -> Any:
    return PathSearchCV(SVC(), GRID).fit(X, Y)


def test_surface_is_that_of_the_grid(grid: Any) -> None:
    display = ErrorSurfaceDisplay.from_search(grid)
    for params, score in zip(grid.cv_results_["params"], grid.cv_results_["mean_test_score"]):
        row, column = (GRID[name].index(params[name]) for name in ("C", "gamma"))
        assert display.errors[row, column] == pytest.approx(1.0 - score)
    best = next(line for line in display.ax_.lines if line.get_label() == "best of grid")
    place = {"C": best.get_ydata()[0], "gamma": best.get_xdata()[0]}
    score = 1.0 - display.errors[GRID["C"].index(place["C"]), GRID["gamma"].index(place["gamma"])]
    assert score == pytest.approx(grid.best_score_)
    assert display.path_ is None
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"


def test_surface_of_a_pipeline_and_further_parameters() -> None:
    names = {f"svc__{name}": values for name, values in GRID.items()}
    names["svc__loss"] = ["hinge", "squared_hinge"]
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), names, cv=3).fit(X, Y)
    display = ErrorSurfaceDisplay.from_search(search)
    assert display.errors.shape == (3, 4)
    assert display.errors.min() == pytest.approx(1.0 - search.best_score_)


def test_path_is_the_history(grid: Any) -> None:
    search = GradientSearch(L2, "evidence", n_starts=2, random_state=0).fit(X, Y)
    display = ErrorSurfaceDisplay.from_search(grid, path=search)
    shown = display.path[~np.isnan(display.path[:, 0])]
    expected = [(step["C"], step["kernel"].gamma) for step in search.history_]
    assert_array_equal(shown, expected)
    assert np.isnan(display.path).all(axis=1).sum() == 1  # between the two starts
    assert_array_equal(display.path_.get_ydata(), display.path[:, 0])
    star = next(line for line in display.ax_.lines if line.get_label() == "its choice")
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (
        search.best_params_["gamma"],
        search.best_params_["C"],
    )
    told = [text.get_text() for text in display.legend_.get_texts()]
    assert told == ["best of grid", "steps of the gradient search", "its starts", "its choice"]


def test_steps_with_many_widths_have_no_place_in_the_plane(grid: Any) -> None:
    search = GradientSearch(random_state=0).fit(X, Y)
    display = ErrorSurfaceDisplay.from_search(grid, path=search, legend=False)
    together = [step for step in search.history_ if step["stage"] == "together"]
    assert len(display.path) == len(together) < search.n_evaluations_
    assert display.legend_ is None


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({"C": [1.0, 2.0]}, "'gamma'"),
        ({"C": [1.0], "gamma": [0.1, 1.0]}, "two values"),
        ({"C": [1.0, 2.0], "gamma": ["scale", 1.0]}, "numbers"),
    ],
)
def test_grids_that_are_no_surface(grid: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ErrorSurfaceDisplay.from_search(PathSearchCV(SVC(), grid, cv=3).fit(X, Y))


def test_other_searches_have_no_path(grid: Any) -> None:
    with pytest.raises(TypeError, match="GradientSearch"):
        ErrorSurfaceDisplay.from_search(grid, path=grid)


def many_features() -> tuple[np.ndarray, np.ndarray]:
    points = np.random.default_rng(0).normal(size=(200, 5))
    return points, points[:, 1] ** 2 + points[:, 3] ** 2 < 1.4


def test_widths_are_those_of_the_kernel() -> None:
    pd = pytest.importorskip("pandas")
    points, labels = many_features()
    frame = pd.DataFrame(points, columns=list("abcde"))
    search = GradientSearch(random_state=0).fit(frame, labels)
    display = WidthsDisplay.from_estimator(search)
    assert_allclose(display.points_.get_ydata(), search.best_params_["gamma"])
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == list("abcde")
    together = [s for s in search.history_ if s["stage"] == "together"]
    best = min(together, key=lambda step: step["objective"])
    assert display.together_.get_ydata()[0] == best["kernel"].gamma
    ordered = WidthsDisplay.from_estimator(search, order="width")
    assert_allclose(ordered.points_.get_ydata(), np.sort(search.best_params_["gamma"])[::-1])
    names = [text.get_text() for text in ordered.ax_.get_xticklabels()]
    assert set(names[:2]) == {"b", "d"}


def test_widths_of_a_machine_in_a_pipeline() -> None:
    points, labels = many_features()
    scales = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    for kernel in (RBF(scales**2), Weighted(Linear(), scales)):
        model = make_pipeline(StandardScaler(), SVC(kernel=kernel)).fit(points, labels)
        display = WidthsDisplay.from_estimator(model)
        assert_allclose(display.widths, scales**2)
        assert display.together_ is None


def test_many_features_are_not_named_one_by_one() -> None:
    display = WidthsDisplay(widths=np.geomspace(1e-3, 1.0, 60)).plot()
    assert len(display.ax_.get_xticks()) < 20
    assert len(WidthsDisplay(widths=np.geomspace(1e-3, 1, 60)[::-1]).plot().ax_.get_xticks())
    assert not len(WidthsDisplay(widths=np.arange(1, 61)).plot(order="width").ax_.get_xticks())


@pytest.mark.parametrize(
    ("options", "words"),
    [({}, "one width for each feature"), ({"names": ["a"]}, "names"), ({"order": "name"}, "order")],
)
def test_widths_that_cannot_be_drawn(options: Any, words: str) -> None:
    kernel = RBF([0.5, 1.0]) if options else RBF(0.5)
    with pytest.raises(ValueError, match=words):
        WidthsDisplay.from_estimator(SVC(kernel=kernel).fit(X, Y), **options)


def test_criteria_against_errors() -> None:
    grid = {"C": [0.1, 10.0], "gamma": [0.01, 1.0, 100.0]}
    train, test = (X[:60], Y[:60]), (X[60:], Y[60:])
    display = CriterionDisplay.from_estimator(
        L2, *train, *test, criteria=["evidence", "span"], **grid
    )
    models = [
        SVC(C=C, gamma=gamma, loss="squared_hinge").fit(*train)
        for C in grid["C"]
        for gamma in grid["gamma"]
    ]
    errors = np.array([1.0 - model.score(*test) for model in models])
    assert_allclose(display.errors, errors)
    for name, function in (("evidence", evidence), ("span", span)):
        values = np.array([function(model, *train).value for model in models])
        assert_allclose(display.values[name], values)
        assert display.chosen_[name] == pytest.approx(errors[values.argmin()])
        assert_allclose(display.points_[name].get_ydata(), 100 * errors[values.argsort()])
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts[-1] == f"least error, {100 * errors.min():.1f} %"


def test_criteria_of_your_own() -> None:
    values = {"good": [1.0, 2.0, 3.0], "bad": [3.0, 2.0, 1.0]}
    display = CriterionDisplay(values=values, errors=[0.1, 0.2, 0.3]).plot(legend=False)
    assert display.correlations_ == {"good": pytest.approx(1.0), "bad": pytest.approx(-1.0)}
    assert display.chosen_ == {"good": 0.1, "bad": 0.3}
    own = CriterionDisplay.from_estimator(
        L2, X, Y, X, Y, criteria={"C": lambda model, X, y: model.C}, C=[1.0, 2.0], gamma=[1.0]
    )
    assert_array_equal(own.values["C"], [1.0, 2.0])
    constant = CriterionDisplay(values={"x": [1.0, 1.0]}, errors=[0.1, 0.2]).plot()
    assert np.isnan(constant.correlations_["x"])
    with pytest.raises(ValueError, match="one of evidence"):
        CriterionDisplay.from_estimator(L2, X, Y, X, Y, criteria="guess")
    with pytest.raises(ValueError, match="2 values"):
        CriterionDisplay(values={"x": [1.0, 2.0]}, errors=[0.1])


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_lines_can_be_read_in_every_style(style: str) -> None:
    from matplotlib.colors import to_rgb

    with plt.style.context(style):
        display = WidthsDisplay(widths=[0.1, 1.0], together=0.5).plot()
        criteria = CriterionDisplay(values={"a": [1.0, 2.0]}, errors=[0.1, 0.2]).plot()
        for ax, line in ((display.ax_, display.together_), (criteria.ax_, criteria.ax_.lines[-1])):
            contrast = np.abs(np.subtract(to_rgb(line.get_color()), to_rgb(ax.get_facecolor())))
            assert contrast.mean() > 0.5
