"""How many rows support the smallest enclosing ball, as its kernel becomes narrower."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.plotting.palette import BLUE, GREEN, VERMILION
from mercer.studies import Configuration, Printed, Study, StudyResults

GAMMAS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 243.0)
CONTROLS = {"2, stopped at 1e-6": 1e-6, "2, stopped at 1e-7": 1e-7}
"""An interior point that stops early, and counts multipliers above 1e-5 as the source does."""

COUNTED = 1e-5
ROWS = 100
STYLES = {"normal": (BLUE, "-"), "correlated": (VERMILION, "--"), "lognormal": (GREEN, "-.")}
TOLERANCE = (
    "counted with the tolerance of a general solver: stopped at 1e-6 ours counts as many ('2, "
    "stopped at 1e-6')"
)


def draw_rows(kind: str, seed: int, n: int = ROWS) -> Any:
    """Draw a set in the plane, as in section 4.2.3.2.

    Parameters
    ----------
    kind : {"normal", "correlated", "lognormal"}
        Standard normal, with correlation 0.8, or the exponential of standard normal numbers.
    seed : int
    n : int, default=100

    Returns
    -------
    ndarray of shape (n, 2)
    """
    X = np.random.default_rng(seed).normal(size=(n, 2))
    if kind == "correlated":
        X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    return np.exp(X) if kind == "lognormal" else X


def make_ball(gamma: float) -> Any:
    """Return the smallest ball around all rows, solved closely: counts depend on it."""
    from mercer.spheres import SVDD

    return SVDD(nu=0.0, gamma=gamma, tol=1e-6)


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Draw a set and count its support vectors."""
    X = draw_rows(configuration.name, seed)
    if method in CONTROLS:
        from mercer.kernels import RBF
        from studies.nearest_hypersphere_rows.interior_point import loose_multipliers

        multipliers = loose_multipliers(RBF(gamma=2.0)(X), CONTROLS[method])
        return {"vectors": int(np.sum(multipliers > COUNTED))}
    ball = make_ball(float(method)).fit(X)
    return {"vectors": len(ball.support_), "radius": float(ball.radius_)}


def draw_regions(results: StudyResults) -> Any:
    """Draw the support regions of a set of each kind with both widths (figures 4.3 and 4.5)."""
    from matplotlib.figure import Figure

    from mercer.plotting import SupportRegionDisplay

    figure = Figure(figsize=(11.0, 7.4), layout="constrained")
    for ax, kind, gamma, X in _panels(figure):
        ball = make_ball(gamma).fit(X)
        SupportRegionDisplay.from_estimator(ball, X, ax=ax, n_levels=0, legend=False)
        ax.set_title(f"{kind}, gamma = {gamma:g}: {len(ball.support_)} rings", fontsize="medium")
    figure.suptitle("Support regions; rings mark the support vectors", fontsize="medium")
    return figure


def draw_multipliers(results: StudyResults) -> Any:
    """Draw the multipliers of the same sets row by row (figures 4.4 and 4.6)."""
    from matplotlib.figure import Figure

    from mercer.plotting import MultipliersDisplay

    figure = Figure(figsize=(11.0, 5.4), layout="constrained")
    for ax, kind, gamma, X in _panels(figure):
        ball = make_ball(gamma).fit(X)
        MultipliersDisplay.from_estimator(ball, ax=ax, legend=False)
        title = f"{kind}, gamma = {gamma:g}: {len(ball.support_)} support vectors"
        ax.set_title(title, fontsize="medium")
    return figure


def _panels(figure: Any) -> Any:
    """Yield axes, kind, width and rows: a line of panels for each width."""
    axes = figure.subplots(2, len(STYLES), squeeze=False)
    for line, gamma in zip(axes, (0.1, 2.0)):
        for ax, kind in zip(line, STYLES):
            yield ax, kind, gamma, draw_rows(kind, seed=0)


def draw_share(results: StudyResults) -> Any:
    """Draw the share of support vectors against gamma (figure 4.7)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    ax = figure.subplots()
    for kind, (color, line) in STYLES.items():
        counts = {gamma: results.values(kind, f"{gamma:g}") for gamma in GAMMAS}
        known = [gamma for gamma in GAMMAS if counts[gamma]]
        if not known:
            continue
        low, middle, high = np.transpose(
            [np.quantile(counts[gamma], [0.1, 0.5, 0.9]) / ROWS for gamma in known]
        )
        ax.plot(known, middle, color=color, ls=line, lw=1.8, label=kind)
        ax.fill_between(known, low, high, color=color, alpha=0.15, lw=0)
    ax.set_xscale("log")
    ax.set(xlabel="gamma", ylabel="share of support vectors", ylim=(0.0, 1.03))
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower right", title="median, and four fifths of the sets")
    return figure


def _configuration(kind: str, wide: int, narrow: int, **others: int) -> Configuration:
    """Return a set with the printed counts of figures 4.4, 4.6 and the text on figure 4.7."""
    printed = {"0.1": Printed(wide), "2": Printed(narrow, reasons={"vectors": TOLERANCE})}
    printed |= {method: Printed(narrow) for method in CONTROLS}
    printed |= {name.lstrip("_"): Printed(count) for name, count in others.items()}
    return Configuration(kind, {}, printed)


STUDY = Study(
    name="gamma",
    title="Support vectors of the smallest enclosing ball against the width of its kernel",
    description="Sets of 100 rows in the plane: standard normal, normal with correlation 0.8, "
    "lognormal. Methods are values of gamma, and vectors the rows on the surface of the smallest "
    "ball around all of them. The source has one set of each kind, so that a printed count is one "
    "draw from what ours are the mean of. Two controls count the multipliers above 1e-5 of an "
    "interior point that stops at a gap of 1e-6 or 1e-7.",
    citation="S. van der Westhuizen, thesis, Stellenbosch University, 2014, figures 4.3 to 4.7.",
    configurations=(
        _configuration("normal", 7, 52),
        _configuration("correlated", 5, 35),
        _configuration("lognormal", 13, 55, _100=98, _243=100),
    ),
    methods={**{f"{gamma:g}": {} for gamma in GAMMAS}, **{name: {} for name in CONTROLS}},
    run=run,
    measure="vectors",
    source="van der Westhuizen 2014",
    duration="15 s",
    again=tuple(CONTROLS),
    repetitions=100,
    printed_repetitions=1,
    pictures={
        "regions": "studies.gamma.study:draw_regions",
        "multipliers": "studies.gamma.study:draw_multipliers",
        "share": "studies.gamma.study:draw_share",
    },
)
