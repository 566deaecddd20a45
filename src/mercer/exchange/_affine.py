"""Scalers before a machine, folded into one shift and one factor for each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from mercer.exchange._searches import found_by

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Affine:
    """The map x -> (x - centre) * factor, feature by feature."""

    centre: Floats
    factor: Floats

    @classmethod
    def identity(cls, n_features: int) -> Affine:
        """Return the map that changes nothing."""
        return cls(np.zeros(n_features), np.ones(n_features))

    @property
    def is_identity(self) -> bool:
        """Whether it changes nothing."""
        return not self.centre.any() and bool((self.factor == 1).all())

    def then(self, other: Affine) -> Affine:
        """Return this map with another one after it; a factor of 0 makes any centre the same."""
        moved = np.zeros_like(self.centre)
        np.divide(other.centre, self.factor, out=moved, where=self.factor != 0)
        return Affine(self.centre + moved, self.factor * other.factor)


def without_scalers(model: Any) -> tuple[Affine | None, Any]:
    """Return what the steps of a pipeline do before its machine, and the machine.

    None stands for a model that is no pipeline, or one whose steps change nothing.
    """
    found: Affine | None = None
    model = found_by(model)
    while isinstance(model, Pipeline):
        check_is_fitted(model)
        for name, step in model.steps[:-1]:
            if step is not None and step != "passthrough":
                one = _affine(name, step)
                found = one if found is None else found.then(one)
        model = found_by(model.steps[-1][1])
    return found, model


def _affine(name: str, step: Any) -> Affine:
    if isinstance(step, StandardScaler):
        same = Affine.identity(step.n_features_in_)
        centre = step.mean_ if step.with_mean else same.centre
        return Affine(np.asarray(centre), 1.0 / step.scale_ if step.with_std else same.factor)
    if isinstance(step, MinMaxScaler) and not step.clip:
        return Affine(-step.min_ / step.scale_, step.scale_)
    raise ValueError(
        "Before the machine there may be StandardScaler and MinMaxScaler without clip; got "
        f"{step!r} as step {name!r} (transform the data first, and give the last step alone)."
    )
