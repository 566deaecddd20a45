"""The order of the gallery: that in which its first page names the scripts."""

from pathlib import Path

PAGE = Path(__file__).parents[1] / "gallery" / "README.rst"


def place_of(script: str) -> int:
    """Return where the first page names a script; ``within_subsection_order`` of sphinx-gallery."""
    return PAGE.read_text(encoding="utf-8").index(f"<{Path(script).stem}>")
