"""Kernels and machines on some of the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.kernels import Kernel
from mercer.machines import KernelMachine

Features = NDArray[np.intp]


def restricted(kernel: Kernel, features: Features, n_features: int) -> Kernel:
    """Return a kernel for some of the features: those given for each of them lose the others."""
    if features.size == n_features:
        return kernel
    changes: dict[str, Any] = {
        name: restricted(part, features, n_features) for name, part in kernel.parts().items()
    }
    for name, value in kernel.get_params(deep=False).items():
        if name not in changes and np.shape(value) == (n_features,) and n_features > 1:
            changes[name] = np.asarray(value)[features]
    return kernel._replace(**changes) if changes else kernel


def machine_for(estimator: Any, features: Features, n_features: int) -> Any:
    """Return a clone of an estimator that suits some of the features."""
    copy = clone(estimator)
    if isinstance(copy, KernelMachine) and not isinstance(copy.kernel, str):
        copy.set_params(kernel=restricted(copy._make_kernel(), features, n_features))
    return copy
