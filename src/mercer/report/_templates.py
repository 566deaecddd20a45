"""The texts of the pages, in which everything from the data is escaped."""

from __future__ import annotations

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).parent / "templates"

APART = re.compile(r"(?<=\d) (?=[%±]|(?:rows?|folds?|columns?|m?s|min|[kMG]?B)\b)|(?<=±) (?=\d)")
"""Spaces inside of a quantity, at which no line shall end."""


def render(template: str, /, **values: object) -> str:
    """Return a template with its values put in."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = unbroken
    return environment.get_template(template).render(**values)


def unbroken(text: str) -> str:
    """Return a sentence in whose quantities no line ends.

    Examples
    --------
    >>> unbroken("5.2 % ± 1.3 over 5 folds").replace("\\xa0", "_")
    '5.2_% ±_1.3 over 5_folds'
    """
    return APART.sub("\u00a0", text)


def source(name: str) -> str:
    """Return a file that is put into the page as it is."""
    return (TEMPLATES / name).read_text(encoding="utf-8")
