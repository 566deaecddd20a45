"""Arrays as scikit-learn's users expect them: a `Bunch`, a pair, or frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from mercer._extras import how_to_get

from .registry import DATASETS

SUBSETS = ("all", "train", "test")


def make_bunch(
    name: str,
    X: NDArray[Any],
    y: NDArray[Any],
    *,
    feature_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
    subset: str = "all",
    parts: dict[str, NDArray[Any]] | None = None,
    **more: Any,
) -> Any:
    """Return the rows asked for, with everything that is known of them.

    Parameters
    ----------
    parts : dict, optional
        Row numbers of the parts "train" and "test", where the set has such parts.
    more
        Further arrays with an entry for each row.
    """
    check_subset(name, subset, parts)
    if parts and subset != "all":
        X, y = X[parts[subset]], y[parts[subset]]
        more = {key: value[parts[subset]] for key, value in more.items()}
        parts = None
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.int64)
    names = [str(word) for word in feature_names or numbered(X.shape[1])]
    classes = target_names or [str(label) for label in np.unique(y)]
    bunch = Bunch(
        data=X,
        target=y,
        frame=None,
        feature_names=names,
        target_names=np.array(classes),
        DESCR=DATASETS[name].describe(),
        **(parts or {}),
        **more,
    )
    if as_frame:
        _use_frames(bunch)
    return (bunch.data, bunch.target) if return_X_y else bunch


def numbered(n_features: int) -> list[str]:
    """Return names for columns that have none."""
    return [f"x{number}" for number in range(1, n_features + 1)]


def check_subset(name: str, subset: str, parts: Any) -> None:
    """Refuse a part that does not exist."""
    if subset not in SUBSETS:
        raise ValueError(f"subset must be one of {', '.join(SUBSETS)}; got {subset!r}.")
    if subset != "all" and parts is None:
        raise ValueError(f"subset={subset!r} of {name!r} needs a split; give its number.")


def stack(arrays: dict[str, Any], key: str, *parts: str) -> NDArray[Any]:
    """Return the array of all parts, one below the other."""
    return np.concatenate([arrays[f"{key}_{part}"] for part in parts])


def part_rows(n_train: int, n_rows: int) -> dict[str, NDArray[Any]]:
    """Return the row numbers of the two parts, where the first rows are for learning."""
    return {"train": np.arange(n_train), "test": np.arange(n_train, n_rows)}


def _use_frames(bunch: Bunch) -> None:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"as_frame=True needs pandas; run {how_to_get('app')}.") from error
    bunch.data = pd.DataFrame(bunch.data, columns=bunch.feature_names)
    bunch.target = pd.Series(bunch.target, name="target")
    bunch.frame = pd.concat([bunch.data, bunch.target], axis=1)
