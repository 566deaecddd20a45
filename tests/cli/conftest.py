"""A folder to run the command in, and tables to run it on."""

import numpy as np
import pytest
from sklearn.datasets import load_iris


@pytest.fixture
def mercer(tmp_path, monkeypatch):
    """Run any command in an empty folder, in this process."""
    for name in ("typer", "rich", "pandas", "matplotlib", "skrub", "skops"):
        pytest.importorskip(name)
    from typer.testing import CliRunner

    from mercer.cli.app import app

    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture
def run(mercer):
    """Run `mercer compare`."""
    return lambda *arguments: mercer("compare", *arguments)


@pytest.fixture
def csv_file(tmp_path):
    """Write a table to a file and return its path."""

    def write(frame, name="table.csv", **options):
        path = tmp_path / name
        frame.to_csv(path, index=False, **options)
        return path

    return write


@pytest.fixture
def flowers():
    data = load_iris(as_frame=True)
    frame = data.data.rename(columns=lambda name: name.split(" (")[0].replace(" ", "_"))
    return frame.assign(species=data.target_names[data.target])


@pytest.fixture
def patients():
    """Mixed columns with gaps, an identifier, classes and a number to predict."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 80
    age, town = rng.integers(20, 80, n), rng.choice(["Oslo", "Bergen", "Bodø"], n)
    dose = rng.normal(size=n).round(3)
    ill = 0.08 * (age - 50) + dose + 0.3 * rng.normal(size=n) > 0
    frame = pd.DataFrame(
        {
            "patient_id": [f"P{k:03d}" for k in rng.permutation(n)],
            "age": age.astype(object),
            "town": town,
            "dose": dose,
            "cost": (10.0 * age + 50 * dose).round(2),
            "outcome": np.where(ill, "ill", "well"),
        }
    )
    frame.loc[[3, 9], "age"] = "unknown"
    frame.loc[5, "town"] = None
    return frame
