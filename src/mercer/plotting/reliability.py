"""Whether predicted probabilities are what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.calibration import CalibrationDisplay
from sklearn.utils.validation import check_is_fitted

from mercer.plotting._labels import codes_of
from mercer.plotting._plane import Floats
from mercer.plotting._style import (
    axes_for,
    class_label,
    class_style,
    foreground,
    legend_beside,
    pyplot,
)

LINES = ("-", "--", "-.", ":")


class Reliability(NamedTuple):
    """Of one model: which rows are positive, with what probability, and two scores."""

    positive: Any
    probability: Floats
    brier: float
    log_loss: float


class ReliabilityDisplay:
    r"""Reliability diagram of one or several models, with a histogram of their probabilities.

    Rows are grouped by predicted probability; each point compares the mean prediction of a group
    with the share of positive rows in it. On the diagonal the probabilities are right, below it
    they are too high. The curves are those of scikit-learn's ``CalibrationDisplay``. The legend
    names the Brier score :math:`\frac1n \sum_i \sum_k (p_{ik} - [y_i = k])^2` (for two classes half
    of it, as is usual) and the log loss :math:`-\frac1n \sum_i \log p_{i y_i}`; small is good.
    With more than two classes it shows the most probable class, positive where it is the true one
    (top-label reliability), or one class against the rest.
    Use `from_estimator` or `from_predictions` to make one.

    Parameters
    ----------
    models : dict of Reliability
        Their positive rows, probabilities and scores, by name.
    positive : str, default="positive"
        What a positive row is.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    histogram_ax_ : matplotlib axes
        Those of the histogram, below ``ax_``.
    displays_ : list of CalibrationDisplay
        scikit-learn's display of each model.
    legend_ : Legend

    See Also
    --------
    mercer.PlattClassifier : Probabilities from decision values.

    References
    ----------
    A. Niculescu-Mizil, R. Caruana, "Predicting good probabilities with supervised learning", ICML
    2005.

    Examples
    --------
    >>> from sklearn.calibration import CalibratedClassifierCV
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mercer import SVC, ReliabilityDisplay
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> models = {
    ...     "linear": LogisticRegression().fit(X[::2], y[::2]),
    ...     "SVC": CalibratedClassifierCV(SVC(), ensemble=False).fit(X[::2], y[::2]),
    ... }
    >>> display = ReliabilityDisplay.from_estimator(models, X[1::2], y[1::2])
    >>> display.models["SVC"].brier < display.models["linear"].brier
    True
    """

    def __init__(self, *, models: Mapping[str, Reliability], positive: str = "positive") -> None:
        self.models = models
        self.positive = positive

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, pos_label: Any = None, **plot: Any
    ) -> Self:
        """Draw the reliability of fitted classifiers on data that they have not seen.

        Parameters
        ----------
        estimator : classifier, or list or dict of classifiers
            Fitted, with ``predict_proba``, all for the same classes; the keys of a dict name them.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,)
            Their labels.
        pos_label : int or str, default=None
            The class to ask for; None takes the second of two, the most probable of many.
        **plot
            See `plot`.

        Returns
        -------
        ReliabilityDisplay
        """
        pyplot()
        models = _named(estimator)
        for model in models.values():
            if not is_classifier(model) or not hasattr(model, "predict_proba"):
                name = type(model).__name__
                raise ValueError(f"Reliability needs a classifier with predict_proba; got {name}.")
            check_is_fitted(model)
        first, *others = (model.classes_ for model in models.values())
        if not all(np.array_equal(first, other) for other in others):
            raise ValueError("The models must have the same classes to share a picture.")
        probabilities = {name: model.predict_proba(X) for name, model in models.items()}
        return cls.from_predictions(y, probabilities, classes=first, pos_label=pos_label, **plot)

    @classmethod
    def from_predictions(
        cls, y: Any, probabilities: Any, *, classes: Any = None, pos_label: Any = None, **plot: Any
    ) -> Self:
        """Draw the reliability of predicted probabilities.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.
        probabilities : array-like of shape (n_samples,) or (n_samples, n_classes), or dict of such
            Probabilities of the second of two classes, or of each class; the keys name the models.
        classes : array-like of shape (n_classes,), default=None
            Classes in the order of the columns; None sorts the labels.
        pos_label : int or str, default=None
            See `from_estimator`.
        **plot
            See `from_estimator`.

        Returns
        -------
        ReliabilityDisplay
        """
        pyplot()
        given = probabilities if isinstance(probabilities, Mapping) else {"": probabilities}
        classes = np.unique(np.asarray(y)) if classes is None else np.asarray(classes)
        codes = codes_of(y, classes, len(np.asarray(y)))
        target: int | None = None
        if pos_label is not None:
            names = classes.tolist()
            if pos_label not in names:
                raise ValueError(
                    f"pos_label must be one of the classes {names}; got {pos_label!r}."
                )
            target = names.index(pos_label)
        elif len(classes) == 2:
            target = 1
        models = {}
        for name, values in given.items():
            table = _table(values, len(codes), len(classes))
            models[name] = _reliability(codes, table, target)
        positive = "the most probable class" if target is None else class_label(classes[target])
        return cls(models=models, positive=positive).plot(**plot)

    def plot(
        self,
        ax: Any = None,
        *,
        n_bins: int = 10,
        strategy: str = "uniform",
        legend: bool = True,
        colors: Any = None,
    ) -> Self:
        """Draw everything.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; the histogram comes below. None makes a figure.
        n_bins : int, default=10
            Number of groups.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether groups are equally wide or equally large.
        legend : bool, default=True
            Whether to name the models and their scores at the right of the axes.
        colors : sequence of colours, default=None
            One for each model; None takes a palette that is safe for colour-blind readers.

        Returns
        -------
        ReliabilityDisplay
            The display itself.
        """
        self.ax_ = ax = axes_for(ax, (7.2, 5.4))
        self.figure_ = ax.figure
        self.histogram_ax_ = below = _axes_below(ax)
        color = foreground(ax)
        (diagonal,) = ax.plot([0, 1], [0, 1], ls=":", color=color, label="perfectly calibrated")
        self.displays_ = []
        for place, (name, model) in enumerate(self.models.items()):
            shade, marker = class_style(place, colors)
            text = f"{model.brier:.3f}, {model.log_loss:.3f}"
            style: dict[str, Any] = {"color": shade, "ls": LINES[place % len(LINES)]}
            self.displays_.append(
                CalibrationDisplay.from_predictions(
                    model.positive,
                    model.probability,
                    n_bins=n_bins,
                    strategy=strategy,
                    name=f"{name}: {text}" if name else text,
                    ax=ax,
                    ref_line=False,
                    marker=marker,
                    **style,
                )
            )
            below.hist(model.probability, np.linspace(0, 1, n_bins + 1), histtype="step", **style)
        ax.get_legend().remove()  # scikit-learn's, which would hide the curves
        handles = [*(display.line_ for display in self.displays_), diagonal]
        self.legend_ = legend_beside(ax, handles) if legend else None
        if self.legend_ is not None:
            self.legend_.set_title("Brier score, log loss")
            self.legend_.set_alignment("left")
        self._name_axes()
        return self

    def _name_axes(self) -> None:
        share = "share that is right" if "most" in self.positive else f"share of {self.positive}"
        self.ax_.set(xlabel="", ylabel=share, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        self.ax_.tick_params(labelbottom=False)
        self.histogram_ax_.set(xlabel=f"predicted probability of {self.positive}", ylabel="rows")


def _axes_below(ax: Any) -> Any:
    """Return new axes that take a part of the given ones, at their lower end."""
    place = ax.get_subplotspec()
    if place is None:  # the axes were placed by hand
        return ax.inset_axes([0.0, -0.5, 1.0, 0.35], sharex=ax)
    upper, lower = place.subgridspec(2, 1, height_ratios=[3, 1])
    ax.set_subplotspec(upper)
    return ax.figure.add_subplot(lower, sharex=ax)


def _named(estimator: Any) -> dict[str, Any]:
    """Return the models by name; where no names are given, their types must do."""
    if isinstance(estimator, Mapping):
        models = dict(estimator)
    elif isinstance(estimator, Sequence) and not hasattr(estimator, "steps"):
        models = {}
        for model in estimator:
            name = _type_name(model)
            count = sum(key.split(" ")[0] == name for key in models)
            models[f"{name} {count + 1}" if count else name] = model
    else:
        models = {_type_name(estimator): estimator}
    if not models:
        raise ValueError("At least one classifier is needed.")
    return models


def _type_name(model: Any) -> str:
    return type(model[-1] if hasattr(model, "steps") else model).__name__


def _table(values: Any, n_rows: int, n_classes: int) -> Floats:
    """Return one column of probabilities for each class."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim == 1 and n_classes == 2:
        table = np.column_stack([1 - table, table])
    if table.shape != (n_rows, n_classes):
        raise ValueError(
            f"{n_classes} classes and {n_rows} rows need probabilities of shape "
            f"{(n_rows, n_classes)}; got {table.shape}."
        )
    if table.min() < 0 or table.max() > 1:
        raise ValueError(f"Probabilities lie from 0 to 1; got {table.min():g} to {table.max():g}.")
    return table


def _reliability(codes: Any, table: Floats, target: int | None) -> Reliability:
    """Return what is to be drawn: one class against the rest, or the most probable class."""
    if target is not None:
        table = np.column_stack([1 - table[:, target], table[:, target]])
        codes = (codes == target).astype(np.int64)
        positive, probability = codes, table[:, 1]
    else:
        positive = (table.argmax(axis=1) == codes).astype(np.int64)
        probability = table.max(axis=1)
    of_truth = np.maximum(table[np.arange(len(codes)), codes], np.finfo(np.float64).eps)
    brier = np.mean(np.sum((table - np.eye(table.shape[1])[codes]) ** 2, axis=1))
    halved = brier / 2 if table.shape[1] == 2 else brier
    return Reliability(positive, probability, float(halved), float(-np.log(of_truth).mean()))
