"""Leave-one-out is what n refits give, and the bounds bound it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris

from mercer import SVC, SVR
from mercer.gram import StoredGram
from mercer.kernels import RBF, Linear, Polynomial, Weighted
from mercer.model_selection import (
    evidence,
    gacv,
    leave_one_out,
    modified_radius_margin,
    posterior_error,
    press,
    radius_margin,
    smoothed_validation_error,
    span,
    span_bound,
    support_vector_count,
    xi_alpha,
)
from mercer.model_selection.criteria.criterion import machines_of
from mercer.model_selection.criteria.leave_one_out import left_out_decisions
from mercer.model_selection.criteria.validation_error import posterior_rate
from mercer.problems import enclosing_radius
from mercer.solvers import solve

TOL = 1e-9


def problem(seed: int, n: int = 40, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    y = (X[:, 0] + X[:, 1] ** 2 - 0.7 > 0).astype(int)
    y = np.where(random.random(n) < noise, 1 - y, y)
    y[:2] = 0, 1
    y[2:4] = 0, 1
    return X, y


def refits(model: SVC, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Decision value of each row by a machine fitted without it, from scratch."""
    values = np.empty(len(y))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        values[i] = (
            SVC(C=model.C, loss=model.loss, kernel=model.kernel_, tol=model.tol)
            .fit(X[rest], y[rest])
            .decision_function(X[[i]])[0]
        )
    return values


MODELS = {
    "hinge": SVC(C=1.5, gamma=0.4, tol=TOL),
    "hinge, small C": SVC(C=0.05, gamma=0.4, tol=TOL),
    "squared hinge": SVC(C=3.0, gamma=0.4, loss="squared_hinge", tol=TOL),
    "hard": SVC(C=np.inf, gamma=2.0, tol=TOL),
    "linear": SVC(C=1.0, kernel="linear", tol=TOL),
}


@pytest.mark.parametrize("name", MODELS)
def test_leave_one_out_is_n_refits(name: str) -> None:
    X, y = problem(0)
    model = MODELS[name].fit(X, y)
    expected = refits(model, X, y)
    found = left_out_decisions(machines_of(model, X, y)[0])
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert leave_one_out(model, X, y).value == np.mean((expected > 0) != (y == 1))


def test_leave_one_out_in_threads() -> None:
    X, y = problem(1, n=120)
    alone, together = (
        leave_one_out(SVC(C=2.0, tol=TOL, n_jobs=n_jobs).fit(X, y), X, y).value for n_jobs in (1, 2)
    )
    assert alone == together


def offset_is_determined(model: SVC, X: np.ndarray, y: np.ndarray) -> bool:
    """Whether a row is strictly between its bounds, and stays so whichever row is left out."""
    if not (model.support_kind_ == "margin").any():
        return False
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        part = SVC(C=model.C, loss=model.loss, kernel=model.kernel_, tol=model.tol)
        if not (part.fit(X[rest], y[rest]).support_kind_ == "margin").any():
            return False
    return True


RANDOM_PROBLEMS = {
    "seed": st.integers(0, 10_000),
    "log_C": st.floats(-3.0, 5.0),
    "log_gamma": st.floats(-3.0, 2.0),
    "loss": st.sampled_from(["hinge", "squared_hinge"]),
}


@settings(max_examples=20)
@given(**RANDOM_PROBLEMS)
def test_leave_one_out_of_random_problems(
    seed: int, log_C: float, log_gamma: float, loss: str
) -> None:
    """Some rows are there twice, with equal or with different labels."""
    X, y = problem(seed, n=20)
    X[10:13] = X[4:7]
    model = SVC(C=np.exp(log_C), gamma=np.exp(log_gamma), loss=loss, tol=TOL).fit(X, y)
    if offset_is_determined(model, X, y):
        found = left_out_decisions(machines_of(model, X, y)[0])
        np.testing.assert_allclose(found, refits(model, X, y), atol=1e-5)


@settings(max_examples=25)
@given(**RANDOM_PROBLEMS)
def test_bounds_bound(seed: int, log_C: float, log_gamma: float, loss: str) -> None:
    """Errors <= span guarantee <= support vectors, and errors <= xi-alpha."""
    X, y = problem(seed, n=20)
    model = SVC(C=np.exp(log_C), gamma=np.exp(log_gamma), loss=loss, tol=TOL).fit(X, y)
    errors = leave_one_out(model, X, y).value
    assert errors <= support_vector_count(model, X, y).value
    assert span_bound(model, X, y).value <= support_vector_count(model, X, y).value
    if offset_is_determined(model, X, y):
        assert errors <= span_bound(model, X, y).value
        assert errors <= xi_alpha(model, X, y).value


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), log_gamma=st.floats(-1.5, 2.0))
def test_bounds_bound_hard_margins(seed: int, log_gamma: float) -> None:
    """The bound of theorem 3.3 in addition: at most 4 R^2 |w|^2 errors (diameter twice radius)."""
    X, y = problem(seed, n=20, noise=0.0)
    model = SVC(C=np.inf, gamma=np.exp(log_gamma), tol=TOL).fit(X, y)
    errors = leave_one_out(model, X, y).value
    assert errors <= span_bound(model, X, y).value <= support_vector_count(model, X, y).value
    assert errors <= 4.0 * radius_margin(model, X, y).value


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_span_rule_where_the_support_set_stays(loss: str) -> None:
    """Its margins are those of the refits wherever no other row meets or leaves a bound."""
    X, y = problem(3, n=60)
    model = SVC(C=2.0, gamma=0.3, loss=loss, tol=TOL).fit(X, y)
    machine = machines_of(model, X, y)[0]
    from mercer.model_selection.criteria.span import _Spans

    margins = _Spans.of(machine, 0.0).margins
    exact = machine.signs * left_out_decisions(machine)
    same = np.isclose(margins, exact, atol=1e-6)
    assert same.mean() > 0.3
    errors, estimate = (exact <= 0).mean(), span(model, X, y, slope=None).value
    assert abs(errors - estimate) <= 0.1


def test_radius_and_margin_by_hand() -> None:
    """Four corners of a square: radius sqrt 2, margin 1."""
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    model = SVC(C=np.inf, kernel="linear", tol=1e-10).fit(X, [0, 0, 1, 1])
    assert radius_margin(model, X, [0, 0, 1, 1]).value == pytest.approx(2.0 * 1.0 / 4)


def test_modified_bound_by_its_definition() -> None:
    X, y = problem(4)
    model = SVC(C=0.7, gamma=0.5, tol=TOL).fit(X, y)
    K = model.kernel_(X)
    squared_norm = float(model.margin_[0]) ** -2
    ball = solve(enclosing_radius(K.diagonal()), StoredGram(K), tol=1e-11)
    expected = (-2 * ball.objective + 1.0 / 0.7) * (squared_norm + 2 * 0.7 * model.slack_.sum())
    found = modified_radius_margin(model, X, y).value
    assert found == pytest.approx(expected / len(y), rel=1e-7)


def lone_parts(model: SVC, X: np.ndarray, y: np.ndarray) -> tuple[Any, Any, Any]:
    """Return alpha, beta and the kernel matrix with the ridge of squared slack."""
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    ridge = 1.0 / model.C if model.loss == "squared_hinge" else 0.0
    return np.abs(beta), beta, model.kernel_(X) + ridge * np.eye(len(y))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("rho", [1.0, 2.0])
@pytest.mark.parametrize("C", [0.02, 0.1, 0.5])
def test_xi_alpha_by_its_definition(loss: str, rho: float, C: float) -> None:
    """A linear kernel has rows of unlike lengths."""
    X, y = problem(5)
    model = SVC(C=C, kernel="linear", loss=loss, tol=TOL).fit(X, y)
    alpha, _, K = lone_parts(model, X, y)
    xi = model.slack_ if loss == "hinge" else 0.0
    expected = np.mean(rho * alpha * (K.max() - K.min()) + xi >= 1.0 - 1e-7)
    assert xi_alpha(model, X, y, rho=rho).value == expected


def constrained_span(model: SVC, X: np.ndarray, y: np.ndarray, p: int, free: np.ndarray) -> float:
    """Return the least distance of row p to combinations that keep the multipliers in bounds."""
    alpha, beta, K = lone_parts(model, X, y)
    most = model.C if model.loss == "hinge" else np.inf
    others = free[free != p]
    # 0 <= alpha_i + y_i y_p alpha_p lambda_i <= C
    factors = np.sign(beta[others] * beta[p]) * alpha[p]
    ends = np.stack([-alpha[others], most - alpha[others]]) / factors
    part = K[np.ix_(others, others)]
    found = minimize(
        lambda weights: weights @ part @ weights - 2 * weights @ K[others, p],
        np.full(others.size, 1.0 / others.size),
        jac=lambda weights: 2 * (part @ weights - K[others, p]),
        bounds=list(np.sort(ends, axis=0).T),
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    return np.sqrt(max(found.fun + K[p, p], 0.0)) if found.success else np.inf


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("C", "scale"), [(2.0, 1.0), (0.5, 1.0), (0.2, 0.5)])
def test_span_bound_by_its_definition(loss: str, C: float, scale: float) -> None:
    X, y = problem(5, n=25)
    X = scale * X
    model = SVC(C=C, kernel=Polynomial(2, 0.3, 1.0), loss=loss, tol=TOL).fit(X, y)
    alpha, _, K = lone_parts(model, X, y)
    free = np.sort(model.support_[model.support_kind_[0] == "margin"])
    assert free.size > 0
    ball = solve(enclosing_radius(K.diagonal()), StoredGram(K), tol=1e-11)
    reach = 2 * np.sqrt(-2 * ball.objective)
    reach = max(reach, 1 / np.sqrt(C)) if loss == "hinge" else reach
    lengths = np.array([constrained_span(model, X, y, p, free) for p in free])
    possible = alpha[free] * lengths * reach
    assert (np.abs(possible - 1.0) > 1e-4).all()  # else rounding would decide
    expected = ((possible >= 1.0).sum() + model.support_.size - free.size) / 25
    assert span_bound(model, X, y).value == pytest.approx(expected)


def kinds(model: SVC, n: int) -> np.ndarray:
    """Return for each row whether it is between its bounds, at one of them, or without part."""
    found = np.full(n, "none", dtype="<U6")
    found[model.support_] = model.support_kind_[0]
    return found


@pytest.mark.parametrize("name", ["hinge", "squared hinge"])
def test_where_no_bound_is_met_nothing_is_trained_again(name: str) -> None:
    """The first-order answer is then the answer; only the other rows have machines of their own."""
    X, y = problem(0, n=80)
    model = clone(MODELS[name]).fit(X, y)
    changed = []
    for p in model.support_:
        rest = np.arange(len(y)) != p
        part = clone(model).fit(X[rest], y[rest])
        changed.append((kinds(part, len(y) - 1) != kinds(model, len(y))[rest]).any())
    machine = machines_of(model, X, y)[0]
    left_out_decisions(machine)
    assert machine.n_fits == sum(changed) < len(changed)


def test_where_all_rows_are_at_their_bounds_the_span_is_flat() -> None:
    """Nothing can take the place of a row, so that each counts, whatever C is."""
    X = problem(1)[0]
    y = np.arange(40) % 2
    model = SVC(C=1e-3, gamma=0.4, tol=TOL).fit(X, y)
    assert (model.support_kind_ == "bound").all()
    found = span(model, X, y)
    assert found.value == pytest.approx(1.0)
    np.testing.assert_allclose(found.gradient, 0.0, atol=1e-12)


def test_gacv_by_its_definition() -> None:
    X, y = problem(5)
    model = SVC(C=0.7, gamma=0.5, tol=TOL).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    margins = signs * model.decision_function(X)
    terms = np.maximum(0.0, 1 - margins) + alpha * np.where(margins < -1, 2.0, 1.0)
    assert gacv(model, X, y).value == pytest.approx(terms.mean(), rel=1e-7)


def least_squares(K: np.ndarray, y: np.ndarray, C: float) -> tuple[np.ndarray, float]:
    n = len(y)
    M = np.block([[K + np.eye(n) / C, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(M, np.append(y, 0.0))
    return solution[:n], solution[n]


def test_press_leaves_out_one_of_a_rows_weight_or_all_of_less() -> None:
    X, _ = problem(6, n=25)
    rng = np.random.default_rng(0)
    y, weights = np.sin(X[:, 0]), rng.choice([0.05, 0.3, 1.0, 2.5], 25)
    options: dict[str, Any] = {"epsilon": 0.0, "loss": "squared_epsilon_insensitive", "tol": 1e-10}
    model = SVR(C=300.0, gamma=0.7, **options).fit(X, y, sample_weight=weights)
    expected = 0.0
    for i, weight in enumerate(weights):
        left = weights.copy()
        left[i] = max(weight - 1.0, 0.0)
        without = clone(model).fit(X, y, sample_weight=left)
        expected += weight * (y[i] - without.predict(X[i : i + 1])[0]) ** 2 / weights.sum()
    found = press(model, X, y, sample_weight=weights)
    assert found.value == pytest.approx(expected, rel=1e-6)
    assert found.gradient is not None
    assert np.isfinite(found.gradient).all()


def test_press_is_n_least_squares_fits() -> None:
    X, y = problem(6, n=30)
    model = SVC(C=2.0, gamma=0.5).fit(X, y)
    K, signs = model.kernel_(X), np.where(y == 1, 1.0, -1.0)
    residuals = []
    for i in range(30):
        rest = np.arange(30) != i
        beta, b = least_squares(K[np.ix_(rest, rest)], signs[rest], 2.0)
        residuals.append(signs[i] - K[i, rest] @ beta - b)
    assert press(model, X, y).value == pytest.approx(np.mean(np.square(residuals)), rel=1e-9)


def test_evidence_by_its_definition() -> None:
    X, y = problem(7, n=30)
    model = SVC(C=2.0, gamma=0.5).fit(X, y)
    ridged, signs = model.kernel_(X) + np.eye(30) / 2.0, np.where(y == 1, 1.0, -1.0)
    beta, _ = least_squares(model.kernel_(X), signs, 2.0)
    expected = 29 / 2 * np.log(signs @ beta) + 0.5 * np.linalg.slogdet(ridged)[1]
    expected += 0.5 * np.log(np.linalg.solve(ridged, np.ones(30)).sum())
    assert evidence(model, X, y).value == pytest.approx(expected / 30, rel=1e-10)


@pytest.mark.parametrize("criterion", [evidence, press, radius_margin, support_vector_count])
def test_a_weight_of_two_is_the_row_twice(criterion: Any) -> None:
    X, y = problem(8)
    weights = np.tile([1.0, 2.0, 3.0, 1.0, 0.0], 8)
    settings = {"C": 2.0, "gamma": 0.5, "loss": "squared_hinge", "tol": 1e-11}
    weighted = SVC(**settings).fit(X, y, sample_weight=weights)
    X2, y2 = np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int))
    found = criterion(weighted, X, y, sample_weight=weights)
    expected = criterion(SVC(**settings).fit(X2, y2), X2, y2)
    assert found.value == pytest.approx(expected.value, rel=1e-7)
    if expected.gradient is not None:
        np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-5)


def test_many_classes_are_the_mean_over_pairs() -> None:
    X, y = load_iris(return_X_y=True)
    model = SVC(loss="squared_hinge", gamma=0.5, tol=TOL).fit(X, y)
    pairs = []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        rows = (y == first) | (y == second)
        pair = SVC(loss="squared_hinge", gamma=0.5, tol=TOL).fit(X[rows], y[rows])
        pairs.append(radius_margin(pair, X[rows], y[rows]))
    found = radius_margin(model, X, y)
    assert found.value == pytest.approx(np.mean([pair.value for pair in pairs]), rel=1e-6)
    np.testing.assert_allclose(
        found.gradient, np.mean([pair.gradient for pair in pairs], axis=0), rtol=1e-5
    )


def test_smooth_errors_approach_the_error() -> None:
    X, y = problem(9, n=100)
    model = SVC(C=2.0, gamma=0.5, tol=1e-6).fit(X[:60], y[:60])
    error = 1 - model.score(X[60:], y[60:])
    steep = smoothed_validation_error(
        model, X[:60], y[:60], validation=(X[60:], y[60:]), slope=1e4, gradient=False
    )
    assert steep.value == pytest.approx(error, abs=1e-6)
    likely = posterior_error(model, X[:60], y[:60], validation=(X[60:], y[60:]))
    assert 0 < likely.value < 0.5


@pytest.mark.parametrize(
    "kernel", [RBF([0.3, 0.1, 2.0]), Weighted(Linear(), [1.0, 2.0, 0.5]), Polynomial(2, 0.5, 1.0)]
)
def test_precomputed_values_serve_as_well(kernel: Any) -> None:
    X, y = problem(10)
    K = kernel(X)
    direct = SVC(kernel=kernel, loss="squared_hinge", tol=TOL).fit(X, y)
    given = SVC(kernel="precomputed", loss="squared_hinge", tol=TOL).fit(K, y)
    for criterion in (evidence, press, radius_margin, span):
        ours, theirs = criterion(given, K, y), criterion(direct, X, y)
        assert ours.value == pytest.approx(theirs.value, rel=1e-6)
        assert ours.names == ("C",)
        np.testing.assert_allclose(ours.gradient, theirs.gradient[:1], rtol=1e-5)


WRONG = {
    "loss of radius_margin": (radius_margin, SVC(), {}, "squared_hinge"),
    "loss of modified": (modified_radius_margin, SVC(loss="squared_hinge"), {}, "hinge"),
    "loss of gacv": (gacv, SVC(C=np.inf, gamma=2.0), {}, "hinge"),
    "other rows": (evidence, SVC(), {"rows": 10}, "on which the model was fitted"),
    "not a classifier": (evidence, None, {}, "SVC"),
}


@pytest.mark.parametrize(("criterion", "model", "change", "words"), WRONG.values(), ids=WRONG)
def test_one_sentence_says_what_is_wrong(
    criterion: Any, model: Any, change: Any, words: str
) -> None:
    X, y = problem(11)
    model = model if model is None else model.fit(X, y)
    rows = change.get("rows", 0)
    with pytest.raises((ValueError, TypeError), match=words) as error:
        criterion(model, X[rows:], y[rows:])
    assert "\n" not in str(error.value)


def test_weights_are_refused_where_rows_are_left_out() -> None:
    X, y = problem(12)
    from mercer.machines.row_machine import refuse_weights

    machines = machines_of(SVC().fit(X, y, sample_weight=np.full(40, 2.0)), X, y, np.full(40, 2.0))
    with pytest.raises(ValueError, match="sample_weight"):
        refuse_weights(machines, "span")


def test_values_that_point_the_wrong_way_have_one_probability() -> None:
    """The sigmoid is flat and stays so: the mean error of the targets, and no slope."""
    signs = np.array([1.0, -1.0, -1.0, -1.0])
    value, slope = posterior_rate(np.array([-1.0, 0.5, 1.0, 1.5]), signs, True)
    share = (2 / 3 + 3 / 5) / 4  # of the positive class, by Platt's targets
    assert value == pytest.approx(((1 - share) + 3 * share) / 4)
    np.testing.assert_array_equal(slope, 0.0)


def test_posterior_error_has_the_digits_of_the_best_sigmoid() -> None:
    """Beside Newton's method with all the steps it can use."""
    random = np.random.default_rng(0)
    decision = random.normal(size=200)
    signs = np.where(decision + random.normal(size=200) > 0, 1.0, -1.0)
    ends = np.array([(signs < 0).sum(), (signs > 0).sum()])
    target = np.where(signs > 0, (ends[1] + 1) / (ends[1] + 2), 1 / (ends[0] + 2))
    columns, point = np.stack([decision, np.ones(200)]), np.zeros(2)
    for _ in range(30):
        p = 1.0 / (1.0 + np.exp(point @ columns))
        point -= np.linalg.solve((columns * (p * (1 - p))) @ columns.T, columns @ (target - p))
    expected = np.where(signs > 0, 1 - p, p).mean()
    assert posterior_rate(decision, signs, False)[0] == pytest.approx(expected, abs=1e-14)


def test_sigmoid_with_estimated_slope_and_offset_is_the_posterior_error() -> None:
    """Algorithm 6 of document 000 with A and B estimated is its algorithm 7."""
    from mercer.calibration import fit_sigmoid
    from mercer.model_selection import posterior_error

    random = np.random.default_rng(2)
    X = random.normal(size=(120, 2))
    y = np.where(X[:, 0] + 0.5 * random.normal(size=120) > 0.3, 1, -1)
    model = SVC(C=2.0, tol=1e-8).fit(X[:60], y[:60])
    decision, signs = model.decision_function(X[60:]), y[60:]
    sigmoid = fit_sigmoid(decision, signs > 0)
    A, B = -sigmoid.A, -sigmoid.B  # 1 - p = 1 / (1 + exp(A f + B)) for the class +1
    assert A > 0.0
    smoothed = np.mean(1.0 / (1.0 + np.exp(signs * (A * decision + B))))
    found = posterior_error(model, X[:60], y[:60], validation=(X[60:], signs))
    assert found.value == pytest.approx(smoothed, rel=1e-5)
