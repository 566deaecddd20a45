"""What rankings by chance, by one machine and by elimination are worth, and by which kernel."""

from __future__ import annotations

from typing import Any

from mercer.studies import Configuration, Study
from studies.rfe.study import TRADE_OFF, elimination, experiment, linear_machine, load_data

SIZES = (1, 2, 5, 10, 20, 40, 64, 100, 150, 200, 300, 500)
"""Numbers of features with which accuracies are measured, as far as there are so many."""

PROBLEMS = {
    "300 features, 50 matter": ("4.7", "linear", 0.01),
    "steps": ("5.2", "linear", 1e-5),
    "MADELON, judged linearly": ("5.25", "linear", 1e-6),
    "MADELON, judged by degree 7": ("5.25", "7", 0.6),
    "ten classes": ("5.15", "linear", 0.05),
    "digits": ("5.16", "linear", 0.1),
    "kernels, judged linearly": ("5.22", "linear", 1e-3),
    "kernels, judged by degree 2": ("5.22", "2", 1e-2),
}
"""Table of Planas that has the data (figure 4.7: its own), what judges, and C."""

KERNELS = {"5.25": (0.6, "7"), "5.22": (1e-2, "2")}
"""C and degree of the eliminations with a kernel."""

SAMPLED = "8000 rows"
ALGORITHMS = tuple(f"{letter}{number}" for number in (1, 2, 3) for letter in "ABC")
SAMPLED_FOLDS = 5

PRICED = "MADELON, all features"
PRICES = tuple(10.0**k for k in range(-7, 3))

STEPS = {"steps of 100": 100, "steps of 20": 20, "steps of 5": 5}
"""Those of figure 4.7; the source does not say which it took."""


def run(configuration: Configuration, method: str, repetition: int, seed: int) -> dict[str, float]:
    """Rank in each fold, and measure accuracies with the best features."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    from mercer.feature_selection import ranking_curve

    about = configuration.parameters
    X, y = make_data(about["table"])
    folds = StratifiedKFold(
        SAMPLED_FOLDS if about["table"] == "5.6" else 7, shuffle=True, random_state=seed
    )
    if method.startswith("C "):
        machine = linear_machine(float(method[2:]))
        return {"accuracy": float(cross_val_score(machine, X, y, cv=folds).mean())}
    machine = judge(about)
    sizes = [size for size in SIZES if size <= X.shape[1]]
    source = ranking_source(about, method, X.shape[1])
    curve = ranking_curve(
        {"": source}, machine, X, y, sizes=sizes, cv=folds, baselines=False, random_state=seed
    )[""]
    best = curve.best_size(TRADE_OFF)
    return {
        "accuracy": float(curve.mean_test_score.mean()),
        "cost": float(curve.cost(TRADE_OFF).min()),
        "features": float(best),
        **{f"accuracy_{k}": float(v) for k, v in zip(sizes, curve.mean_test_score)},
    }


def make_data(table: str) -> tuple[Any, Any]:
    """Return the data of a table; those of figure 4.7 are not printed but for their shape."""
    from sklearn.datasets import make_classification

    if table == "4.7":
        return make_classification(
            1000, 300, n_informative=50, n_redundant=0, flip_y=0.05, random_state=0
        )
    return load_data(table)


def judge(about: Any) -> Any:
    """Return the machine that learns from the best features."""
    if about["judge"] == "linear":
        return linear_machine(about["C"])
    return experiment(about["table"], about["C"], about["judge"])[1]


def ranking_source(about: Any, method: str, n_features: int) -> Any:
    """Return what ranks the features."""
    from mercer.feature_selection import percent

    table, C = about["table"], about["C"]
    if method in ALGORITHMS:
        return experiment("5.6", C, method)[0]
    if method == "random":
        return "random"
    if method == "kernel elimination":
        return experiment(table, *KERNELS[table])[0]
    machine = linear_machine(C if about["judge"] == "linear" else 1e-6)
    if method == "filter":
        return elimination(machine, n_features)
    return elimination(machine, STEPS.get(method, percent(0.1)))


def _configurations() -> tuple[Configuration, ...]:
    found = []
    for name, (table, judged, C) in PROBLEMS.items():
        methods = ["random", "filter"]
        methods += STEPS if table == "4.7" else ["elimination"]
        methods += ["kernel elimination"] if table in KERNELS else []
        about = {"table": table, "judge": judged, "C": C}
        data = ("madelon",) if table == "5.25" else ()
        found.append(Configuration(name, about, methods=tuple(methods), data=data))
    sampled = {"table": "5.6", "judge": "linear", "C": 10.0}
    found.append(Configuration(SAMPLED, sampled, methods=ALGORITHMS))
    prices = tuple(f"C {C:g}" for C in PRICES)
    found.append(Configuration(PRICED, {"table": "5.25"}, methods=prices, data=("madelon",)))
    return tuple(found)


CONFIGURATIONS = _configurations()

STUDY = Study(
    name="rfe-curves",
    title="Rankings by chance, by a filter, by elimination, and the kernel that judges",
    description="Accuracy against the number of features on the data of the study rfe, for a "
    "random ranking, a filter (the weights of one linear machine), eliminations of a tenth of the "
    "features left, and eliminations with a kernel; judged by linear machines or by the kernel, on "
    "7 folds (8000 rows: 5). '8000 rows' has the algorithms of table 5.6: all rows (A), drawn once "
    "(B) and in every round (C), with steps of 20 (1) and 5 and a tenth (1, 2) or half (3) of the "
    "rows. 'MADELON, all features' has linear machines by C. The source shows curves without "
    "numbers. The accuracy is the mean over the numbers of features tried, accuracy_k that with "
    "the best k; the cost is 0.8 (1 - accuracy) + 0.2 size / all where it is least.",
    citation="R. Planas, bachelor thesis, UPC Barcelona, 2021, figures 4.7, 5.2 to 5.19.",
    configurations=CONFIGURATIONS,
    methods={method: {} for c in CONFIGURATIONS for method in c.methods or ()},
    run=run,
    measure="accuracy",
    lower_is_better=False,
    source="Planas 2021",
    duration="10 min",
    repetitions=2,
    kept=("cost", "features", *(f"accuracy_{size}" for size in SIZES)),
    pictures={
        "curves": "studies.rfe_curves.pictures:draw_curves",
        "steps": "studies.rfe_curves.pictures:draw_steps",
        "estimate": "studies.rfe_curves.pictures:draw_estimate",
    },
    report="studies.rfe_curves.report:report",
)
