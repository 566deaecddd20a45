"""The study of boundaries and of six ways to learn a curve."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from mercer.studies import get_study, run_study
from studies.baselines.study import make_plane
from studies.margins.network import PlainNetwork
from studies.margins.study import (
    BY_PRICE,
    BY_WIDTH,
    PRINTED,
    draw_prices,
    draw_six_times,
    draw_widths,
    make_set,
)


def test_the_gradient_of_the_network_is_that_of_its_loss() -> None:
    network = PlainNetwork(hidden=4, penalty=0.01)
    X, y = make_plane("moons", 15, seed=0)
    weights = np.random.default_rng(1).normal(size=2 * 4 + 4 + 4 + 1)
    numeric = approx_fprime(weights, lambda w: network.loss_and_gradient(w, X, y)[0], 1e-7)
    np.testing.assert_allclose(network.loss_and_gradient(weights, X, y)[1], numeric, atol=1e-6)


@pytest.mark.parametrize("training", ["CG", "BFGS"])
def test_minimisers_end_where_the_gradient_vanishes(training: str) -> None:
    X, y = make_plane("ring", 30, seed=0)
    network = PlainNetwork(training, hidden=4, penalty=0.01).fit(X, y)
    assert np.abs(network.loss_and_gradient(network.weights_, X, y)[1]).max() < 1e-4
    assert network.score(X, y) == 1.0


def test_steps_by_row_lower_the_loss_and_repeat_with_the_seed() -> None:
    X, y = make_plane("ring", 30, seed=0)
    few, more = (PlainNetwork("SGD", epochs=n).fit(X, y) for n in (1, 60))
    losses = [n.loss_and_gradient(n.weights_, X, y)[0] for n in (few, more)]
    assert losses[1] < 0.5 * losses[0]
    again = PlainNetwork("SGD", epochs=60).fit(X, y)
    np.testing.assert_array_equal(again.weights_, more.weights_)
    assert not np.array_equal(
        PlainNetwork("SGD", epochs=1, seed=1).fit(X, y).weights_, few.weights_
    )
    with pytest.raises(ValueError, match="training must be one of SGD, CG, BFGS; got 'Adam'"):
        PlainNetwork("Adam").fit(X, y)


def test_growing_prices_end_at_the_hard_margin() -> None:
    results = run_study(get_study("margins"), repetitions=2, only=["outlier"])
    rows = [row for row in results.table() if row["configuration"] == "outlier"]
    assert [row["method"] for row in rows] == list(BY_PRICE)
    widths = [row["half_width"] for row in rows]
    assert widths == sorted(widths, reverse=True)
    hard = rows[-1]
    assert hard["mean"] == 0.0
    assert hard["nearest"] == pytest.approx(hard["half_width"], rel=1e-2)
    assert rows[-2]["half_width"] == pytest.approx(hard["half_width"], rel=0.05)
    assert widths[0] > 2 * widths[-1]


def test_the_set_with_an_outlier_is_separable() -> None:
    for seed in range(5):
        X, y = make_set("outlier", 40, seed)
        normal = np.array([1.6, 1.1]) / np.hypot(1.6, 1.1)
        heights = X @ normal
        assert heights[y > 0].min() > heights[y < 0].max()
        assert heights[y > 0].argmin() == 0  # the outlier is the first row of its class
        X, y = make_set("overlap", 40, seed)
        assert (y * (X @ normal)).argsort()[:2].tolist() in ([0, 1], [1, 0])
        assert ((y * (X @ normal)) < 0).sum() == 2


def test_times_stand_beside_all_six_printed_ones(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert list(PRINTED.values()) == [13796.0, 1508.0, 15703.0, 1367.0, 42.0, 30.0]
    study = get_study("margins")
    only = ["moons/degree 4", "moons/gamma 1", "moons/network, CG", "moons/network, BFGS"]
    results = run_study(study, repetitions=1, only=only, out=tmp_path)
    assert not results.failures
    rows = {row["method"]: row for row in results.table()}
    assert rows["network, CG"]["printed_milliseconds"] == 1508.0
    assert {row["verdict_milliseconds"] for row in rows.values()} == {"not reproducible"}
    text = results.report()
    assert "| network, BFGS | 15703 |" in text
    assert "| network, SGD by row | 13796 |  |" in text  # not run
    labels = [label.get_text() for label in draw_six_times(results).axes[0].get_yticklabels()]
    assert sorted(labels) == sorted(rows)


def test_boundaries_of_all_prices_and_widths_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    results = run_study(get_study("margins"), repetitions=1, only=["outlier/C = 1"])
    panel, other = draw_prices(results).axes
    assert other.get_title() == "overlap"
    assert [text.get_text() for text in panel.get_legend().get_texts()] == list(BY_PRICE)
    panels = draw_widths(results).axes
    assert [ax.get_title() for ax in panels] == ["moons", "ring", "squares"]
    assert [t.get_text() for t in panels[0].get_legend().get_texts()] == list(BY_WIDTH)
