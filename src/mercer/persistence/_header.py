"""What a file says about itself, for people and for versions to come."""

from __future__ import annotations

import json
import platform
import re
from contextlib import suppress
from importlib import metadata
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_clusterer, is_outlier_detector, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mercer import __version__
from mercer.persistence._json import read_json
from mercer.persistence.errors import ModelFileError, RefusalError, one_line

FORMAT = 1
"""Counts the forms of files; a file of a higher number than this is refused."""

LARGEST = 2**23
"""Bytes of a header, which takes about ten times as much to read."""

ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
"""Places in memory, with which functions and random states are printed."""

PACKAGES = ("scikit-learn", "numpy", "scipy", "skops", "skrub", "pandas")
NEEDED = {"format": int, "versions": dict, "type": str, "kind": str, "model": str, "fitted": bool}


def header_of(model: Any, types: set[str]) -> dict[str, Any]:
    """Return versions, names of features and classes and what the model is."""
    homes = {name.partition(".")[0] for name in types} | {"numpy", "scipy", "skops", "sklearn"}
    packages = [p for p in PACKAGES if p.replace("scikit-learn", "sklearn") in homes]
    versions = {name: metadata.version(name) for name in packages}
    return {
        "format": FORMAT,
        "versions": {"mercer": __version__, "python": platform.python_version()} | versions,
        "type": f"{type(model).__module__}.{type(model).__qualname__}",
        "kind": _kind(model),
        "model": ADDRESS.sub("", " ".join(repr(model).split())),
        "fitted": _is_fitted(model),
        "n_features": _told(model, "n_features_in_"),
        "feature_names": _told(model, "feature_names_in_"),
        "classes": _told(model, "classes_"),
    }


def written_header(model: Any, types: set[str]) -> bytes:
    """Return the header as text, without names of features and classes where it gets too long."""
    header = header_of(model, types)
    text = json.dumps(header, indent=1).encode()
    if len(text) > LARGEST:
        text = json.dumps(header | {"feature_names": None, "classes": None}, indent=1).encode()
    return text


def read_header(text: bytes, name: str) -> dict[str, Any]:
    """Return the header of a file that this version can read, its contents of the right kinds."""
    try:
        header = read_json(text)
        form = header["format"]
        writer = header["versions"]["mercer"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise RefusalError("what it says about itself cannot be read") from None
    if type(form) is int and form > FORMAT:
        raise ModelFileError(
            f"{name} was written by mercer {one_line(writer)[:20]} in a form (number {form}) that "
            f"mercer {__version__} does not know; use that version or a newer one."
        )
    sound = all(type(header.get(key)) is kind for key, kind in NEEDED.items()) and form == FORMAT
    names, classes = header.get("feature_names"), header.get("classes")
    sound = sound and _are_names(names) and _are_names(classes, lists=True)
    if not sound or not isinstance(header.get("n_features"), int | None):
        raise RefusalError("what it says about itself cannot be read")
    return dict(header)


def _are_names(names: Any, lists: bool = False) -> bool:
    """Return whether this is nothing, or a list of single values (or of such lists)."""
    if not isinstance(names, list):
        return names is None
    return all(
        (lists and isinstance(name, list) and _are_names(name)) or not isinstance(name, list | dict)
        for name in names
    )


def _kind(model: Any) -> str:
    kinds = {
        "classifier": is_classifier,
        "regressor": is_regressor,
        "outlier detector": is_outlier_detector,
        "clusterer": is_clusterer,
    }
    for name, test in kinds.items():
        with suppress(AttributeError):  # of kernels of scikit-learn, which have no tags
            if test(model):
                return name
    return "transformer" if hasattr(model, "transform") else "estimator"


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):  # of what is no estimator, as kernels may be
        return False
    return True


def _told(model: Any, name: str) -> Any:
    """Return a fitted attribute as JSON has it, or None."""
    try:
        value = getattr(model, name)
    except Exception:  # a search or pipeline that is not fitted asks what is not there
        return None
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | int | float | bool | None) else str(value)
