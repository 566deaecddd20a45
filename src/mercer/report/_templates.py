"""The texts of the pages, in which everything from the data is escaped."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, /, **values: object) -> str:
    """Return a template with its values put in."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)


def source(name: str) -> str:
    """Return a file that is put into the page as it is."""
    return (TEMPLATES / name).read_text(encoding="utf-8")
