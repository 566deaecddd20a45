"""The command `mercer select`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli._matrix import Matrix
from mercer.cli._options import (
    LABELLED,
    Data,
    command,
    read_labelled,
    stem,
    stop_if_asked,
)
from mercer.cli._places import (
    CSV,
    PICTURES,
    check_places,
    draws,
    rename,
    write_csv,
    write_picture,
)
from mercer.cli._screen import Screen, progress, told_by_lines

if TYPE_CHECKING:
    import pandas as pd

    from mercer.tables import Table

MOST_ROWS = 2000
"""Rows on which features are ranked; of more, so many at random."""

FEW, SHARE = 60, 0.1
"""Up to so many features they go one by one, beyond it a share of those left at a time."""

MOST_SIZES = 60
"""Numbers of features that are scored besides the one that is asked for."""

SHOWN = 15


class Kernel(StrEnum):
    """How rows are compared."""

    LINEAR = "linear"
    RBF = "rbf"


@command(LABELLED, ("folds", "seed"))
def select(
    data: Data,
    features: Annotated[
        int | None,
        typer.Option(min=1, help="How many to keep; found out by cross-validation if not given."),
    ] = None,
    kernel: Annotated[
        Kernel | None,
        typer.Option(
            help="Whichever scores better if not given; linear beyond as many features as rows."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The ranking; select-DATA.csv if not given.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="The curve; select-DATA.png if not given.")
    ] = None,
    *,
    reading: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    """Rank the features of a table by recursive elimination, and choose how many are needed.

    In every fold the features are ranked anew without the rows on which they are scored; the
    smallest number within one standard error of the best score is taken. Categories count as one
    feature for each value. Gaps and scales are settled on all rows beforehand. Of more than 2000
    rows, so many are drawn at random, which is what bounds the time.
    """
    from mercer.comparison.folds import judgeable, make_folds

    ranking = out or Path(f"select-{stem(data)}.csv")
    curve = picture or Path(f"select-{stem(data)}.png")
    places = {"out": (ranking, CSV), "picture": (curve, PICTURES)}
    check_places(places, [data], chosen={"out": out, "picture": picture})
    folds, seed = settings["folds"], settings["seed"]
    table = read_labelled(data, reading, seed)
    screen = Screen()
    screen.introduce(table, folds=False)
    table, folds, changed = judgeable(_some_rows(table, seed, screen), folds)
    if changed:
        screen.say(changed)
    matrix = Matrix.of(table)
    _check(matrix, features)
    parts = [(fold.train, fold.test) for fold in make_folds(table, folds, 1, seed)]
    with progress(screen.side) as show, told_by_lines(show):
        selector = _best_selector(table, matrix, features, kernel, parts)
    stop_if_asked()
    found = _ranking(selector, matrix)
    figure = _draw(selector, features, table)
    try:
        screen.answer(_shown(found), _sentences(selector, found, table))
    finally:  # the files are wanted even where nobody reads the answer any more
        write_csv(ranking, found)
        write_picture(curve, figure)
    screen.written(ranking, curve)


def _some_rows(table: Table, seed: int, screen: Screen) -> Table:
    """Return a table of at most `MOST_ROWS`, with its classes in their shares."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    n = len(table.target)
    if n <= MOST_ROWS:
        return table
    screen.note(f"features are ranked on {MOST_ROWS} of {n} rows, drawn at random.")
    classes = table.target if table.task == "classification" else None
    rows, _ = train_test_split(
        np.arange(n), train_size=MOST_ROWS, stratify=classes, random_state=seed
    )
    rows.sort()
    return table.part(rows)


def _check(matrix: Matrix, features: int | None) -> None:
    from mercer.tables import InputError

    n = len(matrix.features)
    if n < 2:
        raise InputError("There is only one feature, so that there is nothing to choose.")
    if features is not None and features > n:
        raise InputError(f"--features is {features}, but there are only {n} of them.")


def _best_selector(
    table: Table, matrix: Matrix, features: int | None, kernel: Kernel | None, parts: Any
) -> Any:
    """Return the elimination whose features score best: with the kernel given, or with either."""
    rows, columns = matrix.values.shape
    tried = [kernel] if kernel else [Kernel.LINEAR] if columns > rows else list(Kernel)
    found = [_selector(table, matrix, features, one, parts) for one in tried]
    return max(found, key=lambda one: one.curve_.mean_test_score.max())


def _selector(
    table: Table, matrix: Matrix, features: int | None, kernel: Kernel, parts: Any
) -> Any:
    from dataclasses import replace

    import numpy as np

    from mercer import KernelRFECV

    X, y, scoring = matrix.values, table.target.to_numpy(), None
    if table.task == "regression":
        y = _standardised(y)
    elif _unbalanced(table):
        scoring = "balanced_accuracy"
    elimination = _elimination(table, kernel, X.shape[1])
    search = KernelRFECV(
        elimination, cv=parts, scoring=scoring, rule="one_standard_error", verbose=True
    )
    if features is not None:
        sizes = np.unique(np.geomspace(1, X.shape[1], MOST_SIZES).astype(int))
        search.set_params(sizes=np.union1d(sizes, [features]))
    search.fit(X, y)
    if scoring is not None:  # of which the largest class alone has one part
        search.curve_ = replace(search.curve_, chance=1 / len(table.class_counts()))
    if features is not None and features != search.n_features_:
        search.selector_ = elimination.set_params(n_features_to_select=features).fit(X, y)
    return search


def _standardised(y: Any) -> Any:
    """Return numbers of mean 0 and deviation 1; squares of very small ones would be 0.

    Examples
    --------
    >>> import numpy as np
    >>> _standardised(np.array([1e-310, 3e-310])).round(9).tolist()
    [-1.0, 1.0]
    """
    import numpy as np

    centred = y - y.mean()
    centred = centred / np.abs(centred).max()
    return centred / centred.std()


def _elimination(table: Table, kernel: Kernel, n_features: int) -> Any:
    """Return the elimination that suits the task, the kernel and the number of features."""
    from mercer import SVC, SVR, KernelRFE
    from mercer.feature_selection import percent

    linear = kernel is Kernel.LINEAR
    machine: Any = SVR(kernel=kernel.value)
    if table.task == "classification":
        weight = "balanced" if _unbalanced(table) else None
        machine = SVC(kernel=kernel.value, C=1.0 if linear else 10.0, class_weight=weight)
    # All rounds of two classes and a linear kernel cost little more than one.
    one_by_one = n_features <= FEW or (linear and len(table.class_counts()) == 2)
    # Where an RBF is too narrow for all features together, "decrease" drops those that make it so.
    criterion = "auto" if linear else "decrease"
    return KernelRFE(machine, step=1 if one_by_one else percent(SHARE), criterion=criterion)


def _unbalanced(table: Table) -> bool:
    from mercer.comparison.measures import is_unbalanced

    return is_unbalanced(table.class_counts())


def _ranking(selector: Any, matrix: Matrix) -> pd.DataFrame:
    """Return the features, the best first, and which of them are chosen."""
    import pandas as pd

    chosen = selector.selector_
    order = chosen.order_
    names = [matrix.features[k] for k in order]
    columns = {"rank": range(1, len(order) + 1), "feature": names}
    columns |= {"column": [matrix.columns[k] for k in order], "chosen": chosen.support_[order]}
    return pd.DataFrame(columns)


def _draw(selector: Any, features: int | None, table: Table) -> Any:
    from mercer import RankingCurveDisplay

    draws()
    size = features or selector.n_features_
    display = RankingCurveDisplay.from_estimator(selector, optimum=size)
    rename(display.figure_, {"optimum": "chosen"})
    if table.task == "regression":
        display.ax_.set_ylabel("R²")
    elif selector.scoring is not None:
        display.ax_.set_ylabel("balanced accuracy")
    return display.figure_


def _shown(found: pd.DataFrame) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("feature", overflow="fold")
    table.add_column("", no_wrap=True)
    for _, row in found.head(SHOWN).iterrows():
        table.add_row(str(row["rank"]), row["feature"], "chosen" if row["chosen"] else "")
    if len(found) > SHOWN:
        table.add_row("…", f"and {len(found) - SHOWN} more", "")
    return table


def _sentences(selector: Any, found: pd.DataFrame, table: Table) -> list[str]:
    """Return how good the chosen features are, and the columns that they come from."""
    import numpy as np

    curve, size = selector.curve_, int(found["chosen"].sum())
    at = int(np.argmin(np.abs(curve.sizes - size)))
    mean, error = curve.mean_test_score, curve.standard_error
    unit = "R²" if table.task == "regression" else "accuracy"
    if selector.scoring is not None:
        unit = "balanced accuracy"

    def told(k: int) -> str:
        if table.task == "regression":
            return f"{mean[k]:.3f} (standard error {error[k]:.3f})"
        return f"{100 * mean[k]:.1f} % (standard error {100 * error[k]:.1f})"

    said = [
        f"{size} of {len(found)} features, {selector.estimator.estimator.kernel} kernel: {unit} "
        f"{told(at)} on rows that had no say in the ranking; with all of them {told(-1)}."
    ]
    if np.isfinite(curve.chance):
        said[0] = f"{said[0][:-1]} (chance: {100 * curve.chance:.1f} %)."
    columns = list(dict.fromkeys(found.loc[found["chosen"], "column"]))
    names = ", ".join(columns[:12]) + (f" and {len(columns) - 12} more" if columns[12:] else "")
    return [*said, f"Chosen columns ({len(columns)} of {table.frame.shape[1]}): {names}."]
