"""The public names of mercer, read from ``__all__`` of its packages."""

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import mercer


@cache
def packages() -> tuple[str, ...]:
    """Name the public packages."""
    names = (name for name in mercer.__all__ if isinstance(getattr(mercer, name), ModuleType))
    return tuple(sorted(f"mercer.{name}" for name in names))


@cache
def public_names() -> dict[str, Any]:
    """Give each public name with its object, a name of a package by its full name only."""
    found = {}
    for package in packages():
        module = import_module(package)
        found |= {f"{package}.{name}": getattr(module, name) for name in module.__all__}
    known = {id(thing) for thing in found.values()}
    for name in mercer.__all__:
        thing = getattr(mercer, name)
        if not isinstance(thing, ModuleType | str) and id(thing) not in known:
            found[f"mercer.{name}"] = thing
    return found


@cache
def shown_as(name: str) -> str:
    """Give the name under which the reference shows a public name: the shortest that works."""
    short = f"mercer.{name.rpartition('.')[2]}"
    is_short = getattr(mercer, short.removeprefix("mercer."), None) is public_names()[name]
    return short if is_short else name
