"""Boundaries of support vector machines on sets in the plane, and six ways to learn a curve."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from mercer.studies import Configuration, Printed, Study, StudyResults
from studies.baselines.study import draw_panel, draw_times, make_plane

PRICES = (0.01, 0.05, 0.2, 1.0, 10.0, np.inf)
DEGREES = (2, 3, 4, 5, 6)
WIDTHS = (0.1, 0.5, 1.0, 1.5, 5.0, 20.0)
BY_PRICE = tuple(f"C = {price:g}" for price in PRICES)
BY_DEGREE = tuple(f"degree {degree}" for degree in DEGREES)
BY_WIDTH = tuple(f"gamma {width:g}" for width in WIDTHS)
NETWORKS = {
    "network, SGD by row": 13796.0,
    "network, CG": 1508.0,
    "network, BFGS": 15703.0,
    "network, SGD of scikit-learn": 1367.0,
}
PRINTED = NETWORKS | {"degree 4": 42.0, "gamma 1": 30.0}
"""Figure 6.9: milliseconds of its SGD, CGD, BFGS, NN SGD, POLY SVM and RBF SVM."""

CURVED = ("moons", "ring", "squares")
ROWS, TEST_ROWS = 40, 2000
PRICE = 100.0


def make_set(kind: str, n: int, seed: int) -> tuple[Any, Any]:
    """Draw a set: those of `baselines`, "outlier" and "overlap".

    In both a line separates the classes but for the first of the training rows: one near the other
    class, which leaves a narrow band, or one of each class on the wrong side.
    """
    if kind not in ("outlier", "overlap"):
        return make_plane(kind, n, seed)
    X, y = make_plane("separable", n, seed)
    normal = np.array([1.6, 1.1]) / np.hypot(1.6, 1.1)
    X[y < 0] -= 0.5 * normal
    if n == ROWS:
        beside = np.array([1.1, -1.6]) / np.hypot(1.6, 1.1)
        X[1] = beside - 0.35 * normal if kind == "outlier" else -1.8 * normal
        X[0] = X[0] if kind == "outlier" else 1.4 * normal
    return X, y


def make_method(name: str, seed: int) -> Any:
    """Return the estimator of a name; only networks use the seed."""
    from sklearn.neural_network import MLPClassifier

    from mercer.svm import SVC
    from studies.margins.network import PlainNetwork

    if name in BY_PRICE:
        return SVC(kernel="linear", C=PRICES[BY_PRICE.index(name)])
    if name in BY_DEGREE:
        degree = DEGREES[BY_DEGREE.index(name)]
        return SVC(kernel="poly", degree=degree, gamma=1.0, coef0=1.0, C=PRICE)
    if name in BY_WIDTH:
        return SVC(gamma=WIDTHS[BY_WIDTH.index(name)], C=PRICE)
    networks = {
        "network, SGD by row": lambda: PlainNetwork("SGD", epochs=200, seed=seed),
        "network, CG": lambda: PlainNetwork("CG", seed=seed),
        "network, BFGS": lambda: PlainNetwork("BFGS", seed=seed),
        "network, SGD of scikit-learn": lambda: MLPClassifier(
            (20,), solver="sgd", learning_rate_init=0.1, max_iter=2000, random_state=seed
        ),
    }
    return networks[name]()


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Learn a set; return errors in percent, processor time, and what the machine looks like."""
    from threadpoolctl import threadpool_limits

    X, y = make_set(configuration.name, ROWS, seed)
    new, truth = make_set(configuration.name, TEST_ROWS, seed + 1)
    model = make_method(method, repetition)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # networks end at their limit of iterations
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
    values = {
        "train_error": 100.0 * float(np.mean(model.predict(X) != y)),
        "error": 100.0 * float(np.mean(model.predict(new) != truth)),
        "milliseconds": 1000.0 * seconds,
    }
    if hasattr(model, "support_"):
        values["vectors"] = len(model.support_)
    if method in BY_PRICE:
        length = float(np.linalg.norm(model.coef_))
        values["half_width"] = 1 / length
        values["nearest"] = float((y * model.decision_function(X)).min()) / length
    return values


def draw_prices(results: StudyResults) -> Any:
    """Draw the boundaries for growing C (figure 6.3)."""
    return _draw(("outlier", "overlap"), BY_PRICE)


def draw_degrees(results: StudyResults) -> Any:
    """Draw the boundaries of polynomials of degree 2 to 6 (figures 6.4 and 6.5)."""
    return _draw(CURVED, BY_DEGREE)


def draw_widths(results: StudyResults) -> Any:
    """Draw the boundaries of RBF kernels (figures 6.6 and 6.7)."""
    return _draw(CURVED, BY_WIDTH)


def draw_six(results: StudyResults) -> Any:
    """Draw the boundaries of the six methods that are timed (figure 6.8)."""
    return _draw(CURVED, tuple(PRINTED))


def draw_six_times(results: StudyResults) -> Any:
    """Draw the times of the six (figure 6.9)."""
    return draw_times(results, tuple(PRINTED))


def _draw(kinds: tuple[str, ...], methods: tuple[str, ...]) -> Any:
    """Draw a panel for each kind of set, with a boundary for each method."""
    from matplotlib.figure import Figure
    from threadpoolctl import threadpool_limits

    figure = Figure(figsize=(4.4 * len(kinds) + 0.6, 6.0), layout="constrained")
    for ax, kind in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds):
        known = STUDY.methods_of(STUDY.configuration(kind))  # no line separates some of the sets
        models = {method: make_method(method, 0) for method in methods if method in known}
        with threadpool_limits(1):
            draw_panel(ax, *make_set(kind, ROWS, seed=0), models, columns=2)
        ax.set_title(kind, fontsize="medium")
    return figure


def report(results: StudyResults) -> str:
    """Put times and errors of the six methods of figure 6.9 into one table."""
    sets = [name for name in CURVED if any(results.values(name, m) for m in PRINTED)]
    if not sets:
        return ""
    lines = [
        "Figure 6.9 beside ours: median milliseconds of processor time, and errors in percent on "
        f"{ROWS} training rows and on {TEST_ROWS} others.",
        "",
        "| method | printed ms | " + " | ".join(f"{name}: ms, train, test" for name in sets) + " |",
        "|---|---:|" + "---:|" * len(sets),
    ]
    for method, printed in PRINTED.items():
        cells = " | ".join(_cell(results, name, method) for name in sets)
        lines.append(f"| {method} | {printed:g} | {cells} |")
    return "\n".join(lines) + "\n"


def _cell(results: StudyResults, name: str, method: str) -> str:
    times, train, test = (
        results.values(name, method, number) for number in ("milliseconds", "train_error", "error")
    )
    return f"{np.median(times):.2f}, {np.mean(train):.1f}, {np.mean(test):.1f}" if times else ""


def _curved(kind: str) -> Configuration:
    """Return a set that needs a curve; the text says that all six methods separate theirs."""
    printed = {name: Printed(0.0, None, {"milliseconds": ms}) for name, ms in PRINTED.items()}
    return Configuration(kind, {"rows": ROWS}, printed, methods=(*BY_DEGREE, *BY_WIDTH, *NETWORKS))


STUDY = Study(
    name="margins",
    title="Boundaries of support vector machines, and six ways to learn a curve",
    description="Sets of 40 rows in the plane. On 'outlier', which a line separates with a narrow "
    "band only, linear machines with growing C up to the hard margin, on 'overlap', where a row "
    "of each class stands on the wrong side, the same without the hard margin; on three sets that "
    "need a curve, polynomials (x.z + 1)^Q of degree 2 to 6, RBF kernels of several widths (C = "
    "100) and networks with 20 hidden units: ours, trained row by row, by scipy's conjugate "
    "gradients and by its BFGS, and scikit-learn's, trained by stochastic gradients. train_error "
    "and error are percent of the training rows and of 2000 others, milliseconds are processor "
    "time on one thread. The source says of its six methods that all of them separate: a training "
    "error of 0.",
    citation="A. Hopfgartner, M. Rupp, course text, FH Vorarlberg 2021, figures 6.3 to 6.9.",
    configurations=(
        Configuration("outlier", {"rows": ROWS}, methods=BY_PRICE),
        Configuration("overlap", {"rows": ROWS}, methods=BY_PRICE[:-1]),
        *(_curved(kind) for kind in CURVED),
    ),
    methods={
        **{name: {} for name in (*BY_PRICE, *BY_DEGREE, *BY_WIDTH)},
        **{name: {"hidden": 20} for name in NETWORKS},
    },
    run=run,
    measure="train_error",
    source="Hopfgartner, Rupp 2021",
    duration="1 min",
    again=("ring", "squares"),
    repetitions=10,
    printed_repetitions=1,
    pictures={
        "prices": "studies.margins.study:draw_prices",
        "degrees": "studies.margins.study:draw_degrees",
        "widths": "studies.margins.study:draw_widths",
        "methods": "studies.margins.study:draw_six",
        "times": "studies.margins.study:draw_six_times",
    },
    report="studies.margins.study:report",
)
