"""Make the pictures of the README: python docs/make_images.py"""

import csv
import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from sklearn.datasets import make_moons

from mercer import SVC, BoundaryDisplay
from mercer.plotting.palette import BLUE, GREY, SKY

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
SHOWN = {
    "SVC, 12 problems\n(geometric mean)": "geometric mean, smallest of 12",
    "SVC, 19 hard problems\n(geometric mean)": "large C",
    "SVC, a9a\n32,561 rows": "a9a",
    "SVDD for OneClassSVM\n20,000 rows": "`SVDD`",
    "PathSearchCV for GridSearchCV\n10×10 grid, five folds": "`PathSearchCV`",
}
"""Label of a bar, and how its row in ``docs/benchmarks.md`` begins."""


def speeds() -> dict[str, tuple[float, float]]:
    """Read how many times as fast as scikit-learn we are, with AVX-512 and with AVX2.

    Where a cell has several numbers, of growing problems or of a mean and the smallest, the last
    problem counts, or the mean.
    """
    lines = (DOCS / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    found = {}
    for label, start in SHOWN.items():
        (row,) = [row for row in rows if len(row) == 7 and row[0].startswith(start)]
        found[label] = (_number(row[3]), _number(row[6]))
    return found


def _number(cell: str) -> float:
    """Read the mean before a comma, or what stands behind the last stroke."""
    text = cell.split(",")[0] if "," in cell else cell.split("/")[-1]
    return float(re.sub(r"[^0-9.]", "", text))


def of_study(measure: str) -> dict[str, dict[str, float]]:
    """Read a column of the study ``ida``, by method and set."""
    path = DOCS.parent / "studies" / "ida" / "results.csv"
    found: dict[str, dict[str, float]] = defaultdict(dict)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["method"]][row["configuration"]] = float(row[measure])
    return dict(found)


def boundary() -> None:
    """Two moons with some noise, and what SVC makes of them."""
    X, y = make_moons(200, noise=0.2, random_state=0)
    model = SVC(C=5.0, gamma=1.0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    display.ax_.set(xlabel="first feature", ylabel="second feature")
    display.figure_.savefig(IMAGES / "boundary.png", dpi=130)
    plt.close(display.figure_)


def comparison() -> None:
    """How fast, beside scikit-learn, and how good a choice of parameters, beside a grid."""
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(6.4, 7.2), layout="constrained", height_ratios=(1.1, 1)
    )
    draw_speeds(top)
    draw_errors(bottom)
    figure.savefig(IMAGES / "comparison.png", dpi=100)
    plt.close(figure)


def draw_speeds(ax: Axes) -> None:
    """Draw bars of how many times as fast we are."""
    found = speeds()
    for k, (name, color) in enumerate({"AVX-512": BLUE, "AVX2": SKY}.items()):
        places = [i + 0.38 * (k - 0.5) for i in range(len(found))]
        bars = ax.barh(places, [pair[k] for pair in found.values()], 0.36, color=color, label=name)
        ax.bar_label(bars, fmt="%g ×", padding=3, fontsize="small")
    ax.axvline(1, color=GREY, lw=1)
    ax.set_yticks(range(len(found)), found, fontsize="small")
    ax.invert_yaxis()
    ax.margins(x=0.14)
    ax.set_title("times as fast as scikit-learn, two cores of an AMD EPYC (Zen 4)", fontsize=10)
    ax.legend(loc="upper right", frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)


def draw_errors(ax: Axes) -> None:
    """Draw bars of the errors on ten sets, of a grid for each split and of the gradient."""
    errors, fits = of_study("error"), of_study("trainings")
    names = sorted(errors["default"], key=lambda name: -errors["A-grid"][name])
    for k, (method, label, color) in enumerate(
        [("A-grid", "grid with folds", GREY), ("default", "GradientSearch()", BLUE)]
    ):
        heights = [errors[method][name] for name in names]
        mean, cost = fmean(heights), fmean(fits[method][name] for name in names)
        places = [i + 0.38 * (k - 0.5) for i in range(len(names))]
        text = f"{label}, {cost:.0f} fits: mean {mean:.1f} %"
        ax.bar(places, heights, 0.36, color=color, label=text)
    ax.set_xticks(range(len(names)), names, rotation=35, ha="right", fontsize="small")
    ax.set_title("error in %, ten IDA sets, all predefined splits", fontsize=10)
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    boundary()
    comparison()
