"""Machines, kernels and settings of the page: what controls show and what is built of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from mercer.kernels import RBF, Kernel, Linear
from mercer.perceptron import KernelPerceptron
from mercer.plotting.palette import COLORS
from mercer.relevance import RVC, RVR
from mercer.spheres import SVDD, NearestHypersphereClassifier, OneClassSVM
from mercer.svm import SVC, SVR

MOST_POINTS = 1000
MOST_CLASSES = 8
MOST_NODES = 40_000
"""Of the grid on which a machine is asked."""

MOST_CELLS = 16
"""Of the criterion's surface in one question."""

FARTHEST = 1000.0
"""Largest coordinate; tables come in units of their deviation."""

TIME_LIMIT, WHILE_MOVING = 2.0, 0.02
"""Seconds after which a fit is left as it is; and while a slider moves, so that it never sticks."""


@dataclass(frozen=True)
class Setting:
    """A number that a slider moves.

    Parameters
    ----------
    title, hint : str
        What the page calls it, and what it does.
    low, high, start : float
        Its ends and where it begins.
    scale : {"log", "linear", "whole"}
        How the slider runs.
    """

    title: str
    hint: str
    low: float
    high: float
    start: float
    scale: str


@dataclass(frozen=True)
class MachineSpec:
    """A machine that can be chosen.

    Parameters
    ----------
    title, hint : str
        What the page calls it, and a sentence.
    task : {"classes", "region", "curve"}
        Whether it tells classes apart, surrounds those of the first class, or follows the points.
    estimator : type
    settings : tuple of str
        Beside those of the kernel.
    fixed : tuple of (str, object)
        Arguments that nobody moves.
    criteria : tuple of str
        What the surface may show, by name.
    reach : float or None
        Decision values beyond it look alike; None if their unit is not known.
    takes_time_limit : bool
    """

    title: str
    hint: str
    task: str
    estimator: type
    settings: tuple[str, ...]
    criteria: tuple[str, ...]
    fixed: tuple[tuple[str, Any], ...] = ()
    reach: float | None = None
    takes_time_limit: bool = True


@dataclass(frozen=True)
class KernelSpec:
    """A kernel that can be chosen.

    Parameters
    ----------
    title : str
    settings : tuple of str
        The parameters that it has.
    name : str or None
        Its name for an estimator; None where it is made of others.
    make : callable or None
        From gamma to the kernel, where it has no name.
    code : str
        The same as text, with a place for gamma.
    """

    title: str
    settings: tuple[str, ...]
    name: str | None = None
    make: Callable[[float], Kernel] | None = None
    code: str = ""


SETTINGS = {
    "C": Setting(
        "C", "price of slack: small is smooth, large obeys every point", 1e-2, 1e4, 1.0, "log"
    ),
    "gamma": Setting("γ (gamma)", "small: wide kernel; large: narrow", 1e-2, 1e2, 1.0, "log"),
    "nu": Setting("ν (nu)", "share of points that may lie outside", 5e-3, 1.0, 0.1, "log"),
    "degree": Setting("degree", "of the polynomial", 1, 8, 3, "whole"),
    "coef0": Setting("coef0", "constant of the polynomial", 0.0, 5.0, 1.0, "linear"),
    "epsilon": Setting("ε (epsilon)", "half the width of the tube", 0.0, 1.0, 0.1, "linear"),
    "max_iter": Setting("epochs", "how often every point is visited, at most", 1, 100, 30, "whole"),
}

OF_SVC = ("span", "xi_alpha", "leave_one_out", "folds")
MACHINES = {
    "svc": MachineSpec(
        "Support vectors (SVC)",
        "The widest margin; slack costs C.",
        *("classes", SVC, ("C",), OF_SVC),
        reach=4.0,
    ),
    "svc_squared": MachineSpec(
        "Support vectors, squared slack",
        "The widest margin; squared slack costs C/2.",
        *("classes", SVC, ("C",), ("radius_margin", *OF_SVC)),
        fixed=(("loss", "squared_hinge"),),
        reach=4.0,
    ),
    "spheres": MachineSpec(
        "Nearest hyperspheres",
        "A ball around each class; the nearest, by radius, wins.",
        *("classes", NearestHypersphereClassifier, ("nu",), ("folds",)),
        fixed=(("cv", None),),
    ),
    "rvc": MachineSpec(
        "Relevance vectors (RVC)",
        "Bayesian and sparse; no price to choose.",
        *("classes", RVC, (), ("folds",)),
        reach=8.0,
        takes_time_limit=False,
    ),
    "perceptron": MachineSpec(
        "Kernel perceptron",
        "Learns from its mistakes, one point after another.",
        *("classes", KernelPerceptron, ("max_iter",), ("folds",)),
        fixed=(("random_state", 0),),
        takes_time_limit=False,
    ),
    "svdd": MachineSpec(
        "Data description (SVDD)",
        "The smallest ball around class A; other classes are known outliers.",
        *("region", SVDD, ("nu",), ("region_error",)),
    ),
    "one_class": MachineSpec(
        "One-class SVM",
        "Keeps class A away from the origin; other classes are not seen.",
        *("region", OneClassSVM, ("nu",), ("region_error",)),
    ),
    "svr": MachineSpec(
        "Support vector regression (SVR)",
        "A curve through the points, up as a function of across; a tube costs nothing.",
        *("curve", SVR, ("C", "epsilon"), ("folds",)),
    ),
    "rvr": MachineSpec(
        "Relevance vector regression (RVR)",
        "A Bayesian curve with its deviation.",
        *("curve", RVR, (), ("folds",)),
        takes_time_limit=False,
    ),
}
CRITERIA = {
    "xi_alpha": "ξα estimate",
    "span": "span estimate",
    "radius_margin": "radius/margin bound",
    "leave_one_out": "leave-one-out error",
    "folds": "error on 5 folds",
    "region_error": "region error",
}
KERNELS = {
    "linear": KernelSpec("linear", (), "linear"),
    "poly": KernelSpec("polynomial", ("gamma", "degree", "coef0"), "poly"),
    "rbf": KernelSpec("RBF (Gauss)", ("gamma",), "rbf"),
    "laplacian": KernelSpec("Laplacian", ("gamma",), "laplacian"),
    "rbf_linear": KernelSpec(
        "RBF + linear",
        ("gamma",),
        make=lambda gamma: RBF(gamma) + Linear(),
        code="RBF({gamma!r}) + Linear()",
    ),
    "rbf_times_linear": KernelSpec(
        "RBF × linear",
        ("gamma",),
        make=lambda gamma: RBF(gamma) * Linear(),
        code="RBF({gamma!r}) * Linear()",
    ),
}


def catalogue() -> dict[str, Any]:
    """Return what the page needs to make its controls."""
    return {
        "settings": {name: asdict(setting) for name, setting in SETTINGS.items()},
        "machines": {
            name: {
                "title": spec.title,
                "hint": spec.hint,
                "task": spec.task,
                "settings": spec.settings,
                "criteria": spec.criteria,
            }
            for name, spec in MACHINES.items()
        },
        "kernels": {
            name: {"title": spec.title, "settings": spec.settings} for name, spec in KERNELS.items()
        },
        "criteria": CRITERIA,
        "colors": COLORS[:MOST_CLASSES],
        "most_points": MOST_POINTS,
        "most_classes": MOST_CLASSES,
        "most_nodes": MOST_NODES,
        "farthest": FARTHEST,
    }
