"""Arguments of other libraries' machines, and what stands for them here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec

Given = ParamSpec("Given")

OF_LINEAR_MACHINES = {
    "dual": "the solver is chosen by `solver`",
    "fit_intercept": "there is always an intercept",
    "intercept_scaling": "the intercept is not penalised",
    "penalty": "weights are penalised by their squared norm; sparse ones come from "
    "RVC(basis='columns') or RVR(basis='columns')",
}
"""Arguments of scikit-learn's linear machines."""


def says_instead(
    hints: Mapping[str, str],
) -> Callable[[Callable[Given, None]], Callable[Given, None]]:
    """Decorate an ``__init__`` so that unknown arguments with a known meaning get a sentence.

    Parameters
    ----------
    hints : mapping
        From the name of an argument to what is to be used instead.

    Examples
    --------
    >>> class Machine:
    ...     @says_instead({"nu": "use C"})
    ...     def __init__(self, *, C=1.0):
    ...         self.C = C
    >>> Machine(nu=0.5)
    Traceback (most recent call last):
    TypeError: Machine takes no nu: use C.
    """

    def decorate(init: Callable[Given, None]) -> Callable[Given, None]:
        @wraps(init)
        def checked(*arguments: Given.args, **named: Given.kwargs) -> None:
            for name in named:
                if name in hints:
                    machine = type(arguments[0]).__name__
                    raise TypeError(f"{machine} takes no {name}: {hints[name]}.")
            init(*arguments, **named)

        return checked

    return decorate
