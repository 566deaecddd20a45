"""The Python code that repeats what is seen."""

from __future__ import annotations

from typing import Any

from mercer.play._catalogue import MOST_POINTS
from mercer.play._question import Question
from mercer.play._source import Axis, Source, code_of_classes

PAIRS, NUMBERS = 4, 25
"""In a line."""

SCALED = "# Each column less its mean, divided by its deviation, as on the page"
REGION = "SupportRegionDisplay"
Lines = list[str]


def code_of(
    question: Question, names: list[str], source: Source | None = None
) -> tuple[str, str, str]:
    """Return the imports, the points, and the model with its picture.

    Parameters
    ----------
    question : Question
    names : list of str
        What the classes are called, by label.
    source : Source or None, default=None
        The file that the points are of. Where they are so still, it is read.
    """
    table = source if source is not None and source.whole else None
    data = _table(question, table) if table else _points(question, names, source)
    model = _model(question, table)
    used = "\n".join([*data, *model])
    parts = _imports(question, table, used), data, model
    before, between, after = ("\n".join(lines) + "\n" for lines in parts)
    return before, between, after


def _imports(question: Question, table: Source | None, used: str) -> Lines:
    plotting = ["import matplotlib.pyplot as plt"]
    if "np." in used:
        plotting.append("import numpy as np")
    if "pd." in used:
        plotting.append("import pandas as pd")
    if table is not None:
        plotting.append("from sklearn.pipeline import make_pipeline")
        plotting.append("from sklearn.preprocessing import StandardScaler")
    names = [question.spec.estimator.__name__]
    if question.spec.task != "curve":
        names.append("BoundaryDisplay" if question.spec.task == "classes" else REGION)
    names.sort(key=lambda name: (not name.isupper(), name))
    lines = [*plotting, "", f"from mercer import {', '.join(names)}"]
    if question.kernel_spec.make is not None:
        lines.append("from mercer.kernels import RBF, Linear")
    if table is not None and table.reader == "read_unlabelled":
        lines.append("from mercer.tables import read_unlabelled")
    return lines


def _points(question: Question, names: list[str], source: Source | None) -> Lines:
    """Return the points as they are; what only some machines learn from is left out."""
    points, labels = question.points, question.labels
    lines = [] if source is None else _unit(source)
    lines.append(f"points = np.array([{_wrapped(points.tolist(), PAIRS)}])")
    if question.spec.task == "curve":
        return [*lines, "X, y = points[:, :1], points[:, 1]"]
    if question.spec.task == "region" and not labels.any():
        return [*lines, "X = points"]
    # repr keeps a name from becoming anything else than a word in a comment.
    said = ", ".join(f"{k} is {name!r}" for k, name in enumerate(names) if (labels == k).any())
    written = f"labels = np.array([{_wrapped(labels.tolist(), NUMBERS)}])"
    lines.append(written + f"  # {said}" * bool(said))
    if question.machine == "one_class":
        lines.append("X = points[labels == 0]  # the others are not seen")
    elif question.machine == "svdd":
        lines.append("X, y = points, np.where(labels == 0, 1, -1)  # -1: known outliers")
    else:
        lines.append("X, y = points, labels")
    return lines


def _unit(source: Source) -> Lines:
    """Say what points are that were rows of a table before some of them were moved."""

    def said(axis: Axis, place: str) -> str:
        return f"{axis.name!r} is {axis.center:.6g} + {axis.scale:.6g} * {place}"

    across, up = said(source.across, "points[:, 0]"), said(source.up, "points[:, 1]")
    return [f"# From {source.file!r}, changed by hand. {across},", f"# {up}."]


def _table(question: Question, source: Source) -> Lines:
    """Return code that reads the rows and takes their columns."""
    curve = question.spec.task == "curve"
    used = [source.across.name, source.up.name]
    is_used = source.gaps or question.spec.task == "classes"
    is_used |= question.spec.task == "region" and bool(question.labels.any())
    told = "".join(f", {key}={value!r}" for key, value in source.options.items())
    columns = f"[{', '.join(map(repr, used))}]"
    # Rows without a class are not on the page, whatever is learned.
    more = [source.target] * (is_used and source.target not in (None, *used))
    read = f"[columns{f' + {more!r}' if more else ''}]"
    if source.reader == "read_unlabelled":
        table = f"table = read_unlabelled({source.file!r}, dates=True).frame{read}"
    else:
        table = f"table = pd.{source.reader}({source.file!r}{told}){read}"
    table += ".dropna()" * source.gaps
    lines = [f"columns = {columns}", table]
    if source.sampled:
        lines.append(f"table = table.sample({MOST_POINTS}, random_state=0).sort_index()")
    if curve:
        names = f"[[{used[0]!r}]], table[{used[1]!r}]"
        return [*lines, f"X, y = table{names}"]
    if question.spec.task == "classes":
        return [*lines, f"X, y = table[columns], {code_of_classes(source)}"]
    if source.target is None or not question.labels.any():
        return [*lines, "X = table[columns]"]
    first = f"{code_of_classes(source)} == {source.first!r}"
    if source.form == "place":
        first = f"({code_of_classes(source)}) == 0"
    if question.machine == "one_class":
        return [*lines, f"X = table.loc[{first}, columns]  # the others are not seen"]
    lines.append(f"X, y = table[columns], np.where({first}, 1, -1)  # -1: known outliers")
    return lines


def _wrapped(values: list[Any], most: int) -> str:
    """Return values with commas, so many in a line."""
    lines = [", ".join(map(repr, values[k : k + most])) for k in range(0, len(values), most)]
    return lines[0] if len(lines) == 1 else "\n    " + ",\n    ".join(lines) + ",\n"


def _model(question: Question, table: Source | None) -> Lines:
    said = {name: repr(value) for name, value in question.arguments().items()}
    if question.kernel_spec.make is not None:
        said["kernel"] = question.kernel_spec.code.format(gamma=question.settings["gamma"])
    text = ", ".join(f"{key}={value}" for key, value in said.items())
    machine = f"{question.spec.estimator.__name__}({text})"
    if question.spec.task == "curve":
        return [*_curve(question, machine, table), "plt.show()"]
    known = question.spec.task == "classes" or (
        question.machine == "svdd" and bool(question.labels.any())
    )
    data = "X, y" if known else "X"
    if table is None:
        lines = [f"model = {machine}", f"model.fit({data})"]
    elif question.machine == "one_class" and question.labels.any():
        lines = [
            f"{SCALED}: those of all rows.",
            "scaler = StandardScaler().fit(table[columns])",
            f"machine = {machine}",
            "machine.fit(scaler.transform(X))",
            "model = make_pipeline(scaler, machine)",
        ]
    else:
        lines = [
            f"{SCALED}.",
            f"model = make_pipeline(StandardScaler(), {machine})",
            f"model.fit({data})",
        ]
    if question.spec.task == "region":
        lines.append(f"{REGION}.from_estimator(model, {data}, n_levels=0)")
    else:
        lines.append(f"BoundaryDisplay.from_estimator(model, {data})")
    return [*lines, "plt.show()"]


def _curve(question: Question, machine: str, table: Source | None) -> Lines:
    """Return a model of a curve and its picture, with what is around it and what it rests on."""
    unit = ""
    if table is None:
        lines = [f"model = {machine}", "model.fit(X, y)"]
    else:
        lines = [
            f"{SCALED}.",
            "center, unit = y.mean(), y.std(ddof=0) or 1.0",
            f"model = make_pipeline(StandardScaler(), {machine})",
            "model.fit(X, (y - center) / unit)",
            "X, y = X.to_numpy(), y.to_numpy()",
        ]
        unit = "center + unit * "
    grid = "across[:, None]"
    lines.append("across = np.linspace(X.min(), X.max(), 300)")
    if table is not None:
        grid = f"pd.DataFrame({{{table.across.name!r}: across}})"
    if question.machine == "rvr":
        lines.append(f"middle, deviation = model.predict({grid}, return_std=True)")
        lines.append("half = 2 * deviation")
    else:
        lines.append(f"middle = model.predict({grid})")
        lines.append(f"half = {question.settings['epsilon']!r}  # epsilon: the tube")
    ends = "middle - half, middle + half"
    lines.append(
        f"middle, low, high = ({unit}line for line in (middle, {ends}))"
        if unit
        else f"low, high = {ends}"
    )
    lines += [
        'plt.plot(X, y, "o", ms=5)',
        'plt.fill_between(across, low, high, color="C0", alpha=0.2)',
        'plt.plot(across, middle, "k")',
        'plt.plot(across, np.column_stack([low, high]), "k--", lw=1)',
        *_rests_on(question, table),
    ]
    if table is not None:
        names = [axis.name.replace("$", r"\$") for axis in (table.across, table.up)]
        lines += [f"plt.xlabel({names[0]!r})", f"plt.ylabel({names[1]!r})"]
    return lines


def _rests_on(question: Question, table: Source | None) -> Lines:
    """Return code that marks the rows that a curve rests on, by kind as the page does."""
    machine = "model" if table is None else "model[-1]"
    ring = '"o", ms=11, mfc="none", mec="black"'
    if question.machine == "rvr":
        kept = f"{machine}.relevance_"
        return [
            f'plt.plot(X[{kept}], y[{kept}], {ring}, label="relevance vector")',
            "plt.legend()",
        ]
    return [
        f'at_bound = {machine}.support_kind_[0] == "bound"',
        f"on, beyond = {machine}.support_[~at_bound], {machine}.support_[at_bound]",
        f'plt.plot(X[on], y[on], {ring}, label="support vector on the tube")',
        'plt.plot(X[beyond], y[beyond], "o", ms=6, mfc="none", mec="black", mew=2, '
        'label="support vector outside the tube")',
        "plt.legend()",
    ]
