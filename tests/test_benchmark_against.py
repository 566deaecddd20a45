"""The benchmark of one checkout against another."""

import pytest

from benchmarks.against import HERE, compare
from benchmarks.measure import Plan


@pytest.mark.parametrize("processor", [False, True])
def test_a_checkout_against_itself(processor):
    plan, options = Plan(repeats=2, most=2), {"processor": processor}
    result = compare(HERE, HERE, plan, match="breast_cancer: SVC(kernel='poly')", **options)
    (record,) = result.records
    assert all(len(timing.seconds) == 2 for timing in record["timings"].values())
    assert record["ratio"].value > 0
    assert "does not know: 0" in result.tables[0].notes[-1]
    assert ("processor" in result.tables[0].notes[0]) == processor
