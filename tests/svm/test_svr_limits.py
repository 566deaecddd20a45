"""Regression as an estimator: limits, warm starts, interruption, weights, bad input."""

from __future__ import annotations

import inspect
import json
import pickle
import re
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from regression_zoo import SQUARED, plane, waves
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import SVR
from mercer.kernels import RBF, Linear
from mercer.problems import epsilon_svr

# Random targets, a large C, more free variables than Newton takes: ten times the limits below.
ENDLESS: dict[str, Any] = {"C": 1e6, "gamma": 0.5, "tol": 1e-9}
# Seconds after which work that should have ended is given up.
PATIENCE = 600.0  # seconds; only a hang lasts so long, on however busy a machine


def noise(n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 4)), rng.normal(size=n)


@pytest.mark.parametrize("max_iter", [0, 1, 50])
def test_max_iter(max_iter: int) -> None:
    """No more steps than asked for, and a warning with the gap and what to do."""
    X, y = waves(0, 200)
    model = SVR(max_iter=max_iter, C=100.0)
    with pytest.warns(ConvergenceWarning, match="max_iter was reached") as caught:
        model.fit(X, y)
    (warning,) = caught
    assert warning.filename == __file__
    assert f"gap of {model.gap_[0]:.3g}" in str(warning.message)
    assert model.n_iter_ <= max_iter
    assert model.gap_[0] > model.tol
    assert model.converged_ is False
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_limit(n_jobs: int) -> None:
    X, y = noise()
    model = SVR(time_limit=0.3, n_jobs=n_jobs, **ENDLESS)
    with pytest.warns(ConvergenceWarning, match=r"gap of .* time_limit was reached"):
        model.fit(X, y)
    assert not model.converged_
    # What was reached is feasible, and its gap is the true one.
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0]
    problem = epsilon_svr(y, ENDLESS["C"], 0.1)
    beta = np.concatenate([np.maximum(coef, 0), np.minimum(coef, 0)])
    gradient = np.tile(RBF(0.5)(X) @ coef, 2) + problem.p
    assert problem.contains(beta)
    assert problem.kkt(beta, gradient)[1] == pytest.approx(model.gap_[0], rel=1e-3)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", SQUARED])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_warm_start_goes_on(loss: str, kernel: str) -> None:
    """A fit that was stopped goes on from there, to the optimum of an undisturbed one."""
    X, y = waves(1, 300) if kernel == "rbf" else plane(1, 300, 4)
    params: dict[str, Any] = {"C": 50.0, "tol": 1e-6, "loss": loss, "kernel": kernel}
    cold = SVR(**params).fit(X, y)
    model = SVR(max_iter=cold.n_iter_ // 2, warm_start=True, **params)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    gap, objective = model.gap_[0], model.objective_[0]
    with pytest.warns(ConvergenceWarning):
        model.set_params(max_iter=1).fit(X, y)
    assert model.objective_[0] <= objective + 1e-9 * abs(objective)  # one step on from there
    model.set_params(max_iter=-1).fit(X, y)
    assert gap > 1e-6 >= model.gap_[0]
    assert model.objective_ == pytest.approx(cold.objective_, rel=1e-8)
    np.testing.assert_allclose(model.predict(X), cold.predict(X), atol=1e-4)
    model.fit(X, y)
    assert model.n_iter_ == 1  # a look


def test_warm_start_on_other_data() -> None:
    """Other rows, other targets, other parameters: the result is right whatever was before."""
    model = SVR(warm_start=True, tol=1e-6)
    X, y = waves(2, 100)
    for data, epsilon in ((waves(3, 100), 0.1), (waves(4, 60, 5), 0.0), ((X, -y), 0.3)):
        model.set_params(epsilon=epsilon).fit(*data)
        cold = SVR(tol=1e-6, epsilon=epsilon).fit(*data)
        np.testing.assert_allclose(model.predict(data[0]), cold.predict(data[0]), atol=1e-4)


def test_warm_start_of_a_neighbouring_problem_takes_fewer_steps() -> None:
    X, y = waves(5, 400)
    warm = SVR(C=10.0, warm_start=True).fit(X, y).set_params(C=11.0).fit(X, y)
    cold = SVR(C=11.0).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-4)


INTERRUPTED = """
import json, signal, sys
import numpy as np
from mercer import SVR
from mercer.kernels import RBF

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 4)), rng.normal(size=4000)
params = dict(C=1e6, gamma=0.5, tol=1e-9, n_jobs=2)
if sys.argv[1] == "requested":
    params |= dict(kernel=lambda A, B: RBF(0.5)(A, B), cache_size=20)
small, target = rng.normal(size=(90, 4)), rng.normal(size=90)
model = SVR().fit(small, target)
before = model.predict(small)
model.set_params(**params)
answer = {"interrupted": False}
print("fitting", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    answer["interrupted"] = True
answer["kept"] = bool(np.array_equal(model.predict(small), before))
model.set_params(**SVR().get_params()).fit(small, target)
answer["refitted"] = bool(np.array_equal(model.predict(small), before))
print(json.dumps(answer), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a single process")
@pytest.mark.parametrize("case", ["computed", "requested"])
def test_ctrl_c(case: str) -> None:
    """A real signal ends seconds of work, and the model is what it was before."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, case], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "fitting"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    answer = json.loads(output)
    assert answer["interrupted"], "the fit was over before the signal came"
    assert answer["kept"], "the model that was there before has changed"
    assert answer["refitted"], "the next fit is not what it should be"


@pytest.mark.parametrize("loss", ["epsilon_insensitive", SQUARED])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_weight_is_repetition(loss: str, kernel: str) -> None:
    """An integer weight is that many copies of the row, and so gamma="scale" sees it."""
    X, y = waves(6, 90)
    counts = np.random.default_rng(0).integers(0, 4, 90)
    model = SVR(loss=loss, kernel=kernel, tol=1e-9)
    weighted = clone(model).fit(X, y, sample_weight=counts)
    repeated = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6, atol=1e-6)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_zero_weight_is_removal(kernel: str) -> None:
    """Rows of weight 0 change nothing, and support_ still counts in all rows."""
    X, y = waves(7, 100)
    kept = np.random.default_rng(2).random(100) < 0.7
    train = RBF(0.5)(X) if kernel == "precomputed" else X
    part = train[np.ix_(kept, kept)] if kernel == "precomputed" else X[kept]
    weighted = SVR(kernel=kernel, tol=1e-8).fit(train, y, sample_weight=kept.astype(float))
    removed = SVR(kernel=kernel, tol=1e-8).fit(part, y[kept])
    np.testing.assert_array_equal(weighted.support_, np.flatnonzero(kept)[removed.support_])
    np.testing.assert_array_equal(weighted.slack_[~kept], 0.0)
    np.testing.assert_allclose(weighted.slack_[kept], removed.slack_, atol=1e-9)
    values = train[:, kept] if kernel == "precomputed" else X
    np.testing.assert_allclose(weighted.predict(train), removed.predict(values), atol=1e-9)


@given(
    seed=st.integers(0, 1000),
    n=st.integers(1, 25),
    C=st.sampled_from([1e-3, 1.0, 1e3]),
    epsilon=st.sampled_from([0.0, 0.1, 1.0]),
    loss=st.sampled_from(["epsilon_insensitive", SQUARED]),
)
@settings(max_examples=60)
def test_turning_and_moving_the_targets(
    seed: int, n: int, C: float, epsilon: float, loss: str
) -> None:
    """-y + 5 gives -f + 5: both sides of the tube are treated alike, and b is not penalised."""
    X, y = waves(seed, n)
    model = SVR(C=C, epsilon=epsilon, loss=loss, gamma=1.0, tol=1e-8)
    f = clone(model).fit(X, y).predict(X)
    g = clone(model).fit(X, 5.0 - y).predict(X)
    np.testing.assert_allclose(g, 5.0 - f, atol=1e-5)


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_a_tube_that_nothing_leaves(epsilon: float) -> None:
    """C=inf: every target within epsilon; a sentence where the kernel cannot do it."""
    X, y = waves(8, 50)
    model = SVR(C=np.inf, gamma=10.0, epsilon=epsilon, tol=1e-6).fit(X, 1e3 * y)
    assert np.abs(model.predict(X) - 1e3 * y).max() <= epsilon + 1e-5
    before = model.predict(X)
    for solver in ("auto", "smo"):
        with pytest.raises(ValueError, match="No function of this kernel keeps within epsilon"):
            model.set_params(kernel="linear", solver=solver).fit(X, y)
    np.testing.assert_array_equal(model.set_params(kernel="rbf").predict(X), before)
    line = X @ [1.0, 2.0] + 3.0
    assert np.abs(model.set_params(kernel="linear").fit(X, line).slack_).max() <= 1e-6


BAD_INPUT = {
    "C": ({"C": 0.0}, {}, "'C'"),
    "epsilon": ({"epsilon": -0.1}, {}, "'epsilon'"),
    "loss": ({"loss": "hinge"}, {}, "'loss'"),
    "kernel name": ({"kernel": "cosine-ish"}, {}, "kernel"),
    "not square": ({"kernel": "precomputed"}, {}, "square"),
    "linear solver": ({"solver": "linear"}, {}, "linear"),
    "negative weight": ({}, {"sample_weight": np.linspace(-1, 1, 80)}, "sample_weight"),
    "zero weights": ({}, {"sample_weight": np.zeros(80)}, "weight"),
    "words": ({}, {"y": np.array(["a", "b"] * 40)}, "convert"),
    "infinite target": ({}, {"y": np.append(np.zeros(79), np.inf)}, "infinity"),
    "two targets": ({}, {"y": np.zeros((80, 2))}, "1d"),
}


@pytest.mark.parametrize(("params", "changes", "words"), BAD_INPUT.values(), ids=BAD_INPUT)
def test_bad_input_gets_one_sentence(params: Any, changes: Any, words: str) -> None:
    """What, and what is allowed; and the model that was there before is untouched."""
    X, y = waves(9, 80)
    model = SVR().fit(X, y)
    before = model.predict(X)
    with pytest.raises((ValueError, TypeError), match=words):
        model.set_params(**params).fit(**({"X": X, "y": y} | changes))
    after = model.set_params(**SVR().get_params()).predict(X)
    np.testing.assert_array_equal(after, before)


def test_indefinite_kernel() -> None:
    """A warning where the loss holds the variables, a sentence where nothing does."""
    X, y = waves(10, 60)
    K = RBF(1.0)(X) - 0.5 * np.eye(60)
    with pytest.warns(UserWarning, match="smallest eigenvalue -0.5"):
        SVR(kernel="precomputed", C=0.1).fit(K, y)
    with (
        pytest.warns(UserWarning, match="smallest eigenvalue -0.5"),
        pytest.raises(ValueError, match="not positive semi-definite"),
    ):
        SVR(kernel="precomputed", C=1e3, loss=SQUARED).fit(K, y)


def test_searches_pipelines_and_copies() -> None:
    X, y = waves(11, 120)
    search = GridSearchCV(SVR(kernel=RBF(1.0)), {"kernel__gamma": [0.01, 1.0], "C": [1.0, 10.0]})
    assert search.fit(X, y).best_estimator_.kernel_.gamma == 1.0
    assert search.best_score_ > 0.5
    direct = cross_val_score(SVR(kernel="linear"), X, y)
    np.testing.assert_allclose(cross_val_score(SVR(kernel="precomputed"), X @ X.T, y), direct)
    model = SVR(kernel=RBF(1.0) + Linear()).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", SQUARED])
def test_documented_attributes(loss: str) -> None:
    """Each exists with the shape that the documentation gives, and there are no others."""
    pandas = pytest.importorskip("pandas")
    X, y = plane(14, 80, 3)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = SVR(kernel="linear", loss=loss).fit(frame, y)
    text = inspect.getdoc(SVR) or ""
    section = text.split("Attributes\n----------\n")[1].split("References\n----------")[0]
    lines = re.findall(r"^(\w+_(?:, \w+_)*) : (.*)$", section, flags=re.MULTILINE)
    documented = {name: kind for names, kind in lines for name in names.split(", ")}
    sizes = {"n_SV": model.support_.size, "n_features": 3, "n_features_in_": 3, "n_samples": 80}
    for name, kind in documented.items():
        shape = re.search(r"shape \((.*)\)", kind)
        if shape:
            wanted = [part.strip() for part in shape.group(1).split(",") if part.strip()]
            assert getattr(model, name).shape == tuple(int(sizes.get(w, w)) for w in wanted), name
        else:
            assert np.ndim(getattr(model, name)) == 0, name
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert public - {"shape_fit_"} <= documented.keys()  # shape_fit_ is scikit-learn's own
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_, model.predict(frame))
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)


def test_verbose_says_one_line(capsys: Any) -> None:
    X, y = waves(12, 50)
    SVR(verbose=True).fit(X, y)
    assert capsys.readouterr().out.count("\n") == 1
    SVR().fit(X, y)
    assert capsys.readouterr().out == ""


def test_same_result_on_any_number_of_threads() -> None:
    X, y = waves(13, 2500)
    one, two = (SVR(n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_data_far_from_the_origin_have_a_solution(tol: float) -> None:
    """In float32 the matrix is far from positive semi-definite, and has no minimum."""
    X, y = plane(3, 300, 12)
    model = SVR(kernel="linear", C=50.0, tol=tol, solver="smo", loss=SQUARED)
    near, far = model.fit(X, y).predict(X), model.fit(X + 1e4, y).predict(X + 1e4)
    assert model.converged_
    np.testing.assert_allclose(far, near, atol=10 * tol)


def test_targets_whose_squares_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="multiply y by a constant"):
        SVR(C=1e164, epsilon=1e160).fit(np.eye(5), 1e161 * np.arange(5.0))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_large_targets_are_those_near_one_in_another_unit(loss: str, epsilon: float) -> None:
    """Masses of stars: solvers tell variables at their bounds by gradients beyond 1e29."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y, unit = np.sin(X[:, 0]) + 0.1 * rng.normal(size=80), 2.0**110
    C = 10.0 if loss.startswith("squared") else 10.0 * unit
    usual = SVR(C=10.0, epsilon=epsilon, loss=loss, tol=1e-6).fit(X, y)
    model = SVR(C=C, epsilon=epsilon * unit, loss=loss, tol=1e-6 * unit).fit(X, y * unit)
    assert model.converged_
    np.testing.assert_allclose(model.predict(X) / unit, usual.predict(X), atol=1e-5)
    np.testing.assert_allclose(model.objective_ / unit**2, usual.objective_, rtol=1e-6)
    model.set_params(warm_start=True).fit(X, y * unit)
    again = model.fit(X, y * unit)
    assert again.n_iter_ <= 10
