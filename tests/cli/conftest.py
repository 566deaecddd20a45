"""A folder to run the command in, and tables to run it on."""

import pytest
from cli_tables import some_patients
from sklearn.datasets import load_iris


@pytest.fixture
def mercer(tmp_path, monkeypatch):
    """Run any command in an empty folder, in this process.

    Forests are small, and what can be known without a column is asked of a quick model only: they
    take longer than the rest of a comparison.
    """
    for name in ("typer", "rich", "pandas", "matplotlib", "skrub", "skops"):
        pytest.importorskip(name)
    from typer.testing import CliRunner

    from mercer.cli.app import app
    from mercer.comparison import alone, rivals

    monkeypatch.setattr(rivals, "TREES", 30)
    monkeypatch.setattr(alone, "WITHOUT", {"classification": "lda", "regression": "ridge"})
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
    return some_patients()
