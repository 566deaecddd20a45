"""Which data sets can be had, asked before long work begins."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ._store import fetch


def missing_datasets(
    names: Iterable[str], data_home: str | os.PathLike[str] | None = None
) -> dict[str, str]:
    """Return the data sets that cannot be had, and why; what can be downloaded is.

    Parameters
    ----------
    names : iterable of str
        Names in `DATASETS`.
    data_home : path-like, default=None
        Folder for downloads, see `get_data_home`.

    Returns
    -------
    dict of str to str
        By name, a sentence that says why; empty if all are there now.

    Examples
    --------
    >>> from mercer.datasets import missing_datasets
    >>> missing_datasets([])
    {}
    """
    missing = {}
    for name in names:
        try:
            fetch(name, data_home)
        except (OSError, ValueError, ImportError) as error:
            missing[name] = str(error)
    return missing
