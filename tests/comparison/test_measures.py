"""Measures against scikit-learn's and by hand."""

import numpy as np
import pytest
from sklearn import metrics

from mercer.comparison.measures import is_unbalanced, measure_classes, measure_numbers


def drawn(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
    probabilities = rng.dirichlet(np.ones(n_classes), n) * 0.5
    probabilities[np.arange(n), truth] += 0.5 * rng.uniform(size=n)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return truth, probabilities.argmax(axis=1), probabilities


@pytest.mark.parametrize("positive", [0, 1])
def test_two_classes_as_in_scikit_learn(positive):
    truth, said, probabilities = drawn(60, 2)
    found = measure_classes(truth, said, probabilities, 2, positive)
    is_positive, score = truth == positive, probabilities[:, positive]
    expected = {
        "error": 1 - metrics.accuracy_score(truth, said),
        "balanced_error": 1 - metrics.balanced_accuracy_score(truth, said),
        "roc_auc": metrics.roc_auc_score(is_positive, score),
        "log_loss": metrics.log_loss(truth, probabilities),
        "brier": metrics.brier_score_loss(is_positive, score),
        "f1": metrics.f1_score(truth, said, pos_label=positive),
    }
    assert found == pytest.approx(expected)


def test_many_classes_as_in_scikit_learn():
    truth, said, probabilities = drawn(90, 5)
    found = measure_classes(truth, said, probabilities, 5, 0)
    expected = {
        "error": 1 - metrics.accuracy_score(truth, said),
        "balanced_error": 1 - metrics.balanced_accuracy_score(truth, said),
        "roc_auc": metrics.roc_auc_score(truth, probabilities, multi_class="ovr"),
        "log_loss": metrics.log_loss(truth, probabilities),
        "brier": np.mean(((probabilities - np.eye(5)[truth]) ** 2).sum(axis=1)),
        "f1": metrics.f1_score(truth, said, average="macro"),
    }
    assert found == pytest.approx(expected)


def test_balanced_error_by_hand():
    truth, said = np.array([0, 0, 0, 0, 1, 1, 2]), np.array([0, 0, 0, 1, 1, 0, 2])
    found = measure_classes(truth, said, None, 3, 0)
    assert found["error"] == pytest.approx(2 / 7)
    assert found["balanced_error"] == pytest.approx(1 - (3 / 4 + 1 / 2 + 1) / 3)


def test_a_class_that_a_fold_lacks():
    """Only classes that are there count, and F1 still speaks of all, not of one of two."""
    truth, said = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    found = measure_classes(truth, said, None, 3, positive=2)
    assert found["balanced_error"] == 0.25
    assert found["f1"] == pytest.approx((2 / 3 + 4 / 5) / 2)
    probabilities = np.array([[0.6, 0.3, 0.1]] * 4)
    found = measure_classes(truth, said, probabilities, 3, positive=2)
    assert np.isnan(found["roc_auc"])
    assert found["log_loss"] == pytest.approx(-np.mean(np.log([0.6, 0.6, 0.3, 0.3])))


def test_one_class_of_two_in_a_fold():
    probabilities = np.array([[0.9, 0.1], [0.4, 0.6]])
    found = measure_classes(np.array([0, 0]), np.array([0, 1]), probabilities, 2, positive=1)
    assert found["error"] == found["balanced_error"] == 0.5
    assert np.isnan(found["roc_auc"])
    assert found["f1"] == 0.0
    assert found["brier"] == pytest.approx((0.1**2 + 0.6**2) / 2)


def test_without_probabilities_what_needs_them_is_unknown():
    found = measure_classes(np.array([0, 1]), np.array([0, 1]), None, 2, positive=1)
    assert [name for name, value in found.items() if np.isnan(value)] == [
        "roc_auc",
        "log_loss",
        "brier",
    ]
    assert (found["error"], found["f1"]) == (0.0, 1.0)


def test_no_model_is_infinitely_wrong():
    sure = np.array([[1.0, 0.0], [1.0, 0.0]])
    found = measure_classes(np.array([0, 1]), np.array([0, 0]), sure, 2, positive=1)
    assert found["log_loss"] == pytest.approx(-np.log(1e-6) / 2)


def test_numbers_as_in_scikit_learn():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=50)
    said = truth + rng.normal(size=50)
    expected = {
        "rmse": metrics.root_mean_squared_error(truth, said),
        "mae": metrics.mean_absolute_error(truth, said),
        "r2": metrics.r2_score(truth, said),
    }
    assert measure_numbers(truth, said) == pytest.approx(expected)


def test_a_constant_target_has_no_share_that_is_explained():
    found = measure_numbers(np.full(4, 2.0), np.array([2.0, 2.0, 2.0, 4.0]))
    assert found["rmse"] == 1.0
    assert found["mae"] == 0.5
    assert np.isnan(found["r2"])


def test_unbalanced_is_less_than_a_third_of_the_equal_part():
    assert is_unbalanced({"a": 86, "b": 14})
    assert not is_unbalanced({"a": 85, "b": 15})
    assert is_unbalanced({"a": 46, "b": 46, "c": 8})
    assert not is_unbalanced({"a": 45, "b": 45, "c": 10})
