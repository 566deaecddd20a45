"""Test modules of scikit-learn, with our classes where they ask for scikit-learn's."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from types import CodeType, FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

Substitutes = Mapping[str, Mapping[str, Any]]
"""For each module of scikit-learn, the names that stand for something of ours."""


def names_with(substitutes: Substitutes, module: str) -> dict[str, Any]:
    """Return what a test module defines when the substitutes are what it finds on import.

    The file is the one that is installed. It is run a second time under another name, so that
    neither scikit-learn nor its own tests see anything of it.

    Parameters
    ----------
    substitutes : mapping
    module : str
        Name of the test module, such as "sklearn.svm.tests.test_svm".

    Returns
    -------
    dict
        Tests, fixtures and helpers by name.
    """
    genuine = importlib.import_module(module)  # and, unchanged, all that it imports
    assert genuine.__file__ is not None
    spec = importlib.util.spec_from_file_location(
        f"peer_{module.replace('.', '_')}", genuine.__file__
    )
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    sys.modules[copy.__name__] = copy  # for what is pickled by name
    with ExitStack() as stack:
        for home, names in substitutes.items():
            stack.enter_context(patch.multiple(home, **names))
        spec.loader.exec_module(copy)
    for name, value in list(vars(copy).items()):
        if isinstance(value, ModuleType) and value.__name__ in substitutes:
            setattr(copy, name, _changed(value, substitutes[value.__name__]))
    vars(copy)["_peer"] = module
    vars(copy)["_stand_ins"] = {word for names in substitutes.values() for word in names}
    return {name: value for name, value in vars(copy).items() if not name.startswith("__")}


def _changed(module: ModuleType, names: Mapping[str, Any]) -> ModuleType:
    """Return a copy of the module in which some names stand for something else."""
    copy = ModuleType(module.__name__)
    vars(copy).update(vars(module), **names)
    return copy


def meets_ours(test: FunctionType, arguments: Iterable[Any]) -> bool:
    """Say whether a test, with these arguments, has to do with any of our classes.

    It does if a class or object of ours is among the arguments, or if the test, or a helper that
    it calls, names one that stands in.
    """
    return any(_is_ours(value) for value in arguments) or _names_ours(test, set())


def _is_ours(value: Any) -> bool:
    home = value if isinstance(value, type) else type(value)
    return home.__module__.startswith("mercer.")


def _names_ours(function: FunctionType, seen: set[str]) -> bool:
    function = inspect.unwrap(function)
    around = function.__globals__
    names = _names_in(function.__code__)
    if names & around["_stand_ins"]:
        return True
    helpers = {name for name in names - seen if isinstance(around.get(name), FunctionType)}
    seen |= helpers
    own = [around[name] for name in helpers if around[name].__module__ == around["__name__"]]
    return any(_names_ours(helper, seen) for helper in own)


def _names_in(code: CodeType) -> set[str]:
    inner = [_names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inner)
