"""Files that earlier versions wrote can be read, and their models say what they said then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.persistence._archive import HEADER

from .damage import members_of
from .make_files import FILES, answers, models, rows

pytest.importorskip("skops")

KEPT = sorted(FILES.glob("*/*.mercer"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_kept_file(path: Path) -> None:
    model = mercer.load(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    found = answers(model, rows(path.stem))
    assert set(found) == set(expected)
    assert bool(found) == mercer.describe(path).fitted
    for name, values in expected.items():
        if isinstance(np.ravel(values)[0], float):
            np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_there_is_a_file_of_every_kind() -> None:
    assert set(models()) <= {path.stem for path in KEPT}


def test_files_ask_about_rows_of_every_kind() -> None:
    """So that later versions read all of these, and answer as was told."""
    for kind in ("list", "named", "columns", "objects", "line", "labels", "names", "texts"):
        path = FILES / "form_1" / f"asked_{kind}.mercer"
        probe = json.loads(members_of(path.read_bytes())[HEADER])["probe"]
        rows_of = "list" if isinstance(probe["rows"], list) else next(iter(probe["rows"]))
        told = [set(answer) for answer in probe["answers"].values()]
        assert rows_of == kind
        assert any({"labels", "values"} & names for names in told)
