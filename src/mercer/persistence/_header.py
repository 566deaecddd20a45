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
TOLD = {"n_features": "n_features_in_", "feature_names": "feature_names_in_", "classes": "classes_"}
NEEDED = {"format": int, "versions": dict, "type": str, "kind": str, "model": str, "fitted": bool}


def versions(types: set[str]) -> dict[str, str]:
    """Return the versions of everything that models of these types consist of."""
    homes = {name.partition(".")[0] for name in types} | {"numpy", "scipy", "skops", "sklearn"}
    packages = [p for p in PACKAGES if p.replace("scikit-learn", "sklearn") in homes]
    found = {name: metadata.version(name) for name in packages}
    return {"mercer": __version__, "python": platform.python_version()} | found


def header_of(model: Any, types: set[str], probe: Any) -> dict[str, Any]:
    """Return versions, names of features and classes, what the model is and what it answers."""
    return {
        "format": FORMAT,
        "versions": versions(types),
        "type": f"{type(model).__module__}.{type(model).__qualname__}",
        "kind": _kind(model),
        "model": ADDRESS.sub("", " ".join(repr(model).split())),
        "fitted": is_fitted(model),
        **{key: _told(model, name) for key, name in TOLD.items()},
        "probe": probe,
    }


def written_header(model: Any, types: set[str], probe: Any) -> bytes:
    """Return the header as text, without what makes it too long: names of features and classes."""
    header = header_of(model, types, probe)
    for left_out in ((), ("feature_names", "classes"), ("feature_names", "classes", "probe")):
        text = json.dumps(header | dict.fromkeys(left_out), indent=1).encode()
        if len(text) <= LARGEST:
            break
    return text


def check_told(model: Any, header: dict[str, Any]) -> None:
    """Raise RefusalError if a model has other columns, names or classes than its file says."""
    for key, name in TOLD.items():
        said = header.get(key)
        if said is not None and json.dumps(said) != json.dumps(_told(model, name)):
            raise RefusalError(f"{name} is not what it says about itself")


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


def is_fitted(model: Any) -> bool:
    """Return whether a model has been fitted, as far as scikit-learn can tell."""
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
        return [plain(item) for item in value.tolist()]
    if isinstance(value, list):
        return [plain(item) for item in value]
    return None


def plain(value: Any) -> Any:
    """Return a value as JSON has it, or its text."""
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | int | float | bool | None) else str(value)
