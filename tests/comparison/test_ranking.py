"""Ranks, ties and the words for them."""

import numpy as np
import pytest
from scipy.stats import t as student

from mercer.comparison import compare, compare_table, paired_difference
from mercer.comparison.comparison import Comparison
from mercer.comparison.folds import make_folds
from mercer.comparison.outcome import Outcome
from mercer.comparison.race import Race
from mercer.comparison.rivals import PEERS, rivals_for
from mercer.comparison.setting import Setting
from mercer.model_selection.search_record import SearchRecord
from mercer.tables import as_table


def judged(errors, folds=4):
    """Return the comparison of models that have these errors on the folds."""
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.array(["a", "b"] * 20)
    table = as_table(X, y)
    cut = make_folds(table, folds, 1, 0)
    record = SearchRecord.open("x", None)
    race = Race(
        table,
        *(rivals_for("classification", list(errors)), cut, ["a", "b"], False, 0, None, 60.0),
        *(record, lambda *told: None),
    )
    outcomes = [
        Outcome(name, 0, fold.fold, {"error": error} | rest, 0.1, 0.1, 9, 30, fold.test * 0.0, None)
        for name, row in errors.items()
        for fold, error in zip(cut, row)
    ]
    return Comparison(race, outcomes, "error", {"folds": folds})


rest = dict.fromkeys(["balanced_error", "roc_auc", "log_loss", "brier", "f1"], 0.5)
HALF = [0.5, 0.5, 0.5, 0.5]


def test_the_corrected_test_by_its_formula():
    rng = np.random.default_rng(0)
    first, second = rng.uniform(size=10), rng.uniform(size=10)
    gaps = first - second
    variance = (1 / 10 + 1 / 4) * gaps.var(ddof=1)
    difference, half = paired_difference(first, second, 1 / 4)
    assert difference == pytest.approx(gaps.mean())
    assert half == pytest.approx(student.ppf(0.975, 9) * np.sqrt(variance))
    wider = paired_difference(first, second, 1 / 4, confidence=0.99)[1]
    assert wider / half == pytest.approx(student.ppf(0.995, 9) / student.ppf(0.975, 9))
    assert paired_difference([0.3], [0.1], 0.25) == (pytest.approx(0.2), np.inf)


def test_verdicts_and_the_simplest():
    found = judged(
        {
            "dummy": HALF,
            "forest": [0.10, 0.12, 0.11, 0.11],
            "lda": [0.12, 0.11, 0.13, 0.12],
            "tree": [0.30, 0.31, 0.32, 0.30],
        }
    )
    assert found.results_.index.tolist() == ["forest", "lda", "tree", "dummy"]
    assert found.results_["verdict"].tolist() == ["best", "tied", "worse", "baseline"]
    assert found.results_["difference"].tolist() == pytest.approx([0, 0.01, 0.1975, 0.39])
    assert (found.best_name_, found.simplest_name_) == ("forest", "lda")
    first, second = found.sentences()
    assert first.startswith("Lowest error: random forest, 11.0 % ± 0.8 over 4 folds")
    assert "(largest class: 50.0 %)" in first
    assert second.startswith("Linear discriminant is not clearly worse")
    assert second.endswith("; it is the simpler one.")


def test_of_equals_the_simplest_leads():
    errors = [0.1, 0.2, 0.1, 0.2]
    found = judged({"dummy": HALF, "forest": errors, "tree": errors, "lda": errors})
    assert found.results_.index.tolist() == ["lda", "tree", "forest", "dummy"]
    assert found.results_["verdict"].tolist() == ["best", "tied", "tied", "baseline"]
    assert found.simplest_name_ == "lda"
    assert "the best is also the simplest of them" in found.sentences()[1]


def test_all_others_are_worse():
    found = judged({"dummy": HALF, "lda": [0.1, 0.11, 0.1, 0.1], "tree": [0.4, 0.4, 0.41, 0.4]})
    assert found.results_["verdict"].tolist() == ["best", "worse", "baseline"]
    assert found.sentences()[1].startswith("Every other model is clearly worse")


def test_a_tie_with_the_baseline_means_nothing_was_learned():
    found = judged({"dummy": HALF, "lda": [0.3, 0.6, 0.5, 0.5]})
    assert found.results_["verdict"].tolist() == ["best", "tied"]
    assert (found.best_name_, found.simplest_name_) == ("lda", "lda")
    assert found.sentences()[1].endswith("so that nothing has been shown to be learned.")


def test_a_baseline_that_wins_is_also_the_simplest():
    found = judged({"dummy": HALF, "lda": [0.5, 0.6, 0.5, 0.5], "tree": [0.9, 0.9, 0.9, 0.9]})
    assert found.results_["verdict"].tolist() == ["best", "tied", "worse"]
    assert found.best_name_ == found.simplest_name_ == "dummy"
    first, second = found.sentences()
    assert first == "No model does better than largest class: error 50.0 %."
    assert second.endswith("so that nothing has been shown to be learned.")


def test_one_fold_tells_nothing():
    found = judged({"dummy": [0.5], "lda": [0.0]})
    assert found.results_["verdict"].tolist() == ["best", "baseline"]
    assert np.isinf(found.results_.loc["dummy", "half_width"])
    assert found.sentences()[1].startswith("One fold cannot tell")
    assert "on one fold" in found.sentences()[0]
    assert "±" not in found.sentences()[0]


@pytest.mark.usefixtures("no_insights")
def test_forty_one_of_two_thousand_are_ranked_by_balanced_error():
    rng = np.random.default_rng(0)
    y = np.zeros(2000, dtype=int)
    y[rng.permutation(2000)[:41]] = 1
    X = rng.normal(size=(2000, 3)) + np.outer(y, [1.5, 1.5, 0.0])
    table = as_table(X, np.where(y, "ill", "well"))
    found = compare_table(table, models="lda,tree", folds=3, repeats=1)
    assert found.measure == "balanced_error"
    assert found.results_["balanced_error"].is_monotonic_increasing
    assert found.results_.loc["dummy", "balanced_error"] == 0.5
    assert found.results_.loc["dummy", "error"] == pytest.approx(0.0205, abs=1e-3)
    assert found.results_.iloc[0]["balanced_error"] < 0.25
    assert found.results_.loc["dummy", "verdict"] == "baseline"
    assert found.results_["f1"].iloc[0] > 0  # of the rare class
    assert found.positive_ == "ill"
    sentence = next(text for text in found.sentences() if "unbalanced" in text)
    assert "41 of 2000 rows are 'ill'" in sentence
    assert "balanced error" in found.sentences()[0]


@pytest.mark.usefixtures("no_insights")
@pytest.mark.parametrize("models", ["neighbours", "spheres"])
def test_parameters_are_chosen_by_what_ranks(models):
    """A search by plain accuracy would be content with the larger class."""
    rng = np.random.default_rng(1)
    y = np.r_[np.zeros(140, dtype=int), np.ones(14, dtype=int)]
    X = rng.normal(size=(154, 2)) + 2.0 * y[:, None]
    table = as_table(X, np.where(y, "ill", "well"))
    found = compare_table(table, models=models, folds=2, repeats=1)
    search = found._race.fitted(found._rivals[models], np.arange(154))["model"]
    assert search.scoring == "balanced_accuracy"
    assert found.results_.loc[models, "balanced_error"] < 0.4


def test_scikit_learns_machine_is_told_too():
    counted = {"n_rows": 100, "n_columns": 2, "n_classes": 2, "n_largest": 90, "balanced": True}
    search = PEERS["classification"].build(Setting(**counted, seed=0, n_jobs=None))
    assert search.scoring == "balanced_accuracy"
    assert search.estimator.class_weight == "balanced"


@pytest.mark.usefixtures("no_insights")
@pytest.mark.parametrize(
    "labels",
    [np.array([0, 1]), np.array([False, True]), np.array([1.0, 2.0]), np.array(["a", "b"])],
)
def test_the_best_model_speaks_the_language_of_the_data(labels):
    rng = np.random.default_rng(1)
    y = labels[np.arange(60) % 2]
    X = rng.normal(size=(60, 2)) + 3.0 * (np.arange(60) % 2)[:, None]
    found = compare(X, y, models="logistic", folds=3, repeats=1)
    said = found.best_.predict(X)
    assert said.dtype.kind == ("O" if y.dtype.kind == "U" else y.dtype.kind)
    assert np.mean(said == y) > 0.9
    assert found.best_.score(X, y) > 0.9  # an accuracy, whatever the search scored by
