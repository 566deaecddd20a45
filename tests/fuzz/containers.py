"""The same rows in other containers and types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .data import Random

DTYPES = ("float64", "float64", "float64", "float32", "float16", "int64", "int32", "uint8", "bool")
DENSE = ("array", "array", "fortran", "read-only", "every second", "list", "frame")
SPARSE = ("csr_array", "csr_matrix", "csc_array", "coo_array")


def draw_dtype(rng: Random, X: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the rows in a type that can hold them; whole numbers are rounded tenths."""
    name = str(rng.choice(DTYPES))
    largest = float(np.abs(X).max(initial=0.0))
    smallest = float(np.abs(X[X != 0]).min(initial=1.0))
    room = {
        "float32": 1e30,
        "float16": 1e4,
        "int64": 1e15,
        "int32": 1e8,
        "uint8": 12.0,
        "bool": 9.0,
    }
    if name in room and (largest > room[name] or smallest < (1e-3 if name == "float16" else 1e-30)):
        name = "float64"
    if name in ("int64", "int32", "uint8"):
        X = np.round(10 * (X - X.min() if name == "uint8" else X))
    return (X > np.median(X) if name == "bool" else X.astype(name)), name


def draw_container(rng: Random, X: np.ndarray, allow_sparse: bool) -> tuple[Any, str]:
    """Return the rows in another container."""
    names = DENSE + SPARSE if allow_sparse else DENSE
    name = str(rng.choice(names))
    if name in SPARSE and X.dtype == np.float16:
        name = "array"
    return _wrap(name, X), name


def _wrap(name: str, X: np.ndarray) -> Any:
    if name == "fortran":
        return np.asfortranarray(X)
    if name == "read-only":
        X = X.copy()
        X.setflags(write=False)
        return X
    if name == "every second":
        return np.repeat(X, 2, axis=0)[::2]
    if name == "list":
        return X.tolist()
    if name == "frame":
        return pd.DataFrame(X, columns=[f"feature {j}" for j in range(X.shape[1])])
    return getattr(sp, name)(X) if name in SPARSE else X
