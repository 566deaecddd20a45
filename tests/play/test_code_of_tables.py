"""Code of points that come from a table: it reads the file and repeats what is seen."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

import pandas as pd
from matplotlib import pyplot as plt

from mercer.play import answer, table_in

from .questions import nodes, run_code, unpacked

VIEW = {"view": [-3.0, 3.0, -2.5, 2.5], "grid": [13, 11]}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # the page has a note of its own


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The code says only the name of a file, and is run where that is."""
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def readings():
    random = np.random.default_rng(0)
    heat, damp = random.normal(20, 5, 60).round(2), random.normal(1000, 30, 60).round(1)
    kind = np.where(heat + damp / 10 + random.normal(size=60) > 120, "good", "bad")
    return pd.DataFrame({"heat": heat, "air, damp": damp, "kind": kind})


def opened(frame, name="readings.csv", target=None, **form):
    frame.to_csv(name, index=False, **form)
    return table_in(name, target=target)


def asked(found, machine="svc", **more):
    question = {key: found[key] for key in ("points", "labels", "names")}
    question |= {"ask": "picture", "machine": machine, "kernel": "rbf", **VIEW}
    question |= {"settings": {"C": 5.0, "nu": 0.2} if machine != "svr" else {"C": 5.0}}
    return question | {"source": found["source"] | {"whole": True}} | more


def in_units_of_the_file(found, places):
    center, scale = (np.array([axis[key] for axis in found["axes"]]) for key in ("center", "scale"))
    return pd.DataFrame(center + scale * places, columns=[axis["name"] for axis in found["axes"]])


def check(found, question, picture):
    """Decision values at the nodes of the page are those of the model of the file."""
    (field,) = picture["fields"]
    seen = unpacked(field)
    names = run_code(picture)
    model = names["model"]
    values = model.decision_function(in_units_of_the_file(found, nodes(question)))
    if question["machine"] == "svc":
        values = np.clip(values, -4, 4)
    np.testing.assert_allclose(seen, values, atol=1e-3 * np.abs(values).max())
    return names


@pytest.mark.parametrize("machine", ["svc", "rvc", "perceptron", "svdd", "one_class"])
def test_the_model_of_the_file_is_the_one_that_is_seen(readings, machine):
    found = opened(readings)
    picture = answer(asked(found, machine))
    names = check(found, asked(found, machine), picture)
    assert "pd.read_csv('readings.csv')" in picture["code"][1]
    assert "0." not in picture["code"][1]  # no rows
    labels = set(names["model"].predict(readings[["heat", "air, damp"]]))
    assert labels == ({1, -1} if machine in ("svdd", "one_class") else {"good", "bad"})
    marked = names["model"][-1]
    rows = getattr(marked, "support_", getattr(marked, "relevance_", None))
    if machine == "one_class":
        rows = np.flatnonzero(np.array(found["labels"]) == 0)[rows]
    assert [row for row, _ in picture["support"]] == rows.tolist()


@pytest.mark.parametrize("machine", ["svr", "rvr"])
def test_the_curve_of_the_file_is_the_one_that_is_seen(readings, machine):
    """In units of the file, with its tube or deviation and the rows that it rests on."""
    found = opened(readings)
    question = asked(found, machine)
    picture = answer(question)
    code = [*picture["code"][:2], picture["code"][2].replace("plt.show()", "figure = plt.gcf()")]
    names = run_code({"code": code})
    (a, b), seen = found["axes"], np.array(picture["curve"])
    places = a["center"] + a["scale"] * np.linspace(*VIEW["view"][:2], VIEW["grid"][0])
    inside = (places > names["across"][0]) & (places < names["across"][-1])
    for line, name in zip(seen, ("middle", "low", "high")):
        expected = np.interp(places, names["across"], names[name])
        np.testing.assert_allclose(
            b["center"] + b["scale"] * line[inside], expected[inside], atol=0.01 * b["scale"]
        )
    (ax,) = names["figure"].axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("heat", "air, damp")
    marked = {line.get_label(): len(line.get_xdata()) for line in ax.get_lines()}
    counts = [kind for _, kind in picture["support"]]
    if machine == "svr":
        assert marked["support vector on the tube"] == counts.count("margin")
        assert marked["support vector outside the tube"] == counts.count("bound")
    else:
        assert marked["relevance vector"] == len(counts)
    assert len(ax.collections) == 1  # the band
    plt.close("all")


def test_axes_and_classes_have_their_names(readings):
    code = answer(asked(opened(readings)))["code"]
    names = run_code({"code": [*code[:2], code[2].replace("Boundary", "seen = Boundary", 1)]})
    ax = names["seen"].ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("heat", "air, damp")
    assert {"bad", "good"} <= {text.get_text() for text in names["seen"].legend_.get_texts()}


def test_the_region_is_coloured_inside_only(readings):
    code = answer(asked(opened(readings, target=""), "svdd"))["code"]
    assert "labels" not in code[1]
    assert "np." not in "".join(code)
    names = run_code({"code": [*code[:2], code[2].replace("Support", "seen = Support", 1)]})
    (region,) = names["seen"].regions_
    assert region.levels.tolist() == [0.0, np.inf]
    assert names["seen"].contours_ is None


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"sep": ";", "decimal": ","}, "pd.read_csv('r.csv', sep=';', decimal=',')"),
        ({"sep": "\t"}, "pd.read_csv('r.csv', sep='\\t')"),
        ({"encoding": "cp1252"}, "pd.read_csv('r.csv', encoding='cp1252')"),
        ({"header": False}, "read_unlabelled('r.csv', dates=True).frame"),
        ({"na_rep": "unknown"}, "read_unlabelled('r.csv', dates=True).frame"),
    ],
    ids=str,
)
def test_files_are_read_as_the_page_has_read_them(readings, form, code):
    """By pandas where that sees the same numbers, else as the page does."""
    readings = readings.rename(columns={"air, damp": "Dämpfe"})
    readings.loc[3, "heat"] = np.nan
    found = opened(readings, "r.csv", **form)
    picture = answer(asked(found))
    assert code in picture["code"][1]
    assert ".dropna()" in picture["code"][1]
    check(found, asked(found), picture)


@pytest.mark.parametrize(
    ("classes", "code"),
    [
        (np.array([1, 2]), "table['kind']\n"),
        (np.array([0.5, 1.5]), "table['kind'].astype(str)"),
        (np.array([10.5, 2.5]), "table['kind'].rank("),
        (np.array([True, False]), "table['kind']\n"),
    ],
    ids=str,
)
@pytest.mark.parametrize("machine", ["svc", "svdd"])
def test_classes_that_are_numbers(readings, classes, code, machine):
    readings["kind"] = classes[(readings["kind"] == "good").to_numpy().astype(int)]
    found = opened(readings, target="kind")
    picture = answer(asked(found, machine))
    assert code.strip() in picture["code"][1]
    check(found, asked(found, machine), picture)


def test_many_rows_are_drawn_as_the_page_draws_them(readings):
    found = opened(pd.concat([readings.assign(heat=readings["heat"] + k) for k in range(20)]))
    assert len(found["points"]) == 1000
    picture = answer(asked(found, "svdd", settings={"nu": 0.5}))
    assert "table.sample(1000, random_state=0)" in picture["code"][1]
    check(found, asked(found, "svdd"), picture)


def test_points_that_were_moved_are_written_down_with_their_units(readings):
    found = opened(readings)
    moved = asked(found, points=[[9.0, 9.0], *found["points"][1:]])
    moved["source"]["whole"] = False
    code = answer(moved)["code"][1]
    assert "[9.0, 9.0]" in code
    center, scale = (found["axes"][0][key] for key in ("center", "scale"))
    assert f"'heat' is {center:.6g} + {scale:.6g} * points[:, 0]" in code
    assert "From 'readings.csv', changed by hand." in code


def test_names_cannot_become_code(readings):
    evil = "x'] + __import__('os').getcwd() + ['\n\"\"\"\nraise SystemExit #"
    found = opened(readings.rename(columns={"heat": evil, "kind": f"{evil}k"}))
    for machine in ("svc", "svr", "svdd"):
        run_code(answer(asked(found, machine)))
    moved = asked(found)
    moved["source"] |= {"whole": False, "file": evil}
    run_code(answer(moved))
