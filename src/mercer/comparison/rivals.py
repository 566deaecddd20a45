"""The models that are compared, each with what it takes to tune and prepare it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.svm
from sklearn.compose import TransformedTargetRegressor
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from mercer.comparison.discriminant import WideDiscriminant
from mercer.comparison.scaling import ScaleChoice
from mercer.comparison.setting import Setting
from mercer.fuzzy import FuzzyRuleClassifier
from mercer.model_selection import GradientSearch, PathSearchCV
from mercer.relevance import RVC, RVR
from mercer.spheres import NearestHypersphereClassifier
from mercer.svm import SVC, SVR
from mercer.tables import InputError, Table, suggestion, vectorizer
from mercer.tables.errors import shown
from mercer.trees import PrunedTreeClassifier

BASELINE = "dummy"


@dataclass(frozen=True)
class Rival:
    """One model of a comparison.

    Parameters
    ----------
    name, title : str
        For the command line, and for people.
    simplicity : int
        The smaller, the easier to explain.
    build : callable
        Takes a `Setting`, returns the unfitted model, with its tuning inside.
    growth : float
        Power of the number of rows with which the time of a fit grows. Rather too small than too
        large: what takes longer than expected is stopped and tried with fewer rows.
    sketch : callable or None
        As ``build``, but with the parameters that one would begin with, for a first look; for
        models whose search takes far longer than a fit, and about as long for any number of rows.
    scaled : bool
        Whether features should have unit variance.
    look : callable or None
        Takes a `Setting`, returns a small search. Where all columns are numbers it chooses between
        unit variance for each of them and one scale for all; see `ScaleChoice`.
    most_rows, most_columns : int or None
        Trained on so many rows at most, chosen at random; left out beyond so many columns.
    """

    name: str
    title: str
    simplicity: int
    build: Callable[[Setting], Any]
    growth: float = 1.2
    sketch: Callable[[Setting], Any] | None = None
    scaled: bool = True
    look: Callable[[Setting], Any] | None = None
    most_rows: int | None = None
    most_columns: int | None = None

    def pipeline(self, table: Table, setting: Setting, *, sketched: bool = False) -> Pipeline:
        """Return the model, or a sketch of it, behind what turns the table into numbers."""
        build = self.sketch if sketched and self.sketch is not None else self.build
        steps = [("vectorizer", vectorizer(table))]
        if self.scaled:
            steps.append(("scaler", self._scaler(table, setting)))
        return Pipeline([*steps, ("model", build(setting))])

    def _scaler(self, table: Table, setting: Setting) -> Any:
        """Return what scales the features: those of categories have no unit to share."""
        is_numbers = (table.frame.dtypes == np.float64).all()
        if self.look is None or not is_numbers:
            return StandardScaler()
        return ScaleChoice(self.look(setting))


NEIGHBOURS = [1, 3, 5, 9, 15, 25, 45]
MOST_SEARCHED = 1500
"""Rows on which kernel parameters are chosen; the machine has all rows."""

PRICES = [0.25, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0]
FACTORS = [4.0**power for power in range(-5, 3)]
"""What is tried for C, and for gamma times the number of columns, which have unit variance."""

FIRST_PRICE = 10.0
"""C where none is chosen; the width is then that of ``gamma="scale"``."""

MANY_CLASSES = 10
"""With more, each pair of which is a machine, a search must do with fewer evaluations."""

MOST_SEARCHED_BOOSTING = 5000
"""Rows up to which the size of boosted trees is chosen, where classes are unbalanced."""

FEW_FACTORS = [0.1, 0.3, 1.0]
"""As `FACTORS`, where only the scale of the columns is chosen."""

ALPHAS = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]


def _neighbours(model: Any, setting: Setting, folds: int = 5, rows: int | None = None) -> Any:
    parts = setting.parts(folds, rows)
    least = min((len(train) for train, _ in parts), default=0) if setting.has_order else 0
    most = max(1, int(0.7 * (least or setting.n_rows * (folds - 1) / folds)))
    counts = [k for k in NEIGHBOURS if k <= most]
    model = setting.even(model)
    name = "n_neighbors" if not setting.balanced else "estimator__n_neighbors"
    return GridSearchCV(model, {name: counts}, scoring=setting.scoring, cv=parts)


def _look_of(machine: Any, setting: Setting) -> Any:
    """Return a search that is small enough to be made for every scale of the columns."""
    grid = {"gamma": [factor / setting.n_columns for factor in FEW_FACTORS]}
    more = {"scoring": setting.scoring, "cv": setting.parts(3, MOST_SEARCHED)}
    return PathSearchCV(machine, grid, n_jobs=setting.n_jobs, **more)


def _svc_look(setting: Setting) -> Any:
    return _look_of(_plain_svc(setting), setting).set_params(refit=False)


def _svr_look(setting: Setting) -> Any:
    # Refitted, since what scales the target takes nothing that cannot predict.
    return _scaled_target(_look_of(SVR(C=FIRST_PRICE), setting))


def _neighbours_look(model: Any, setting: Setting) -> Any:
    return _neighbours(model, setting, 3, MOST_SEARCHED).set_params(refit=False)


def _logistic(setting: Setting) -> Any:
    model = LogisticRegression(max_iter=300, class_weight=setting.class_weight)
    grid, scoring = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}, setting.scoring or "neg_log_loss"
    return GridSearchCV(model, grid, scoring=scoring, cv=setting.parts(3))


def _plain_svc(setting: Setting) -> Any:
    return SVC(C=FIRST_PRICE, class_weight=setting.class_weight)


def _gradient(setting: Setting) -> Any:
    machine = SVC(
        loss="squared_hinge", class_weight=setting.class_weight, probability=True, cache_size=500
    )
    # Weights of classes multiply C.
    bounds = (1e-6 if setting.balanced else 1e-2, 1e4)
    return GradientSearch(
        machine,
        C_bounds=bounds,
        max_evaluations=60 if setting.n_classes <= MANY_CLASSES else 15,
        max_rows=MOST_SEARCHED,
        random_state=setting.seed,
    )


def _grid(setting: Setting) -> Any:
    machine = SVC(class_weight=setting.class_weight, probability=True, cache_size=500)
    grid = {"C": PRICES, "gamma": [factor / setting.n_columns for factor in FACTORS]}
    cv = setting.parts(5, MOST_SEARCHED)
    return PathSearchCV(machine, grid, scoring=setting.scoring, cv=cv, n_jobs=setting.n_jobs)


def _spheres(setting: Setting) -> Any:
    grid = {"gamma": _widths(setting), "nu": [0.0, 0.05, 0.2]}
    more = {"scoring": setting.scoring, "cv": setting.parts(3), "n_jobs": setting.n_jobs}
    return PathSearchCV(NearestHypersphereClassifier(), grid, **more)


def _svr(setting: Setting) -> Any:
    grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": _widths(setting), "epsilon": [0.05]}
    cv = setting.parts(3, MOST_SEARCHED)
    search = PathSearchCV(SVR(), grid, cv=cv, n_jobs=setting.n_jobs)
    return _scaled_target(search)


def _rvr(setting: Setting) -> Any:
    return _scaled_target(RVR(max_iter=300))


def _rvc(setting: Setting) -> Any:
    return setting.even(RVC(max_iter=500))


def _scaled_target(model: Any) -> Any:
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def _widths(setting: Setting) -> list[float]:
    return [factor / setting.n_columns for factor in (0.03, 0.1, 0.3, 1.0, 3.0)]


def _tree(setting: Setting) -> Any:
    tree = DecisionTreeRegressor(random_state=setting.seed)
    grid = {"min_samples_leaf": [1, 3, 10, 30], "max_depth": [3, 6, None]}
    return GridSearchCV(tree, grid, cv=setting.parts(5))


TREES = 300
"""Of a forest."""


def _forest(kind: Any, setting: Setting) -> Any:
    return setting.even(kind(TREES, random_state=setting.seed, n_jobs=setting.n_jobs or -1))


def _boosting(kind: Any, setting: Setting) -> Any:
    early = False if setting.has_order else "auto"  # by a random part of the rows
    model = setting.even(kind(random_state=setting.seed, early_stopping=early))
    if not setting.balanced or setting.n_rows > MOST_SEARCHED_BOOSTING:
        return model
    # Large trees know each of a few rare rows by heart.
    grid = {"estimator__max_leaf_nodes": [6, 31], "estimator__max_iter": [60]}
    return GridSearchCV(model, grid, scoring=setting.scoring, cv=setting.parts(3))


def _ridge(setting: Setting) -> Any:
    # Of its own it leaves out one row at a time, for next to nothing.
    return RidgeCV(ALPHAS, cv=setting.parts(5) if setting.has_order else None)


def _pruned_tree(setting: Setting) -> Any:
    parts = setting.parts(10) if setting.has_order else 10
    return PrunedTreeClassifier(
        cv=parts, class_weight=setting.class_weight, random_state=setting.seed
    )


def _linear_discriminant(setting: Setting) -> Any:
    priors = [1 / setting.n_classes] * setting.n_classes if setting.balanced else None
    if setting.n_columns > setting.n_rows:
        return WideDiscriminant(priors)
    return LinearDiscriminantAnalysis("lsqr", "auto", priors=priors)


def _peer(machine: Any, setting: Setting) -> Any:
    grid = {"C": [0.25, 1.0, 4.0, 16.0, 64.0], "gamma": _widths(setting)}
    more = {"scoring": setting.scoring, "cv": setting.parts(3), "n_jobs": setting.n_jobs}
    return GridSearchCV(machine, grid, **more)


CLASSIFIERS = (
    Rival(BASELINE, "largest class", 0, lambda s: DummyClassifier(), scaled=False),
    Rival(
        "lda",
        "linear discriminant",
        1,
        _linear_discriminant,
        most_columns=3000,
    ),
    Rival("logistic", "logistic regression", 1, _logistic),
    Rival(
        "qda",
        "quadratic discriminant",
        3,
        lambda s: QuadraticDiscriminantAnalysis(
            reg_param=0.1, priors=[1 / s.n_classes] * s.n_classes if s.balanced else None
        ),
        most_columns=300,
    ),
    Rival("tree", "pruned tree", 2, _pruned_tree, scaled=False),
    Rival(
        "boosting",
        "gradient boosting",
        8,
        lambda s: _boosting(HistGradientBoostingClassifier, s),
        growth=0.5,  # trees have a largest size
        scaled=False,
    ),
    Rival(
        *("svc", "SVC (gradient search)", 6, _gradient),
        growth=1.0,
        sketch=_plain_svc,
        look=_svc_look,
    ),
    Rival(
        "forest",
        "random forest",
        7,
        lambda s: _forest(RandomForestClassifier, s),
        growth=0.8,
        scaled=False,
    ),
    Rival(
        "neighbours",
        "nearest neighbours",
        4,
        lambda s: _neighbours(KNeighborsClassifier(), s),
        growth=0.8,
        look=lambda s: _neighbours_look(KNeighborsClassifier(), s),
        most_rows=20_000,
    ),
    Rival(
        *("svc_grid", "SVC (grid search)", 6, _grid),
        growth=1.5,
        sketch=_plain_svc,
        look=_svc_look,
    ),
    Rival(
        *("spheres", "nearest hyperspheres", 5, _spheres),
        growth=2.0,
        look=_svc_look,
        most_rows=4000,
    ),
    Rival(
        *("rvc", "relevance vectors", 5, _rvc),
        growth=2.0,
        look=_svc_look,
        most_rows=1500,
    ),
    Rival(
        "fuzzy",
        "fuzzy rules",
        3,
        lambda s: s.even(FuzzyRuleClassifier(random_state=s.seed)),
        scaled=False,
        most_rows=5000,
        most_columns=200,
    ),
)

REGRESSIONS = (
    Rival(BASELINE, "mean of all", 0, lambda s: DummyRegressor(), scaled=False),
    Rival("ridge", "ridge regression", 1, _ridge),
    Rival("tree", "pruned tree", 2, _tree, scaled=False),
    Rival(
        "boosting",
        "gradient boosting",
        8,
        lambda s: _boosting(HistGradientBoostingRegressor, s),
        growth=0.5,
        scaled=False,
    ),
    Rival(
        "forest",
        "random forest",
        7,
        lambda s: _forest(RandomForestRegressor, s),
        growth=0.8,
        scaled=False,
    ),
    Rival(
        "neighbours",
        "nearest neighbours",
        4,
        lambda s: _neighbours(KNeighborsRegressor(weights="distance"), s),
        growth=0.8,
        look=lambda s: _neighbours_look(KNeighborsRegressor(weights="distance"), s),
        most_rows=20_000,
    ),
    Rival(
        *("svr", "SVR (grid search)", 6, _svr),
        growth=1.5,
        sketch=lambda s: _scaled_target(SVR(C=FIRST_PRICE)),
        look=_svr_look,
        most_rows=20_000,
    ),
    Rival("rvr", "relevance vectors", 5, _rvr, growth=2.0, look=_svr_look, most_rows=1500),
)

PEERS = {
    "classification": Rival(
        "peer",
        "scikit-learn's SVC (grid)",
        6,
        lambda s: _peer(sklearn.svm.SVC(class_weight=s.class_weight), s),
        growth=2.0,
        look=_svc_look,
        most_rows=4000,
    ),
    "regression": Rival(
        "peer",
        "scikit-learn's SVR (grid)",
        6,
        lambda s: _scaled_target(_peer(sklearn.svm.SVR(epsilon=0.05), s)),
        growth=2.0,
        look=_svr_look,
        most_rows=4000,
    ),
}


def rivals_for(task: str, names: Sequence[str] | str | None, peer: bool = False) -> list[Rival]:
    """Return the models that are asked for, from cheap to dear, the baseline first.

    Parameters
    ----------
    task : {"classification", "regression"}
    names : sequence of str, str with commas or None
        None stands for all.
    peer : bool
        Whether scikit-learn's support vector machine takes part.

    Examples
    --------
    >>> [rival.name for rival in rivals_for("regression", "svr,ridge")]
    ['dummy', 'ridge', 'svr']
    """
    known = {
        rival.name: rival for rival in (CLASSIFIERS if task == "classification" else REGRESSIONS)
    }
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()]
    if not (names is None or isinstance(names, Sequence)):
        raise InputError(f"models must be names of models; got {names!r}.")
    for name in names or ():
        if name not in known:
            raise InputError(_unknown(str(name), task, known))
    if names is not None and not names:
        raise InputError(f"Name at least one model of {', '.join(known)}.")
    chosen = [r for r in known.values() if names is None or r.name in names or r.name == BASELINE]
    return [*chosen, PEERS[task]] if peer else chosen


def _unknown(name: str, task: str, known: Mapping[str, Rival]) -> str:
    """Say that there is no such model, or that it is one for the other task."""
    other = {"classification": "regression", "regression": "classification"}[task]
    of_other = CLASSIFIERS if other == "classification" else REGRESSIONS
    told = f"There is no model {shown(name)} for {task} among {', '.join(known)}"
    if name in [rival.name for rival in of_other]:
        return (
            f"{told}; {name!r} is one for {other}, which task={other!r} (--task {other}) asks for."
        )
    return told + suggestion(name, known)
