"""Feature elimination: ours, scikit-learn's and mlxtend's, and the criterion for kernels."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn import svm
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
from sklearn.preprocessing import scale

from mercer import SVC, KernelRFE, KernelRFECV, KernelSequentialSelector
from mercer.datasets import load_colon, load_golub
from mercer.kernels import RBF, Kernel, Polynomial

from .. import catalogue
from ..crew import progress
from ..measure import Timing, interleave
from ..peers import UnavailableError
from ..report import GroupResult, Table, ratio, seconds_text
from .options import Options

OURS = "KernelRFE"
TOL = 1e-6
TOP = 50
MOST_EPOCHS = 5000


class Problem(NamedTuple):
    """Rows to choose features by, how many to drop at a time, and the loss of the machine."""

    name: str
    X: Any
    y: Any
    step: int
    loss: str = "hinge"


def run(options: Options) -> GroupResult:
    """Time eliminations interleaved, and one pass of the criterion against its definition."""
    notes = [
        f"linear kernel, C=1, tol={TOL:g}, features standardised, down to one feature",
        f"top {TOP}: features that the ranking shares with that of {OURS} among the best {TOP}",
        f"LinearSVC: {MOST_EPOCHS} epochs at most for the hinge loss, for which that is not enough "
        "to reach the tolerance; the primal solver for the squared one",
        "× ours: the time over that of the first line of the problem",
        "half of them forward, backward: one by one by scores on folds, one thread, tol=1e-3, with "
        "the features shared with the first line; LIBSVM, whose kernel values are float32, may put "
        "rows within 1e-4 of the boundary on its other side, and the choice then goes another way",
        "recomputed: the matrix without each feature computed anew from the data",
    ]
    columns = ["problem", "elimination", "seconds", "× ours", f"top {TOP}"]
    result = GroupResult("features", [Table("features: seconds", columns, notes=notes)])
    for problem in _problems(options.quick):
        if _wanted(options, problem.name):
            _add(result, options, problem)
    if not options.quick:
        _add_cross_validation(result, options)
    _add_one_by_one(result, options)
    _add_criterion(result, options)
    return result


def _wanted(options: Options, name: str) -> bool:
    if options.match is not None and options.match.lower() not in name.lower():
        return False
    progress(name)
    return True


def _problems(quick: bool) -> Iterator[Problem]:
    generated, step = catalogue.elimination(quick)[0]
    data = generated.load()
    yield Problem(generated.name, data.X, data.y, step)
    if quick:
        return
    yield Problem(f"{generated.name}, squared hinge", data.X, data.y, step, "squared_hinge")
    for name, load in (("colon 62×2000", load_colon), ("Golub 72×7129", load_golub)):
        try:
            X, y = load(return_X_y=True)
        except OSError as error:
            progress(f"{name}: {error}")
            continue
        yield Problem(f"{name}, one by one", scale(np.asarray(X, dtype=float)), y, 1)


def _add(result: GroupResult, options: Options, problem: Problem) -> None:
    orders: dict[str, Any] = {}

    def elimination(key: str, make: Callable[[], Any]) -> Callable[[], float]:
        def fit() -> float:
            model = make()
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(problem.X, problem.y)
            seconds = time.perf_counter() - start
            orders[key] = np.argsort(model.ranking_, kind="stable")
            return seconds

        return fit

    contenders = {
        key: elimination(key, make) for key, make in _contenders(problem, options.quick).items()
    }
    timings = interleave(contenders, options.plan)
    best = set(orders[OURS][:TOP].tolist())
    for key, timing in timings.items():
        shared = len(best & set(orders[key][:TOP].tolist()))
        _note(result, timings, problem.name, key, timing, str(shared))


def _contenders(problem: Problem, quick: bool) -> dict[str, Callable[[], Any]]:
    step, squared = problem.step, problem.loss == "squared_hinge"
    # LIBLINEAR counts the squared slack whole, we count half of it.
    ours = SVC(kernel="linear", loss=problem.loss, C=2.0 if squared else 1.0)
    down: dict[str, Any] = {"n_features_to_select": 1, "step": step}
    found: dict[str, Callable[[], Any]] = {OURS: lambda: KernelRFE(ours, tol=TOL, **down)}
    if not squared:
        found["RFE(SVC)"] = lambda: RFE(svm.SVC(kernel="linear", tol=TOL), **down)
    if len(problem.X) > problem.X.shape[1] or quick:
        how: dict[str, Any] = {"dual": False} if squared else {"loss": "hinge", "random_state": 0}
        peer = svm.LinearSVC(tol=TOL, max_iter=MOST_EPOCHS, **how)
        found["RFE(LinearSVC)"] = lambda: RFE(peer, **down)
    return found


def _add_cross_validation(result: GroupResult, options: Options) -> None:
    name = "colon 62×2000, 5 folds, 20 at a time"
    try:
        X, y = load_colon(return_X_y=True)
    except OSError:
        return  # said above
    if not _wanted(options, name):
        return
    X = scale(np.asarray(X, dtype=float))
    sizes = np.unique(np.r_[1, np.arange(20, 2001, 20)])

    def ours() -> float:
        search = KernelRFECV(SVC(kernel="linear"), step=20, sizes=sizes, cv=5)
        start = time.perf_counter()
        search.fit(X, y)
        return time.perf_counter() - start

    def peer() -> float:
        search = RFECV(svm.SVC(kernel="linear", tol=TOL), step=20, cv=5, n_jobs=1)
        start = time.perf_counter()
        search.fit(X, y)
        return time.perf_counter() - start

    def forward() -> float:
        return _forward(X, y)

    contenders = {"KernelRFECV": ours, "RFECV(SVC)": peer, "mlxtend, 3 features forward": forward}
    timings = interleave(contenders, options.plan)
    for key, timing in timings.items():
        _note(result, timings, name, key, timing, "-")


def _forward(X: Any, y: Any) -> float:
    try:
        from mlxtend.feature_selection import SequentialFeatureSelector
    except ImportError as error:
        raise UnavailableError("mlxtend is not installed") from error
    search = SequentialFeatureSelector(svm.SVC(kernel="linear"), k_features=3, cv=5)
    start = time.perf_counter()
    search.fit(X, y)
    return time.perf_counter() - start


def _add_one_by_one(result: GroupResult, options: Options) -> None:
    """Time forward and backward selection by folds, ours and scikit-learn's with its own machine.

    The last column has the features that the choice shares with ours.
    """
    n, d, kernels = (60, 6, ("rbf",)) if options.quick else (200, 30, ("rbf", "linear", "poly"))
    X, y = make_classification(
        n, d, n_informative=max(3, d // 5), n_redundant=d // 5, flip_y=0.1, random_state=0
    )
    for kernel in kernels:
        for direction in ("forward", "backward"):
            name = f"{n}×{d}, half of them {direction}, {kernel}, 5 folds"
            if not _wanted(options, name):
                continue
            how: dict[str, Any] = {"direction": direction, "n_jobs": 1}
            makers = {
                "KernelSequentialSelector(SVC)": partial(
                    KernelSequentialSelector, SVC(kernel=kernel), **how
                ),
                "SequentialFeatureSelector(SVC)": partial(
                    SequentialFeatureSelector, svm.SVC(kernel=kernel), **how
                ),
            }
            _time_choices(result, options, name, makers, X, y)


def _time_choices(
    result: GroupResult,
    options: Options,
    name: str,
    makers: dict[str, Callable[[], Any]],
    X: Any,
    y: Any,
) -> None:
    chosen: dict[str, Any] = {}

    def selection(key: str) -> float:
        selector = makers[key]()
        start = time.perf_counter()
        selector.fit(X, y)
        seconds = time.perf_counter() - start
        chosen[key] = selector.get_support()
        return seconds

    timings = interleave({key: partial(selection, key) for key in makers}, options.plan)
    ours = next(iter(chosen.values()))
    for key, timing in timings.items():
        shared = f"{np.count_nonzero(chosen[key] & ours)} of {np.count_nonzero(ours)}"
        _note(result, timings, name, key, timing, shared)


def _add_criterion(result: GroupResult, options: Options) -> None:
    """Time one pass over all features: by `leave_feature_out`, and by computing every matrix."""
    n, d = (60, 20) if options.quick else (1000, 500)
    rng = np.random.default_rng(0)
    X, beta = rng.normal(size=(n, d)), rng.normal(size=n)
    for kernel in (RBF(1.0 / d), Polynomial(3, 1.0 / d, 1.0)):
        name = f"criterion of {type(kernel).__name__}, {n} support vectors, {d} features"
        if not _wanted(options, name):
            continue
        contenders = {
            "leave_feature_out": lambda kernel=kernel: _criterion(kernel, X, beta),
            "recomputed": lambda kernel=kernel: _recomputed(kernel, X, beta),
        }
        timings = interleave(contenders, options.plan)
        for key, timing in timings.items():
            _note(result, timings, name, key, timing, "-")


def _criterion(kernel: Kernel, X: Any, beta: Any) -> float:
    start = time.perf_counter()
    kernel.leave_feature_out(X, beta)
    return time.perf_counter() - start


def _recomputed(kernel: Kernel, X: Any, beta: Any) -> float:
    start = time.perf_counter()
    for k in range(X.shape[1]):
        beta @ kernel(np.delete(X, k, axis=1)) @ beta
    return time.perf_counter() - start


def _note(
    result: GroupResult,
    timings: dict[str, Timing],
    name: str,
    key: str,
    timing: Timing,
    shared: str,
) -> None:
    times = ratio(next(iter(timings.values())), timing)
    result.tables[0].add(name, key, seconds_text(timing), str(times or "-"), shared)
    result.records.append(
        {"problem": name, "elimination": key, "seconds": timing.seconds, "shared": shared}
    )
