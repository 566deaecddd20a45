"""Clusters of the rows of each class: where rules start from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin, pairwise_distances_chunked
from sklearn.metrics.pairwise import euclidean_distances

Floats = NDArray[np.float64]

RADIUS = 0.8
"""Of a neighbourhood in subtractive clustering, in standard deviations a feature."""

SQUASH = 1.5
"""How much further a centre forbids other centres."""

STOP = 0.15
"""A centre with less than this share of the first potential is none."""


class Clusters(NamedTuple):
    """Centres and standard deviations, one row a cluster, and the class of each."""

    centers: Floats
    spreads: Floats
    codes: NDArray[np.int64]


def allot(n_clusters: int, class_weight: Floats) -> NDArray[np.int64]:
    """Divide clusters equally among the classes; what is left over goes to the heavy ones."""
    n_classes = class_weight.size
    counts = np.full(n_classes, n_clusters // n_classes)
    heaviest = np.argsort(-class_weight, kind="stable")
    counts[heaviest[: n_clusters % n_classes]] += 1
    return counts


def find_clusters(
    X: Floats, codes: Any, weight: Floats, n_clusters: int, method: str, random_state: Any
) -> Clusters:
    """Return clusters of each class, at most `n_clusters` in all."""
    counts = allot(n_clusters, np.bincount(codes, weights=weight).astype(np.float64))
    centers, spreads, classes = [], [], []
    for code, count in enumerate(counts):
        rows, mass = X[codes == code], weight[codes == code]
        labels = _labels(rows, mass, min(count, len(rows)), method, random_state)
        for label in np.unique(labels):
            inside, its_mass = rows[labels == label], mass[labels == label]
            center = np.average(inside, axis=0, weights=its_mass)
            variance = np.average((inside - center) ** 2, axis=0, weights=its_mass)
            centers.append(center)
            spreads.append(np.sqrt(variance))
            classes.append(code)
    return Clusters(np.array(centers), np.array(spreads), np.array(classes))


def _labels(rows: Floats, mass: Floats, count: int, method: str, random_state: Any) -> Any:
    if method == "subtractive":
        return pairwise_distances_argmin(rows, rows[subtractive_centers(rows, mass, count)])
    seed = random_state.randint(np.iinfo(np.int32).max)
    means = KMeans(count, n_init=4, random_state=seed).fit(rows, sample_weight=mass)
    return means.labels_


def subtractive_centers(rows: Floats, mass: Floats, count: int) -> NDArray[np.int64]:
    r"""Return the positions of at most `count` rows that lie amid many others.

    Chiu's potential of a row is :math:`\sum_j w_j \exp(-4 \lVert x - x_j \rVert^2 / r^2)`. The row
    of the highest is a centre, and what is near it, within 1.5 r, loses potential accordingly; this
    is repeated until too little is left.

    References
    ----------
    S. L. Chiu, "Fuzzy model identification based on cluster estimation", Journal of Intelligent
    and Fuzzy Systems 2 (1994).
    """
    radius = RADIUS * np.sqrt(rows.shape[1])
    potential = np.concatenate(
        list(
            pairwise_distances_chunked(
                rows,
                reduce_func=lambda part, start: np.exp(-4 * (part / radius) ** 2) @ mass,
                metric="euclidean",
            )
        )
    )
    chosen: list[int] = []
    first = potential.max()
    while len(chosen) < count:
        best = int(potential.argmax())
        if chosen and potential[best] < STOP * first:
            break
        chosen.append(best)
        distance = euclidean_distances(rows, rows[[best]])[:, 0]
        potential = potential - potential[best] * np.exp(-4 * (distance / (SQUASH * radius)) ** 2)
    return np.array(chosen)
