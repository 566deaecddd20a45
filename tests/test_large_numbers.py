"""Numbers of any size: every fit ends, and says so where it ends before it is done.

Classes that overlap, with kernel values times C beyond the digits of a number, have an optimum that
pair steps cannot come near: each brings the objective down a little, for hours. ``max_iter`` is
five times what the solver's own patience allows, so that without it these tests fail instead of
running on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from mercer import (
    RVC,
    RVR,
    SVC,
    SVDD,
    SVR,
    KernelPerceptron,
    KernelRFE,
    KernelRFECV,
    NearestHypersphereClassifier,
    OneClassSVM,
)
from mercer.feature_selection import ScaledFeatureSelector, ZeroNormSelector
from mercer.gram import StoredGram, make_gram
from mercer.kernels import RBF, Linear, squared_distances
from mercer.problems import hinge_svc
from mercer.solvers import solve, solve_path

STALLED = "the arithmetic allows no smaller gap"
PATIENCE = 200_000  # steps without a gap half as large, of up to a hundred variables
N = 40


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    """Return two classes that no hyperplane separates."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(N) < 0.5, 1, -1)
    return rng.normal(size=(N, 4)) + 0.2 * y[:, None], y


X, Y = overlapping()
ONE_LARGE = X.copy()
ONE_LARGE[3, 1] = 1e20
LIMIT: dict[str, Any] = {"max_iter": 5 * PATIENCE}
LINEAR = SVC(kernel="linear", **LIMIT)
HUGE_WEIGHTS = np.full(N, 1e20)

FITS: dict[str, tuple[Any, Any, Any]] = {
    "linear 1e20": (LINEAR, X * 1e20, None),
    "linear 1e100": (LINEAR, X * 1e100, None),
    "whole numbers": (LINEAR, (X * 2**61).astype(np.int64), None),
    "weights": (LINEAR, X, HUGE_WEIGHTS),
    "precomputed 1e20": (SVC(kernel="precomputed", **LIMIT), X @ X.T * 1e20, None),
    "precomputed 1e100": (SVC(kernel="precomputed", **LIMIT), X @ X.T * 1e100, None),
    "regression": (SVR(kernel="linear", **LIMIT), X * 1e20, None),
    "regression, weights": (SVR(kernel="linear", **LIMIT), X, HUGE_WEIGHTS),
    "one against the rest": (SVC(kernel="linear", multi_class="ovr", **LIMIT), X * 1e20, None),
}


@pytest.mark.parametrize("name", FITS)
def test_a_fit_without_progress_ends(name: str) -> None:
    """After the steps that patience allows, with the usual warning and a model of numbers."""
    model, data, weights = FITS[name]
    with pytest.warns(ConvergenceWarning, match=STALLED):
        model.fit(data, Y, sample_weight=weights)
    assert np.max(model.n_iter_) < 2 * PATIENCE
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.predict(data)).all()


SELECTIONS: dict[str, tuple[Any, Any]] = {
    "zero norm": (ZeroNormSelector(LINEAR, max_iter=2), X * 1e20),
    "elimination": (KernelRFE(LINEAR), X * 1e20),
    "elimination, one value": (KernelRFE(LINEAR), ONE_LARGE),
    "elimination and folds": (KernelRFECV(LINEAR, cv=2), X * 1e20),
    "scales": (ScaledFeatureSelector(LINEAR, max_iter=1), X * 1e20),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_selectors_end(name: str) -> None:
    """Where their machine stalls, they choose by what it has."""
    selector, data = SELECTIONS[name]
    with pytest.warns(ConvergenceWarning) as caught:
        selector.fit(data, Y)
    assert not any("max_iter was reached" in str(one.message) for one in caught)
    assert selector.get_support().any()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_importances_that_are_no_numbers_are_refused() -> None:
    """Before, no feature was the least important, and none was ever dropped."""
    with pytest.raises(ValueError, match="importances of some features are infinite"):
        KernelRFE(SVC(gamma=1e-300, **LIMIT)).fit(np.tile(X, 6) * 1e160, Y)


@pytest.mark.parametrize("n", [N, 300])
def test_the_solver_reports_that_it_stalls(n: int) -> None:
    """Small programs and those with shrinking; the gap reported is that of the point."""
    rng = np.random.default_rng(1)
    labels = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    gram = make_gram(Linear(), 1e20 * (rng.normal(size=(n, 3)) + 0.2 * labels[:, None]))
    patience = PATIENCE * max(n, 100) // 100
    program = hinge_svc(labels, C=1.0)
    solution = solve(program, gram, solver="smo", max_iter=4 * patience)
    assert solution.status == "stalled"
    assert solution.n_iter < 2 * patience
    assert solution.gap > 1e-3
    assert program.contains(solution.beta)


def test_a_small_program_is_given_up_soon() -> None:
    """After pair steps and active sets have failed, a tenth of the patience is enough."""
    program, gram = hinge_svc(Y, C=1.0), make_gram(Linear(), 1e20 * X)
    solution = solve(program, gram, solver="smo")
    assert solution.status == "stalled"
    assert solution.n_iter < PATIENCE // 4


def test_a_path_is_given_up_soon() -> None:
    gram = StoredGram(make_gram(Linear(), 1e20 * X).matrix())
    found = solve_path(hinge_svc(Y, C=1.0), gram, [1e-3, 1.0, 1e3])
    assert set(found.status) == {"stalled"}
    assert found.n_iter.max() < PATIENCE // 4


@pytest.mark.parametrize(
    "model",
    [LINEAR, SVC(kernel="linear", solver="linear"), SVR(kernel="linear"), KernelRFE(LINEAR)],
    ids=["SVC", "by features", "SVR", "KernelRFE"],
)
def test_kernel_values_that_overflow_are_refused(model: Any) -> None:
    """Before, some fits ended after no step at all and others in an error about shapes."""
    with np.errstate(over="ignore", invalid="ignore"):
        with pytest.raises(ValueError, match="infinite or not a number; scale the features"):
            model.fit(X * 1e300, Y)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("model", [SVC(gamma=1.0), SVC(kernel="linear")])
def test_rows_whose_distances_overflow_are_refused(model: Any) -> None:
    """Before, there were models whose decision values are no numbers."""
    with pytest.raises(ValueError, match="infinite or not a number; scale the features"):
        model.fit(X * 1e160, Y)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("model", "data", "weight"),
    [
        (OneClassSVM(kernel="linear", nu=0.5), X * 1e120, 1e75),
        (OneClassSVM(kernel="linear", nu=1.0), X * 1e110, 1e90),
    ],
    ids=["some at their bounds", "all"],
)
def test_sums_that_overflow_are_refused(model: Any, data: Any, weight: float) -> None:
    """Before, there were models whose offset, or whose decision values, are no numbers."""
    with pytest.raises(ValueError, match="beyond the range of numbers; scale the features"):
        model.fit(data, Y, sample_weight=np.full(N, weight) * np.linspace(1.0, 2.0, N))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_linear_perceptron_refuses_what_overflows() -> None:
    with pytest.raises(ValueError, match="infinite or not a number; scale the features"):
        KernelPerceptron(kernel="linear").fit(X * 1e270, Y)


LARGEST_WEIGHTS = np.where(np.arange(N) == 3, 1e101, 1.0)


@pytest.mark.parametrize(
    "model",
    [SVC(), SVR(), OneClassSVM(), SVDD(), NearestHypersphereClassifier(), KernelRFE(LINEAR), RVR()],
    ids=lambda model: type(model).__name__,
)
def test_weights_beyond_arithmetic_are_refused(model: Any) -> None:
    """Before, their squares overflowed, and models were made of what was left."""
    with pytest.raises(ValueError, match=r"^sample_weight must be 1e\+100 at most; divide"):
        model.fit(X, Y, sample_weight=LARGEST_WEIGHTS)


@pytest.mark.parametrize("n", range(2, 20))
def test_equal_rows_are_equal_however_many_they_are(n: int) -> None:
    """Before, 9 rows of 3e233 were refused and 14 were not, by how their mean was rounded."""
    rows, classes = np.full((n, 3), 3e233), np.arange(n) % 2
    assert SVC(gamma=1.0).fit(rows, classes).gap_[0] <= 1e-3
    np.testing.assert_array_equal(RBF(1.0)(rows), 1.0)


FAR = np.array([[1.0, 1.0, -0.5, 1.0]])
ANSWERS: dict[str, tuple[Any, float]] = {
    "SVC linear": (SVC(kernel="linear", C=1e6), 1e308),
    "SVC poly": (SVC(kernel="poly"), 1e200),
    "SVR": (SVR(kernel="poly"), 1e200),
    "OneClassSVM": (OneClassSVM(kernel="poly"), 1e200),
    "SVDD": (SVDD(kernel="linear"), 1e200),
    "NearestHypersphereClassifier": (NearestHypersphereClassifier(kernel="linear"), 1e200),
    "KernelPerceptron": (KernelPerceptron(kernel="poly"), 1e200),
    "RVC": (RVC(kernel="poly"), 1e200),
    "RVR": (RVR(basis="columns"), 1e200),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("model", "scale"), ANSWERS.values(), ids=ANSWERS)
def test_rows_beyond_arithmetic_get_no_answer(model: Any, scale: float, form: Any) -> None:
    """Before, decision values were infinite or not a number, and labels were those of one class."""
    shifted = 0.01 * (X + 2.0 * Y[:, None])
    model = clone(model).fit(shifted, Y)
    with pytest.raises(ValueError, match="scale the features"):
        model.predict(form(scale * FAR))


@pytest.mark.filterwarnings("ignore:The kernel is not positive")
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_products_that_tanh_hides_get_no_answer(form: Any) -> None:
    """Before, dense rows had values of 1, for the tanh of no number."""
    model = SVC(kernel="sigmoid", gamma=1e-4).fit(100 * X, Y)
    with pytest.raises(ValueError, match="scale the features"):
        model.decision_function(form(1.5e308 * FAR))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_rows_far_from_all_others_get_the_offset(kernel: str) -> None:
    model = SVC(kernel=kernel).fit(X, Y)
    for form in (np.asarray, csr_array):
        np.testing.assert_array_equal(model.decision_function(form(1e300 * FAR)), model.intercept_)


def test_sparse_rows_whose_squares_overflow_have_distances() -> None:
    """Before, differences of infinite numbers, which dense rows do not need."""
    rows = 1e200 * np.repeat(X[:2], [2, 1], axis=0)
    expected = [[0.0, 0.0, np.inf], [0.0, 0.0, np.inf], [np.inf, np.inf, 0.0]]
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(squared_distances(csr_array(rows)), expected)


WEIGHTS = {
    "all": np.full(N, 1e90),
    "one": np.where(np.arange(N) == 3, 1e90, 1.0),
    "unequal": 10.0 ** np.linspace(-100, 100, N),
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("machine", [RVC(), RVR()], ids=["RVC", "RVR"])
def test_rows_that_count_beyond_counting_are_refused(machine: Any, weights: np.ndarray) -> None:
    """The evidence is a sum over rows, each as often as it counts."""
    with pytest.raises(ValueError, match=r"must be 9.01e\+15 times in all at most; got"):
        machine.fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("scale", [1e100, 1e140])
@pytest.mark.parametrize("machine", [RVC, RVR])
def test_large_columns_are_as_good_as_small_ones(machine: Any, scale: float) -> None:
    target = Y if machine is RVC else np.sin(X[:, 0])
    near, far = (machine(basis="columns").fit(X * unit, target) for unit in (1.0, scale))
    assert far.log_evidence_ == pytest.approx(near.log_evidence_, abs=0.01)


FUNCTIONS = {
    "columns": ({"basis": "columns"}, 1e200),
    "squares": ({"kernel": "linear"}, 1e80),
    "fourth powers": ({"kernel": "poly", "gamma": 1.0}, 1e13),
    "distances": ({"kernel": "rbf"}, 1e200),
}


@pytest.mark.parametrize(("how", "scale"), FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("machine", [RVC, RVR])
def test_functions_beyond_arithmetic_are_refused(machine: Any, how: Any, scale: float) -> None:
    """Before, such functions promised nothing, and the model knew nothing but the mean."""
    target = Y if machine is RVC else np.sin(X[:, 0])
    with pytest.raises(ValueError, match="infinite or not a number; scale the features"):
        machine(**how).fit(X * scale, target)


@pytest.mark.parametrize("scale", [1e200, 1e-155, 1e-300])
def test_targets_whose_squares_are_beyond_arithmetic(scale: float) -> None:
    with pytest.raises(ValueError, match="The squares of y must be finite and at least"):
        RVR().fit(X, X[:, 0] * scale)


def test_targets_of_zero() -> None:
    assert not RVR().fit(X, np.zeros(N)).predict(X).any()


@pytest.mark.parametrize("gamma", ["scale", "median"])
@pytest.mark.parametrize("scale", [1e-150, 1e-120, 1e70])
def test_the_width_follows_the_data(scale: float, gamma: str) -> None:
    """Squares of such numbers are beyond float64; those of the scaled ones are not."""
    X, y = make_classification(60, 5, flip_y=0.2, random_state=0)
    near, far = SVC(gamma=gamma).fit(X, y), SVC(gamma=gamma).fit(scale * X, y)
    assert far.converged_
    np.testing.assert_allclose(
        far.decision_function(scale * X), near.decision_function(X), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("machine", [SVDD, NearestHypersphereClassifier])
def test_equal_rows_are_refused_where_others_of_their_size_are(machine: Any) -> None:
    """Around their mean they are all zero, but nothing could be asked of such a ball."""
    model = machine(kernel="linear")
    with pytest.raises(ValueError, match="scale the features"):
        model.fit(np.full((4, 3), 1e200), [0, 0, 1, 1])
    assert not hasattr(model, "kernel_")


@pytest.mark.parametrize("machine", [RVC, RVR])
def test_relevance_machines_of_tiny_numbers(machine: Any) -> None:
    """The same machine in other units, or a sentence; what overflows on the way is never seen."""
    own = machine(kernel="linear").fit(2.0**-100 * X, Y)
    small = machine(kernel="linear").fit(2.0**-220 * X, Y)
    np.testing.assert_allclose(
        small.predict(2.0**-220 * X), own.predict(2.0**-100 * X), rtol=1e-6, atol=1e-6
    )
    for given in (2.0**-260 * X, csr_array(2.0**-260 * X)):
        with pytest.raises(ValueError, match=r"all below 1e-140; scale the features"):
            machine(kernel="linear").fit(given, Y)
    with pytest.raises(ValueError, match=r"all below 1e-140; scale the features"):
        machine(basis="columns").fit(1e-200 * X, Y)
    assert machine(kernel="linear").fit(0.0 * X, Y).relevance_.size == 0


def test_functions_without_digits_are_not_chosen() -> None:
    """Beside larger ones they take part, and are of no use, whatever they resemble."""
    columns = np.column_stack([1e-156 * Y, X])
    model = RVC(basis="columns").fit(columns, Y)
    assert 0 not in model.relevance_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_steps_of_the_linear_solver_stay_within_numbers(loss: str) -> None:
    """Slack so dear, and features so large, that a step of Newton's may lead to infinity."""
    weight = 10.0 ** np.random.default_rng(0).uniform(88, 91, N)
    model = SVC(kernel="linear", solver="linear", loss=loss, C=0.01)
    model.fit(1e109 * X, Y, sample_weight=weight)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.decision_function(1e109 * X)).all()
