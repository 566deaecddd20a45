"""Relevance and support vector machines beside trees, forests and fuzzy rules: document 003."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from mercer.studies import Configuration, Study

SETS = {
    "banana": 100,
    "breast-cancer": 100,
    "diabetis": 100,
    "flare-solar": 100,
    "german": 100,
    "heart": 100,
    "image": 20,
    "splice": 20,
    "thyroid": 100,
    "titanic": 100,
}
"""The sets of the IDA benchmark, and how many predefined splits each has."""

METHODS = {
    "RVM": {"about": "RVC, the best of seven widths by the evidence"},
    "SVM": {"about": "SVC, C and width by GradientSearch; probabilities by PlattClassifier"},
    "tree": {"about": "PrunedTreeClassifier, cut back to one standard error of the best"},
    "forest": {"about": "scikit-learn's RandomForestClassifier, 300 trees"},
    "fuzzy rules": {"about": "FuzzyRuleClassifier as it is"},
    "largest class": {"about": "always the largest class, with its share as probability"},
}

WIDTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Of the relevance vector machine: gamma times the number of features, which have variance 1."""

LEAST = 1e-3
"""Probabilities are held this far from 0 and 1 before their logarithm is taken: leaves and rules
that know one class only would otherwise be infinitely wrong once."""


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Learn one predefined split; return error, log loss, size and seconds."""
    from sklearn.metrics import log_loss

    from mercer.datasets import load_ida

    bunch = load_ida(configuration.name)
    train, test = bunch.splits[repetition]
    X, y, X_test, y_test = (
        part[rows] for rows in (train, test) for part in (bunch.data, bunch.target)
    )
    begin = time.process_time()
    model = learn(method, X, y, seed)
    seconds = time.process_time() - begin
    chances = np.clip(model.predict_proba(X_test)[:, 1], LEAST, 1.0 - LEAST)
    return {
        "error": 100.0 * float(np.mean(model.predict(X_test) != y_test)),
        "log_loss": float(log_loss(y_test == model.classes_[1], chances)),
        "parts": parts_of(model),
        "seconds": seconds,
    }


def learn(method: str, X: Any, y: Any, seed: int) -> Any:
    """Return a fitted model, tuned on the rows it is given."""
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import RandomForestClassifier
    from threadpoolctl import threadpool_limits

    from mercer.fuzzy import FuzzyRuleClassifier
    from mercer.trees import PrunedTreeClassifier

    models = {
        "tree": PrunedTreeClassifier(rule="one_standard_error", random_state=seed),
        "forest": RandomForestClassifier(300, random_state=seed),
        "fuzzy rules": FuzzyRuleClassifier(random_state=seed),
        "largest class": DummyClassifier(strategy="prior"),
    }
    with threadpool_limits(1):  # matrices are small; seconds are those of one processor
        if method in models:
            return models[method].fit(X, y)
        return _kernel_machine(method, X, y, seed)


def _kernel_machine(method: str, X: Any, y: Any, seed: int) -> Any:
    from mercer.calibration import PlattClassifier
    from mercer.model_selection import GradientSearch
    from mercer.relevance import RVC
    from mercer.svm import SVC

    if method == "RVM":
        machines = [RVC(gamma=width / X.shape[1]).fit(X, y) for width in WIDTHS]
        return max(machines, key=lambda machine: machine.log_evidence_)
    search = GradientSearch(SVC(), random_state=seed, n_jobs=1).fit(X, y)
    return PlattClassifier(search.best_estimator_).fit(X, y)


def parts_of(model: Any) -> float:
    """Return how many vectors, leaves or rules a model is made of."""
    if hasattr(model, "estimators_"):
        return float(sum(tree.get_n_leaves() for tree in model.estimators_))
    machine = getattr(model, "estimator_", model)
    for name in ("relevance_", "support_", "rules_"):
        if hasattr(machine, name):
            return float(len(getattr(machine, name)))
    return 0.0


STUDY = Study(
    name="comparison",
    title="Kernel machines beside trees, forests and fuzzy rules",
    description="Error in percent, log loss (probabilities between 0.001 and 0.999), number of "
    "vectors, leaves or rules, and seconds of one processor for tuning and fitting, on the first "
    "predefined splits of the ten IDA sets. Everything is tuned on the training rows of each split "
    "alone. The lecture shows these methods without numbers, so that nothing is printed to compare "
    "with.",
    citation="A. Verikas, lecture, Halmstad 2013.",
    configurations=tuple(
        Configuration(name, repetitions=splits, data=(f"ida/{name}",))
        for name, splits in SETS.items()
    ),
    methods=METHODS,
    run=run,
    source="Verikas 2013",
    duration="6 min",
    repetitions=10,
    pictures={"methods": "studies.comparison.report:draw_methods"},
    report="studies.comparison.report:report",
)
