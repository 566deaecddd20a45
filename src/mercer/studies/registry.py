"""The published studies by name: folders of a clone of the repository."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from .study import Study, StudyError

PACKAGE, MODULE, ATTRIBUTE = "studies", "study", "STUDY"
"""In a clone, ``studies/ida/study.py`` has the ``STUDY`` of the name "ida"."""


def find_studies() -> dict[str, str]:
    """Return where each published study is, as ``module:attribute`` by name.

    Studies are no part of an installed package. They are taken from the clone that mercer itself
    is imported from, or else from the current folder if it is a clone; no other folder is looked
    at, so that no file is run that was not meant.

    Returns
    -------
    dict of str to str
        Place of each study, by name.

    Raises
    ------
    StudyError
        If there is no clone.

    Examples
    --------
    >>> from mercer.studies import find_studies
    >>> find_studies()["rfe-stop"]
    'studies.rfe_stop.study:STUDY'
    """
    files = sorted(studies_folder().glob(f"*/{MODULE}.py"))
    names = [file.parent.name for file in files]
    return {name.replace("_", "-"): f"{PACKAGE}.{name}.{MODULE}:{ATTRIBUTE}" for name in names}


def get_study(name: str) -> Study:
    """Return a published study by its name, or one of one's own by ``module:attribute``.

    Parameters
    ----------
    name : str
        Its name, or where it stands.

    Returns
    -------
    Study
        The study.

    Examples
    --------
    >>> from mercer.studies import get_study
    >>> get_study("tiny").title
    'Mean and median of normal draws'
    >>> get_study("studies.tiny.study:STUDY") is get_study("tiny")
    True
    """
    study = _own(name) if ":" in name else _published(name)
    if not isinstance(study, Study):
        raise StudyError(f"{name!r} is not a study but {type(study).__name__}.")
    return study


def studies_folder() -> Path:
    """Return the folder of the published studies."""
    return _clone() / PACKAGE


def study_folder(name: str) -> Path:
    """Return the folder of a published study."""
    return studies_folder() / name.replace("-", "_")


def _own(place: str) -> Any:
    module_name, _, attribute = place.partition(":")
    try:
        return getattr(import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise StudyError(f"The study {place!r} cannot be loaded: {error}.") from error


def _published(name: str) -> Any:
    known, root = find_studies(), _clone()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise StudyError(f"There is no study {name!r} among {', '.join(known)}{hint}")
    if str(root) not in sys.path:  # for the imports of worker processes, too
        sys.path.insert(0, str(root))
    study = _own(known[name])
    found = Path(str(sys.modules[PACKAGE].__file__)).resolve()
    if root not in found.parents:
        raise StudyError(f"Another package named {PACKAGE!r} hides that of the clone: {found}.")
    return study


def _clone() -> Path:
    """Return the root of the repository."""
    for root in (Path(__file__).resolve().parents[3], Path.cwd().resolve()):
        if _is_clone(root):
            return root
    raise StudyError(
        "Published studies are no part of an installed mercer: run this in the main folder of a "
        "clone of its repository, or name a study of your own as module:NAME."
    )


def _is_clone(root: Path) -> bool:
    try:
        lines = (root / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return False
    return 'name = "mercer"' in lines and (root / PACKAGE / "__init__.py").is_file()
