"""Pages that nobody types: the reference, the studies, and what stands outside of ``docs``."""

import re
from importlib import import_module
from inspect import isclass, ismodule, isroutine
from pathlib import Path
from shutil import copyfile
from typing import Any

from site_links import LINK, relinked
from site_names import packages, public_names, shown_as
from sphinx.application import Sphinx
from sphinx.config import Config

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
GENERATED = DOCS / "generated"
OUTSIDE = ("CONTRIBUTING.md", "CHANGELOG.md")
FROM_SKLEARN = re.compile(r"set_\w+_request|get_metadata_routing")
"""Methods that scikit-learn adds, and whose pages explain nothing of ours."""

FOREIGN_LINK = re.compile(r":(?:ref|term):`([^`<]*?)\s*(?:<[^`]*>)?`")
ATTRIBUTE = re.compile(r"\s*\*\*.*?\*\* : ")


def write(path: Path, text: str) -> None:
    """Write a page unless it stands there already, so that Sphinx reads it no second time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def heading(text: str, line: str = "=") -> str:
    """Write a heading of reStructuredText."""
    return f"{text}\n{line * len(text)}\n\n"


def table(names: list[str]) -> str:
    """List names with their first sentences, and have a page made for each."""
    ordered = sorted((name.removeprefix("mercer.") for name in names), key=str.lower)
    lines = "".join(f"   {name}\n" for name in ordered)
    return f".. currentmodule:: mercer\n\n.. autosummary::\n   :toctree: .\n\n{lines}\n"


def kind_of(thing: Any) -> str:
    """Say under which heading a public name is listed."""
    if isclass(thing):
        return "Classes"
    return "Functions" if isroutine(thing) else "Constants"


def package_page(package: str) -> str:
    """Write the page of a package: its docstring, and its names by kind."""
    module = import_module(package)
    text = heading(package) + f".. automodule:: {package}\n   :no-members:\n\n"
    listed: dict[str, list[str]] = {"Classes": [], "Functions": [], "Constants": []}
    for name in module.__all__:
        thing = getattr(module, name)
        if not ismodule(thing):
            listed[kind_of(thing)].append(shown_as(f"{package}.{name}"))
    for kind, names in listed.items():
        if names:
            text += heading(kind, "-") + table(names)
    return text


def first_sentence(package: str) -> str:
    """Give the first line of a package's docstring."""
    return (import_module(package).__doc__ or "").strip().splitlines()[0]


def write_reference() -> None:
    """Write the reference: a page that lists the packages, and one for each."""
    folder = GENERATED / "reference"
    kept = {"index", *packages(), *(shown_as(name) for name in public_names())}
    for page in folder.glob("*.rst"):
        if page.stem not in kept:  # a name of an earlier build
            page.unlink()
    rows = "".join(
        f"   * - :doc:`{name} <{name}>`\n     - {first_sentence(name)}\n" for name in packages()
    )
    short = sorted(
        {shown_as(name) for name in public_names() if shown_as(name).count(".") == 1},
        key=str.lower,
    )
    every_day = "".join(f"   {name.removeprefix('mercer.')}\n" for name in short)
    toctree = "".join(f"   {name}\n" for name in packages())
    write(
        folder / "index.rst",
        heading("Reference")
        + "Every public name. What is used every day is imported from ``mercer`` itself, the rest "
        "from its package.\n\n"
        + heading("Packages", "-")
        + f".. list-table::\n   :widths: auto\n\n{rows}\n"
        + f".. toctree::\n   :hidden:\n\n{toctree}\n"
        + heading("Names of every day", "-")
        + f".. currentmodule:: mercer\n\n.. autosummary::\n\n{every_day}\n"
        + heading("Of the library itself", "-")
        + table([name for name in public_names() if name.count(".") == 1]),
    )
    for package in packages():
        write(folder / f"{package}.rst", package_page(package))


def copy_page(path: Path, *, after: str = "") -> None:
    """Copy a page of the repository with its pictures and downloads, and turn its links."""
    place = path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    for match in LINK.finditer(text):
        file = path.parent / match[2]
        if file.is_file() and file.suffix != ".md" and DOCS not in file.resolve().parents:
            target = GENERATED / file.resolve().relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            copyfile(file, target)
    write(GENERATED / place, relinked(text, place) + after)


def write_outside() -> None:
    """Copy the pages that stand outside of ``docs``, and those of the studies."""
    for name in OUTSIDE:
        copy_page(ROOT / name)
    pages = sorted((ROOT / "studies").glob("*/README.md"))
    for page in pages:
        copy_page(page)
    listed = "".join(f"{page.parent.name}/README\n" for page in pages)
    copy_page(ROOT / "studies" / "README.md", after=f"\n```{{toctree}}\n:hidden:\n\n{listed}```\n")


def write_pages(app: Sphinx, config: Config) -> None:
    """Write all of them."""
    write_reference()
    write_outside()


def leave_out(
    app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out the methods that scikit-learn's metadata routing adds."""
    return True if FROM_SKLEARN.fullmatch(name) else None


def mend(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Mend what numpydoc and scikit-learn leave, after numpydoc.

    Types of attributes may name others, as in "shape (n_features_in_,)", whose last stroke is a
    link to docutils. Links into scikit-learn's own pages, in docstrings from there, become text.
    """
    for k, line in enumerate(lines):
        if match := ATTRIBUTE.match(line):
            lines[k] = match[0] + re.sub(r"(?<=\w)_(?=[^\w`]|$)", r"\\_", line[match.end() :])
    home = getattr(getattr(thing, "fget", thing), "__module__", None) or ""
    if home.startswith("sklearn"):
        lines[:] = [FOREIGN_LINK.sub(r"``\1``", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, before autosummary and sphinx-gallery look for their pages."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("autodoc-process-docstring", mend, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
