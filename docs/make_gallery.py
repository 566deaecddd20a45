"""Make the pictures of the gallery: python docs/make_gallery.py [NAME ...]"""

import runpy
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

SCRIPTS = Path(__file__).parent / "gallery"
PICTURES = Path(__file__).parent / "images" / "gallery"
DPI = {
    **dict.fromkeys(("plot_fuzzy_rules", "plot_relevance_vectors", "plot_kernel_zoo"), 72),
    **dict.fromkeys(("plot_boundaries_of_methods", "plot_one_class_regions"), 72),
    **dict.fromkeys(("plot_gram_matrices", "plot_graphs", "plot_many_classes"), 70),
    "plot_support_regions": 75,
}
"""Large pictures have fewer dots to an inch than 80, so that files stay small."""


def save_picture(script: Path, folder: Path) -> Figure:
    """Run a script of the gallery and save its figure under the name of the script."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive", UserWarning)
        figure = runpy.run_path(str(script), run_name="__main__")["figure"]
    figure.savefig(folder / f"{script.stem}.png", dpi=DPI.get(script.stem, 80))
    return figure


if __name__ == "__main__":
    for script in sorted(SCRIPTS.glob("plot_*.py")):
        if not sys.argv[1:] or script.stem.removeprefix("plot_") in sys.argv[1:]:
            print(script.stem)
            save_picture(script, PICTURES)
            plt.close("all")
