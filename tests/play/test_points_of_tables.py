"""Tables to points: which columns are taken, in which units, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from mercer.play import answer, table_in
from mercer.tables import InputError


def text(**columns):
    return pd.DataFrame(columns).to_csv(index=False)


def asked(table, **more):
    return answer({"ask": "table", "text": table, **more})


@pytest.fixture
def random():
    return np.random.default_rng(0)


def test_coordinates_times_scale_are_the_table(random):
    size, weight = random.normal(50, 8, 30).round(2), random.normal(2e5, 3e4, 30).round()
    found = asked(text(size=size, weight=weight, kind=["a", "b", "b"] * 10))
    points = np.array(found["points"])
    for axis, (name, column) in enumerate({"size": size, "weight": weight}.items()):
        unit = found["axes"][axis]
        assert unit["name"] == name
        np.testing.assert_allclose(
            unit["center"] + unit["scale"] * points[:, axis], column, atol=1e-4 * unit["scale"]
        )
    assert found["names"] == ["a", "b"]
    assert found["labels"] == [0, 1, 1] * 10
    assert np.allclose(points.std(axis=0), 1, atol=1e-3)


def test_columns_can_be_chosen(random):
    values = random.normal(size=(4, 20))
    table = text(a=values[0], b=values[1], c=values[2], code=[0, 1] * 10, word=["x", "y"] * 10)
    found = asked(table)
    assert (found["across"], found["up"], found["target"]) == ("a", "b", "word")
    assert found["columns"] == ["a", "b", "c", "code"]
    found = asked(table, across="c", up="a", target="code")
    assert [axis["name"] for axis in found["axes"]] == ["c", "a"]
    assert found["names"] == ["0", "1"]
    found = asked(table, target="")
    assert set(found["labels"]) == {0}
    assert found["names"] is None
    assert "column of 2 to 8 values" in asked(table, target="a")["error"]


def test_numbers_that_are_a_class_are_found_behind_two_columns(random):
    values = random.normal(size=(2, 30))
    assert asked(text(a=values[0], b=values[1], group=[1, 2, 3] * 10))["target"] == "group"
    assert asked(text(a=values[0], b=values[1]))["target"] is None


def test_gaps_are_left_out_and_many_rows_are_drawn(random):
    a = random.normal(size=3000)
    a[:100] = np.nan
    found = asked(text(a=a, b=random.normal(size=3000), kind=["u", "v"] * 1500))
    assert len(found["points"]) == len(found["labels"]) == 1000
    assert "100 rows with gaps left out." in found["notice"]
    assert "1000 of 2900 rows" in found["notice"]


def test_a_file_is_read_and_its_points_can_be_played_with(tmp_path, random):
    path = tmp_path / "parts; odd name.csv"
    path.write_text(
        "länge;breite;art\n" + "".join(f"{k},5;{k % 7},25;k{k % 2}\n" for k in range(30))
    )
    found = table_in(path, up="breite")
    assert found["title"] == path.name
    picture = answer(
        {"ask": "picture", "machine": "svc", "kernel": "rbf", "settings": {}, "grid": [9, 9]}
        | {"view": [-3, 3, -3, 3], "points": found["points"], "labels": found["labels"]}
    )
    assert "error" not in picture
    with pytest.raises(InputError, match="no column of numbers 'art'"):
        table_in(path, across="art")


def test_what_the_page_calls_a_file_is_told_and_kept():
    """By its name in sentences and code, and as it was written before the page read it."""
    said = asked("hello\nÿ,1\n", name="bad.csv")["error"]
    assert "'bad.csv'" in said
    assert "table.csv" not in said
    found = asked("a,b\n1,2\n3,5\n4,7\n", name="old.csv", encoding="cp1252")["source"]
    assert (found["file"], found["options"]) == ("old.csv", {"encoding": "cp1252"})
    found = asked("a,b\n1,2\n3,5\n4,7\n", name="new.csv", encoding="../x")["source"]
    assert (found["file"], found["options"]) == ("new.csv", {})
