"""Which rules fired for a row, and how strongly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Explanation:
    r"""Why a row was given its class; `FuzzyRuleClassifier.explain` makes one.

    Printed, it tells the story with the strongest rule first.

    Attributes
    ----------
    prediction : label
        The class with the most votes.
    rules : list of str
        All rules, as in `rules_`.
    rule_classes : ndarray of shape (n_rules,)
        The class that each votes for.
    memberships : ndarray of shape (n_rules, n_features)
        :math:`\mu_{ji}`, how well each value fits the rule; NaN for features that it does not ask.
    firing : ndarray of shape (n_rules,)
        :math:`\mu_{A_j}(x)`, how strongly each rule fires.
    votes : ndarray of shape (n_rules,)
        Firing times rule weight.
    class_votes : dict of label to float
        The largest vote for each class, or their sum.
    probabilities : dict of label to float
        Share of each class, as `predict_proba` gives it.
    """

    prediction: Any
    rules: list[str]
    rule_classes: NDArray[Any]
    memberships: Floats
    firing: Floats
    votes: Floats
    class_votes: dict[Any, float]
    probabilities: dict[Any, float]

    def __str__(self) -> str:
        said = self.probabilities[self.prediction]
        lines = [f"{self.prediction}, with {said:.0%} of the votes"]
        lines += [
            f"  rule {j + 1} fires {self.firing[j]:.3f}, votes {self.votes[j]:.3f}: {self.rules[j]}"
            for j in np.argsort(-self.votes, kind="stable")
            if self.votes[j] >= 0.0005
        ]
        if len(lines) == 1:
            lines.append("  no rule fires at 0.001 or more: the row is unlike the training rows")
        return "\n".join(lines)
