"""The benchmark of one checkout against another."""

from benchmarks.against import HERE, compare
from benchmarks.measure import Plan


def test_a_checkout_against_itself():
    result = compare(HERE, HERE, Plan(repeats=2, most=2), match="breast_cancer: SVC(kernel='poly')")
    (record,) = result.records
    assert all(len(timing.seconds) == 2 for timing in record["timings"].values())
    assert record["ratio"].value > 0
    assert "does not know: 0" in result.tables[0].notes[-1]
