"""What is loaded answers as what was saved, to the last bit, for every estimator there is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted
from variants import VARIANTS

import mercer

from .models import answers, fitted_variants

pytest.importorskip("skops")

READER = """
import sys, numpy as np, mercer
from pathlib import Path
folder = Path(sys.argv[1])
found = {}
for path in folder.glob("*.mercer"):
    model, X = mercer.load(path), np.load(path.with_suffix(".npy"))
    for name in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(model, name):
            found[f"{path.stem} {name}"] = getattr(model, name)(X)
np.savez(folder / "answers.npz", **found)
"""


@pytest.fixture(scope="module", name="folder")
def saved_variants(tmp_path_factory: Any) -> Path:
    folder: Path = tmp_path_factory.mktemp("models")
    for number, (model, X) in enumerate(fitted_variants()):
        mercer.save(model, folder / f"{number}.mercer")
        np.save(folder / f"{number}.npy", X)
    return folder


@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=[str(model) for model in VARIANTS])
def test_answers_are_the_same(number: int, folder: Path, tmp_path: Path) -> None:
    model, X = fitted_variants()[number]
    again = mercer.load(folder / f"{number}.mercer")
    check_is_fitted(again)
    assert str(again) == str(model)
    expected = answers(model, X)
    assert expected
    for name, values in answers(again, X).items():
        np.testing.assert_array_equal(values, expected[name], strict=True)
    mercer.save(again, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (folder / f"{number}.mercer").read_bytes()


def read_elsewhere(folder: Path, **more: str) -> dict[str, np.ndarray]:
    """Return the answers of all models, loaded by another process."""
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READER, folder], check=True, env=os.environ | more
    )
    with np.load(folder / "answers.npz") as found:
        return dict(found)


def expected_answers() -> dict[str, np.ndarray]:
    return {
        f"{number} {name}": values
        for number, (model, X) in enumerate(fitted_variants())
        for name, values in answers(model, X).items()
    }


def experimental() -> Any:
    """Return a model of types that scikit-learn has only where they are asked for."""
    from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer
    from sklearn.model_selection import HalvingGridSearchCV

    search = HalvingGridSearchCV(mercer.SVC(), {"C": [1, 9]}, random_state=0)
    X, y = load_iris(return_X_y=True)
    X[::7, 1] = np.nan
    return make_pipeline(IterativeImputer(max_iter=2, tol=1.0), search).fit(X, y), X


def test_another_process_says_the_same(folder: Path) -> None:
    model, X = experimental()
    mercer.save(model, folder / "experimental.mercer")
    np.save(folder / "experimental.npy", X)
    found, expected = read_elsewhere(folder), expected_answers()
    expected |= {f"experimental {name}": values for name, values in answers(model, X).items()}
    assert set(found) == set(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, strict=True, err_msg=name)


def test_other_instructions_say_nearly_the_same(folder: Path) -> None:
    found = read_elsewhere(folder, MERCER_INSTRUCTION_SET="baseline")
    for name, values in expected_answers().items():
        if values.dtype.kind == "f":
            scale = max(1.0, np.abs(values[np.isfinite(values)]).max(initial=0.0))
            np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-12 * scale)
        else:
            np.testing.assert_array_equal(found[name], values)


@pytest.mark.parametrize("model", VARIANTS[::4], ids=str)
def test_unfitted(model: Any, tmp_path: Path) -> None:
    mercer.save(model, tmp_path / "file")
    assert str(mercer.load(tmp_path / "file")) == str(clone(model))
    assert not mercer.describe(tmp_path / "file").fitted
