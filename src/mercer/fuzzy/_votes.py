"""How strongly rules fire, what each is worth, and how they vote.

All functions work on one rule base and, with more axes in front, on a population of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_firing(values: Floats, centers: Floats, widths: Floats, kept: Any, t_norm: str) -> Floats:
    r"""Return :math:`\ln \mu_{A_j}(x)`, (13), with the Gaussian memberships (11).

    The last axis is that of the antecedents and vanishes; one that is not kept is always true. The
    logarithm tells rows apart that lie too far from all rules for the memberships to be numbers.
    A rule with no antecedent at all does not fire.
    """
    exponents = ((values - centers) / widths) ** 2
    exponents *= kept
    distances = exponents.sum(axis=-1) if t_norm == "product" else exponents.max(axis=-1)
    return np.where(np.any(kept, axis=-1), -distances, -np.inf)


def rule_weights(firing: Floats, class_weights: Floats) -> Floats:
    r"""Return :math:`\max(0, z_j^q)`, (12), for firing (..., rows, rules): (..., rules, classes).

    `class_weights` holds the weight of each row in the column of its class. A rule whose firing
    on one class does not outweigh that on all others has no positive weight; at most one class of
    each rule has one.
    """
    return weights_of_sums(np.swapaxes(firing, -1, -2) @ class_weights)


def weights_of_sums(of_class: Floats) -> Floats:
    """Return what `rule_weights` does, from the sums of the firing over each class."""
    in_all = of_class.sum(axis=-1, keepdims=True)
    excess = 2 * of_class - in_all
    return np.divide(excess, in_all, out=np.zeros_like(excess), where=(in_all > 0) & (excess > 0))


def class_votes(firing: Floats, weights: Floats, vote: str) -> Floats:
    """Return the votes for each class, (..., rows, classes): of the best rule (14), or the sum."""
    if vote == "additive":
        return firing @ weights
    columns = [
        (firing * weights[..., None, :, k]).max(axis=-1, initial=0.0)
        for k in range(weights.shape[-1])
    ]
    return np.stack(columns, axis=-1)


def vote_shares(log_fired: Floats, weights: Floats, vote: str, otherwise: Floats) -> Floats:
    """Return the share of each class in the votes; `otherwise` where no rule has a vote.

    Firing is measured against that of the strongest rule, so that rows which lie far from all rules
    are voted on as well.
    """
    counts = weights.max(axis=-1)[..., None, :] > 0
    voting = np.where(counts, log_fired, -np.inf)
    strongest = voting.max(axis=-1, keepdims=True, initial=-np.inf)
    relative = np.exp(voting - np.where(np.isfinite(strongest), strongest, 0.0))
    votes = class_votes(relative, weights, vote)
    total = votes.sum(axis=-1, keepdims=True)
    filled = np.broadcast_to(otherwise, votes.shape).copy()
    return np.divide(votes, total, out=filled, where=total > 0)
