"""The Python code that repeats what is seen."""

from __future__ import annotations

from typing import Any

from mercer.play._question import Question

PAIRS, NUMBERS = 4, 25
"""In a line."""


def code_of(question: Question, names: list[str]) -> tuple[str, str, str]:
    """Return the imports, the points, and the model with its picture.

    Parameters
    ----------
    question : Question
    names : list of str
        What the classes are called, by label.
    """
    return _imports(question), _data(question, names), _model(question)


def _imports(question: Question) -> str:
    curve = question.spec.task == "curve"
    name = question.spec.estimator.__name__
    lines = ["import matplotlib.pyplot as plt", "import numpy as np", ""]
    lines.append(f"from mercer import {name}" + ("" if curve else ", BoundaryDisplay"))
    if question.kernel_spec.make is not None:
        lines.append("from mercer.kernels import RBF, Linear")
    return "\n".join(lines) + "\n"


def _data(question: Question, names: list[str]) -> str:
    points, labels = question.points, question.labels
    lines = [f"points = np.array([{_wrapped(points.tolist(), PAIRS)}])"]
    if question.spec.task == "curve":
        lines.append("X, y = points[:, :1], points[:, 1]")
        return "\n".join(lines) + "\n"
    # repr keeps a name from becoming anything else than a word in a comment.
    said = ", ".join(f"{k} is {name!r}" for k, name in enumerate(names) if (labels == k).any())
    lines.append(
        f"labels = np.array([{_wrapped(labels.tolist(), NUMBERS)}])" + f"  # {said}" * bool(said)
    )
    if question.machine == "one_class":
        lines.append("X, y = points[labels == 0], None")
    elif question.machine == "svdd":
        lines.append("X, y = points, np.where(labels == 0, 1, -1)  # -1: known outliers")
    else:
        lines.append("X, y = points, labels")
    return "\n".join(lines) + "\n"


def _wrapped(values: list[Any], most: int) -> str:
    """Return values with commas, so many in a line."""
    lines = [", ".join(map(repr, values[k : k + most])) for k in range(0, len(values), most)]
    return lines[0] if len(lines) == 1 else "\n    " + ",\n    ".join(lines) + ",\n"


def _model(question: Question) -> str:
    arguments = question.arguments()
    kernel = question.kernel_spec
    said = {name: repr(value) for name, value in arguments.items()}
    if kernel.make is not None:
        said["kernel"] = kernel.code.format(gamma=question.settings["gamma"])
    name = question.spec.estimator.__name__
    text = ", ".join(f"{key}={value}" for key, value in said.items())
    lines = [f"model = {name}({text})", "model.fit(X, y)"]
    if question.spec.task == "curve":
        lines += [
            "across = np.linspace(X.min(), X.max(), 300)",
            'plt.plot(X, y, "o")',
            "plt.plot(across, model.predict(across[:, None]))",
        ]
    else:
        lines.append("BoundaryDisplay.from_estimator(model, X, y)")
    return "\n".join([*lines, "plt.show()"]) + "\n"
