"""Random settings of every estimator that is built on the solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import (
    RVC,
    RVR,
    SVC,
    SVDD,
    SVR,
    CrammerSingerSVC,
    GradientSearch,
    KernelPerceptron,
    KernelRFE,
    KernelRFECV,
    NearestHypersphereClassifier,
    OneClassSVM,
    PathSearchCV,
    PlattClassifier,
)
from mercer.feature_selection import KernelSequentialSelector, ZeroNormSelector

from .data import Data, Drawn, Random
from .kernels import draw_kernel

RADIAL = ("rbf", "rbf", "laplacian", "linear", "poly")


@dataclass(frozen=True)
class Kind:
    """How to draw one kind of estimator, and what it takes."""

    draw: Callable[[Random, Data], tuple[Any, Drawn]]
    task: str = "classes"
    takes_weights: bool = True
    most_rows: int = 500
    sparse: bool = True


def _tolerance(rng: Random) -> float:
    return float(10.0 ** rng.integers(-6, -1))


def _price(rng: Random) -> float:
    return float(10.0 ** rng.uniform(-4, 4))


def _machine(rng: Random) -> dict[str, Any]:
    return {
        "tol": _tolerance(rng),
        "shrinking": bool(rng.random() < 0.8),
        "cache_size": float(rng.choice([200, 200, 0.01])),
    }


def _svc(rng: Random, data: Data) -> tuple[SVC, Drawn]:
    loss = str(rng.choice(["hinge", "hinge", "squared_hinge"]))
    model = SVC(
        C=_price(rng),
        loss=loss,
        class_weight=None if rng.random() < 0.7 else "balanced",
        multi_class=str(rng.choice(["ovo", "ovo", "ovr"])),
        decision_function_shape=str(rng.choice(["ovr", "ovo"])),
        break_ties=bool(rng.random() < 0.3),
        **_machine(rng),
        **draw_kernel(rng, data.X.shape[1]),
    )
    if model.kernel == "linear":
        model.solver = str(rng.choice(["auto", "smo", "linear"]))
    return model, {}


def _svr(rng: Random, data: Data) -> tuple[SVR, Drawn]:
    loss = str(rng.choice(["epsilon_insensitive", "squared_epsilon_insensitive"]))
    spread = float(np.ptp(data.target)) or 1.0
    model = SVR(
        C=_price(rng) * (spread if rng.random() < 0.5 else 1.0),
        epsilon=float(rng.choice([0.0, 0.1, spread / 10])),
        loss=loss,
        **_machine(rng),
        **draw_kernel(rng, data.X.shape[1]),
    )
    model.tol = min(model.tol * spread, 1.0) or model.tol
    return model, {}


def _one_class(rng: Random, data: Data) -> tuple[OneClassSVM, Drawn]:
    nu = float(rng.choice([0.01, 0.1, 0.5, 0.9, 1.0, rng.uniform(0.001, 1)]))
    return OneClassSVM(nu=nu, **_machine(rng), **draw_kernel(rng, data.X.shape[1])), {}


def _svdd(rng: Random, data: Data) -> tuple[SVDD, Drawn]:
    nu = float(rng.choice([0.0, 0.05, 0.2, 0.5, 1.0, rng.uniform(0.001, 1)]))
    loss = str(rng.choice(["hinge", "hinge", "squared_hinge"]))
    return SVDD(nu=nu, loss=loss, **_machine(rng), **draw_kernel(rng, data.X.shape[1])), {}


def _nearest(rng: Random, data: Data) -> tuple[NearestHypersphereClassifier, Drawn]:
    model = NearestHypersphereClassifier(
        nu=float(rng.choice([0.0, 0.1, 0.5])),
        dissimilarity=str(rng.choice(["relative", "absolute"])),
        cv=None if rng.random() < 0.5 else 3,
        **draw_kernel(rng, data.X.shape[1], RADIAL),
    )
    return model, {}


def _rvc(rng: Random, data: Data) -> tuple[RVC, Drawn]:
    multi_class = str(rng.choice(["softmax", "ovr"]))
    kernel = draw_kernel(rng, data.X.shape[1], RADIAL)
    return RVC(multi_class=multi_class, max_iter=300, **kernel), {}


def _rvr(rng: Random, data: Data) -> tuple[RVR, Drawn]:
    return RVR(max_iter=300, **draw_kernel(rng, data.X.shape[1], RADIAL)), {}


def _platt(rng: Random, data: Data) -> tuple[PlattClassifier, Drawn]:
    return PlattClassifier(_svc(rng, data)[0], cv=int(rng.integers(2, 6))), {}


def _perceptron(rng: Random, data: Data) -> tuple[KernelPerceptron, Drawn]:
    variant = str(rng.choice(["last", "averaged", "voted"]))
    kernel = draw_kernel(rng, data.X.shape[1], RADIAL)
    return KernelPerceptron(variant=variant, max_iter=20, random_state=0, **kernel), {}


def _features_svc(rng: Random, data: Data) -> SVC:
    return SVC(C=_price(rng), **draw_kernel(rng, data.X.shape[1], RADIAL))


def _rfe(rng: Random, data: Data) -> tuple[KernelRFE, Drawn]:
    step = float(rng.choice([1, 0.3, 0.5]))
    step = int(step) if step == 1 else step
    return KernelRFE(_features_svc(rng, data), step=step, random_state=0), {}


def _rfe_cv(rng: Random, data: Data) -> tuple[KernelRFECV, Drawn]:
    return KernelRFECV(_features_svc(rng, data), step=0.5, cv=2), {}


def _zero_norm(rng: Random, data: Data) -> tuple[ZeroNormSelector, Drawn]:
    return ZeroNormSelector(SVC(kernel="linear", C=_price(rng))), {}


def _search(rng: Random, data: Data) -> tuple[PathSearchCV, Drawn]:
    model = SVC(
        loss=str(rng.choice(["hinge", "squared_hinge"])),
        class_weight=None if rng.random() < 0.7 else "balanced",
        multi_class=str(rng.choice(["ovo", "ovr"])),
        tol=float(10.0 ** rng.integers(-5, -2)),
        **draw_kernel(rng, data.X.shape[1], RADIAL),
    )
    grid: Drawn = {"C": sorted(_price(rng) for _ in range(3))}
    if rng.random() < 0.5:
        grid["gamma"] = [0.01, 1.0]
    return PathSearchCV(model, grid, cv=int(rng.integers(2, 4))), {"grid": grid}


def _crammer_singer(rng: Random, data: Data) -> tuple[CrammerSingerSVC, Drawn]:
    model = CrammerSingerSVC(
        C=float(10.0 ** rng.uniform(-4, 2)),
        fit_intercept=bool(rng.random() < 0.8),
        intercept_scaling=float(rng.choice([1.0, 0.1, 10.0])),
        tol=_tolerance(rng),
        class_weight=None if rng.random() < 0.7 else "balanced",
        cache_size=float(rng.choice([200, 200, 0.01])),
        **draw_kernel(rng, data.X.shape[1]),
    )
    return model, {}


def _descent(rng: Random, machine: Any, **given: Any) -> tuple[GradientSearch, Drawn]:
    starts = int(rng.choice([1, 1, 2]))
    own = {"n_starts": starts, "max_evaluations": 8, "cv": 3, "random_state": 0}
    return GradientSearch(machine, **own, **given), {}


def _descent_svc(rng: Random, data: Data) -> tuple[GradientSearch, Drawn]:
    loss = str(rng.choice(["hinge", "squared_hinge"]))
    balance = None if rng.random() < 0.7 else "balanced"
    kernel = draw_kernel(rng, data.X.shape[1], RADIAL)
    return _descent(rng, SVC(C=_price(rng), loss=loss, class_weight=balance, **kernel))


def _descent_svr(rng: Random, data: Data) -> tuple[GradientSearch, Drawn]:
    loss = str(rng.choice(["epsilon_insensitive", "squared_epsilon_insensitive"]))
    epsilon = float(rng.choice([0.0, 0.1]))
    kernel = draw_kernel(rng, data.X.shape[1], RADIAL)
    criteria = ["auto", "regression_error"] + ["press", "evidence"] * loss.startswith("squared")
    criterion = str(rng.choice(criteria))
    return _descent(rng, SVR(loss=loss, epsilon=epsilon, **kernel), criterion=criterion)


def _descent_region(rng: Random, data: Data) -> tuple[GradientSearch, Drawn]:
    nu = float(rng.choice([0.05, 0.2, 0.5]))
    kernel = draw_kernel(rng, data.X.shape[1], ("rbf", "rbf", "laplacian", "poly"))
    machine = OneClassSVM(nu=nu, **kernel) if rng.random() < 0.5 else SVDD(nu=nu, **kernel)
    return _descent(rng, machine)


def _sequential(rng: Random, data: Data) -> tuple[KernelSequentialSelector, Drawn]:
    direction = str(rng.choice(["forward", "backward"]))
    few = max(1, min(2, data.X.shape[1] - 1))
    most = max(1, data.X.shape[1] - 2)
    wanted = few if direction == "forward" else most
    machine = _features_svc(rng, data)
    selector = KernelSequentialSelector(
        machine, n_features_to_select=wanted, direction=direction, cv=2
    )
    return selector, {}


KINDS = {
    "SVC": Kind(_svc),
    "SVR": Kind(_svr, "numbers"),
    "OneClassSVM": Kind(_one_class, "nothing"),
    "SVDD": Kind(_svdd, "nothing"),
    "NearestHypersphereClassifier": Kind(_nearest, most_rows=200),
    "RVC": Kind(_rvc, most_rows=80),
    "RVR": Kind(_rvr, "numbers", most_rows=150),
    "PlattClassifier": Kind(_platt, most_rows=200),
    "KernelPerceptron": Kind(_perceptron, takes_weights=False, most_rows=150),
    "KernelRFE": Kind(_rfe, most_rows=100),
    "KernelRFECV": Kind(_rfe_cv, takes_weights=False, most_rows=60),
    "ZeroNormSelector": Kind(_zero_norm, takes_weights=False, most_rows=100),
    "PathSearchCV": Kind(_search, takes_weights=False, most_rows=150),
    "CrammerSingerSVC": Kind(_crammer_singer, most_rows=200),
    "GradientSearch of SVC": Kind(_descent_svc, most_rows=60),
    "GradientSearch of SVR": Kind(_descent_svr, "numbers", most_rows=60),
    "GradientSearch of one class": Kind(_descent_region, "nothing", most_rows=60, sparse=False),
    "KernelSequentialSelector": Kind(_sequential, takes_weights=False, most_rows=60),
}
"""All kinds of estimators, in the order in which they came."""

FIRST, N_FIRST = 10**9, 13
"""Seeds below the one number draw among so many kinds, so that each stays the program it was."""


def kinds_of(seed: int) -> list[str]:
    """Return the kinds among which a seed draws."""
    return list(KINDS)[: N_FIRST if seed < FIRST else len(KINDS)]
