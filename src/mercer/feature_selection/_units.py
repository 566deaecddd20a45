"""What is dropped as one: single features, or groups of them; and what must stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Units:
    """Features in groups.

    Parameters
    ----------
    group_of : ndarray of shape (n_features,)
        Number of the group of each feature, from 0.
    protected : ndarray of bool of shape (n_groups,)
        Groups that stay.
    """

    group_of: NDArray[np.intp]
    protected: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Number of groups."""
        return int(self.protected.size)

    @property
    def are_features(self) -> bool:
        """Whether every feature is a group of its own."""
        return self.n == self.group_of.size

    def members(self, groups: Features) -> Features:
        """Return the features of some groups, group by group."""
        if self.are_features:
            return groups
        found = [np.flatnonzero(self.group_of == group) for group in groups]
        return np.concatenate([np.empty(0, dtype=np.intp), *found])

    def totals(self, features: Features, importances: Floats, groups: Features) -> Floats:
        """Return the sum of the importances of each group's features."""
        if self.are_features:
            return importances
        sums = np.bincount(self.group_of[features], weights=importances, minlength=self.n)
        return np.asarray(sums[groups], dtype=np.float64)

    @classmethod
    def of(cls, groups: Any, protected: Any, n_features: int, names: Any) -> Units:
        """Return the groups that a user gives.

        Parameters
        ----------
        groups : array-like of shape (n_features,) or None
            Any label for each feature; features with equal labels go together.
        protected : array-like or None
            Features that stay: a mask, positions, or names.
        n_features : int
        names : ndarray of str or None
            Names of the features.
        """
        group_of = np.arange(n_features)
        if groups is not None:
            labels = np.asarray(groups)
            if labels.shape != (n_features,):
                raise ValueError(
                    f"groups must hold one label for each of the {n_features} features; "
                    f"got the shape {labels.shape}."
                )
            _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
            group_of = np.argsort(np.argsort(first))[inverse]  # in the order of the features
        stays = np.zeros(int(group_of.max()) + 1, dtype=bool)
        stays[group_of[_positions(protected, n_features, names)]] = True
        return cls(group_of, stays)


def _positions(protected: Any, n_features: int, names: Any) -> Features:
    """Return the positions of features given as a mask, as positions or by name."""
    if protected is None:
        return np.empty(0, dtype=np.intp)
    given = np.atleast_1d(np.asarray(protected))
    if given.size == 0:
        return np.empty(0, dtype=np.intp)
    if given.dtype == bool and given.shape == (n_features,):
        return np.flatnonzero(given)
    if given.dtype.kind in "iu" and given.min() >= -n_features and given.max() < n_features:
        return given % n_features
    if given.dtype.kind in "OUS" and names is not None and np.isin(given, names).all():
        return np.flatnonzero(np.isin(names, given))
    raise ValueError(
        f"protected must be a mask of the {n_features} features, positions below {n_features}, or "
        f"names of columns; got {protected!r}."
    )
