"""Time is respected: what is dear is left out and said, the baseline never."""

import re
import signal
import threading
import time

import numpy as np
import pytest

from mercer.comparison import compare_table
from mercer.comparison.comparing import SHARE_OF_RACE, _fit_best
from mercer.comparison.comparison import Comparison
from mercer.comparison.deadline import TimeIsOverError, within
from mercer.comparison.pilot import rows_in_time
from mercer.comparison.words import NO_FOLDS
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
    assert found.left_out_models == {"qda": f"{NO_FOLDS}: one fit took 50 s"}
    assert set(found.results_.index) == {"dummy", "lda"}
    assert found.n_folds == 10
    assert not found.partial
    assert any(
        f"quadratic discriminant ({NO_FOLDS}: one fit took 50 s" in text
        for text in found.sentences()
    )


def test_no_model_is_blamed_for_time_that_was_over_before(two_classes):
    found = compare_table(two_classes, models="lda,qda,tree", folds=2, repeats=1, minutes=1e-9)
    told = "no time was left; more --minutes help"
    assert found.left_out_models == dict.fromkeys(["qda", "tree"], told)


def test_time_without_an_end():
    with within(1e308):
        done = True
    assert done


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
    took = "linear discriminant took 1000 s"
    reason = f"no time was left: {took}; fewer --models or more --minutes help"
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


# ---- small fits tell what large ones take ------------------------------------------------------


def timed(law, sizes):
    def seconds_for(count):
        sizes.append(count)
        return law(count)

    return seconds_for


def test_the_estimate_is_exact_for_its_own_law():
    def law(count):
        return 3.0 + 1e-3 * count**1.2

    sizes = []
    found = rows_in_time(timed(law, sizes), 40_000, 500.0, 1.2)
    assert found == (40_000, pytest.approx(law(40_000)))
    assert sizes == [250, 1000]
    found = rows_in_time(timed(law, sizes := []), 400_000, 200.0, 1.2)
    assert law(found.n_rows) == pytest.approx(0.7 * 200.0, rel=1e-3)
    assert found.seconds == pytest.approx(law(400_000))
    assert sizes == [250, 1000, 4000]  # 16000 rows would take a third of the time and more


def test_what_is_cheap_is_seen_at_once():
    sizes = []
    assert rows_in_time(timed(lambda count: 0.01, sizes), 20_000, 10.0, 2.0).n_rows == 20_000
    assert sizes == [250, 1000]  # the square of 80 would be too much, if all of the time grew
    assert rows_in_time(timed(lambda count: 0.01, sizes := []), 4000, 10.0, 2.0).n_rows == 4000
    assert sizes == [250]


def test_a_fixed_price_is_no_reason_for_fewer_rows():
    """Boosting takes long for any rows, and little more for many."""
    found = rows_in_time(lambda count: 1.0 + 4e-5 * count, 40_000, 13.0, 1.0)
    assert found.n_rows == 40_000
    assert 2.6 < found.seconds < 7.0


# ---- what is done with that --------------------------------------------------------------------


@pytest.fixture
def sizes_of(clock, put_in_place, costly):
    """Put a model in place of the quadratic discriminant, and note the rows that it gets."""

    def put(law):
        sizes = []

        class Noting(costly):
            def fit(self, X, y):
                sizes.append(len(X))
                clock.now += law(len(X))
                return super().fit(X, y)

        put_in_place(qda=Noting())
        return sizes

    return put


def run_long(n_rows, seconds):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    table = as_table(X, np.array(["a", "b"] * (n_rows // 2)))
    options = {"folds": 2, "repeats": 1, "minutes": minutes(seconds), "n_jobs": 1}
    return compare_table(table, models="lda,qda", **options)


def test_a_dear_model_has_fewer_rows(sizes_of):
    sizes = sizes_of(lambda count: 0.01 * count)
    found = run_long(16_000, 100)  # 25 s a fit, and all of the rows would take 80 s
    assert found.left_out_models == {}
    n_rows = found.results_.loc["qda", "trained_rows"]
    assert n_rows == sizes[-1] == sizes[-2]
    assert 500 < n_rows < 2500
    assert found.results_.loc["lda", "trained_rows"] == 8000
    assert len(found.folds_) == 6


def test_a_model_too_dear_for_a_few_rows_is_not_begun(sizes_of):
    sizes = sizes_of(lambda count: 0.03 * count)
    found = run_long(8000, 100)
    assert sizes == [1500]  # for 45 s, since a clock stops nothing
    assert list(found.left_out_models) == ["qda"]
    assert found.left_out_models["qda"].startswith("one fit would take about ")


def test_one_model_always_has_its_turn_with_a_few_rows(sizes_of):
    sizes = sizes_of(lambda count: 0.2 * count)
    X = np.random.default_rng(0).normal(size=(8000, 2))
    table = as_table(X, np.array(["a", "b"] * 4000))
    found = compare_table(table, models="qda", folds=2, repeats=1, minutes=minutes(100))
    assert sizes[:2] == [250, 500]
    assert found.results_.loc["qda", "trained_rows"] == 500


def test_fewer_rows_are_taken_up_again(sizes_of, tmp_path, monkeypatch):
    sizes = sizes_of(lambda count: 0.01 * count)
    X = np.random.default_rng(0).normal(size=(16_000, 2))
    table = as_table(X, np.array(["a", "b"] * 8000))
    options = {"folds": 2, "repeats": 1, "minutes": minutes(100), "n_jobs": 1}
    options |= {"models": "lda,qda", "checkpoint": tmp_path / "kept"}
    first = compare_table(table, **options)
    lines = (tmp_path / "kept").read_text().splitlines(keepends=True)
    (tmp_path / "kept").write_text("".join(lines[:-1]))  # without the last fold of qda
    sizes.clear()
    again = compare_table(table, **options)
    assert sizes == [first.results_.loc["qda", "trained_rows"]]
    assert again.results_["error"].tolist() == first.results_["error"].tolist()


def test_a_fit_that_takes_too_long_is_stopped(two_classes, clock, put_in_place, costly):
    class Endless(costly):
        def fit(self, X, y):
            clock.wait_for_ever()

    put_in_place(qda=Endless())
    found = compare_table(two_classes, models="lda,qda", folds=2, repeats=1, minutes=minutes(1.2))
    reason = re.fullmatch(r"one fit took more than (0\.\d+) s", found.left_out_models["qda"])
    assert 0 < float(reason[1]) < 1.2
    assert set(found.results_.index) == {"dummy", "lda"}


def test_a_dear_model_waits_until_the_others_had_their_turn(
    two_classes, clock, put_in_place, costly
):
    """It comes first in the list, and takes more than a fold's share of the time."""
    turns = []

    class Noting(costly):
        def fit(self, X, y):
            turns.append(self.fixed)
            if clock.now + self.fixed > clock.end:
                clock.wait_for_ever()
            return super().fit(X, y)

    put_in_place(lda=Noting(clock, fixed=40.0), qda=Noting(clock, fixed=3.0))
    put_in_place(logistic=Noting(clock, fixed=2.0))
    options = {"folds": 5, "repeats": 1, "minutes": minutes(100)}
    found = compare_table(two_classes, models="lda,logistic,qda", **options)
    assert turns[:4] == [40.0, 2.0, 3.0, 40.0]
    assert set(found.results_.index) == {"dummy", "logistic", "qda"}
    assert found.n_folds == 5
    assert not found.partial
    turns.clear()
    alone = compare_table(two_classes, models="lda", **options)
    assert alone.n_folds == 2  # no other waits


def test_of_models_that_are_all_too_dear_one_has_its_turn(two_classes, clock, put_in_place, costly):
    class Slow(costly):
        def fit(self, X, y):
            if clock.now + self.fixed > clock.end:
                clock.wait_for_ever()
            return super().fit(X, y)

    put_in_place(lda=Slow(clock, fixed=30.0), qda=Slow(clock, fixed=25.0))
    options = {"folds": 5, "repeats": 1, "minutes": minutes(100)}
    found = compare_table(two_classes, models="lda,qda", **options)
    assert "lda" in found.results_.index
    assert list(found.left_out_models) == ["qda"]


def test_a_dear_leader_leaves_some_time_to_others(two_classes, clock, put_in_place, costly):
    """Its further folds would take all that is left."""
    put_in_place(lda=costly(clock, fixed=30.0), logistic=costly(clock, fixed=1.0))
    put_in_place(qda=costly(clock, fixed=1.0))
    options = {"folds": 5, "repeats": 1, "minutes": minutes(100)}
    found = compare_table(two_classes, models="lda,logistic,qda", **options)
    assert found.left_out_models == {}
    assert {"logistic", "qda"} <= set(found.results_.index)


def test_models_for_which_no_time_was_left_say_who_took_it(
    two_classes, clock, put_in_place, costly
):
    class Endless(costly):
        def fit(self, X, y):
            clock.wait_for_ever()

    put_in_place(lda=costly(clock, fixed=97.0), logistic=Endless(), qda=Endless())
    options = {"folds": 5, "repeats": 1, "minutes": minutes(100)}
    found = compare_table(two_classes, models="lda,logistic,qda", **options)
    reason = (
        "no time was left: linear discriminant took 97 s; fewer --models or more --minutes help"
    )
    assert found.left_out_models == dict.fromkeys(["logistic", "qda"], reason)
    told = f"Left out: logistic regression and quadratic discriminant ({reason})."
    assert told in found.sentences()


def test_a_fit_that_is_stopped_has_another_try_with_fewer_rows(clock, put_in_place, costly):
    class Slow(costly):
        def fit(self, X, y):
            if len(X) > 1500:
                clock.wait_for_ever()
            return super().fit(X, y)

    put_in_place(qda=Slow())
    found = run_long(8000, 6.0)
    assert found.left_out_models == {}
    assert found.results_.loc["qda", "trained_rows"] == 1000


def test_the_leaders_are_the_last_to_go(clock, put_in_place, costly):
    class Knowing(costly):
        def predict(self, X):
            return np.where(X[:, 0] > 0, "b", "a")

    put_in_place(
        lda=costly(clock, fixed=9.0), qda=costly(clock, fixed=8.0), tree=costly(clock, fixed=7.0)
    )
    put_in_place(boosting=Knowing(clock, fixed=12.0), svc=costly(clock, fixed=1.0))
    X = np.random.default_rng(0).normal(size=(60, 2))
    table = as_table(X, np.where(X[:, 0] > 0, "b", "a"))
    models = "lda,qda,tree,boosting,svc"
    found = compare_table(table, models=models, folds=5, repeats=1, minutes=minutes(200))
    assert found.best_name_ == "boosting"
    assert found.n_folds == 5


def test_who_may_be_as_good_stays_though_it_is_dear(clock, put_in_place, costly):
    """On the first fold it is fifth, but by a row or two; the cheap ones are far behind."""

    class Knowing(costly):
        def __init__(self, clock=None, fixed=0.0, wrong=0):
            super().__init__(clock, fixed)
            self.wrong = wrong

        def predict(self, X):
            said = np.where(X[:, 0] > 0, "b", "a")
            said[: self.wrong] = np.where(said[: self.wrong] == "a", "b", "a")
            return said

    names = ["lda", "logistic", "qda", "tree", "svc"]
    put_in_place(**{name: Knowing(clock, 6.0, k // 2) for k, name in enumerate(names)})
    put_in_place(boosting=costly(clock, fixed=4.0), forest=costly(clock, fixed=5.0))
    X = np.random.default_rng(0).normal(size=(300, 2))
    table = as_table(X, np.where(X[:, 0] > 0, "b", "a"))
    models = [*names, "boosting", "forest"]
    found = compare_table(table, models=models, folds=5, repeats=1, minutes=minutes(165))
    assert set(names) <= set(found.results_.index)
    assert set(found.left_out_models) == {"forest", "boosting"}


def test_what_does_well_on_few_rows_has_all_of_them_first(clock, put_in_place, costly):
    """It comes last in the list, and there is time for one dear model only."""

    class Knowing(costly):
        def predict(self, X):
            return np.where(X[:, 0] > 0, "b", "a")

    dear = {"clock": clock, "each": 0.004}
    put_in_place(qda=costly(**dear), tree=costly(**dear), svc_grid=Knowing(**dear))
    X = np.random.default_rng(0).normal(size=(16_000, 2))
    table = as_table(X, np.where(X[:, 0] > 0, "b", "a"))
    options = {"folds": 2, "repeats": 1, "minutes": minutes(220), "n_jobs": 1}
    found = compare_table(table, models="qda,tree,svc_grid", **options)
    assert found.best_name_ == "svc_grid"
    rows = found.results_["trained_rows"]
    assert rows["svc_grid"] == 8000
    assert all(rows.get(name, 0) < 8000 for name in ("qda", "tree"))


@pytest.mark.parametrize("before", [None, 6000.0])
def test_work_ends_when_its_time_is_over(before):
    if before:
        signal.setitimer(signal.ITIMER_REAL, before)
    try:
        with pytest.raises(TimeIsOverError), within(0.02):
            threading.Event().wait(600.0)
        with within(None):
            pass
        with within(600.0):
            pass
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        assert 5000.0 < left <= 6000.0 if before else left == 0.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def test_in_another_thread_nothing_is_stopped():
    done = []

    def work():
        with within(0.001):
            threading.Event().wait(0.01)
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


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


def test_the_best_stays_with_fewer_folds(clock, put_in_place, costly):
    """What is far behind must not win because the best has no time for all folds."""

    class Knowing(costly):
        def predict(self, X):
            return np.where(X[:, 0] > 0, "b", "a")

    put_in_place(lda=costly(clock, fixed=1.0), qda=costly(clock, fixed=1.0))
    put_in_place(tree=costly(clock, fixed=1.0), svc=Knowing(clock, fixed=20.0))
    X = np.random.default_rng(0).normal(size=(60, 2))
    table = as_table(X, np.where(X[:, 0] > 0, "b", "a"))
    found = compare_table(
        table, models="lda,qda,tree,svc", folds=5, repeats=1, minutes=minutes(70), n_jobs=1
    )
    assert found.best_name_ == "svc"
    assert found.n_folds == 3
    assert found.partial
    assert found.left_out_models == {}


def test_the_time_of_reading_counts(two_classes, clock, put_in_place, costly):
    put_in_place(lda=costly(clock, fixed=10.0))
    since = time.monotonic() - 30.0
    options = {"models": "lda", "folds": 5, "repeats": 2, "minutes": minutes(75)}
    found = compare_table(two_classes, since=since, **options)
    assert found.n_folds == 4  # 45 s were left
    assert found.seconds_ >= 30.0
    assert compare_table(two_classes, **options).n_folds == 7


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing can be stopped here")
def test_the_last_fit_is_stopped_and_made_when_it_is_asked_for(two_classes, monkeypatch):
    found = compare_table(two_classes, models="lda", folds=2, repeats=1, insights=False)
    searched = Comparison.searched
    monkeypatch.setattr(Comparison, "searched", lambda *_: threading.Event().wait())
    _fit_best(found, 1.0)
    assert "best_" not in vars(found)
    _fit_best(found, 0.0)  # is not even begun
    assert "best_" not in vars(found)
    monkeypatch.setattr(Comparison, "searched", searched)
    assert found.best_.predict(two_classes.frame).shape == (80,)
