"""Draw the layers of the package from its import graph: python docs/make_layers.py"""

from __future__ import annotations

import tomllib
from pathlib import Path

import grimp
import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt

from mercer.plotting.palette import BLUE, GREY, SKY

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT, GAP = 1.75, 0.5, 0.55
ASIDE = {
    "tables": -3.6,
    "comparison": 0.0,
    "play": 3.2,
    "studies": 4.6,
    "report": -1.55,
    "plotting": -1.55,
    "datasets": -5.2,
    "feature_selection": 0.1,
    "calibration": 4.7,
    "problems": -2.2,
}
"""Packages that would stand in the way of arrows between others."""


def layers() -> list[list[str]]:
    """Return the packages of each layer, the ones for people first, as the contract has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [[name.strip(" ()").removeprefix("mercer.") for name in row.split("|")] for row in rows]


def imports(packages: list[str]) -> set[tuple[str, str]]:
    """Return who imports whom, without what follows by way of others."""
    graph = grimp.build_graph("mercer")
    direct = {
        (a, b)
        for a in packages
        for b in packages
        if a != b
        and graph.direct_import_exists(
            importer=f"mercer.{a}", imported=f"mercer.{b}", as_packages=True
        )
    }
    followed = {(a, c) for a, b in direct for b2, c in direct if b == b2}
    return direct - followed


def places(rows: list[list[str]]) -> dict[str, tuple[float, float]]:
    """Return the middle of each box."""
    return {
        name: (
            ASIDE.get(name, (k - (len(row) - 1) / 2) * (WIDTH + 0.15)),
            -line * (HEIGHT + GAP),
        )
        for line, row in enumerate(rows)
        for k, name in enumerate(row)
    }


def draw() -> None:
    """Write docs/images/layers.png."""
    rows = layers()
    at = places(rows)
    figure, ax = plt.subplots(figsize=(12, 0.72 * len(rows)), layout="constrained")
    for a, b in sorted(imports(list(at))):
        (x, y), (u, v) = at[a], at[b]
        ends = {"xytext": (x, y - HEIGHT / 2), "xy": (u, v + HEIGHT / 2)}
        ax.annotate("", **ends, arrowprops={"arrowstyle": "->", "color": GREY, "lw": 0.9})
    for name, (x, y) in at.items():
        corner = (x - WIDTH / 2, y - HEIGHT / 2)
        ax.add_patch(plt.Rectangle(corner, WIDTH, HEIGHT, fc="white", ec=BLUE, zorder=3))
        ax.text(x, y, name, ha="center", va="center", fontsize=11, zorder=4)
    edge = max(x for x, _ in at.values()) + WIDTH / 2 + 0.2
    lowest = min(y for _, y in at.values())
    engine = (0.0, lowest - HEIGHT - GAP / 2)
    corner = (engine[0] - WIDTH / 2, engine[1] - HEIGHT / 2)
    ax.add_patch(plt.Rectangle(corner, WIDTH, HEIGHT, fc=BLUE, ec=BLUE, zorder=3))
    ax.text(*engine, "engine (C++)", ha="center", va="center", fontsize=11, color="white", zorder=4)
    for name in ("gram", "problems", "solvers"):
        x, y = at[name]
        side = -1 if x < 0 else 1
        bow = {"arrowstyle": "->", "color": SKY, "lw": 1.5}
        bow["connectionstyle"] = f"arc3,rad={-0.5 * side}"
        end, start = (engine[0] + side * WIDTH / 2, engine[1]), (x + side * WIDTH / 2, y)
        ax.annotate("", end, start, arrowprops=bow)
    ax.set(xlim=(-edge, edge), ylim=(engine[1] - HEIGHT, HEIGHT))
    ax.axis("off")
    figure.savefig(ROOT / "docs" / "images" / "layers.png", dpi=110)


if __name__ == "__main__":
    draw()
