"""Every script of the gallery makes a picture of something, that of the documents."""

import ast
import inspect
import re
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import mercer

plt = pytest.importorskip("matplotlib.pyplot")

DOCUMENTS = Path(__file__).parents[2] / "docs"
SCRIPTS = sorted((DOCUMENTS / "gallery").glob("plot_*.py"))
PICTURES = DOCUMENTS / "images" / "gallery"


def test_the_gallery_is_complete():
    names = {"margin_for_growing_c", "polynomial_degrees", "rbf_widths", "explicit_map"}
    assert {script.stem.removeprefix("plot_") for script in SCRIPTS} >= names
    assert {path.stem for path in PICTURES.iterdir()} == {script.stem for script in SCRIPTS}


def test_the_first_page_names_each_script_once():
    """Its order is that of the pictures, see ``docs/_ext/site_gallery.py``."""
    page = (DOCUMENTS / "gallery" / "README.rst").read_text(encoding="utf-8")
    assert sorted(re.findall(r"<(\w+)>", page)) == [script.stem for script in SCRIPTS]


PACKAGES = (
    *("kernels", "svm", "relevance", "spheres", "perceptron", "discriminant", "trees", "fuzzy"),
    *("calibration", "cells", "lowrank", "model_selection", "feature_selection", "plotting"),
    *("distributed", "report", "inspection"),
)
"""The packages of what one fits, searches with and draws; the others serve them."""

WITHOUT_PICTURE = {
    "Kernel": "what kernels have in common; CONTRIBUTING.md makes one",
    "Distributed": "needs a cluster; its machines are those of the pictures with many rows",
    "ArrowBatches": "reads files for a machine of low rank, whose pictures are there",
    "Partition": "made by CellSVC, whose partition_ is drawn",
    "draw_elimination": "for tables of many columns; plot_elimination_steps has such a curve",
}


def names_used(script):
    """Yield all names in a script, also behind a dot."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def is_record(thing):
    """Tell whether one is given such a thing and does not make it: its maker is asked for."""
    return (is_dataclass(thing) or issubclass(thing, tuple)) and "__call__" not in vars(thing)


def test_every_class_and_kind_of_picture_is_in_a_script():
    public = {
        name: getattr(module, name)
        for module in (mercer, *(import_module(f"mercer.{package}") for package in PACKAGES))
        for name in module.__all__
        if not isinstance(getattr(module, name), ModuleType)
    }
    wanted = {
        name
        for name, thing in public.items()
        if (inspect.isclass(thing) and not is_record(thing)) or name.startswith("draw_")
    }
    used = {name for script in SCRIPTS for name in names_used(script)}
    assert sorted(wanted - used) == sorted(WITHOUT_PICTURE)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_makes_a_picture(script, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(DOCUMENTS)
    save_picture = import_module("make_gallery").save_picture
    figure = save_picture(script, tmp_path)
    (file,) = tmp_path.iterdir()
    assert file.name == f"{script.stem}.png"
    assert 10_000 < file.stat().st_size < 150_000
    image = plt.imread(file)
    assert image.shape[1] > 600
    for ax in figure.axes:
        assert ax.has_data()
        assert ax.get_title()
        # Something is in the middle of each panel, not only its frame.
        box = ax.get_window_extent().transformed(figure.transFigure.inverted())
        rows = slice(*(int((1 - y) * image.shape[0]) for y in (box.y1, box.y0)))
        columns = slice(*(int(x * image.shape[1]) for x in (box.x0, box.x1)))
        inner = image[rows, columns, :3][5:-5, 5:-5]
        assert inner.std() > 0.02
    stored = plt.imread(PICTURES / file.name)
    assert stored.shape == image.shape
    assert np.abs(stored - image).mean() < 0.05


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_says_what_one_sees(script):
    """As sphinx-gallery wants it: a docstring with a title that is underlined."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    title, line, blank, *explanation = text.splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert blank == ""
    assert len(explanation) > 5
