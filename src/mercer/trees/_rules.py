"""Leaves of a tree as sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Condition:
    """A feature between two bounds: ``low < x <= high``.

    Attributes
    ----------
    feature : int
    name : str
    low, high : float
        Infinite where there is no bound.
    low_text, high_text : str
        The bounds with as few digits as the training rows allow.
    missing : bool
        Whether rows without a value fulfil it too.
    """

    feature: int
    name: str
    low: float = -math.inf
    high: float = math.inf
    low_text: str = ""
    high_text: str = ""
    missing: bool = False

    def __str__(self) -> str:
        text = f"{self.name} <= {self.high_text}" if math.isfinite(self.high) else self.name
        if math.isfinite(self.low):
            both = math.isfinite(self.high)
            text = f"{self.low_text} < {text}" if both else f"{self.name} > {self.low_text}"
        return f"({text} or missing)" if self.missing else text


@dataclass(frozen=True)
class Rule:
    """A leaf of a tree.

    Attributes
    ----------
    conditions : tuple of Condition
        All must hold; none for a tree without cuts.
    prediction : label
    support : float
        Training rows (sum of their weights) that the rule holds for.
    share : float
        `support` as a share of all rows.
    purity : float
        Share of the predicted class among them.
    leaf : int
        Number of the node in the tree.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    support: float
    share: float
    purity: float
    leaf: int

    @property
    def condition(self) -> str:
        """The conditions as text."""
        return " AND ".join(map(str, self.conditions)) or "always"

    def __str__(self) -> str:
        rows = f"{self.support:g} row{'' if self.support == 1 else 's'}"
        return (
            f"IF {self.condition} THEN {self.prediction} "
            f"({rows}, {percent(self.share)}; {percent(self.purity)} pure)"
        )


def percent(share: float) -> str:
    """Return a share in percent; 100 % only where nothing is missing.

    Examples
    --------
    >>> percent(0.9999), percent(1.0), percent(0.1234)
    ('>99 %', '100 %', '12 %')
    """
    text = f"{100 * share:.0f} %"
    return ">99 %" if text == "100 %" and share < 1 else text


def readable(threshold: float, column: Floats) -> str:
    """Return a threshold with as few digits as leave every value on its side.

    Examples
    --------
    >>> readable(2.449999988079071, np.array([1.9, 3.0]))
    '2'
    >>> readable(2.449999988079071, np.array([2.4, 2.5]))
    '2.4'
    """
    values = np.asarray(column, dtype=np.float64)
    left = values.astype(np.float32) <= threshold  # trees compare in single precision
    below = np.max(values, where=left, initial=-np.inf)
    above = np.min(values, where=~left, initial=np.inf)
    for digits in range(1, 17):
        text = f"{threshold:.{digits}g}"
        if below <= float(text) < above:
            return np.format_float_positional(float(text), trim="-") if "e" not in text else text
    return repr(float(threshold))


def rules_of(model: Any, X: Any, y: Any, weight: Floats, names: Sequence[str]) -> list[Rule]:
    """Return a rule for each leaf of a fitted tree, from the left to the right.

    Parameters
    ----------
    model : DecisionTreeClassifier
    X, y : ndarray
        Training rows and labels.
    weight : ndarray
        Their weights.
    names : sequence of str
        Names of the features.
    """
    leaf = model.apply(X)
    gaps = np.isnan(X).any(axis=0)
    rules = []
    for node, bounds in _paths(model.tree_, 0, {}):
        own = leaf == node
        prediction = model.classes_[int(model.tree_.value[node, 0].argmax())]
        support = float(weight[own].sum())
        pure = float(weight[own & (y == prediction)].sum())
        conditions = tuple(
            _condition(j, names[j], low, high, missing and bool(gaps[j]), X[:, j])
            for j, (low, high, missing) in bounds.items()
        )
        purity = pure / support if support else 0.0
        rules.append(
            Rule(conditions, prediction, support, support / weight.sum(), purity, int(node))
        )
    return rules


def _condition(
    feature: int, name: str, low: float, high: float, missing: bool, column: Floats
) -> Condition:
    present = column[np.isfinite(column)]
    texts = [readable(bound, present) if math.isfinite(bound) else "" for bound in (low, high)]
    return Condition(feature, name, low, high, texts[0], texts[1], missing)


Bounds = dict[int, tuple[float, float, bool]]


def _paths(tree: Any, root: int, bounds: Bounds) -> Iterator[tuple[int, Bounds]]:
    """Go through the leaves with the bounds of the features on the way to them."""
    waiting = [(root, bounds)]
    while waiting:
        node, known = waiting.pop()
        if tree.children_left[node] < 0:
            yield node, known
            continue
        feature, cut = int(tree.feature[node]), float(tree.threshold[node])
        low, high, missing = known.get(feature, (-math.inf, math.inf, True))
        goes_left = bool(tree.missing_go_to_left[node])
        left = {**known, feature: (low, min(high, cut), missing and goes_left)}
        right = {**known, feature: (max(low, cut), high, missing and not goes_left)}
        waiting += [(int(tree.children_right[node]), right), (int(tree.children_left[node]), left)]
