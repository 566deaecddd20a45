"""Searches of other libraries in the form of those of scikit-learn."""

from __future__ import annotations

import os
import sys
import sysconfig
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn import svm
from sklearn.model_selection import cross_val_score

from .peers import UnavailableError


class OptunaSearch:
    """Optuna's default sampler over C and gamma, for a given time.

    Trials run in as many threads as there are cores; each is a cross-validation of scikit-learn's
    machine. The final fit comes on top.

    Parameters
    ----------
    bounds : dict of str to pair of float
    cv : splitter
    seconds : float
        After which no new trial begins.
    """

    def __init__(self, bounds: dict[str, tuple[float, float]], cv: Any, seconds: float) -> None:
        self.bounds = bounds
        self.cv = cv
        self.seconds = seconds

    def fit(self, X: Any, y: Any) -> OptunaSearch:
        """Search, then fit with the best parameters."""
        try:
            import optuna
        except ImportError as error:
            raise UnavailableError("Optuna is not installed") from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)

        def score(trial: Any) -> float:
            chosen = {
                name: trial.suggest_float(name, *b, log=True) for name, b in self.bounds.items()
            }
            return float(cross_val_score(svm.SVC(**chosen), X, y, cv=self.cv).mean())

        study = optuna.create_study(
            direction="maximize", sampler=optuna.samplers.TPESampler(seed=0)
        )
        study.optimize(score, timeout=self.seconds, n_jobs=os.cpu_count() or 1)
        self.n_trials_ = len(study.trials)
        self.best_score_ = float(study.best_value)
        self.best_estimator_ = svm.SVC(**study.best_params).fit(X, y)
        return self

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy."""
        return float(self.best_estimator_.score(X, y))


class LiquidSearch:
    """liquidSVM's own search: hinge loss without an offset, C and gamma on the same grid.

    It keeps the machines of all folds and lets them vote, so that there is no final fit.

    Parameters
    ----------
    grid : dict of str to array
    n_folds : int
    n_threads : int
    """

    def __init__(self, grid: dict[str, Any], n_folds: int, n_threads: int) -> None:
        self.grid = grid
        self.n_folds = n_folds
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any) -> LiquidSearch:
        """Search."""
        library = liquid()
        with same_processors():
            return self._fit(library, X, y)

    def _fit(self, library: Any, X: Any, y: Any) -> LiquidSearch:
        self.positive_ = y.max()
        widths = 1.0 / np.sqrt(self.grid["gamma"])  # its kernel is exp(-|x - x'|^2 / width^2)
        self.machine_ = library.mcSVM(
            X,
            np.where(y == self.positive_, 1.0, -1.0),
            gammas=[f"{width:.10g}" for width in widths],
            c_values=[f"{C:.10g}" for C in self.grid["C"]],
            folds=self.n_folds,
            threads=self.n_threads,
            random_seed=1,
            display=0,
        )
        self.best_score_ = 1.0 - float(self.machine_.errSelect[:, 7].mean())
        return self

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy."""
        signs = np.where(y == self.positive_, 1.0, -1.0)
        with same_processors():
            return float(np.mean(self.machine_.test(X, signs)[0][:, 0] == signs))


@contextmanager
def same_processors() -> Iterator[None]:
    """Undo what liquidSVM does to the process: it binds it to one processor and leaves it there."""
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    try:
        yield
    finally:
        if before:
            os.sched_setaffinity(0, before)


def liquid() -> Any:
    """Import liquidSVM, whose last release expects things that Python has since given up."""
    sysconfig.get_config_vars().setdefault("SO", sysconfig.get_config_var("EXT_SUFFIX"))
    absent = "pkg_resources" not in sys.modules
    if absent:
        sys.modules["pkg_resources"] = types.ModuleType("pkg_resources")
    try:
        import liquidSVM
    except (ImportError, NameError) as error:
        raise UnavailableError("liquidSVM does not import") from error
    finally:
        if absent:
            del sys.modules["pkg_resources"]
    return liquidSVM
