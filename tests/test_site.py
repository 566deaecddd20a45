"""The site: pages lead to each other, the reference has every name, docstrings follow numpydoc."""

import dataclasses
import inspect
import re
import runpy
import sys
import tomllib
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pytest

import mercer

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@pytest.fixture
def extensions(monkeypatch):
    """Our extensions of Sphinx, importable as they are for ``conf.py``."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    return import_module


def toctree_of(page):
    """Yield the pages that a page lists in its toctrees, by their path below ``docs``."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for block in re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                named = re.fullmatch(r".* <(.*)>", line)
                yield (Path(page).parent / (named[1] if named else line)).as_posix()


def test_settings_are_readable(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    settings = runpy.run_path(str(DOCS / "conf.py"))
    assert settings["release"] == mercer.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = " ".join(project["optional-dependencies"]["docs"]).replace("-", "_").lower()
    for name in settings["extensions"]:
        package = name.split(".")[0]
        assert package in brought or (DOCS / "_ext" / f"{name}.py").exists(), name
    assert settings["html_theme"] in brought


def test_every_page_is_in_one_toctree():
    listed, to_read = [], ["index"]
    while to_read:
        for page in toctree_of(to_read.pop()):
            listed.append(page)
            if not page.startswith("generated/"):
                to_read.append(page)
    pages = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path in DOCS.rglob("*.md")
        if "generated" not in path.parts
    }
    assert sorted(set(listed)) == sorted(listed)
    assert {page for page in listed if not page.startswith("generated/")} == pages - {"index"}
    assert {page for page in listed if page.startswith("generated/")} == {
        *("generated/gallery/index", "generated/reference/index", "generated/studies/README"),
        *("generated/CONTRIBUTING", "generated/CHANGELOG"),
    }


def test_every_public_name_is_in_the_reference(extensions, tmp_path, monkeypatch):
    pages = extensions("site_pages")
    monkeypatch.setattr(pages, "GENERATED", tmp_path)
    left_over = tmp_path / "reference" / "mercer.svm.Gone.rst"
    left_over.parent.mkdir()
    left_over.touch()
    pages.write_reference()
    assert not left_over.exists()
    listed = {
        f"mercer.{name}"
        for path in (tmp_path / "reference").glob("*.rst")
        for name in re.findall(r"^   ([\w.]+)$", path.read_text(encoding="utf-8"), flags=re.M)
        if not name.startswith("mercer.")  # pages of packages, in the toctree
    }
    objects = {}
    for name in listed:
        home, _, last = name.rpartition(".")
        objects[id(getattr(import_module(home), last))] = name
    packages = {n for n in mercer.__all__ if isinstance(getattr(mercer, n), ModuleType)}
    assert {path.stem for path in (tmp_path / "reference").glob("mercer.*.rst")} == {
        f"mercer.{name}" for name in packages
    }
    for package in ("mercer", *(f"mercer.{name}" for name in packages)):
        module = import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if not isinstance(thing, ModuleType) and name != "__version__":
                assert id(thing) in objects, f"{package}.{name}"


def test_links_are_turned_for_the_site(extensions):
    relinked = extensions("site_links").relinked
    text = "[a](../../CONTRIBUTING.md) [b](../../studies/ida/README.md#x) [c](kernels.md) [d](https://e.f)"
    assert relinked(text, "docs/guide/kernels.md") == (
        "[a](../generated/CONTRIBUTING.md) [b](../generated/studies/ida/README.md#x) "
        "[c](kernels.md) [d](https://e.f)"
    )
    assert (
        relinked("![p](docs/images/layers.png)", "CONTRIBUTING.md") == "![p](../images/layers.png)"
    )


def test_check_of_a_site_finds_what_leads_nowhere(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    (tmp_path / "a.html").write_text(
        '<p id="top"><a href="b.html#x">1</a><a href="#top">2</a><a href="b.html#y">3</a>'
        '<a href="c.html">4</a><a href="https://d.e">5</a><script src="https://d.e/f.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="x"><link rel="stylesheet" href="https://g.h/i.css">')
    assert list(import_module("check_site").faults(tmp_path)) == [
        "a.html: b.html#y has no such place",
        "a.html: c.html is not there",
        "a.html loads https://d.e/f.js",
        "b.html loads https://g.h/i.css",
    ]


LEFT_OUT = {
    "ES01",  # a first sentence may say it all
    "EX01",  # of a method or a record; doctests run what is there
    "GL01",  # text begins behind the quotes, as the whole library does it
    "PR07",  # a name and a type may say it all: X, y, random_state
    "RT03",  # likewise what is returned
    "PR08",  # a description may begin with a symbol: w, c, alpha
    "RT02",  # a name for one result tells what it is
    "SA01",  # asked of estimators and displays below
    "YD01",  # what an iterator yields is named by its type
}
"""Checks of numpydoc that are not asked for, each with its reason."""
OF_METHODS = {"PR01", "RT01"}
"""Checks of what is public itself, not of methods whose one sentence says it."""
MEMBERS = (property, cached_property, classmethod, staticmethod)
PACKAGES = [name for _, name, _ in iter_modules(mercer.__path__) if name in mercer.__all__]
"""The public packages, none of which is imported for it."""


def faults_of(name, thing):
    """Yield what numpydoc finds at fault with a class or function, and with its members."""
    validate = pytest.importorskip("numpydoc.validate").validate
    is_record = dataclasses.is_dataclass(thing) or "Attributes\n" in (inspect.getdoc(thing) or "")
    is_estimator = hasattr(thing, "fit") or name.endswith("Display")
    left_out = LEFT_OUT - ({"SA01"} if is_estimator else set())
    left_out |= {"PR01"} if is_record and not hasattr(thing, "fit") else set()
    yield from ((name, *fault) for fault in validate(name)["errors"] if fault[0] not in left_out)
    for last, member in vars(thing).items() if inspect.isclass(thing) else ():
        if not last.startswith("_") and (callable(member) or isinstance(member, MEMBERS)):
            full = f"{name}.{last}"
            for fault in validate(full)["errors"]:
                if fault[0] not in LEFT_OUT | OF_METHODS:
                    yield full, *fault


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_follow_numpydoc(package):
    module = import_module(f"mercer.{package}")
    things = {name: getattr(module, name) for name in module.__all__}
    public = {
        f"mercer.{package}.{name}": thing
        for name, thing in things.items()
        if inspect.isclass(thing) or inspect.isroutine(thing)
    }
    assert public
    assert [fault for name, thing in public.items() for fault in faults_of(name, thing)] == []


def test_docstrings_of_the_library_itself_follow_numpydoc():
    assert list(faults_of("mercer.show_versions", mercer.show_versions)) == []
