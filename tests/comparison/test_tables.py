"""All models on tables as people have them."""

import numpy as np
import pandas as pd
import pytest

from mercer import compare
from mercer.comparison.rivals import CLASSIFIERS, REGRESSIONS

pytestmark = pytest.mark.usefixtures("no_insights")
ONCE = {"folds": 2, "repeats": 1, "minutes": 5}


def mixed(n=60, seed=0):
    """Return categories, dates, text and gaps, of which the first column decides."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "blue", "green"], n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D"),
            "text": [" ".join(rng.choice(["good", "bad", "ugly", "nice"], 6)) for _ in range(n)],
        }
    )
    target = frame["size"] + (frame["colour"] == "red") + 0.2 * rng.normal(size=n)
    frame.loc[::7, "size"] = np.nan
    frame.loc[::5, "colour"] = None
    return frame, target.to_numpy()


def runs_through(found, rivals, exceptions=()):
    assert set(found.left_out_models) <= set(exceptions)
    assert set(found.results_.index) >= {rival.name for rival in rivals} - set(exceptions)
    assert found.results_[found.measure].notna().all()
    assert found.results_.loc[found.best_name_, "verdict"] == "best"


def test_mixed_columns_with_all_classifiers():
    frame, target = mixed()
    found = compare(frame, np.where(target > 0.3, "high", "low"), **ONCE)
    # Newer versions of scikit-learn refuse a covariance of fewer rows than columns.
    runs_through(found, CLASSIFIERS, exceptions=["qda"])
    assert found.results_["error"].iloc[0] < 0.35
    new, _ = mixed(20, seed=1)
    new["colour"] = "violet"  # not seen before
    assert set(found.best_.predict(new)) <= {"high", "low"}


def test_mixed_columns_with_all_regressions():
    frame, target = mixed()
    found = compare(frame, target, **ONCE)
    runs_through(found, REGRESSIONS)
    assert found.results_["r2"].iloc[0] > 0.2
    assert np.isfinite(found.best_.predict(mixed(20, seed=1)[0])).all()


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 31)
    X = rng.normal(size=(62, 2000))
    X[:, :20] += 1.5 * y[:, None]
    models = "lda,logistic,qda,svc,fuzzy"
    found = compare(X, np.where(y, "tumour", "normal"), models=models, **ONCE)
    assert found.left_out_models == {
        "qda": "more than 300 columns",
        "fuzzy": "more than 200 columns",
    }
    assert found.results_["error"].iloc[0] < 0.15


def test_many_classes():
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(25, 3))
    y = np.repeat(np.arange(25), 6)
    X = centres[y] + rng.normal(size=(150, 3))
    models = "lda,tree,neighbours,svc"
    found = compare(X, [f"k{k}" for k in y], models=models, **ONCE)
    assert found.left_out_models == {}
    assert found.results_.loc["dummy", "error"] == pytest.approx(0.96)
    assert found.results_["error"].iloc[0] < 0.4
    assert found.scores_["lda"].shape == (150, 25)


def test_sorted_rows_are_tuned_on_shuffled_parts():
    """People sort tables by what they want to know; parts in that order would mislead a search."""
    X = np.linspace(0.0, 1.0, 120)[:, None]
    y = np.sin(12 * X[:, 0])
    found = compare(np.c_[X, X**2], y, models="neighbours,tree", **ONCE)
    assert found.fitted("neighbours")["model"].n_neighbors <= 5
    assert found.results_.loc["neighbours", "r2"] > 0.95
