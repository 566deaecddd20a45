"""What becomes of one forged file: the judge of a seed."""

from __future__ import annotations

import copy
import re
import resource
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import mercer
from mercer.persistence import ModelFileError
from mercer.persistence._archive import SCHEMA, sealed
from mercer.persistence._json import PLAN_GROWS
from mercer.persistence._probe import METHODS
from mercer.tables import TableModel

from .damage import Members, members_of
from .forge_zoo import made, makers
from .forging import forged

BAD = ("raises", "crash", "hang", "memory", "no sentence")
CONSTANT = 2**26
"""Bytes beside twice the file and what its plan takes: rows, answers, imported modules."""

MOST_ADDRESSES = 2**33
"""Bytes that a process may ask for, so that a forged length does no harm here."""

Answers = dict[str, Any]


def answers(model: Any, X: Any) -> Answers:
    """Return what a model says about all rows and about one, and where a method fails the error."""
    found: Answers = {}
    forms = {"": X, " of one row": X[:1]}
    if hasattr(X, "columns") and all(kind.kind == "f" for kind in X.dtypes):
        forms[" of an array"] = X.to_numpy()
    for name in METHODS:
        for form, rows in forms.items() if hasattr(model, name) else ():
            try:
                found[name + form] = getattr(model, name)(rows)
            except Exception as error:
                found[name + form] = error
    if isinstance(model, TableModel):
        found["notices"] = _notices(model, X)
    return found


def _notices(model: TableModel, X: Any) -> Any:
    """Return what a model of a table tells of new rows."""
    try:
        frames = (model.like(), model.beside())
        told = (model.new_words(X), model.far_numbers(X), model)
        return repr([*told, *(frame.dtypes.to_dict() for frame in frames)])
    except Exception as error:
        return error


@cache
def saved(name: str) -> tuple[Members, Any, Answers] | str:
    """Return the parts of the file of a model, fresh rows and what it says, or why not."""
    try:
        model, X = made(name)
    except Exception as error:  # what cannot be fitted to these rows is no matter here
        return f"not fitted: {type(error).__name__}: {error}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.mercer"
        try:
            mercer.save(model, path)
        except ModelFileError as error:
            return f"not saved: {error}"
        again, content = mercer.load(path), path.read_bytes()
    said = answers(again, X)
    if all(isinstance(answer, Exception) for answer in said.values()):
        said, X = answers(again, np.abs(X)), np.abs(X)
    works = {method: value for method, value in said.items() if not isinstance(value, Exception)}
    if not works:
        return f"says nothing: {said}"
    return members_of(content), X, works


def judge(seed: int, of: str = "") -> dict[str, Any]:
    """Forge the file of a seed, load it and ask the model, if there is one, about fresh rows.

    Parameters
    ----------
    seed : int
    of : str, default=""
        What the name of the model contains.
    """
    warnings.simplefilter("ignore")
    random = np.random.default_rng(seed)
    names = [name for name in makers() if of in name]
    ready: Any = ""
    while isinstance(ready, str):
        name = names[int(random.integers(len(names)))]
        ready = saved(name)
    good, X, expected = ready
    done, changed = "nothing", {}
    while all(good[member] == part for member, part in changed.items()):
        done, changed = forged(good, random)
    content = sealed(good | changed).tobytes()
    found = {"seed": seed, "model": name[:80], "done": done, "said": ""}
    start = time.process_time()
    outcome, said, taken = outcome_of(content, X, expected)
    most = 2 * len(content) + PLAN_GROWS * len(changed.get(SCHEMA, good[SCHEMA])) + CONSTANT
    if taken > most or re.search("MemoryError|Unable to allocate", said):
        outcome, said = "memory", f"{taken:,} of {most:,} bytes; {said}"
    seconds = time.process_time() - start
    return found | {"outcome": outcome, "said": said, "seconds": round(seconds, 2)}


def outcome_of(content: bytes, X: Any, expected: Answers) -> tuple[str, str, int]:
    """Return what becomes of a file in one word, in its own words, and the memory of loading."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.mercer"
        path.write_bytes(content)
        before = _highest_memory(reset=True)
        try:
            model = mercer.load(path)
        except ModelFileError as error:
            said = str(error)
            fits = re.fullmatch(r"[^\n]{20,700}\.", said) and said.isprintable()
            return "refused" if fits else "no sentence", said, _highest_memory() - before
        except Exception as error:
            return "no sentence", f"{type(error).__name__}: {error}", _highest_memory() - before
        taken = _highest_memory() - before
    said = answers(model, copy.deepcopy(X))  # a forged one may change its rows
    for name in expected:
        if isinstance(said.get(name), Exception | None):
            return "raises", f"{name}: {type(said[name]).__name__}: {said[name]}"[:200], taken
    different = [name for name in expected if not _same(said.get(name), expected[name])]
    return ("another" if different else "same"), ", ".join(different), taken


def _highest_memory(reset: bool = False) -> int:
    """Return the most bytes that this process has had since the last reset, 0 if none tells."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        text = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return 1024 * int(re.search(r"VmHWM:\s*(\d+)", text)[1])  # type: ignore[index]


def limit_memory() -> None:
    """Let this process take no more than so much, so that claims of a file are errors."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, list) and isinstance(found, list):  # of several outputs
        return len(found) == len(expected) and all(map(_same, found, expected))
    one, other = (v.toarray() if sp.issparse(v) else np.asarray(v) for v in (found, expected))
    if one.shape != other.shape:
        return False
    if other.dtype.kind not in "fc" or one.dtype.kind not in "fciu":
        return bool(one.tolist() == other.tolist())
    scale = max(1e-300, float(np.abs(other[np.isfinite(other)]).max(initial=0.0)))
    return bool(np.allclose(one, other, rtol=0.0, atol=1e-6 * scale, equal_nan=True))
