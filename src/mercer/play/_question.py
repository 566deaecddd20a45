"""What a page asks, checked: numbers in their ranges, and names that are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from mercer.play._catalogue import (
    FARTHEST,
    KERNELS,
    MACHINES,
    MOST_CLASSES,
    MOST_NODES,
    MOST_POINTS,
    SETTINGS,
    TIME_LIMIT,
    WHILE_MOVING,
    KernelSpec,
    MachineSpec,
)
from mercer.tables import InputError

Floats = NDArray[np.float64]
Wanted = Callable[[], bool]
"""Whether somebody still waits for the answer."""


@dataclass(frozen=True, eq=False)
class Question:
    """Points and settings.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
    labels : ndarray of int of shape (n,)
    machine, kernel : str
        By name.
    settings : dict of str to float
        Those that machine and kernel have.
    moves : bool, default=False
        Whether a slider moves, so that the next question is near.
    """

    points: Floats
    labels: NDArray[np.int64]
    machine: str
    kernel: str
    settings: dict[str, float]
    moves: bool = False

    @property
    def spec(self) -> MachineSpec:
        """The machine."""
        return MACHINES[self.machine]

    @property
    def kernel_spec(self) -> KernelSpec:
        """The kernel."""
        return KERNELS[self.kernel]

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The points that the machine learns from."""
        everyone = np.arange(len(self.points))
        return everyone[self.labels == 0] if self.machine == "one_class" else everyone

    @cached_property
    def X(self) -> Floats:  # noqa: N802
        """Their features: of a curve only the first coordinate."""
        points = self.points[self.rows]
        return points[:, :1] if self.spec.task == "curve" else points

    @cached_property
    def y(self) -> Any:
        """What is to be learned of each; None where that is nothing."""
        if self.machine == "one_class":
            return None
        if self.machine == "svdd":
            return np.where(self.labels == 0, 1, -1)
        return self.points[:, 1] if self.spec.task == "curve" else self.labels

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the estimator."""
        found: dict[str, Any] = {name: self.settings[name] for name in self.spec.settings}
        kernel = self.kernel_spec
        if kernel.make is not None:
            found["kernel"] = kernel.make(self.settings["gamma"])
        else:
            found["kernel"] = kernel.name
            found |= {name: self.settings[name] for name in kernel.settings}
        return found | dict(self.spec.fixed)

    def estimator(self) -> Any:
        """Return the estimator, not fitted.

        It has one thread: so few points gain little from more, and beside other work each fit
        would wait until all of them have had their turn.
        """
        seconds = WHILE_MOVING if self.moves else TIME_LIMIT
        limit = {"time_limit": seconds} if self.spec.takes_time_limit else {}
        return self.spec.estimator(**self.arguments(), **limit, n_jobs=1)


def question_of(given: Mapping[str, Any]) -> Question:
    """Return the question in what a page has sent, or refuse it in a sentence."""
    machine = one_of(given, "machine", MACHINES)
    kernel = one_of(given, "kernel", KERNELS)
    points = _points(given.get("points"))
    labels = _labels(given.get("labels"), len(points))
    names = (*MACHINES[machine].settings, *KERNELS[kernel].settings)
    settings = settings_of(given.get("settings"), names)
    moves = given.get("moves") is True
    question = Question(points, labels, machine, kernel, settings, moves)
    _check_enough(question)
    return question


def settings_of(given: Any, names: tuple[str, ...]) -> dict[str, float]:
    """Return the settings of these names, each within its ends."""
    if not isinstance(given, Mapping):
        _refuse("The settings must be an object of names and numbers.")
    unknown = [name for name in given if name not in SETTINGS]
    if unknown:
        _refuse(f"There is no setting {shown(unknown[0])}.")
    return {name: _setting(name, given.get(name, SETTINGS[name].start)) for name in names}


def _setting(name: str, value: Any) -> float:
    setting = SETTINGS[name]
    low, high = setting.low, setting.high
    number = number_of(value, lambda: f"{name} must be a number from {low:g} to {high:g}")
    # A slider of logarithms may end a rounding error beyond its end.
    if not low * (1 - 1e-9) <= number <= high * (1 + 1e-9):
        _refuse(f"{name} must be a number from {low:g} to {high:g}; got {number:g}.")
    if setting.scale != "whole":
        return number
    if number != round(number):
        _refuse(f"{name} must be a whole number; got {number:g}.")
    return round(number)


def view_of(given: Any) -> tuple[float, float, float, float]:
    """Return the ends of the picture: left, right, bottom, top."""
    if not isinstance(given, list) or len(given) != 4:
        _refuse("The view must be four numbers: left, right, bottom, top.")
    left, right, bottom, top = (number_of(one, lambda: "The view must be numbers") for one in given)
    if not (left < right and bottom < top) or max(map(abs, given)) > 10 * FARTHEST:
        _refuse("The view must go from left to right and from bottom to top.")
    return left, right, bottom, top


def grid_of(given: Any) -> tuple[int, int]:
    """Return the nodes across and up on which the machine is asked."""
    if not isinstance(given, list) or [type(one) for one in given] != [int, int]:
        _refuse("The grid must be two whole numbers.")
    across, up = given
    if min(across, up) < 2 or across * up > MOST_NODES:
        _refuse(f"The grid must have at least 2 nodes each way and at most {MOST_NODES} in all.")
    return across, up


def one_of(given: Mapping[str, Any], key: str, known: Mapping[str, Any]) -> str:
    """Return a name that is known."""
    name = given.get(key)
    if not isinstance(name, str) or name not in known:
        _refuse(f"The {key} must be one of {', '.join(known)}; got {shown(name)}.")
    return name


def number_of(value: Any, sentence: Callable[[], str]) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        _refuse(f"{sentence()}; got {shown(value)}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        _refuse(f"{sentence()}; got one that is not finite.")
    return number


def shown(value: Any) -> str:
    """Return what was given, cut where it is long.

    Examples
    --------
    >>> shown("machine"), shown("x" * 100)[-4:]
    ("'machine'", 'xxx…')
    """
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= 40 else f"{text[:39]}…"


def _refuse(sentence: str) -> NoReturn:
    raise InputError(sentence)


def _points(given: Any) -> Floats:
    if not isinstance(given, list):
        _refuse("The points must be a list of pairs of numbers.")
    if len(given) > MOST_POINTS:
        _refuse(f"At most {MOST_POINTS} points can be played with; got {len(given)}.")
    points = np.empty((len(given), 2))
    for k, point in enumerate(given):
        if not isinstance(point, list) or len(point) != 2:
            _refuse(f"Point {k + 1} must be a pair of numbers; got {shown(point)}.")
        points[k] = [number_of(one, lambda: "Coordinates must be numbers") for one in point]
    if np.abs(points).max(initial=0.0) > FARTHEST:
        _refuse(f"Coordinates must lie between {-FARTHEST:g} and {FARTHEST:g}.")
    return points


def _labels(given: Any, n: int) -> NDArray[np.int64]:
    if not isinstance(given, list) or len(given) != n:
        _refuse("There must be a label for each point.")
    if not all(type(one) is int and 0 <= one < MOST_CLASSES for one in given):
        _refuse(f"Labels must be whole numbers from 0 to {MOST_CLASSES - 1}.")
    return np.array(given, dtype=np.int64)


def _check_enough(question: Question) -> None:
    """Refuse points that the machine can learn nothing from."""
    task, labels = question.spec.task, question.labels
    if task == "classes" and len(np.unique(labels)) < 2:
        _refuse("Put points of at least two classes, or choose a one-class machine.")
    if task == "region" and np.count_nonzero(labels == 0) < 2:
        _refuse("Put at least two points of class A: a one-class machine learns what they share.")
    if task == "curve" and len(np.unique(question.points[:, 0])) < 2:
        _refuse("Put at least two points at different places across: a curve goes through them.")
