"""The command `mercer predict`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer._numbers import number
from mercer.cli._matrix import COUNTED, MOST_NAMES, causes, columns_of, distance_in_radii
from mercer.cli._models import EVENLY, load_model
from mercer.cli._options import FORM, command, file_of, is_model, stem, stop_if_asked, told_apart
from mercer.cli._places import CSV, check_places, write_csv
from mercer.cli._screen import Screen, cell

if TYPE_CHECKING:
    import pandas as pd

    from mercer.tables import NewRows, TableModel

SHOWN = 5
"""Rows that are shown on the screen; the file has all."""

SIDES = {1: "usual", -1: "unusual"}
"""What the description of one class calls its two answers."""


@command(FORM)
def predict(
    model: Annotated[
        Path, typer.Argument(help="A model of mercer fit, compare --save, tune or describe.")
    ],
    data: Annotated[
        str, typer.Argument(help="New rows: a table with the columns that the model was fitted on.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The predictions; predictions-DATA.csv if not given.")
    ] = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Predict new rows with a saved model.

    The file has a line for each row, in the order of the table: its number (the first is 1),
    whatever names it, the prediction, and probabilities where the model has any. Where the table
    has the target too, the error is told. Of a description the most unusual rows are shown here,
    and what they stand out by.
    """
    from mercer.tables import InputError, read_new_rows

    place = out or Path(f"predictions-{stem(data)}.csv")
    check_places({"out": (place, CSV)}, [str(model), data], chosen={"out": out})
    if is_model(Path(data)) and not is_model(model):
        raise InputError("The model comes first: mercer predict MODEL DATA.")
    machine = load_model(model)
    screen = Screen()
    rows = read_new_rows(file_of(data), machine.like(), machine.beside(), **reading)
    for notice in _notices(machine, rows):
        screen.note(notice)
    said = predictions(machine, rows)
    if machine.task == "description":
        shown, how = _most_unusual(machine, rows, said), [COUNTED]
    else:
        shown, how = _first_rows(said), []
    evenly = [EVENLY] if machine.about.get("measure") == "balanced_error" else []
    stop_if_asked()
    try:
        screen.answer(shown, [*how, _counts(machine, said), *_score(machine, rows, said), *evenly])
    finally:  # the file is wanted even where nobody reads the answer any more
        write_csv(place, said)
    screen.written(place)


def _notices(machine: TableModel, rows: NewRows) -> list[str]:
    """Return what must be known of new rows that differ from the old ones."""
    from mercer.tables.errors import listed, shown

    said = [*rows.notices, *_gaps(rows.frame)]
    for name, new in machine.new_words(rows.frame).items():
        was, counts = ("was", "counts") if len(new) == 1 else ("were", "count")
        said.append(
            f"In column {shown(name)}, {listed(new, 3)} {was} not there at fitting and {counts} as "
            "none of the known values."
        )
    for name, far in machine.far_numbers(rows.frame).items():
        low, high = machine.ranges[name]
        farthest = max(far, key=lambda one: abs(one - low))
        said.append(
            f"In column {shown(name)}, {len(far)} of {len(rows.frame)} numbers lie far outside of "
            f"those at fitting ({number(low)} to {number(high)}), such as {number(farthest)}: is "
            "the unit or the decimal sign another one?"
        )
    for name, (first, last) in machine.foreign_dates(rows.frame).items():
        side = "after" if rows.frame[name].min() > last else "before"
        said.append(
            f"All dates in column {shown(name)} lie {side} those at fitting ({cell(first)} to "
            f"{cell(last)}), and nothing was learned of such rows: judge the predictions with "
            f"care, or fit without the column (--drop {name})."
        )
    if rows.others:
        plural, it = ("s", "them") if len(rows.others) > 1 else ("", "it")
        said.append(
            f"Column{plural} {listed(rows.others)} left alone: the model has no use for {it}."
        )
    return said


def _gaps(frame: pd.DataFrame) -> list[str]:
    """Return where values are missing, and what stands for them."""
    from mercer.tables.errors import counted, shown

    missing = frame.isna().sum()
    missing = missing[missing > 0].sort_values(ascending=False, kind="stable")
    if missing.empty:
        return []
    parts = [f"{shown(name)} ({count:,})" for name, count in missing[:SHOWN].items()]
    more = f" and {len(missing) - SHOWN} more columns" if len(missing) > SHOWN else ""
    number_of_gaps = counted(int(missing.sum()), "value")
    return [
        f"{number_of_gaps} missing of {counted(len(frame), 'row')}, in {', '.join(parts)}{more}: "
        "in place of a number stands the median of the rows at fitting."
    ]


def predictions(machine: TableModel, rows: NewRows) -> pd.DataFrame:
    """Return a row for each new one: its number and names, the prediction and what goes with it.

    Parameters
    ----------
    machine : TableModel
    rows : NewRows
    """
    import numpy as np
    import pandas as pd

    names = [name for name in machine.names if name in rows.beside]
    columns: dict[str, Any] = {"row": np.arange(1, len(rows.frame) + 1)}
    apart = told_apart(names, ["row", "prediction", "distance", "decision"])
    columns |= {apart.get(name, name): rows.beside[name].to_numpy() for name in names}
    said = np.asarray(machine.predict(rows.frame))
    if machine.task == "description":
        columns["prediction"] = [SIDES[int(one)] for one in said]
        name, values = _how_unusual(machine, rows.frame)
        columns[name] = values
    else:
        columns["prediction"] = said
    if machine.task == "classification" and hasattr(machine, "predict_proba"):
        found = np.asarray(machine.predict_proba(rows.frame))
        for name, share in zip(machine.classes_, found.T):
            columns[f"probability_{name}"] = share.round(6)
    return pd.DataFrame(columns)


def _how_unusual(machine: TableModel, frame: pd.DataFrame) -> tuple[str, Any]:
    """Return what tells usual rows from others: the distance, as `mercer describe` has it.

    Models that know no centre have their decision values.
    """
    import numpy as np

    steps = getattr(machine.model, "steps", [("", machine.model)])
    ball = steps[-1][1]
    if not (hasattr(ball, "distance") and hasattr(ball, "radius_")):
        return "decision", np.asarray(machine.decision_function(frame))
    points = machine.model[:-1].transform(frame) if len(steps) > 1 else frame
    return "distance", distance_in_radii(ball, points).round(6)


def _most_unusual(machine: TableModel, rows: NewRows, said: pd.DataFrame) -> Any:
    """Return the most unusual rows for the screen, with what they stand out by."""
    import numpy as np
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    measure = str(said.columns[-1])
    values = said[measure].to_numpy()
    order = np.argsort(-values if measure == "distance" else values, kind="stable")[:SHOWN]
    names = list(said.columns[1 : list(said.columns).index("prediction")])[:MOST_NAMES]
    why = _reasons(machine, rows.frame, order)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    heads = ["row", *names, "prediction", "distance / radius" if measure == "distance" else measure]
    for name in [*heads, *["stands out by"] * bool(why)]:
        table.add_column(name, overflow="fold")
    for place, row in enumerate(order):
        head = [cell(said[name].iloc[row]) for name in ("row", *names, "prediction")]
        table.add_row(*head, f"{values[row]:.3f}", *why[place : place + 1])
    if len(said) > SHOWN:
        table.add_row(*["…"] * len(table.columns))
    return table


def _reasons(machine: TableModel, frame: pd.DataFrame, order: Any) -> list[str]:
    """Return for some rows the columns that are farthest from the mean of the rows at fitting.

    There are none where the machine is given the numbers as they are, in units that differ.
    """
    import numpy as np

    steps = getattr(machine.model, "steps", [])
    if not any("Scaler" in type(step).__name__ for _, step in steps):
        return []
    before = machine.model[:-1]
    values = np.asarray(before.transform(frame.iloc[order]))
    try:
        features = before.get_feature_names_out()
    except (AttributeError, ValueError):  # of steps that do not know what their columns are
        return []
    columns = columns_of(features, frame)
    if not set(columns) <= set(frame.columns):
        return []
    return [causes(frame.iloc[order], values, columns, place) for place in range(len(order))]


def _first_rows(said: pd.DataFrame) -> Any:
    """Return the first rows for the screen: as much as tells how the file looks."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    shown = [name for name in said if not str(name).startswith("probability_")][:4]
    shown += [name for name in said if name not in shown][: 5 - len(shown)]
    for name in shown:
        table.add_column(str(name), overflow="fold")
    for _, row in said.head(SHOWN).iterrows():
        table.add_row(*[cell(row[name]) for name in shown])
    if len(said) > SHOWN:
        table.add_row(*["…"] * len(shown))
    return table


def _counts(machine: TableModel, said: pd.DataFrame) -> str:
    n = len(said)
    rows = f"{n} row{'s' * (n != 1)}"
    if machine.task == "regression":
        low, high = said["prediction"].min(), said["prediction"].max()
        return f"{rows} predicted, from {number(low)} to {number(high)}."
    counts = said["prediction"].value_counts()
    parts = [f"{name} {count}" for name, count in list(counts.items())[:6]]
    return f"{rows} predicted: {', '.join(parts)}{', …' * (len(counts) > 6)}."


def _score(machine: TableModel, rows: NewRows, said: pd.DataFrame) -> list[str]:
    """Return how good the predictions are, if the table tells what is true."""
    import numpy as np

    if machine.target is None or machine.target not in rows.beside:
        return []
    truth = rows.beside[machine.target]
    known = truth.notna().to_numpy()
    n = int(known.sum())
    if not n:
        return [f"Column {machine.target!r} is empty, so that there is no error to tell."]
    told, truth = said["prediction"].to_numpy()[known], truth.to_numpy()[known]
    over = f"{n} row{'s' * (n != 1)} with a known {machine.target!r}"
    if machine.task == "regression":
        off = told.astype(np.float64) - truth.astype(np.float64)
        root = number(float(np.sqrt(np.mean(off**2))))
        return [f"RMSE {root} on {over}{_expected(machine, 'rmse')}."]
    right = told.astype(str) == truth.astype(str)
    wrong = n - int(right.sum())
    text = f"{wrong} of {over} predicted wrongly"
    if machine.about.get("measure") != "balanced_error":
        return [f"Error {100 * wrong / n:.1f} %: {text}{_expected(machine, 'error')}."]
    recalls = [
        float(right[truth.astype(str) == one].mean()) for one in np.unique(truth.astype(str))
    ]
    share = f"{100 * (1 - np.mean(recalls)):.1f} %"
    expected = _expected(machine, "balanced_error")
    return [f"Balanced error (the mean of those of all classes) {share}{expected}; {text}."]


def _expected(machine: TableModel, measure: str) -> str:
    """Return the error on folds that the file tells of, where it is of the same kind."""
    kept = machine.about
    if kept.get("measure") != measure:
        return ""
    from mercer.comparison.words import value

    text = f"on folds at fitting: {value(measure, kept['error'])}"
    if isinstance(kept.get("baseline_error"), float):
        without = "mean of all" if measure == "rmse" else "largest class"
        text += f", {without}: {value(measure, kept['baseline_error'])}"
    return f" ({text})"
