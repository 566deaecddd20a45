"""What to draw: decision values on a grid, support vectors by kind, and a few numbers."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.play._catalogue import TIME_LIMIT
from mercer.play._code import code_of
from mercer.play._question import Floats, Question, Wanted, grid_of, question_of, view_of
from mercer.play._source import source_of
from mercer.tables import InputError

FINEST = 32767
"""Decision values travel as whole numbers of 16 bits."""

KINDS = {
    "margin": "on the margin",
    "bound": "at the bound",
    "slack": "with slack",
    "relevance": "kept",
    "mistake": "learned from",
}
LETTERS = "ABCDEFGH"
MOST_LETTERS = 40
"""Of the name of a class."""

Grid = tuple[int, int]
View = tuple[float, float, float, float]


def picture_of(given: Mapping[str, Any], is_wanted: Wanted) -> dict[str, Any]:
    """Return what to draw for a question of the page."""
    question, view, grid = (
        question_of(given),
        view_of(given.get("view")),
        grid_of(given.get("grid")),
    )
    names, source = names_of(given.get("names")), source_of(given.get("source"))
    begun = time.perf_counter()
    model = fitted(question)
    fit_seconds = time.perf_counter() - begun
    found: dict[str, Any] = {"task": question.spec.task, "view": list(view), "grid": list(grid)}
    if question.spec.task == "curve":
        found |= _curve(question, model, view, grid)
    else:
        found |= _fields(question, model, view, grid)
    support = _support(question, model)
    found["support"] = [[int(question.rows[row]), kind] for row, kind in support]
    found["numbers"] = _numbers(question, model, [kind for _, kind in support], names[0])
    found["note"] = note_of(question, model)
    found["code"] = code_of(question, names, source)
    found["milliseconds"] = round(1e3 * fit_seconds, 2)
    return found


def names_of(given: Any) -> list[str]:
    """Return what the classes are called: letters where nothing is given."""
    if given is None:
        return list(LETTERS)
    is_list = isinstance(given, list) and len(given) <= len(LETTERS)
    if not is_list or not all(isinstance(name, str) for name in given):
        raise InputError(f"The names of the classes must be at most {len(LETTERS)} words.")
    return [name[:MOST_LETTERS] for name in given] + list(LETTERS[len(given) :])


def fitted(question: Question) -> Any:
    """Return the model; refuse what cannot be fitted, in a sentence."""
    with np.errstate(all="ignore"):
        try:
            return question.estimator().fit(question.X, question.y)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise InputError(str(error).split("\n")[0]) from error


def note_of(question: Question, model: Any) -> str:
    """Return a sentence where the fit is not what was asked for; warnings belong to no thread."""
    if getattr(model, "radius_", 1.0) == 0.0:
        return "Slack is so cheap that no ball is left; lower ν."
    if getattr(model, "converged_", True):
        return ""
    if question.machine == "perceptron":
        return "The last epoch still had mistakes: more epochs or another kernel may help."
    if question.spec.takes_time_limit and question.moves:
        return "Not at the optimum yet: it comes when the slider rests."
    if question.spec.takes_time_limit:
        limit = f"{TIME_LIMIT:g} seconds"
        return f"Stopped after {limit}, before the optimum; the code goes on to it."
    return "Stopped before it settled."


def packed(values: Floats, reach: float | None) -> dict[str, Any]:
    """Return values as whole numbers q of 16 bits, of which unit · q |q| makes the values again.

    So small ones are told apart as well, on which the lines depend, and large ones to 6e-5.

    Parameters
    ----------
    values : ndarray
    reach : float or None
        Beyond it values look alike; None keeps the largest.

    Examples
    --------
    >>> packed(np.array([0.5, -2.0, 9.0]), 4.0)["unit"] == 4.0 / FINEST**2
    True
    """
    values = np.nan_to_num(values, posinf=1e300, neginf=-1e300)
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    largest = largest if reach is None else min(reach, largest)
    shares = np.clip(values / largest, -1.0, 1.0)
    counts = np.rint(FINEST * np.sign(shares) * np.sqrt(np.abs(shares)))
    # What is not 0 keeps its sign, which decides the region.
    counts = np.where(counts == 0, np.sign(values), counts).astype("<i2")
    return {"unit": largest / FINEST**2, "data": base64.b64encode(counts.tobytes()).decode("ascii")}


def _fields(question: Question, model: Any, view: View, grid: Grid) -> dict[str, Any]:
    """Return functions on the grid, and the rule by which regions follow from them.

    By "sign" the one function is above 0 in the second class (or inside), by "argmax" the largest
    wins, by "votes" functions of pairs of classes are above 0 for the first of the two.
    """
    left, right, bottom, top = view
    across, up = np.meshgrid(np.linspace(left, right, grid[0]), np.linspace(bottom, top, grid[1]))
    points = np.column_stack([across.ravel(), up.ravel()])
    if question.spec.task == "region":
        values = model.decision_function(points)
        return {"rule": "sign", "classes": [], "margin": False, "fields": [packed(values, None)]}
    classes = [int(one) for one in model.classes_]
    is_margin = question.spec.estimator.__name__ == "SVC"
    found: dict[str, Any] = {"classes": classes, "margin": is_margin and len(classes) == 2}
    reach = question.spec.reach
    if len(classes) == 2:
        values = np.ravel(model.decision_function(points))
        return {**found, "rule": "sign", "fields": [packed(values, reach)]}
    if is_margin:
        # Setting the shape needs no new fit.
        values = model.set_params(decision_function_shape="ovo").decision_function(points)
        model.set_params(decision_function_shape="ovr")
        return {**found, "rule": "votes", "fields": [packed(one, reach) for one in values.T]}
    values = model.decision_function(points)
    values = values - values.max(axis=1, keepdims=True)
    largest = float(np.abs(values).max()) or 1.0  # one unit, so that they can be compared
    return {**found, "rule": "argmax", "fields": [packed(one / largest, 1.0) for one in values.T]}


def _curve(question: Question, model: Any, view: View, grid: Grid) -> dict[str, Any]:
    """Return the curve and the band around it: the tube, or two deviations."""
    across = np.linspace(view[0], view[1], grid[0])[:, None]
    if question.machine == "rvr":
        middle, deviation = model.predict(across, return_std=True)
        band = 2.0 * deviation
    else:
        middle = model.predict(across)
        band = np.full(len(middle), question.settings["epsilon"])
    finite = np.nan_to_num(np.stack([middle, middle - band, middle + band]), posinf=1e300)
    return {"curve": [line.round(5).tolist() for line in finite], "classes": []}


def _support(question: Question, model: Any) -> list[tuple[int, str]]:
    """Return the rows that the machine rests on, each with its kind."""
    if hasattr(model, "relevance_"):
        return [(int(row), "relevance") for row in model.relevance_]
    if not hasattr(model, "support_kind_"):
        return [(int(row), "mistake") for row in model.support_]
    if getattr(model, "loss", None) == "squared_hinge":
        return [(int(row), "slack") for row in model.support_]
    # At the bound counts if it is so for any of several machines.
    at_bound: NDArray[np.bool_] = (np.atleast_2d(model.support_kind_) == "bound").any(axis=0)
    return [(int(row), "bound" if one else "margin") for row, one in zip(model.support_, at_bound)]


def _numbers(question: Question, model: Any, kinds: list[str], first: str) -> list[tuple[str, str]]:
    """Return what to tell beside the picture: titles and values."""
    found = [(_title(question, first), _training(question, model))]
    counts = {kind: kinds.count(kind) for kind in KINDS if kind in kinds}
    said = ", ".join(f"{count} {KINDS[kind]}" for kind, count in counts.items())
    is_bayesian = question.machine in ("rvc", "rvr")
    found.append(("Relevance vectors" if is_bayesian else "Support vectors", said or "none"))
    if question.spec.reach == 4.0 and len(model.classes_) == 2:
        found.append(("Width of the margin, 2/‖w‖", f"{float(model.margin_width_[0]):.3g}"))
    if question.machine == "svdd":
        found.append(("Radius", f"{float(model.radius_):.3g}"))
    if hasattr(model, "gap_"):
        found.append(("Optimality gap", f"{float(np.max(model.gap_)):.1e}"))
    return found


def _title(question: Question, first: str) -> str:
    titles = {
        "classes": "Wrong on these points",
        "region": f"Class {first} outside",
        "curve": "Root mean squared error",
    }
    return titles[question.spec.task]


def _training(question: Question, model: Any) -> str:
    if question.spec.task == "curve":
        return f"{np.sqrt(np.mean((model.predict(question.X) - question.y) ** 2)):.3g}"
    if question.spec.task == "classes":
        return share(
            int(np.count_nonzero(model.predict(question.X) != question.y)), len(question.X)
        )
    inside = model.predict(question.points) == 1
    target = question.labels == 0
    said = share(int(np.count_nonzero(target & ~inside)), int(np.count_nonzero(target)))
    others = int(np.count_nonzero(~target))
    wrong = int(np.count_nonzero(inside & ~target))
    return f"{said}; others inside: {share(wrong, others)}" if others else said


def share(wrong: int, of: int) -> str:
    """Return for instance "3 of 40 (7.5 %)".

    Examples
    --------
    >>> share(3, 40)
    '3 of 40 (7.5 %)'
    """
    return f"{wrong} of {of} ({100 * wrong / of:.1f} %)"
