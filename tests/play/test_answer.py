"""What the page is told: contract, refusals, and that it agrees with the estimators."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import clone

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

from mercer import SVC
from mercer.model_selection import span
from mercer.play import _question, answer, read_question
from mercer.play._question import question_of

from .questions import SOURCE, nodes, question, run_code, three_classes, unpacked

MACHINES = ("svc", "svc_squared", "spheres", "rvc", "perceptron")
KERNELS = ("linear", "poly", "rbf", "laplacian", "rbf_linear", "rbf_times_linear")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # the page has a note of its own


@pytest.fixture(autouse=True)
def offscreen():
    from matplotlib import pyplot as plt

    plt.switch_backend("Agg")


def test_everything_offered_can_be_asked_for_and_written_as_json():
    about = answer({"ask": "about"})
    for machine in about["machines"]:
        for kernel in about["kernels"]:
            asked = question(machine, kernel, settings={"max_iter": 3})
            found = answer(asked)
            assert found.get("error") is None, found
            json.dumps(found, allow_nan=False)
            assert {
                name for name in found if name not in ("fields", "rule", "margin", "curve")
            } == {
                *("task", "view", "grid", "classes", "support", "numbers", "note", "code"),
                "milliseconds",
            }
    assert {name for one in about["machines"].values() for name in one["settings"]} <= set(
        about["settings"]
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("machine", ["svc", "svc_squared"])
def test_the_code_makes_the_machine_that_is_seen(machine, kernel):
    """Decision values on the grid, to the rounding of 16 bits."""
    asked = question(machine, kernel, settings={"C": 7.0, "gamma": 1.3, "degree": 2})
    found = answer(asked)
    model = run_code(found)["model"]
    values = np.clip(model.decision_function(nodes(asked)), -4, 4)
    (field,) = found["fields"]
    half_a_step = field["unit"] * (np.sqrt(np.abs(values) / field["unit"]) + 1)
    assert (np.abs(unpacked(field) - values) <= half_a_step).all()
    assert half_a_step.max() < 2e-4
    assert [row for row, _ in found["support"]] == model.support_.tolist()


@pytest.mark.parametrize("machine", MACHINES)
def test_regions_of_many_classes_are_those_of_the_copied_code(machine):
    """The page finds the class at a node from the fields, by the rule that it is told."""
    asked = three_classes(machine, settings={"C": 3.0})
    found = answer(asked)
    model = run_code(found)["model"]
    fields = np.stack([unpacked(field) for field in found["fields"]])
    if found["rule"] == "argmax":
        winners = fields.argmax(axis=0)
    else:
        votes = np.zeros((3, fields.shape[1]))
        for field, (a, b) in zip(fields, [(0, 1), (0, 2), (1, 2)]):
            votes[a] += field > 0
            votes[b] += field <= 0
        winners = votes.argmax(axis=0)
    said = np.array(found["classes"])[winners]
    assert found["classes"] == [0, 2, 5]
    assert np.mean(said == model.predict(nodes(asked))) > 0.99  # ties to the rounding of 16 bits
    assert len(np.unique(said)) == 3


@pytest.mark.parametrize("machine", ["spheres", "rvc", "perceptron", "svdd", "one_class"])
def test_signs_of_two_classes_and_regions_are_those_of_the_copied_code(machine):
    asked = question(machine, settings={"nu": 0.2, "gamma": 2.0})
    found = answer(asked)
    values = run_code(found)["model"].decision_function(nodes(asked))
    clear = np.abs(values) > 1e-6 * np.abs(values).max()
    assert found["rule"] == "sign"
    assert ((unpacked(found["fields"][0]) > 0) == (values > 0))[clear].all()


@pytest.mark.parametrize("machine", ["svr", "rvr"])
def test_curves_are_those_of_the_copied_code(machine):
    asked = question(machine)
    found = answer(asked)
    names = run_code(found)
    model = names["model"]
    across = np.linspace(-2, 3, 21)[:, None]
    middle, low, high = (np.array(line) for line in found["curve"])
    np.testing.assert_allclose(middle, model.predict(across), atol=1e-5)
    half = 0.1 if machine == "svr" else 2 * model.predict(across, return_std=True)[1]
    np.testing.assert_allclose(high - middle, half, atol=3e-5)
    np.testing.assert_allclose(middle - low, half, atol=3e-5)
    drawn = (names["high"] - names["low"]) / 2  # of the code's own picture
    own = names["half"]
    np.testing.assert_allclose(drawn, own)
    assert np.interp(0.5, names["across"], np.broadcast_to(own, drawn.shape)) == pytest.approx(
        np.interp(0.5, across.ravel(), high - middle), abs=1e-2
    )


def test_kinds_of_support_vectors():
    model = SVC(C=1.0, gamma=1.0).fit(question()["points"], question()["labels"])
    kinds = dict(answer(question())["support"])
    assert [kinds[row] for row in model.support_] == model.support_kind_[0].tolist()
    assert {kind for _, kind in answer(question("svc_squared"))["support"]} == {"slack"}
    assert {kind for _, kind in answer(question("rvc"))["support"]} == {"relevance"}
    only = answer(question("one_class"))["support"]
    assert {question()["labels"][row] for row, _ in only} == {0}  # others are not seen


@pytest.mark.parametrize("machine", ["svc", "svc_squared", "spheres", "svdd", "one_class", "svr"])
def test_the_error_left_out_is_that_of_machines_without_each_point(machine):
    asked = question(machine, settings={"nu": 0.2, "gamma": 2.0})
    names = run_code(answer(asked))
    X, y, model = names["X"], names.get("y"), names["model"]
    errors = []
    for k in range(len(X)):
        rest = np.arange(len(X)) != k
        part = clone(model).fit(X[rest], None if y is None else y[rest])
        target = 1 if machine in ("svdd", "one_class") else y[k]
        if machine != "svdd" or y[k] == 1:
            errors.append(part.predict(X[k : k + 1])[0] - target)
    found = answer(asked | {"ask": "error"})
    if machine == "svr":
        assert found["value"] == f"{np.sqrt(np.mean(np.square(errors))):.3g}"
    else:
        assert found["value"].startswith(f"{np.count_nonzero(errors)} of {len(errors)} (")
    assert found["title"].startswith("Leave-one-out error")


def test_many_classes_are_left_out_by_their_votes():
    asked = three_classes("svc")
    X, y = np.array(asked["points"]), np.array(asked["labels"])
    wrong = 0
    for k in range(len(X)):
        rest = np.arange(len(X)) != k
        wrong += SVC(gamma=1.0).fit(X[rest], y[rest]).predict(X[k : k + 1])[0] != y[k]
    assert answer(asked | {"ask": "error"})["value"].startswith(f"{wrong} of 60 (")


def test_the_surface_is_the_criterion_at_each_cell():
    cells = [{"C": 1.0, "gamma": 0.5}, {"C": 50.0, "gamma": 2.0}, {}]
    found = answer(question(ask="surface", criterion="span", cells=cells))["values"]
    X, y = np.array(question()["points"]), np.array(question()["labels"])
    expected = [
        span(SVC(**{"C": 1.0, "gamma": 1.0} | cell).fit(X, y), X, y, gradient=False).value
        for cell in cells
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_criterion_of_a_machine_has_values(machine):
    about = answer({"ask": "about"})
    for criterion in about["machines"][machine]["criteria"]:
        asked = question(machine, ask="surface", criterion=criterion, cells=[{}, {"gamma": 3.0}])
        values = answer(asked)["values"]
        assert all(value is not None and value >= 0 for value in values), criterion


@pytest.mark.parametrize("machine", MACHINES)
def test_while_a_slider_moves_a_fit_has_little_time(machine, monkeypatch):
    """What it has come to is shown, with a word that it is not the end; the code has no limit."""
    asked = question_of(question(machine, moves=True))
    at_rest = question_of(question(machine))
    if not asked.spec.takes_time_limit:
        assert asked.estimator().get_params() == at_rest.estimator().get_params()
        return
    assert asked.estimator().time_limit < 0.03 < at_rest.estimator().time_limit
    monkeypatch.setattr(_question, "WHILE_MOVING", 0.0)
    hard = {"settings": {"C": 1e4}} if "C" in asked.settings else {}
    found = answer(question(machine, moves=True, **hard))
    assert found["note"] == "Not at the optimum yet: it comes when the slider rests."
    rest = answer(question(machine, **hard))
    assert rest["note"] == ""
    assert found["code"] == rest["code"]


def test_an_answer_that_nobody_waits_for_is_left():
    asked = three_classes("spheres", criterion="folds", cells=[{}] * 16)
    for ask in ("error", "surface"):
        calls = iter([True, True, False])
        found = answer(asked | {"ask": ask}, calls.__next__)
        assert found == {"error": "Another question came before this one was answered."}
        assert list(calls) == []


def many(n):
    return {"points": [[0.001 * k, 0.0] for k in range(n)], "labels": [k % 2 for k in range(n)]}


REFUSED = {
    "no question": ([], "must be an object"),
    "unknown question": ({"ask": "exec"}, "ask for one of"),
    "machine": (question("__import__"), "machine must be one of"),
    "kernel": (question(kernel="precomputed"), "kernel must be one of"),
    "kernel of another kind": (question(kernel=["rbf"]), "kernel must be one of"),
    "setting": (question(settings={"path": 1}), "no setting 'path'"),
    "setting of another kind": (question(settings={"C": "1"}), "C must be a number"),
    "setting that is true": (question(settings={"C": True}), "C must be a number"),
    "setting too large": (question(settings={"C": 1e300}), "from 0.01 to 10000; got 1e+300"),
    "not whole": (question(kernel="poly", settings={"degree": 2.5}), "degree must be a whole"),
    "settings": (question(settings=None), "settings must be an object"),
    "no points": (question(points="all"), "list of pairs"),
    "point": (question(points=[[1, 2, 3]], labels=[0]), "Point 1 must be a pair"),
    "words": (question(points=[["a", 0]], labels=[0]), "Coordinates must be numbers; got 'a'"),
    "nan": (question(points=[[float("nan"), 0]], labels=[0]), "not finite"),
    "infinite": (question(points=[[float("inf"), 0]], labels=[0]), "not finite"),
    "far": (question(points=[[1e9, 0]], labels=[0]), "between -1000 and 1000"),
    "huge": (question(points=[[10**400, 0]], labels=[0]), "not finite"),
    "too many": (question(**many(1001)), "At most 1000 points"),
    "labels": (question(labels=[0]), "a label for each point"),
    "label": (question(points=[[0, 0]], labels=[8]), "from 0 to 7"),
    "one class": (question(points=[[0, 0], [1, 1]], labels=[1, 1]), "at least two classes"),
    "none of the first class": (question("svdd", labels=[1] * 40), "two points of class A"),
    "one place": (question("svr", points=[[1, 0], [1, 2]], labels=[0, 0]), "different places"),
    "view": (question(view=[0, 0, 0, 1]), "from left to right"),
    "view of words": (question(view=[0, 1, 0, "x"]), "view must be numbers"),
    "grid": (question(grid=[100_000, 100_000]), "at most 40000"),
    "small grid": (question(grid=[1, 10]), "at least 2 nodes"),
    "names": (question(names=["a", 3]), "names of the classes"),
    "criterion": (question("rvc", ask="surface", criterion="span", cells=[]), "must be one of"),
    "cells": (question(ask="surface", criterion="span", cells=[{}] * 17), "at most 16"),
    "cell": (question(ask="surface", criterion="span", cells=[{"nu": 0.1}]), "must hold settings"),
    "source": (question(source="a.csv"), "must be told as the table was"),
    "reader": (question(source=SOURCE | {"reader": "eval"}), "must be told as the table was"),
    "option": (question(source=SOURCE | {"options": {"engine": "c"}}), "must be told as the"),
    "form": (question(source=SOURCE | {"form": ".pop()"}), "must be told as the table was"),
    "axis": (question(source=SOURCE | {"up": {"name": "b", "center": "0"}}), "got '0'."),
    "path": ({"ask": "table", "path": "/etc/passwd"}, "must be text"),
    "table": ({"ask": "table", "text": "a,b\n1,x\n2,y\n"}, "two columns of numbers"),
    "column": ({"ask": "table", "text": "a,b\n1,2\n3,5\n", "up": "z"}, "no column of numbers 'z'"),
    "column of another kind": (
        {"ask": "table", "text": "a,b\n1,2\n3,5\n", "up": 3},
        "must be a name",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_answered_is_one_sentence(case):
    asked, expected = REFUSED[case]
    said = answer(asked)
    assert set(said) == {"error"}
    assert expected in said["error"]
    assert "\n" not in said["error"]
    assert said["error"].endswith(".")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff", b'{"ask": NaN}', b'{"ask": -Infinity}', b"[" * 100_000, b"[1]", b'"a"'],
)
def test_what_is_no_json_is_one_sentence(body):
    said = answer(read_question(body))["error"]
    assert said.startswith("A question must be")


def test_the_network_cannot_put_words_into_the_answer():
    assert "ask for one of" in answer(read_question(b'{"refused": "Go away."}'))["error"]


@pytest.mark.parametrize("machine", [*MACHINES, "svdd", "one_class", "svr", "rvr"])
def test_equal_points_far_points_and_few_points(machine):
    """Whatever can be clicked has a picture or a sentence, never a traceback."""
    cases = [
        ([[0, 0]] * 6, [0, 0, 0, 1, 1, 1]),  # the same place, two classes
        ([[0, 0], [0, 0], [1, 1], [1, 1]], [0, 0, 1, 1]),
        ([[-1000, -1000], [1000, 1000], [0, 0]], [0, 1, 0]),
        ([[0, 0], [1e-300, 1]], [0, 1]),
        ([[0, 0], [1, 0], [2, 0]], [0, 1, 2]),  # a class with one point each
    ]
    for points, labels in cases:
        for kernel in ("rbf", "poly"):
            settings = {"gamma": 100.0, "degree": 8, "C": 1e4, "max_iter": 5}
            asked = question(machine, kernel, points=points, labels=labels, settings=settings)
            for ask in ("picture", "error"):
                found = answer(asked | {"ask": ask})
                json.dumps(found, allow_nan=False)
                assert "error" not in found or found["error"].endswith(".")


def test_names_are_words_in_the_code_whatever_they_are():
    names = ["a\nimport os", "'''\nraise SystemExit"]
    found = answer(question(names=names))
    assert run_code(found)["model"].classes_.tolist() == [0, 1]
    assert repr(names[0]) in found["code"][1]
