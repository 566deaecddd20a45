"""Get a model from a file without running anything that the file says."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, BinaryIO
from zipfile import ZipFile

from mercer._extras import how_to_get
from mercer.persistence._archive import HEADER, SCHEMA, is_array, opened
from mercer.persistence._arrays import head_of
from mercer.persistence._header import LARGEST, check_told, read_header, versions
from mercer.persistence._json import check_plan, read_json
from mercer.persistence._probe import OtherAnswersError, check_probe
from mercer.persistence._schema import Audit
from mercer.persistence._search_trees import grow_search_trees
from mercer.persistence._sound import check_sound, parts
from mercer.persistence.errors import ModelFileError, RefusalError, one_line
from mercer.persistence.saving import imported_skops


def load(path: Any) -> Any:
    """Return the model that `mercer.save` wrote.

    A file holds no code, so that nothing in it is run. Before anything is built, the checksum is
    compared; then parts, shapes and lengths are compared with what is there, and all types with a
    list of those that models of mercer and scikit-learn consist of. So the arrays of a file take
    about twice their length of memory, whatever it claims, and its plan of objects thirteen times
    its own, which is refused above half a GiB unless the file is as long. Trees for the search of
    neighbours, which files leave out, are grown again, each once; for many rows of one column with
    small leaves they take a multiple of the rows, at most 24.

    At last the model is tried: the file has up to 48 rows and what the model said about them when
    it was saved, and it must say the same now, labels exactly and numbers to 1e-6 (less where they
    depend on rounding, nothing but their count where they are drawn at random). A model that lacks
    something or whose numbers are others is refused; where versions of the libraries differ and
    answers with them, that is a warning. What only some rows would lead to, such as the code of a
    category or the depth of a leaf, is looked for in all of them before. Models of what no rows can
    be made up for, those that read files by name, and files of earlier versions are not tried.

    A checksum tells damage, not who wrote a file: it is no signature. One from a stranger runs no
    code, but its predictions are worth what the stranger's word is: a number may have been changed
    where none of the rows shows it, or the answers with it.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    estimator
        Its predictions are those of the model that was saved, to the last bit where processor and
        libraries are the same; to rounding where arrays of it are cut out of larger ones, as those
        of `IncrementalPCA` with fewer components are, since files keep the entries only.

    Raises
    ------
    ModelFileError
        In one sentence, if the file is damaged, cut off, of another kind, from a later version,
        asks for anything that is no part of a model, or has one that does not say what it said.

    See Also
    --------
    mercer.save : Writes the file.
    mercer.describe : Tells what is in a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "svdd.mercer"
    ...     mercer.save(mercer.SVDD(nu=0.2), path)
    ...     mercer.load(path)
    SVDD(nu=0.2)
    """
    with checked(path) as (file, archive, header):
        skops = imported_skops()
        heads = {name: head_of(archive, name) for name in archive.namelist() if is_array(name)}
        audit = Audit(heads)
        check_plan(archive.getinfo(SCHEMA).file_size, os.fstat(file.fileno()).st_size)
        audit.check(read_json(archive.read(SCHEMA)))
        if audit.files != set(heads):
            raise RefusalError("it has arrays that nothing in it asks for")
        _check_packages(audit.types, path)
        model = skops.load(file, trusted=sorted(audit.types))
        if f"{type(model).__module__}.{type(model).__qualname__}" != header["type"]:
            raise RefusalError("it is not of the type that it says")
        found = list(parts(model))
        check_sound(found)
        check_told(model, header)
        grow_search_trees(found)
        _try_out(model, found, header, audit.types, file)
    return model


def _try_out(
    model: Any, found: list[Any], header: dict[str, Any], types: set[str], file: BinaryIO
) -> None:
    """Ask the model what it was asked when it was saved; earlier files have no questions."""
    probe, here = header.get("probe"), versions(types)
    others = [
        f"{name} {one_line(version)[:20]} (here {here.get(name)})"
        for name, version in header["versions"].items()
        if name not in ("python", "skops") and version != here.get(name)
    ]
    if probe is None:
        return
    try:
        check_probe(model, found, probe, os.fstat(file.fileno()).st_size)
    except OtherAnswersError as error:
        if not others:
            raise
        warnings.warn(
            f"Of a {type(model).__name__} that was saved with {', '.join(others)}, {error}.",
            stacklevel=3,
        )
    except RefusalError as error:
        written = f", and it was written with {', '.join(others)}" if others else ""
        raise RefusalError(f"{error}{written}") from None


@contextmanager
def checked(path: Any) -> Iterator[tuple[BinaryIO, ZipFile, dict[str, Any]]]:
    """Open a file and read its header; what goes wrong inside becomes one sentence."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"A file is read from a path; got {type(path).__name__}.")
    name = repr(str(path))
    try:
        with opened(path) as (file, archive):
            if archive.getinfo(HEADER).file_size > LARGEST:
                raise RefusalError("what it says about itself is too long")
            yield file, archive, read_header(archive.read(HEADER), name)
    except (ModelFileError, MemoryError, ImportError, OSError):
        raise
    except RefusalError as error:
        raise ModelFileError(
            f"{name} is refused: {one_line(error)}; nothing of it was run or kept."
        ) from None
    except Exception as error:
        raise ModelFileError(
            f"{name} is refused: its parts do not make a model ({one_line(error)[:120]}); nothing "
            "of it was run or kept."
        ) from None


def _check_packages(types: set[str], path: Any) -> None:
    for home in sorted({name.partition(".")[0] for name in types}):
        if find_spec(home) is None:
            raise ModelFileError(
                f"{str(path)!r} needs the package {home!r}, which is not installed; "
                f"{how_to_get('app')} brings it."
            )
