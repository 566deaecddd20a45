"""Probabilities: what five folds cost on top of a fit, and how good they are."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss

from mercer import SVC, PlattClassifier
from mercer.datasets import IDA_NAMES, load_ida

from ..crew import progress
from ..measure import interleave
from ..problems import clustered, gaussians
from ..report import GroupResult, Table, number, seconds_text
from .options import Options

N_SPLITS = 10


def run(options: Options) -> GroupResult:
    """Measure the cost of the folds, then the log loss over the ten IDA sets."""
    cost = Table(
        "probability: cost",
        [
            "problem",
            "fit s",
            "fit with probabilities s",
            "folds / fit",
            "CalibratedClassifierCV s",
            "×",
        ],
        notes=[
            "folds / fit: what five folds take beyond the fit, as a multiple of it",
            "CalibratedClassifierCV(scikit-learn SVC, ensemble=False); ×: its time over ours",
        ],
    )
    quality = Table(
        "probability: log loss",
        ["set", "PlattClassifier", "CalibratedClassifierCV", "LIBSVM -b 1"],
        notes=[f"C = 1, gamma = 1 / d, mean over splits 1 to {N_SPLITS} of the data folder"],
    )
    result = GroupResult("probability", [cost, quality])
    n = 300 if options.quick else 5000
    for name, (X, y), C in (
        (f"Gaussians {n}×20", gaussians(n, 20, 2.95), 1.0),
        (f"make_classification {n}×20", clustered(n, 0.05), 1.0),
        (f"make_classification {n}×20, C=10", clustered(n, 0.05), 10.0),
        (f"Gaussians {n}×100", gaussians(n, 100, 2.95), 1.0),
    ):
        progress(name)
        _add_cost(result, options, name, X, y, C)
    try:
        for name in IDA_NAMES[: 2 if options.quick else None]:
            progress(name)
            _add_quality(result, name, 1 if options.quick else N_SPLITS)
    except OSError as absent:
        quality.notes.append(f"data not present: {absent}")
    if quality.rows:
        losses = np.array([record["losses"] for record in result.records if "losses" in record])
        quality.add("mean", *(number(value, 4) for value in losses.mean(axis=0)))
    return result


def _timed(model: Any, X: Any, y: Any) -> Callable[[], float]:
    def fit() -> float:
        start = time.perf_counter()
        model.fit(X, y)
        return time.perf_counter() - start

    return fit


def _add_cost(result: GroupResult, options: Options, name: str, X: Any, y: Any, C: float) -> None:
    gamma = 1.0 / (X.shape[1] * X.var())
    ours = SVC(C=C, gamma=gamma)
    theirs = CalibratedClassifierCV(svm.SVC(C=C, gamma=gamma), ensemble=False, cv=5, n_jobs=-1)
    timings = interleave(
        {
            "fit": _timed(ours, X, y),
            "platt": _timed(PlattClassifier(ours), X, y),
            "calibrated": _timed(theirs, X, y),
        },
        options.plan,
    )
    share = (timings["platt"].best - timings["fit"].best) / timings["fit"].best
    result.tables[0].add(
        name,
        seconds_text(timings["fit"]),
        seconds_text(timings["platt"]),
        number(share),
        seconds_text(timings["calibrated"]),
        number(timings["calibrated"].best / timings["platt"].best),
    )
    result.records.append({"problem": name, "folds_per_fit": share})


def _add_quality(result: GroupResult, name: str, n_splits: int) -> None:
    data = load_ida(name)
    losses = []
    for train, test in data.splits[:n_splits]:
        X, y, X_test, y_test = (
            data.data[train],
            data.target[train],
            data.data[test],
            data.target[test],
        )
        gamma = 1.0 / X.shape[1]
        models = [
            PlattClassifier(SVC(gamma=gamma)),
            CalibratedClassifierCV(svm.SVC(gamma=gamma), ensemble=False, cv=5),
        ]
        found = [log_loss(y_test, model.fit(X, y).predict_proba(X_test)) for model in models]
        losses.append([*found, _libsvm_loss(X, y, X_test, y_test, gamma)])
    means = np.mean(losses, axis=0)
    result.tables[1].add(name, *(number(value, 4) for value in means))
    result.records.append({"problem": name, "losses": means.tolist()})


def _libsvm_loss(X: Any, y: Any, X_test: Any, y_test: Any, gamma: float) -> float:
    """Return the log loss of LIBSVM's own probabilities; NaN where it is not installed."""
    try:
        from libsvm.svmutil import svm_predict, svm_train
    except ImportError:
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = svm_train(y.astype(float), X, f"-c 1 -g {gamma} -b 1 -q")
        probabilities = np.array(svm_predict([], X_test, model, "-b 1 -q")[2])
    order = np.argsort(model.get_labels())
    return float(log_loss(y_test, probabilities[:, order]))
