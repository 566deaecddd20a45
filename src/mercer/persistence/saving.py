"""Keep a model in a file that holds no code."""

from __future__ import annotations

import io
from types import ModuleType
from typing import Any
from zipfile import ZipFile

from mercer._extras import how_to_get
from mercer._files import check_writable, written_whole
from mercer.persistence._archive import HEADER, SCHEMA, is_array, sealed
from mercer.persistence._arrays import head_in
from mercer.persistence._canonical import canonical
from mercer.persistence._header import is_fitted, written_header
from mercer.persistence._json import check_plan, read_json
from mercer.persistence._probe import probe_of
from mercer.persistence._schema import Audit
from mercer.persistence._sound import check_sound, parts
from mercer.persistence.errors import (
    ModelFileError,
    RefusalError,
    StrangeFunctionError,
    StrangeTypeError,
    one_line,
)


def save(model: Any, path: Any) -> None:
    """Write a model to a file that `mercer.load` reads, on any machine, without running any code.

    All estimators, searches, selectors and kernels of mercer can be saved, fitted or not, alone, in
    each other and in pipelines, with mercer's vectorizers for tables. So can scikit-learn's, except
    `Birch` and fitted `KernelDensity` and `SplineTransformer`, which hold what only compiled code
    reads, and `HistGradientBoostingClassifier` and ``Regressor`` fitted with categorical features,
    which hold functions: nothing is written then, and the error says how to encode these features
    before. Functions can be saved where they are measures, kernels or scores of mercer or
    scikit-learn, or NumPy's of single numbers; as a metric of neighbours they cannot, nor can the
    distributions of SciPy over which a random search draws: give it lists.

    The file is a zip archive of numbers and names of types, in the form of skops, with the versions
    of everything, the names of features and classes, a few rows with what the model says about
    them, by which `mercer.load` tries it, and a SHA-256 checksum. The rows are made of numbers of
    the model, such as its support vectors, mixed and cut to three digits, and of words that it
    knows. The same model gives the same bytes on the same machine. A file of that name is replaced
    when the new one is whole.

    Parameters
    ----------
    model : estimator
    path : path-like
        By custom it ends in ``.mercer``.

    Raises
    ------
    ModelFileError
        In one sentence, if the model holds what no file may hold: functions and types from
        elsewhere. Nothing is written then.
    OSError
        If there is no folder for the file, or it cannot be written.

    See Also
    --------
    mercer.load : Gives the model back.
    mercer.describe : Tells what is in a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = mercer.SVC(C=10.0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.mercer"
    ...     mercer.save(model, path)
    ...     again = mercer.load(path)
    >>> bool((again.decision_function(X) == model.decision_function(X)).all())
    True
    """
    check_writable(path)  # before the work
    members = _members(model)
    with written_whole(path) as file:
        file.write(sealed(members))


def _members(model: Any) -> dict[str, bytes]:
    """Return all parts of the file, after the same checks that `load` makes."""
    name = type(model).__name__
    if not hasattr(model, "get_params") or isinstance(model, type):
        raise ModelFileError(f"mercer.save takes an estimator; got {name}.")
    skops = imported_skops()
    try:
        found = list(parts(model))
        check_sound(found)
        with ZipFile(io.BytesIO(skops.dumps(model))) as archive:
            members = canonical(archive)
        size = sum(map(len, members.values()))
        check_plan(len(members[SCHEMA]), size)
        arrays = {part: head_in(members[part], part) for part in members if is_array(part)}
        audit = Audit(arrays)
        audit.check(read_json(members[SCHEMA]))
    except StrangeFunctionError as error:
        raise ModelFileError(
            f"{name} cannot be saved: it holds the function {error.function!r}{error.place}, and a "
            f"file holds no code; {_instead(found)}."
        ) from None
    except StrangeTypeError as error:
        raise ModelFileError(
            f"{name} cannot be saved: it holds an object of type {error.name!r}{error.place}, "
            "which mercer.load would not trust; help(mercer.save) says what can be saved."
        ) from None
    except RecursionError:
        raise ModelFileError(
            f"{name} cannot be saved: it contains itself, or something that does, as distributions "
            "of SciPy do; give a random search lists of values in their place."
        ) from None
    except (RefusalError, TypeError, ValueError) as error:
        reason = one_line(error).rstrip(".")
        raise ModelFileError(
            f"{name} cannot be saved: {reason}; help(mercer.save) says what can be saved."
        ) from None
    probe = probe_of(model, found, size) if is_fitted(model) else None
    return {HEADER: written_header(model, audit.types, probe)} | members


def _instead(found: list[Any]) -> str:
    """Say what to use in place of a function."""
    kinds = [type(part).__name__ for part in found if getattr(part, "_preprocessor", None)]
    if any(kind.startswith("HistGradientBoosting") for kind in kinds):
        return (
            "boosting on histograms does so with categorical features: encode these before it, as "
            "make_pipeline(OrdinalEncoder(), ...) does, and give it categorical_features=None"
        )
    return (
        'use a kernel of mercer.kernels (or its matrix, with kernel="precomputed") or a name in '
        "place of the function"
    )


def imported_skops() -> ModuleType:
    """Return skops.io, or say what to install."""
    try:
        import skops.io
    except ImportError:
        raise ImportError(
            "Models are kept in files by skops, which is not installed; "
            f"{how_to_get('app')} brings it."
        ) from None
    return skops.io
