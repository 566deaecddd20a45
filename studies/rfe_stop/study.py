"""The stop condition of Planas: the best number of features estimated from importances alone."""

from __future__ import annotations

import time

import numpy as np

from mercer.studies import Configuration, Printed, Study
from studies.rfe.printed import STOP
from studies.rfe.study import TRADE_OFF, experiment, load_data

STEPS = (300, 150, 60)
NAMES = ("best", "estimate", "estimate_seconds", "ranking_seconds")

CORRECTED = "an estimated size is neither better nor worse; algorithm 5 is corrected here"


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Compare the size estimated by few rounds with the best one of a whole validation."""
    from sklearn.model_selection import StratifiedKFold

    from mercer.feature_selection import ranking_curve

    about = configuration.parameters
    X, y = load_data("5.12")
    folds = StratifiedKFold(7, shuffle=True, random_state=seed)
    whole, machine, sizes, _ = experiment("5.12", about["C"], "10")
    curve = ranking_curve({"": whole}, machine, X, y, sizes=sizes, cv=folds, baselines=False)[""]
    few = whole.set_params(step=about["step"])
    estimates, seconds = [], []
    for train, _ in folds.split(X, y):
        start = time.process_time()
        estimates.append(few.fit(X[train], y[train]).trace_.optimal_size(TRADE_OFF))
        seconds.append(time.process_time() - start)
    best, estimate = curve.best_size(TRADE_OFF), float(np.mean(estimates))
    return {
        "difference": abs(best - estimate),
        "best": float(best),
        "estimate": estimate,
        "estimate_seconds": float(np.mean(seconds)),
        "ranking_seconds": float(np.mean([r.processor_seconds for r in curve.rankings])),
    }


def _configurations() -> tuple[Configuration, ...]:
    configurations = []
    for line in STOP.split("\n")[1:-1]:
        C, *entries = line.split()
        for step, entry in zip(STEPS, entries):
            numbers = dict(zip(NAMES, map(float, entry.split(":"))))
            off = abs(numbers["best"] - numbers["estimate"])
            printed = Printed(off, extra=numbers, reasons={"estimate": CORRECTED})
            name = f"C {float(C):g}, step {step}"
            about = {"C": float(C), "step": step}
            configurations.append(Configuration(name, about, {"estimate": printed}, alike="all"))
    return tuple(configurations)


STUDY = Study(
    name="rfe-stop",
    title="How many features to keep, from importances alone",
    description="The number of features estimated from the importances and training accuracies of "
    "one, two or five rounds (algorithm 5, corrected), against the one of least cost, 0.8 (1 - "
    "accuracy) + 0.2 size / 300, in a validation on 7 folds of rankings with step 10.",
    citation="R. Planas, bachelor thesis, UPC Barcelona, 2021, tables 5.12 to 5.14.",
    configurations=_configurations(),
    methods={"estimate": {}},
    run=run,
    measure="difference",
    source="Planas 2021",
    duration="3 min",
    repetitions=1,
    printed_repetitions=1,
)
