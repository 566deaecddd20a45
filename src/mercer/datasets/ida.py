"""The IDA benchmark with its predefined splits."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._bunch import make_bunch
from ._store import fetch
from .registry import IDA_NAMES


def load_ida(
    name: str,
    split: int | None = None,
    *,
    subset: str = "all",
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> Any:
    """Load a two-class set of the IDA benchmark with its predefined splits.

    Parameters
    ----------
    name : str
        banana, breast-cancer, diabetis, flare-solar, german, heart, image, splice, thyroid or
        titanic.
    split : int, default=None
        Number of a predefined split, from 0. The result then has its row numbers as `train` and
        `test`.
    subset : {"all", "train", "test"}, default="all"
        Which rows; other than "all" needs a `split`.
    return_X_y : bool, default=False
        Whether to return only ``(data, target)``.
    as_frame : bool, default=False
        Whether to return pandas objects.
    data_home : path-like, default=None
        Folder for downloads, see `get_data_home`.
    download_if_missing : bool, default=True
        Whether to download the benchmark, about 8 MB with all sets, where it is not at hand.

    Returns
    -------
    Bunch or tuple
        `data`, `target` (-1 or +1), `feature_names`, `target_names`, `DESCR`; `splits`: a list of
        pairs of row numbers (train, test); `distinct_splits`: numbers of the splits whose training
        rows do not occur in an earlier one.

    References
    ----------
    .. [1] G. Rätsch, T. Onoda, K.-R. Müller, Soft margins for AdaBoost, Machine Learning 42, 2001.

    Examples
    --------
    >>> from mercer.datasets import load_ida
    >>> banana = load_ida("banana")  # doctest: +SKIP
    >>> banana.data.shape, len(banana.splits), len(banana.distinct_splits)  # doctest: +SKIP
    ((5300, 2), 100, 80)
    >>> X, y = load_ida("banana", split=3, subset="train", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (400, 2)
    """
    if name not in IDA_NAMES:
        raise ValueError(f"name must be one of {', '.join(IDA_NAMES)}; got {name!r}.")
    arrays = fetch(f"ida/{name}", data_home, download_if_missing)
    splits = list(zip(arrays["train"], arrays["test"]))
    parts = None
    if split is not None:
        if not 0 <= split < len(splits):
            raise ValueError(f"split must lie between 0 and {len(splits) - 1}; got {split}.")
        parts = dict(zip(("train", "test"), splits[split]))
    bunch = make_bunch(
        f"ida/{name}",
        arrays["X"],
        arrays["y"],
        subset=subset,
        parts=parts,
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
    if not return_X_y and subset == "all":
        bunch.splits = splits
        bunch.distinct_splits = _first_occurrences(arrays["train"])
    return bunch


def _first_occurrences(train: Any) -> Any:
    _, first = np.unique(np.sort(train, axis=1), axis=0, return_index=True)
    return np.sort(first)
