"""The BLAS is held to the threads that pay, and gets its own back."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from blas import held
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from mercer import SVC, _threads
from mercer._threads import (
    MANY_ROWS,
    blas_for,
    blas_threads,
    holds_blas,
)
from mercer.feature_selection import (
    KernelRFE,
    ScaledFeatureSelector,
    ZeroNormSelector,
)
from mercer.kernels import RBF
from mercer.machines import Penalty
from mercer.model_selection import Criterion, GradientSearch, evidence
from mercer.relevance import RVC
from mercer.spheres import preimage

# ---- the limit -------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain")
def test_small_matrices_get_one_thread_and_large_ones_all() -> None:
    with blas_for(MANY_ROWS - 1):
        assert set(held()) == {1}
    with blas_for(MANY_ROWS):
        assert set(held()) == {4}
    with blas_for(MANY_ROWS, 2):
        assert set(held()) == {2}


def test_no_limit_changes_nothing() -> None:
    with blas_threads(None):
        assert set(held()) == {4}


def test_a_limit_never_raises_what_was_set_outside() -> None:
    with threadpool_limits(2, user_api="blas"):
        with blas_threads(3):
            assert set(held()) == {2}
        assert set(held()) == {2}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_restored_after_an_error(error: type[BaseException]) -> None:
    with pytest.raises(error), blas_for(10):
        raise error
    assert set(held()) == {4}


def test_ctrl_c_while_it_is_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would leave what was not entered."""
    whole = _threads._Held._change

    def interrupted(self: Any, before: int | None) -> None:
        whole(self, before)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(_threads._Held, "_change", interrupted)
    with pytest.raises(KeyboardInterrupt), blas_threads(1):
        pass
    assert set(held()) == {4}
    assert _threads._SHARED.holds == []


def test_the_smallest_of_nested_limits_holds() -> None:
    with blas_threads(2):
        with blas_threads(3):
            assert set(held()) == {2}
        with blas_threads(1):
            assert set(held()) == {1}
        assert set(held()) == {2}


def test_a_nested_limit_that_changes_nothing_sets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that loops inside of loops cost nothing."""
    with blas_threads(1):
        library = type(_threads._libraries()[0])
        monkeypatch.setattr(library, "set_num_threads", lambda self, n: pytest.fail("set again"))
        with blas_threads(1), blas_threads(2):
            pass
        monkeypatch.undo()


def test_threads_that_leave_in_the_order_in_which_they_came() -> None:
    """The first to leave must not end the limit of the other, nor the last leave one behind."""
    inside, first_is_gone = threading.Event(), threading.Event()

    def second() -> list[int]:
        with blas_threads(1):
            inside.set()
            first_is_gone.wait(600)
            return held()

    with ThreadPoolExecutor(1) as pool:
        with blas_threads(1):
            answer = pool.submit(second)
            assert inside.wait(600)
        first_is_gone.set()
        assert set(answer.result()) == {1}
    assert set(held()) == {4}


def test_many_threads_at_once_leave_nothing_behind() -> None:
    def enter(limit: int) -> bool:
        with blas_threads(limit):
            return max(held()) <= limit

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(enter, [1, 2, 3, 4] * 50))
    assert _threads._SHARED.holds == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_has_a_lock_of_its_own() -> None:
    with _threads._SHARED.lock:
        child = os.fork()
        if child == 0:  # without a new lock it would wait for ever
            with blas_threads(1):
                os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


class PerThread(threading.local):
    """A BLAS with a number of threads for each thread that calls, as MKL has it."""

    internal_api = "mkl"
    num_threads = 4

    def set_num_threads(self, n_threads: int) -> None:
        self.num_threads = n_threads


def test_a_library_with_a_limit_for_each_thread_is_set_in_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = PerThread()
    monkeypatch.setattr(_threads, "_libraries", lambda: [library])

    def other() -> list[int]:
        found = [library.num_threads]
        with blas_threads(1):
            found.append(library.num_threads)
        return [*found, library.num_threads]

    with ThreadPoolExecutor(1) as pool, blas_threads(2):
        assert library.num_threads == 2
        assert pool.submit(other).result() == [4, 1, 4]
        assert library.num_threads == 2
    assert library.num_threads == 4


# ---- the decorator ---------------------------------------------------------------------------


class Model:
    n_jobs: int | None = None

    @holds_blas
    def fit(self, X: Any, y: Any = None) -> list[int]:
        """Say what is held."""
        return held()


@holds_blas
def judge(model: Any, X: Any) -> list[int]:
    return held()


@pytest.mark.usefixtures("plain")
def test_methods_are_held_by_the_rows_they_are_given() -> None:
    few, many = np.ones((5, 2)), np.ones((MANY_ROWS, 2))
    model = Model()
    assert set(model.fit(few)) == set(model.fit(X=few, y=None)) == set(model.fit([[1.0]])) == {1}
    assert set(model.fit(many)) == set(judge(model=model, X=many)) == {4}
    assert set(judge(model, few)) == {1}
    assert set(model.fit(np.ones((20, 2 * MANY_ROWS)))) == {1}  # genes
    assert set(model.fit(np.ones((MANY_ROWS // 2, 2 * MANY_ROWS)))) == {4}
    model.n_jobs = 2
    assert set(model.fit(many)) == {2}
    assert Model.fit.__doc__ == "Say what is held."


@pytest.mark.parametrize("X", [3.0, None, np.float64(2.0), "text"])
def test_what_has_no_rows_is_left_to_the_checks(X: Any) -> None:
    assert set(Model().fit(X)) == {1}


# ---- who holds -------------------------------------------------------------------------------


@pytest.fixture(name="sample", scope="module")
def _sample() -> tuple[Any, Any]:
    return make_classification(80, 6, random_state=0)


def watch(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[set[int]]:
    """Note what is held whenever a function of a module is called."""
    seen: list[set[int]] = []
    original = getattr(module, name)

    def noted(*arguments: Any, **named: Any) -> Any:
        seen.append(set(held()))
        return original(*arguments, **named)

    monkeypatch.setattr(module, name, noted)
    return seen


def test_inside_a_criterion_there_is_one_thread(
    sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    criteria = import_module("mercer.model_selection.criteria.evidence")
    seen = watch(monkeypatch, criteria, "evidence_of")
    model = SVC(loss="squared_hinge").fit(*sample)
    evidence(model, *sample)
    assert seen == [{1}]


def test_inside_the_search_for_a_preimage_there_is_one_thread(
    sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watch(monkeypatch, import_module("mercer.spheres.preimage"), "minimize")
    preimage(RBF(1.0), sample[0][:20], np.full(20, 0.05))
    assert seen == [{1}, {1}]


def test_inside_a_search_there_is_one_thread(sample: Any) -> None:
    seen = []

    def criterion(model: Any, X: Any, y: Any) -> Criterion:
        seen.append(set(held()))
        return evidence(model, X, y)

    GradientSearch(SVC(loss="squared_hinge"), criterion, max_evaluations=3).fit(*sample)
    assert len(seen) >= 2
    assert set().union(*seen) == {1}


def test_a_search_on_some_rows_is_held_by_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(120, 4, random_state=0)
    monkeypatch.setattr(_threads, "MANY_ROWS", 100)
    seen = []

    def criterion(model: Any, X: Any, y: Any) -> Criterion:
        seen.append(set(held()))
        return evidence(model, X, y)

    model = SVC(loss="squared_hinge")
    GradientSearch(model, criterion, max_evaluations=1, max_rows=50, random_state=0).fit(X, y)
    assert set().union(*seen) == {1}


def test_a_search_that_fails_restores(sample: Any) -> None:
    def criterion(model: Any, X: Any, y: Any) -> Criterion:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GradientSearch(SVC(), criterion).fit(*sample)
    assert set(held()) == {4}


@pytest.mark.parametrize(
    "selector",
    [ScaledFeatureSelector(max_iter=2), ZeroNormSelector(), KernelRFE(SVC())],
    ids=lambda selector: type(selector).__name__,
)
def test_inside_a_selector_there_is_one_thread(
    selector: Any, sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watch(monkeypatch, Penalty, "program")
    selector.fit(*sample)
    assert seen
    assert set().union(*seen) == {1}


def test_inside_a_relevance_machine_there_is_one_thread(
    sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watch(monkeypatch, import_module("mercer.relevance._machine"), "fit_fast")
    RVC().fit(*sample)
    assert seen == [{1}]


@pytest.mark.parametrize("solver", ["exact", "linear"])
def test_inside_solvers_by_factorisation_there_is_one_thread(
    solver: str, sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if solver == "exact":
        pytest.importorskip("clarabel")
    seen = watch(monkeypatch, import_module(f"mercer.solvers.{solver}")._Search, "run")
    SVC(kernel="linear", solver=solver).fit(*sample)
    assert seen
    assert set().union(*seen) == {1}


def test_inside_a_check_of_a_kernel_there_is_one_thread(
    sample: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watch(monkeypatch, import_module("mercer.kernels.mercer_condition"), "eigvalsh")
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        SVC(kernel="sigmoid").fit(*sample)
    assert seen == [{1}]
