"""A folder to run the command in, and tables to run it on."""

import pytest
from sklearn.datasets import load_iris


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty folder."""
    pytest.importorskip("typer")
    pytest.importorskip("rich")
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    from typer.testing import CliRunner

    from mercer.cli.app import app

    monkeypatch.chdir(tmp_path)

    def run_command(*arguments):
        return CliRunner().invoke(app, ["compare", *map(str, arguments)])

    return run_command


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
