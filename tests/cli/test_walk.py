"""The walk from a table to predictions, command by command."""

import re
import shlex
from pathlib import Path

import pandas as pd

import mercer as library

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "command_line.md"


def test_walk(mercer, patients):
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (walk,) = [block for block in blocks if block.startswith("mercer ")]
    commands = [shlex.split(line, comments=True) for line in walk.splitlines()]
    assert [words[:2] for words in commands] == [["mercer", "compare"], ["mercer", "predict"]]
    patients[:60].to_csv("patients.csv", index=False)
    patients[60:].drop(columns="outcome").to_csv("new_patients.csv", index=False)
    quick = ["--models", "lda", "--folds", "2", "--repeats", "1"]
    compared, predicted = (mercer(*w[1:], *more) for w, more in zip(commands, (quick, [])))
    assert compared.exit_code == 0, compared.output
    assert "Written: compare-patients.html, patients.mercer" in compared.stdout
    assert "mercer predict patients.mercer" in compared.stdout
    assert library.load("patients.mercer").about["title"] == "linear discriminant"
    assert predicted.exit_code == 0, predicted.output
    said = pd.read_csv("predictions-new_patients.csv")
    assert said["patient_id"].tolist() == patients["patient_id"][60:].tolist()
    truth = patients["outcome"][60:].to_numpy()
    assert (said["prediction"].to_numpy() == truth).mean() > 0.7
    assert list(said.filter(like="probability_")) == ["probability_ill", "probability_well"]


def test_start_page(mercer):
    """The commands of the first page, as a new user types them, but for the time they take."""
    page = PAGE.parents[1] / "start.md"
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    install, make_table, compare, predict = (block.strip().splitlines() for block in blocks)
    assert install[0] == 'python3 -m venv .venv && .venv/bin/pip install ".[app]"'
    exec(shlex.split(make_table[0])[2], {})
    quick = ["--models", "lda", "--folds", "2", "--repeats", "1"]
    compared = mercer(*shlex.split(compare[0])[1:], *quick)
    assert compared.exit_code == 0, compared.output
    assert "Written: compare-wine.html, wine.mercer" in compared.stdout
    head, command = predict
    assert head == "head -4 wine.csv > new_wines.csv"
    lines = Path("wine.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("new_wines.csv").write_text("".join(lines[:4]), encoding="utf-8")
    assert mercer(*shlex.split(command)[1:]).exit_code == 0
    assert len(pd.read_csv("predictions-new_wines.csv")) == 3
