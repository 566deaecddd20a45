"""The benchmark of one checkout against another."""

from typing import NamedTuple

import numpy as np

from benchmarks.against import HERE, _add_difference, compare, differences
from benchmarks.measure import Plan
from benchmarks.report import GroupResult, Table
from benchmarks.worker import TaskError


def test_a_checkout_against_itself():
    plan, options = Plan(repeats=2, most=2), {"processor": True}
    result = compare(HERE, HERE, plan, match="breast_cancer: SVC(kernel='poly')", **options)
    (record,) = result.records
    assert all(len(timing.seconds) == 2 for timing in record["timings"].values())
    assert record["ratio"].value > 0
    assert "processor" in result.tables[0].notes[0]
    assert "does not know: 0" in result.tables[0].notes[-1]


def test_the_answers_of_a_checkout_and_of_itself():
    """The perceptron takes the rows in a random order."""
    result = differences(HERE, HERE, match="breast_cancer: KernelPerceptron()")
    assert [record["relative"] for record in result.records] == [0.0]
    assert "1 of 1 within 1e-12, 1 of them to the last bit" in result.tables[0].notes


def test_answers_that_differ():
    sides = {"here": Answers([1.0, -4.0]), "other": Answers([1.0, -4.5])}
    result = GroupResult("answers", [Table("answers", ["work", "", "", "", ""])])
    _add_difference(result, "digits: SVC()", sides)
    sides["other"] = Answers([1.0])
    _add_difference(result, "digits: SVC()", sides)
    assert [record["relative"] for record in result.records] == [0.5 / 4.5, np.inf]
    sides["other"] = Answers()
    _add_difference(result, "digits: SVC()", sides)
    assert len(result.records) == 2
    assert result.tables[0].notes == ["digits: SVC(): no numbers"]


class Answers(NamedTuple):
    """A checkout whose model says what it is told to."""

    said: list[float] | None = None

    def numbers(self, work):
        if self.said is None:
            raise TaskError("no numbers")
        return np.array(self.said)
