"""Every script of the gallery makes a picture of something, that of the documents."""

import ast
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

plt = pytest.importorskip("matplotlib.pyplot")

DOCUMENTS = Path(__file__).parents[2] / "docs"
SCRIPTS = sorted((DOCUMENTS / "gallery").glob("plot_*.py"))
PICTURES = DOCUMENTS / "images" / "gallery"


def test_the_gallery_is_complete():
    names = {"margin_for_growing_c", "polynomial_degrees", "rbf_widths", "explicit_map"}
    assert {script.stem.removeprefix("plot_") for script in SCRIPTS} >= names
    assert {path.stem for path in PICTURES.iterdir()} == {script.stem for script in SCRIPTS}


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
