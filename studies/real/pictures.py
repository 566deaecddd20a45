"""The regions of each classifier in the plane, as in the figures of chapters 2 to 4."""

from __future__ import annotations

from typing import Any

from mercer.studies import StudyResults
from studies.real.study import load_rows
from studies.simulation.classifiers import make_classifier

FIGURES = (
    ("2.3", "LDA", "iris", None),
    ("2.4", "QDA", "iris", None),
    ("3.2", "SVM", "iris", None),
    ("4.9", "NHC opt", "iris", 0.1),
    ("2.5", "LDA", "hemophilia", None),
    ("2.6", "QDA", "hemophilia", None),
    ("3.3", "SVM", "hemophilia", None),
    ("4.10", "NHC opt", "hemophilia", 8.3),
    ("4.11", "NHC opt", "iris 3", 0.25),
)
"""Figure, classifier, data and the width of the hyperspheres."""


def draw_regions(results: StudyResults | None) -> Any:
    """Draw figures 2.3 to 2.6, 3.2, 3.3 and 4.9 to 4.11, learnt from the columns that they show.

    The last has the support regions of the three species. The rows are all those of a set; the
    figures of the source show one split, which is not known.
    """
    from matplotlib.figure import Figure

    from mercer.plotting import BoundaryDisplay, SupportRegionDisplay

    figure = Figure(figsize=(14.0, 10.0), layout="constrained")
    axes = figure.subplots(3, 4).ravel()
    for ax, (number, method, data, gamma) in zip(axes, FIGURES):
        X, y, names = load_rows(data)
        X = X[:, :2]
        model = make_classifier(method, X, gamma, priors=None).fit(X, y)
        if data == "iris 3":
            SupportRegionDisplay.from_estimator(model[-1], X, y, ax=ax, n_levels=0, legend=False)
        else:
            BoundaryDisplay.from_estimator(model, X, y, ax=ax, legend=False)
        width = "" if gamma is None else f", gamma = {gamma:g}"
        ax.set_title(f"{number}: {method[:3]}, {data.replace(' 3', '')}{width}", fontsize="medium")
        ax.set(xlabel=names[0], ylabel=names[1])
    for ax in axes[len(FIGURES) :]:
        ax.remove()
    return figure
