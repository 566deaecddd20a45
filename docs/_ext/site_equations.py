"""MathJax of the package sphinx-mathjax-offline: one file and its fonts, instead of a network."""

from importlib.resources import as_file, files
from pathlib import Path
from shutil import copytree, ignore_patterns

from sphinx.application import Sphinx

FOLDER = "mathjax"
SCRIPT = "tex-chtml-full.js"
FONTS = "output/chtml/fonts/woff-v2"


def copy_mathjax(app: Sphinx, error: Exception | None) -> None:
    """Put the script and the fonts that it asks for beside the other static files."""
    if error or app.builder.format != "html":
        return
    source = files("sphinx-mathjax-offline") / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / FOLDER
    with as_file(source) as folder:
        copytree(folder / FONTS, target / FONTS, dirs_exist_ok=True, ignore=ignore_patterns("*.py"))
        (target / SCRIPT).write_bytes((folder / SCRIPT).read_bytes())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.config.mathjax_path = f"{FOLDER}/{SCRIPT}"
    app.config.mathjax3_config = {
        "tex": {"inlineMath": [["\\(", "\\)"]], "displayMath": [["\\[", "\\]"]]},
        "options": {
            "processHtmlClass": "tex2jax_process|mathjax_process|math|output_area",
            "enableMenu": False,
        },
    }
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
