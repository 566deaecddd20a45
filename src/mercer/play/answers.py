"""Questions of the page and their answers: pure functions, without a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from mercer._threads import blas_threads
from mercer.play._catalogue import catalogue
from mercer.play._estimates import error_of, surface_of
from mercer.play._examples import EXAMPLES, example
from mercer.play._picture import picture_of
from mercer.play._question import Wanted, shown
from mercer.play.table import table_of
from mercer.tables import InputError


def about_of(given: Mapping[str, Any], is_wanted: Wanted) -> dict[str, Any]:
    """Return what the page is made of: machines, kernels, settings, examples."""
    return catalogue() | {"examples": [example(name) for name in EXAMPLES]}


ASKED: dict[str, Callable[[Mapping[str, Any], Wanted], dict[str, Any]]] = {
    "about": about_of,
    "picture": picture_of,
    "error": error_of,
    "surface": surface_of,
    "table": table_of,
}


def answer(question: Any, is_wanted: Callable[[], bool] | None = None) -> dict[str, Any]:
    """Return the answer to a question of the page.

    Parameters
    ----------
    question : dict
        What the page sends. Its ``ask`` is "about" (machines, kernels, settings, examples),
        "picture" (decision values on a grid, support vectors, numbers and code), "error" (on points
        left out), "surface" (a criterion at up to 16 settings) or "table" (points from the text of
        a table). Other parts are numbers and names only: nothing is evaluated or opened.
    is_wanted : callable, default=None
        Asked between fits; where it says False, the answer is left unfinished.

    Returns
    -------
    dict
        What can be written as JSON. With ``error``, one sentence, where there is no answer.

    Examples
    --------
    >>> from mercer.play import answer
    >>> question = {"ask": "picture", "machine": "svc", "kernel": "linear", "settings": {"C": 1.0}}
    >>> question |= {"view": [-2, 2, -2, 2], "grid": [9, 9]}
    >>> found = answer(question | {"points": [[-1, 0], [1, 0]], "labels": [0, 1]})
    >>> found["support"], found["numbers"][0]
    ([[0, 'margin'], [1, 'margin']], ('Wrong on these points', '0 of 2 (0.0 %)'))
    >>> answer(question | {"points": [[-1, 0]], "labels": [0]})["error"]
    'Put points of at least two classes, or choose a one-class machine.'
    """
    try:
        if not isinstance(question, Mapping):
            raise InputError("A question must be an object.")
        if "refused" in question:
            raise InputError(question["refused"])
        asked = question.get("ask")
        if not isinstance(asked, str) or asked not in ASKED:
            raise InputError(
                f"A question must ask for one of {', '.join(ASKED)}; got {shown(asked)}."
            )
        with blas_threads(1):
            return ASKED[asked](question, is_wanted or _always)
    except InputError as error:
        return {"error": str(error)}


def read_question(body: bytes) -> dict[str, Any]:
    """Return the question in what comes from the network, or one that says why there is none.

    Parameters
    ----------
    body : bytes
        JSON.

    Returns
    -------
    dict
        For `answer`.

    Examples
    --------
    >>> from mercer.play import answer, read_question
    >>> answer(read_question(b'{"ask": NaN}'))
    {'error': 'A question must be JSON, which has no NaN.'}
    """
    try:
        question = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except InputError as error:
        return {"refused": str(error)}
    except (ValueError, RecursionError):
        return {"refused": "A question must be JSON."}
    if not isinstance(question, dict):
        return {"refused": "A question must be an object."}
    question.pop("refused", None)
    return question


def _always() -> bool:
    return True


def _no_constant(name: str) -> Any:
    raise InputError(f"A question must be JSON, which has no {name}.")
