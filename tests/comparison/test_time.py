"""Time is respected: what is dear is left out and said, the baseline never."""

import numpy as np
import pytest

from mercer.comparison import compare_table
from mercer.comparison import race as race_module
from mercer.comparison.comparing import SHARE_OF_RACE
from mercer.comparison.race import PROBED_ROWS
from mercer.comparison.rivals import rivals_for
from mercer.model_selection.search_record import SearchRecord
from mercer.tables import as_table

pytestmark = pytest.mark.usefixtures("no_insights")


def minutes(seconds):
    """Return the minutes of which the folds have so many seconds."""
    return seconds / 60 / SHARE_OF_RACE


def test_a_dear_model_is_left_out_after_one_fit(two_classes, clock, put_in_place, costly):
    put_in_place(qda=costly(clock, fixed=50.0), lda=costly(clock, fixed=1.0))
    found = compare_table(
        two_classes, models="lda,qda", folds=5, repeats=2, minutes=minutes(100), n_jobs=1
    )
    assert found.left_out_models == {"qda": "one fit took 50 s, too long for all folds"}
    assert set(found.results_.index) == {"dummy", "lda"}
    assert found.n_folds == 10
    assert not found.partial
    assert any("quadratic discriminant (one fit took 50 s" in text for text in found.sentences())


def test_repeats_without_time_are_left_out_and_said(two_classes, clock, put_in_place, costly):
    put_in_place(lda=costly(clock, fixed=10.0))
    found = compare_table(two_classes, models="lda", folds=4, repeats=3, minutes=minutes(75))
    assert found.n_folds == 7  # 70 s, and 5 s are no 10
    assert found.partial
    assert found.sentences()[0] == "Partial: the time was over after 7 of 12 folds."
    assert (found.results_["folds"] == 7).all()
    assert found.left_out_models == {}


def test_the_baseline_and_one_other_always_have_a_fold(two_classes, clock, put_in_place, costly):
    dear = costly(clock, fixed=1000.0)
    put_in_place(dummy=dear, lda=dear, qda=dear, tree=dear)
    found = compare_table(
        two_classes, models="lda,qda,tree", folds=3, repeats=1, minutes=minutes(1)
    )
    assert set(found.results_.index) == {"dummy", "lda"}
    assert found.n_folds == 1
    reason = "the time was over before its turn"
    assert found.left_out_models == dict.fromkeys(["qda", "tree"], reason)
    assert "One fold cannot tell whether the differences mean anything." in found.sentences()


def test_the_baseline_is_never_the_dearest(two_classes, clock, put_in_place, costly):
    put_in_place(dummy=costly(clock, fixed=30.0), lda=costly(clock, fixed=5.0))
    put_in_place(qda=costly(clock, fixed=6.0))
    found = compare_table(
        two_classes, models="lda,qda", folds=5, repeats=1, minutes=minutes(60), n_jobs=1
    )
    assert "dummy" in found.results_.index
    assert set(found.left_out_models) <= {"lda", "qda"}


@pytest.fixture
def long_table():
    X = np.random.default_rng(0).normal(size=(6000, 2))
    return as_table(X, np.array(["a", "b"] * 3000))


def test_the_estimate_is_exact_for_its_own_law(long_table, clock, put_in_place, costly):
    class Law(costly):
        def fit(self, X, y):
            clock.now += 3.0 + 1e-3 * len(X) ** 1.2
            return super().fit(X, y)

    put_in_place(lda=Law())
    rivals = rivals_for("classification", "lda")
    record = SearchRecord.open("x", None)
    race = race_module.Race(
        long_table, rivals, [], ["a", "b"], False, 0, 1, 1e6, record, lambda *told: None
    )
    expected = race._expected_seconds(rivals[1], np.arange(5000))
    assert expected == pytest.approx(3.0 + 1e-3 * 5000**1.2)


def test_a_model_too_dear_for_one_fit_is_not_begun(clock, put_in_place, costly):
    sizes = []

    class Noting(costly):
        def fit(self, X, y):
            sizes.append(len(X))
            clock.now += 0.01 * len(X)
            return super().fit(X, y)

    put_in_place(qda=Noting())
    X = np.random.default_rng(0).normal(size=(8000, 2))
    table = as_table(X, np.array(["a", "b"] * 4000))
    found = compare_table(
        table, models="lda,qda", folds=2, repeats=1, minutes=minutes(100), n_jobs=1
    )
    assert sizes == list(PROBED_ROWS)
    assert list(found.left_out_models) == ["qda"]
    assert found.left_out_models["qda"].startswith("one fit would take about ")


def test_small_fits_that_fail_decide_nothing(clock, put_in_place, costly):
    class NeedsMany(costly):
        def fit(self, X, y):
            if len(X) < 2000:
                raise ValueError("too few rows")
            return super().fit(X, y)

    put_in_place(qda=NeedsMany())
    X = np.random.default_rng(0).normal(size=(8000, 2))
    table = as_table(X, np.array(["a", "b"] * 4000))
    found = compare_table(table, models="qda", folds=2, repeats=1, n_jobs=1)
    assert found.left_out_models == {}
    assert "qda" in found.results_.index


def test_progress_counts_fits(two_classes):
    told = []
    compare_table(
        two_classes,
        models="lda",
        folds=2,
        repeats=2,
        progress=lambda done, total, title: told.append((done, total, title)),
    )
    assert [done for done, _, _ in told] == list(range(8))
    assert {total for _, total, _ in told} == {8}
    assert told[1][2] == "linear discriminant"
