"""Long work can be limited, interrupted and resumed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from zoo import blobs

from mercer import SVC
from mercer.gram import make_gram
from mercer.kernels import RBF
from mercer.problems import hinge_svc
from mercer.solvers import solve

# Random labels, a large C, more free variables than Newton takes: twenty times the limits below.
ENDLESS: dict[str, Any] = {"C": 1e6, "gamma": 0.5, "tol": 1e-9}
# Seconds after which work that should have ended is given up.
PATIENCE = 600.0  # seconds; only a hang lasts so long, on however busy a machine


def noise(n: int = 4000, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 4)), rng.integers(0, n_classes, n)


@pytest.mark.parametrize("max_iter", [0, 1, 50])
def test_max_iter(max_iter: int) -> None:
    """No more steps than asked for, and a warning with the gap and what to do."""
    X, y = blobs(0, 200, 4, 0.3)
    model = SVC(max_iter=max_iter, C=100.0)
    with pytest.warns(ConvergenceWarning, match="max_iter was reached") as caught:
        model.fit(X, y)
    (warning,) = caught
    text = str(warning.message)
    assert f"gap of {model.gap_[0]:.3g}" in text
    for advice in ("Scale the", "lower C", "raise max_iter", "warm_start=True"):
        assert advice in text
    assert model.n_iter_[0] <= max_iter
    assert model.gap_[0] > model.tol
    assert model.converged_ is False
    assert model.predict(X).shape == (200,)


def test_warning_points_at_the_caller() -> None:
    X, y = blobs(0, 100, 4, 0.3)
    with pytest.warns(ConvergenceWarning) as caught:
        SVC(max_iter=1).fit(X, y)
    assert caught[0].filename == __file__


def test_max_iter_of_many_classes() -> None:
    """One warning for all machines, which says how many of them."""
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"\d of 3 solvers") as caught:
        model = SVC(max_iter=2, C=100.0).fit(X, y)
    assert len(caught) == 1
    assert (model.n_iter_ <= 2).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_limit(n_jobs: int) -> None:
    X, y = noise()
    model = SVC(time_limit=0.3, n_jobs=n_jobs, **ENDLESS)
    with pytest.warns(ConvergenceWarning, match=r"gap of .* time_limit was reached"):
        model.fit(X, y)
    assert model.gap_[0] > model.tol
    assert not model.converged_
    # What was reached is feasible, and its gap is the true one.
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    problem = hinge_svc(np.where(y == 1, 1.0, -1.0), ENDLESS["C"])
    gradient = make_gram(model.kernel_, X).times(beta) + problem.p
    assert (beta >= problem.lower).all()
    assert (beta <= problem.upper).all()
    assert problem.kkt(beta, gradient)[1] == pytest.approx(model.gap_[0], rel=1e-3)


def test_nothing_goes_on_after_the_time_limit() -> None:
    """A callback that sleeps until the time is over is not called again: the clock is looked at."""
    X, y = noise(2500)
    steps = []

    def sleep(n_iter: int, gap: float) -> None:
        steps.append(n_iter)
        time.sleep(0.4)

    solution = solve(
        hinge_svc(np.where(y == 1, 1.0, -1.0), 1e6),
        make_gram(RBF(0.5), X),
        tol=1e-9,
        time_limit=0.4,
        callback=sleep,
    )
    assert solution.status == "time_limit"
    assert len(steps) <= 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_limit_holds_for_all_machines_together(n_jobs: int) -> None:
    """The first machines use it up, so that no other makes a step."""
    X, y = noise(6000, 6)
    with pytest.warns(ConvergenceWarning, match="of 15 solvers"):
        model = SVC(time_limit=0.3, n_jobs=n_jobs, **ENDLESS).fit(X, y)
    assert model.n_iter_.shape == (15,)
    assert np.count_nonzero(model.n_iter_) <= n_jobs


@pytest.mark.parametrize("slow_call", [2, 60])
def test_time_limit_of_requested_rows(slow_call: int) -> None:
    """A function that sleeps until the time is over is asked for one more round at most."""
    X, y = noise(3000)
    requested: list[int] = []

    def kernel(A: Any, B: Any) -> np.ndarray:
        requested.append(len(A))
        if len(requested) == slow_call:
            time.sleep(0.5)
        return RBF(0.5)(A, B)

    with pytest.warns(ConvergenceWarning, match="time_limit"):
        SVC(kernel=kernel, C=1e6, tol=1e-9, time_limit=0.5, cache_size=10).fit(X, y)
    assert sum(requested[slow_call:]) <= len(X)


def test_no_time_at_all() -> None:
    X, y = blobs(0, 50, 3)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = SVC(time_limit=0.0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_warm_start_goes_on(loss: str) -> None:
    """A fit that was stopped goes on from there, to the optimum of an undisturbed one."""
    X, y = blobs(1, 400, 5, 0.2)
    params = {"C": 50.0, "tol": 1e-6, "loss": loss}
    cold = SVC(**params).fit(X, y)
    half = int(cold.n_iter_[0] * 0.5)
    model = SVC(max_iter=half, warm_start=True, **params)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    gap, objective = model.gap_[0], model.objective_[0]
    with pytest.warns(ConvergenceWarning):
        model.set_params(max_iter=1).fit(X, y)
    assert model.objective_[0] <= objective + 1e-9 * abs(objective)  # one step on from there
    model.set_params(max_iter=-1).fit(X, y)
    assert gap > 1e-6 >= model.gap_[0]
    assert model.objective_[0] == pytest.approx(cold.objective_[0], rel=1e-8)
    np.testing.assert_allclose(model.decision_function(X), cold.decision_function(X), atol=1e-4)
    model.fit(X, y)
    assert model.n_iter_[0] == 1  # a look


def test_warm_start_after_a_time_limit() -> None:
    """The objective goes down from fit to fit, whatever the time was enough for."""
    X, y = noise(3000)
    model = SVC(time_limit=0.2, warm_start=True, **ENDLESS)
    objectives = []
    for limits in ({}, {}, {"time_limit": None, "max_iter": 1000}):
        with pytest.warns(ConvergenceWarning, match="time_limit|max_iter"):
            model.set_params(**limits).fit(X, y)
        objectives.append(model.objective_[0])
    assert objectives[0] >= objectives[1] > objectives[2]


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_warm_start_of_a_neighbouring_problem(multi_class: str) -> None:
    """Another C, another width: fewer steps in all, the same optimum."""
    X, y = load_iris(return_X_y=True)
    params = {"multi_class": multi_class, "tol": 1e-5}
    warm = SVC(C=10.0, gamma=0.3, warm_start=True, **params).fit(X, y)
    warm.set_params(C=11.0, gamma=0.31).fit(X, y)
    cold = SVC(C=11.0, gamma=0.31, **params).fit(X, y)
    np.testing.assert_allclose(warm.objective_, cold.objective_, rtol=1e-6)
    assert warm.n_iter_.sum() < cold.n_iter_.sum()


def test_warm_start_on_other_data() -> None:
    """Other rows, other labels, other classes: whatever was there before, the result is right."""
    model = SVC(warm_start=True, tol=1e-6)
    sets = [blobs(2, 100, 3), blobs(3, 100, 3), blobs(4, 60, 5), load_iris(return_X_y=True)]
    X, y = sets[0]
    for data in (*sets, (X, -y), (X, np.where(y > 0, "yes", "no"))):
        model.fit(*data)
        np.testing.assert_allclose(
            model.decision_function(data[0]),
            SVC(tol=1e-6).fit(*data).decision_function(data[0]),
            atol=1e-4,
        )


def test_without_warm_start_every_fit_is_new() -> None:
    X, y = blobs(5, 100, 3)
    model = SVC().fit(X, y)
    steps = model.n_iter_.copy()
    np.testing.assert_array_equal(model.fit(X, y).n_iter_, steps)


def test_solution_is_a_warm_start() -> None:
    X, y = blobs(6, 300, 4, 0.3)
    problem, gram = hinge_svc(y, 20.0), make_gram(RBF(0.3), X)
    whole = solve(problem, gram, tol=1e-6)
    part = solve(problem, gram, tol=1e-6, max_iter=int(0.7 * whole.n_iter))
    assert part.status == "max_iter"
    step = solve(problem, gram, tol=1e-6, warm_start=part, max_iter=1)
    assert whole.objective < step.objective <= part.objective
    rest = solve(problem, gram, tol=1e-6, warm_start=part)
    assert rest.objective == pytest.approx(whole.objective, rel=1e-9)


def test_callback_stops_a_solve() -> None:
    X, y = noise(2500)
    calls = []
    solution = solve(
        hinge_svc(np.where(y == 1, 1.0, -1.0), 1e6),
        make_gram(RBF(0.5), X),
        tol=1e-9,
        callback=lambda n_iter, gap: calls.append((n_iter, gap)) or len(calls) >= 5,
    )
    assert solution.status == "interrupted"
    assert len(calls) == 5
    assert solution.n_iter == calls[-1][0]


INTERRUPTED = """
import json, signal, sys
import numpy as np
from mercer import SVC
from mercer.kernels import RBF

signal.signal(signal.SIGINT, signal.default_int_handler)
case = sys.argv[1]
rng = np.random.default_rng(0)
n, k = (6000, 6) if case == "many_classes" else (4000, 2)
X, y = rng.normal(size=(n, 4)), rng.integers(0, k, n)
params = dict(C=1e6, gamma=0.5, tol=1e-9, n_jobs=1 if case == "one_thread" else 2)
if case == "requested":
    params |= dict(kernel=lambda A, B: RBF(0.5)(A, B), cache_size=20)
small, labels = rng.normal(size=(90, 4)), np.arange(90) % 3
model = SVC(**params)
long_params = model.get_params()
model.set_params(**SVC().get_params()).fit(small, labels)
before = model.decision_function(small)
model.set_params(**long_params)
answer = {"interrupted": False}
print("fitting", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    answer["interrupted"] = True
answer["kept"] = bool(np.array_equal(model.decision_function(small), before))
model.set_params(**SVC().get_params()).fit(small, labels)
answer["refitted"] = bool(np.array_equal(model.decision_function(small), before))
import threading
answer["threads"] = threading.active_count()
print(json.dumps(answer), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a single process")
@pytest.mark.parametrize("case", ["one_thread", "two_threads", "requested", "many_classes"])
def test_ctrl_c(case: str) -> None:
    """A real signal ends seconds of work, and the model is what it was before."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, case],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "fitting"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    answer = json.loads(output)
    assert answer["interrupted"], "the fit was over before the signal came"
    assert answer["kept"], "the model that was there before has changed"
    assert answer["refitted"], "the next fit is not what it should be"
    assert answer["threads"] == 1, "a thread was left behind"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_converged_means_all_machines() -> None:
    """One class lies apart, so that its machines need few steps."""
    X, y = load_iris(return_X_y=True)
    model = SVC(C=100.0, gamma=1.0, max_iter=100).fit(X, y)
    assert 0 < (model.gap_ <= model.tol).sum() < 3
    assert model.converged_ is False
    assert SVC(C=100.0, gamma=1.0).fit(X, y).converged_ is True
