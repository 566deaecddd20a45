"""`mercer select` and `mercer describe`: which columns matter, which rows are unusual."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skrub")

import mercer as library

PNG = b"\x89PNG\r\n\x1a\n"


def ok(result):
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def noisy(csv_file):
    """Two columns that decide, and six that do not."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(90, 8)), columns=list("abcdefgh")).round(4)
    frame["label"] = np.where(frame["c"] + 0.8 * frame["f"] > 0, "up", "down")
    frame["size"] = 2 * frame["c"] - frame["f"] + 0.01 * frame["a"]
    return csv_file(frame)


def test_select_finds_the_columns_that_decide(mercer, noisy):
    options = ("--target", "label", "--drop", "size", "--folds", 3)
    text = ok(mercer("select", noisy, *options))
    ranking = pd.read_csv("select-table.csv")
    assert ranking.columns.tolist() == ["rank", "feature", "column", "chosen"]
    assert ranking["rank"].tolist() == list(range(1, 9))
    assert set(ranking["feature"][:2]) == {"c", "f"}
    assert {"c", "f"} <= set(ranking.loc[ranking["chosen"], "column"])
    assert f"{ranking['chosen'].sum()} of 8 features, linear kernel: accuracy " in text
    assert Path("select-table.png").read_bytes().startswith(PNG)


def test_select_keeps_as_many_as_are_asked_for(mercer, noisy):
    options = ("--target", "size", "--drop", "label", "--features", 3, "--folds", 2)
    text = ok(mercer("select", noisy, *options, "--out", "r.csv", "--picture", "curve.svg"))
    ranking = pd.read_csv("r.csv")
    assert ranking["chosen"].tolist() == [True] * 3 + [False] * 5
    assert set(ranking["feature"][:2]) == {"c", "f"}
    assert "3 of 8 features, linear kernel: R² 0." in text
    assert Path("curve.svg").read_text().startswith("<?xml")


def test_select_names_columns_of_categories(mercer, csv_file, patients):
    path = csv_file(patients.drop(columns="cost"))
    text = ok(mercer("select", path, "--target", "outcome", "--folds", 2))
    ranking = pd.read_csv("select-table.csv")
    assert set(ranking.loc[ranking["feature"].str.startswith("town_"), "column"]) == {"town"}
    assert "Chosen columns (" in text


def test_select_on_many_rows_says_that_it_takes_some(mercer, noisy, monkeypatch):
    monkeypatch.setattr("mercer.cli.select.MOST_ROWS", 50)
    result = mercer("select", noisy, "--target", "label", "--kernel", "linear", "--folds", 2)
    assert result.exit_code == 0, result.output
    assert "features are ranked on 50 of 90 rows" in result.stderr


def test_describe_finds_the_row_that_was_planted(mercer, csv_file, patients):
    patients.loc[17, ["age", "dose"]] = [450, 9.0]
    path = csv_file(patients.drop(columns=["outcome", "cost"]))
    text = ok(mercer("describe", path, "--save", "ball.mercer", "--rows", 3))
    found = pd.read_csv("describe-table.csv")
    assert found["row"].iloc[0] == 18
    assert found["patient_id"].iloc[0] == patients["patient_id"][17]
    assert sorted(found["row"]) == list(range(1, 81))
    assert found["distance"].is_monotonic_decreasing
    assert (found["unusual"] == (found["distance"] > 1)).mean() > 0.95
    assert f"{found['unusual'].sum()} of 80 rows" in text
    shown = next(line for line in text.splitlines() if line.startswith(" 18 "))
    assert "dose = 9" in shown
    assert "age = 450" in shown
    assert Path("describe-table.png").read_bytes().startswith(PNG)
    told = ok(mercer("predict", "ball.mercer", path))
    said = pd.read_csv("predictions-table.csv").set_index("row")
    assert said.columns.tolist() == ["patient_id", "prediction", "distance"]
    described = found.set_index("row").sort_index()
    assert (said["distance"] == described["distance"]).all()
    assert (said["prediction"] == np.where(described["unusual"], "unusual", "usual")).all()
    assert f"unusual {(said['prediction'] == 'unusual').sum()}" in told
    assert isinstance(library.load("ball.mercer").model[-1], library.SVDD)


def test_describe_one_column_without_a_picture(mercer, csv_file):
    rng = np.random.default_rng(0)
    path = csv_file(pd.DataFrame({"x": rng.normal(size=40).round(6), "same": 1}))
    result = mercer("describe", path)
    assert result.exit_code == 0, result.output
    assert "there is no picture" in result.stderr
    assert not Path("describe-table.png").exists()


def test_pictures_call_things_by_their_names(mercer, csv_file, patients):
    path = csv_file(patients)
    text = ok(mercer("describe", path, "--picture", "region.svg"))
    assert "Rows count as near each other up to about " in text
    picture = Path("region.svg").read_text()
    for words in ("Projection onto two components with", "<!-- usual rows -->"):
        assert words in picture
    assert "<!-- target -->" not in picture
    options = ("--target", "outcome", "--features", 2, "--folds", 2, "--picture", "curve.svg")
    result = mercer("select", path, *options)
    assert "they become the median of their column" in result.stderr
    assert "optimum" not in Path("curve.svg").read_text()


@pytest.mark.parametrize("values", [list("pqrstuvw"), [0, 1] * 15])
def test_describe_rows_of_which_none_stands_out(mercer, csv_file, values):
    path = csv_file(pd.DataFrame({"a": values}))
    text = ok(mercer("describe", path, "--categorical", "a"))
    assert f"All {len(values)} rows are equally far from the centre" in text
    assert "stands out by" not in text
    assert len(pd.read_csv("describe-table.csv")) == len(values)


def test_describe_lists_only_rows_that_stand_out(mercer, csv_file):
    text = ok(mercer("describe", csv_file(pd.DataFrame({"a": [1.0] * 30 + [2.0]}))))
    assert [line.split()[0] for line in text.splitlines() if "a = " in line] == ["31"]


@pytest.mark.parametrize("command", ["describe", "fit", "tune", "select"])
def test_numbers_that_are_too_large_are_missing(mercer, csv_file, patients, command):
    patients["age"] = patients["age"].replace("unknown", 40).astype(float)
    patients.loc[[3, 9], "age"] = [1e308, -1e308]
    path = csv_file(patients[["age", "dose", "outcome"]])
    target = () if command == "describe" else ("--target", "outcome", "--folds", 2)
    result = mercer(command, path, *target)
    assert result.exit_code == 0, result.output
    assert "Numbers beyond ±1e100 in 'age' are taken as missing." in result.stderr
    assert "Warning" not in result.output


def test_numbers_that_are_too_large_among_targets_and_new_rows(mercer, csv_file, patients):
    frame = patients[["age", "dose", "cost"]].replace("unknown", 40).astype(float)
    path = csv_file(frame)
    ok(mercer("fit", path, "--target", "cost", "--model", "ridge", "--save", "m.mercer"))
    frame.loc[3, "age"] = -1e305
    frame.loc[[5, 7], "cost"] = [1e308, -1e308]
    path = csv_file(frame, "new.csv")
    result = mercer("predict", "m.mercer", path)
    assert "Numbers beyond ±1e100 in 'age' are taken as missing." in result.stderr
    assert np.isfinite(pd.read_csv("predictions-new.csv")["prediction"]).all()
    result = mercer("tune", path, "--target", "cost", "--folds", 2)
    assert result.exit_code == 0, result.output
    assert "In column 'cost', 2 numbers beyond ±1e100 taken as missing." in result.stderr
