"""Readings of a machine by the hour: what is usual does not go on with time."""

import doctest
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skrub")
pytest.importorskip("matplotlib")

from test_compare import environment

import mercer as library
from mercer.tables import TableModel, read_unlabelled, vectorizer

ROOT = Path(__file__).parents[2]
SENSORS = {"temperature": (40, 25, 1), "pressure": (3, 2, 0.1), "flow": (80, 40, 1.5)}


def readings(first, hours, seed):
    """Sensors that follow one load, from some hour on; nothing is wrong."""
    rng, hour = np.random.default_rng(seed), np.arange(first, first + hours)
    load = 0.6 + 0.2 * np.sin(hour / 27) + rng.normal(0, 0.05, hours)
    when = pd.Timestamp("2024-03-01") + pd.to_timedelta(hour, unit="h")
    columns = {
        name: (low + rise * load + rng.normal(0, noise, hours)).round(3)
        for name, (low, rise, noise) in SENSORS.items()
    }
    return pd.DataFrame({"timestamp": when.strftime("%Y-%m-%d %H:%M"), **columns})


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """All columns of the lists, wherever the tests run."""
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def months(csv_file):
    """Write what has been seen, with three odd hours and a gap, and the hours after it."""
    old, new = readings(0, 400, 7), readings(400, 200, 8)
    old.loc[57, "temperature"], old.loc[133, "pressure"] = 85, 1.1
    old.loc[260, "flow"] = 60
    old.loc[300, "flow"] = np.nan
    new.loc[150, "flow"] = 40
    csv_file(old, "old.csv")
    csv_file(new, "new.csv")
    return old, new


def ok(result):
    assert result.exit_code == 0, result.output
    return result.stdout


def lines_of(text, part):
    return [line.split() for line in text.splitlines() if part in line]


def test_later_hours_are_as_usual_as_those_before(mercer, months):
    old, new = months
    result = mercer("describe", "old.csv", "--nu", "0.05", "--save", "usual.mercer")
    text = ok(result)
    assert "Column 'timestamp' left out: when a row was is not" in result.stderr
    assert "(--dates) takes such columns in." in result.stderr
    found = pd.read_csv("describe-old.csv")
    columns = ["row", "timestamp", "distance", "unusual", *SENSORS]
    assert found.columns.tolist() == columns
    assert set(found["row"][:3]) == {58, 134, 261}
    assert (found["timestamp"] == old["timestamp"][found["row"] - 1].to_numpy()).all()
    assert lines_of(text, "temperature = 85")[0][:3] == ["58", "2024-03-03", "09:00"]
    assert "Rows are counted from 1; the line with the names" in text

    result = mercer("predict", "usual.mercer", "new.csv")
    text = ok(result)
    said = pd.read_csv("predictions-new.csv")
    assert said.columns.tolist() == ["row", "timestamp", "prediction", "distance"]
    assert said["row"].tolist() == list(range(1, 201))
    assert said["timestamp"].tolist() == new["timestamp"].tolist()
    assert 1 <= (said["prediction"] == "unusual").sum() <= 20
    first = next(line for line in text.splitlines() if "unusual" in line)
    assert first.split()[:4] == ["151", *new["timestamp"][150].split(), "unusual"]
    assert "flow = 40" in first
    shown = [float(words[4]) for words in lines_of(text, " = ")]
    assert shown == said["distance"].nlargest(5).round(3).tolist()
    assert "stands out by" in text
    assert "Rows are counted from 1; the line with the names" in text
    assert "All dates" not in result.stderr


def test_the_page_shows_what_the_command_says(mercer, monkeypatch):
    text = (ROOT / "docs" / "guide" / "one_class.md").read_text(encoding="utf-8")
    section = text.split("## Your own table")[1]
    made = doctest.DocTestParser().get_examples(section.split("```")[1])
    names = {}
    for example in made:
        exec(example.source, names)
    monkeypatch.chdir(names["folder"])
    command = next(one for one in section.split("`") if one.startswith("mercer describe "))
    result = mercer(*command.split()[1:], "--rows", 3)
    said = (result.stderr + ok(result)).splitlines()
    shown = [line.split() for line in section.split("```text\n")[1].split("```")[0].splitlines()]
    assert len(shown) > 8
    assert [words for words in shown if words not in [line.split() for line in said]] == []


def test_dates_are_taken_in_where_that_is_asked_for(mercer, months):
    ok(mercer("describe", "old.csv", "--nu", "0.05", "--dates", "--save", "all.mercer"))
    assert pd.read_csv("describe-old.csv").columns[3:].tolist() == ["timestamp", *SENSORS]
    result = mercer("predict", "all.mercer", "new.csv")
    ok(result)
    assert (
        "All dates in column 'timestamp' lie after those at fitting (2024-03-01 to 2024-03-17 "
        "15:00:00), and nothing was learned of such rows: judge the predictions with care, or fit "
        "without the column (--drop timestamp)."
    ) in result.stderr
    assert "All dates" not in mercer("predict", "all.mercer", "old.csv").stderr


def test_models_of_later_rows_say_that_they_have_seen_none_like_them(mercer, months):
    options = ("--target", "flow", "--model", "ridge", "--folds", "2", "--save", "flow.mercer")
    result = mercer("fit", "old.csv", *options)
    ok(result)
    assert "The dates in column 'timestamp' go on from row to row" in result.stderr
    assert (
        "All dates in column 'timestamp' lie after"
        in mercer("predict", "flow.mercer", "new.csv").stderr
    )
    result = mercer("fit", "old.csv", *options, "--time", "timestamp")
    ok(result)
    assert "go on from row to row" not in result.stderr
    result = mercer("predict", "flow.mercer", "new.csv")
    ok(result)
    assert "All dates" not in result.stderr
    assert pd.read_csv("predictions-new.csv")["timestamp"].tolist() == list(months[1]["timestamp"])


def test_info_tells_of_dates_as_of_other_columns(mercer, months):
    text = ok(mercer("info", "old.csv"))
    assert lines_of(text, "timestamp")[0][:5] == ["timestamp", "date", "0", "400", "2024-03-01"]


def test_the_rows_of_the_list_are_labelled_in_the_picture(mercer, months):
    ok(mercer("describe", "old.csv", "--rows", 3, "--picture", "region.svg"))
    picture = Path("region.svg").read_text()
    for number in (58, 134, 261):
        assert f"<!-- {number} -->" in picture
    ok(mercer("describe", "old.csv", "--rows", 1, "--picture", "region.svg"))
    assert "<!-- 261 -->" not in Path("region.svg").read_text()


@pytest.mark.parametrize("crowd", [0.5, 0.05, 0.0])
def test_labels_do_not_cover_one_another(crowd):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.text import Text

    from mercer.cli._labels import label_points

    places = np.random.default_rng(0).normal(scale=crowd, size=(10, 2))
    figure, ax = pyplot.subplots(figsize=(7.2, 4.4))
    ax.set(xlim=(-2, 2), ylim=(-2, 2))
    labels = label_points(ax, places, range(10), [str(1000 + k) for k in range(10)])
    figure.canvas.draw()
    boxes = [Text.get_window_extent(label) for label in labels]
    pixels = ax.transData.transform(places)
    pyplot.close(figure)
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
        assert ax.get_window_extent().count_contains(box.corners()) == 4
        assert not any(box.contains(*pixel) for pixel in pixels)


@pytest.mark.skipif(os.name == "nt", reason="pipes break differently on Windows")
def test_descriptions_are_written_though_nobody_reads_on(months, tmp_path):
    command = [sys.executable, "-m", "mercer", "describe", "old.csv", "--save", "usual.mercer"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=-1, stderr=-1, text=True
    )
    assert process.stdout.readline().startswith("old: 400 rows")
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=600) == 1
    assert "Traceback" not in errors
    written = {"describe-old.csv", "describe-old.png", "usual.mercer"}
    assert written <= set(os.listdir(tmp_path))


@pytest.mark.parametrize("command", ["fit", "tune", "select", "predict"])
def test_files_are_written_though_the_answer_cannot_be(mercer, months, monkeypatch, command):
    target = ("--target", "flow", "--folds", 2)
    ok(mercer("fit", "old.csv", *target, "--model", "ridge", "--save", "flow.mercer"))
    asked, file = {
        "fit": (("old.csv", *target, "--model", "ridge", "--save", "again.mercer"), "again.mercer"),
        "tune": (("old.csv", *target, "--csv", "grid.csv"), "grid.csv"),
        "select": (("old.csv", *target, "--kernel", "linear"), "select-old.csv"),
        "predict": (("flow.mercer", "new.csv"), "predictions-new.csv"),
    }[command]

    def broken(*arguments):
        raise BrokenPipeError

    monkeypatch.setattr("mercer.cli._screen.Screen.answer", broken)
    assert mercer(command, *asked).exit_code == 1
    assert Path(file).exists()


@pytest.mark.parametrize("scales", [True, False])
def test_descriptions_of_other_makers_show_their_most_unusual_rows(mercer, months, scales):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    table = read_unlabelled("old.csv")
    steps = [vectorizer(table), *[StandardScaler()] * scales, library.SVDD(nu=0.05, gamma=0.1)]
    steps[-1] = library.OneClassSearch(steps[-1], random_state=0)
    model = make_pipeline(*steps).fit(table.frame)
    library.save(TableModel.of(model, table), "own.mercer")
    text = ok(mercer("predict", "own.mercer", "new.csv"))
    said = pd.read_csv("predictions-new.csv")
    assert said.columns.tolist() == ["row", "timestamp", "prediction", "decision"]
    assert ((said["prediction"] == "unusual") == (said["decision"] < 0)).all()
    listed = [int(words[0]) for words in lines_of(text, "2024-")]
    assert listed == (said["decision"].nsmallest(5).index + 1).tolist()
    assert ("stands out by" in text) == scales
