"""Eliminations agree with scikit-learn and with their definition, and keep their promises."""

from __future__ import annotations

from typing import Any

import naive
import numpy as np
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from mercer import SVC, SVR, KernelRFE
from mercer.feature_selection import around, entropy, percent
from mercer.kernels import RBF, Laplacian, Linear, Polynomial, Weighted

PeerSVC = sklearn.svm.SVC


def wide(seed: int = 0, n: int = 40, d: int = 150) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, d, n_informative=8, flip_y=0.1, random_state=seed)
    return scale(X), y


def tall(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(150, 25, n_informative=8, flip_y=0.1, random_state=seed)
    return scale(X), y


# ---- against scikit-learn -----------------------------------------------------------------------


@pytest.mark.parametrize("data", [wide, tall])
@pytest.mark.parametrize("C", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("step", [1, 4, 0.3])
def test_linear_ranking_is_scikit_learns(data: Any, C: float, step: Any) -> None:
    X, y = data()
    peer = RFE(PeerSVC(kernel="linear", C=C, tol=1e-10), n_features_to_select=1, step=step)
    ours = KernelRFE(SVC(kernel="linear", C=C), n_features_to_select=1, step=step)
    assert_array_equal(ours.fit(X, y).ranking_, peer.fit(X, y).ranking_)
    assert ours.trace_.gap.max() < 1e-6


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_and_classes_are_scikit_learns(n_classes: int) -> None:
    X, y = make_classification(
        120, 20, n_informative=8, n_classes=n_classes, flip_y=0.1, random_state=1
    )
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    settings = {"kernel": "linear", "class_weight": {0: 2.0}}
    peer = RFE(PeerSVC(**settings, tol=1e-10), n_features_to_select=2)
    ours = KernelRFE(SVC(**settings), n_features_to_select=2).fit(X, y, sample_weight=weights)
    assert_array_equal(ours.ranking_, peer.fit(X, y, sample_weight=weights).ranking_)


@pytest.mark.parametrize("estimator", [LogisticRegression(), RandomForestClassifier(10)], ids=str)
def test_other_estimators_as_in_scikit_learn(estimator: Any) -> None:
    X, y = tall()
    estimator.set_params(random_state=0)
    ours = KernelRFE(estimator, n_features_to_select=5, step=2).fit(X, y)
    peer = RFE(estimator, n_features_to_select=5, step=2).fit(X, y)
    assert_array_equal(ours.ranking_, peer.ranking_)
    assert_array_equal(ours.predict(X), peer.predict(X))
    assert_allclose(ours.predict_proba(X), peer.predict_proba(X))


def test_scikit_learns_machine_and_ours_rank_alike() -> None:
    X, y = wide()
    ours = KernelRFE(SVC(kernel="linear"), n_features_to_select=3).fit(X, y)
    peer = KernelRFE(PeerSVC(kernel="linear", tol=1e-10), n_features_to_select=3).fit(X, y)
    assert_array_equal(ours.ranking_, peer.ranking_)


# ---- against the definition ------------------------------------------------------------------

KERNELS = [
    Linear(),
    RBF("scale"),
    RBF(0.02),
    Polynomial(3, "scale", 1.0),
    Polynomial(2, 0.1),
    Laplacian("scale", metric="euclidean"),
    Laplacian("auto"),
    RBF("scale") + 0.5 * Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("criterion", ["objective", "decrease", "gradient"])
def test_kernel_ranking_is_that_of_the_definition(kernel: Any, criterion: str) -> None:
    """Warm starts and downdated matrices change nothing."""
    X, y = make_classification(80, 16, n_informative=6, flip_y=0.05, random_state=3)
    X = scale(X)
    machine = SVC(kernel=kernel, C=2.0, tol=1e-10)
    expected = naive.eliminate(machine, X, y, 3, criterion)
    for warm_start in (True, False):
        found = KernelRFE(
            machine, n_features_to_select=1, step=3, criterion=criterion, warm_start=warm_start
        ).fit(X, y)
        assert [gone.tolist() for gone in found.trace_.removed[:-1]] == expected


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("data", [wide, tall])
def test_warm_and_cold_rankings_agree(data: Any, loss: str) -> None:
    X, y = data(5)
    machine = SVC(kernel="linear", C=0.5, loss=loss)
    warm = KernelRFE(machine, n_features_to_select=1).fit(X, y)
    cold = KernelRFE(machine, n_features_to_select=1, warm_start=False).fit(X, y)
    assert_array_equal(warm.order_, cold.order_)
    assert_allclose(warm.trace_.train_accuracy, cold.trace_.train_accuracy)
    for a, b in zip(warm.trace_.importances, cold.trace_.importances):
        assert_allclose(a, b, rtol=1e-4, atol=1e-9)


def test_criteria_agree_for_a_linear_kernel() -> None:
    """Half the squared weight is the change of the objective; the slope is the squared weight."""
    X, y = tall()
    orders = [
        KernelRFE(SVC(kernel="linear"), n_features_to_select=1, criterion=criterion, step=step)
        .fit(X, y)
        .order_
        for criterion in ("auto", "weights", "objective", "decrease", "gradient")
        for step in (1, lambda state: 1)  # in the engine, and round by round
    ]
    for order in orders[1:]:
        assert_array_equal(order, orders[0])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_bound_grows_by_what_is_said(loss: str) -> None:
    """The importance is minus the slope of the bound of machines trained on scaled features."""
    from mercer.model_selection import modified_radius_margin, radius_margin

    X, y = tall(2)
    X = X[:60, :5]
    y = y[:60]
    bound = modified_radius_margin if loss == "hinge" else radius_margin

    def value(k: int, factor: float) -> float:
        scales = np.ones(5)
        scales[k] = factor
        kernel = Weighted(RBF(0.1), scales)
        model = SVC(kernel=kernel, loss=loss, C=2.0, tol=1e-11).fit(X, y)
        return bound(model, X, y, gradient=False).value

    step = 1e-3
    slopes = [(value(k, 1 - step) - value(k, 1 + step)) / (2 * step) for k in range(5)]
    selector = KernelRFE(
        SVC(kernel=RBF(0.1), loss=loss, C=2.0), n_features_to_select=1, step=4, criterion="bound"
    ).fit(X, y)
    assert_allclose(selector.trace_.importances[0], np.sort(slopes)[:4], rtol=2e-2, atol=1e-3)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", [RBF(0.1), Linear()], ids=str)
def test_retrained_importance_is_the_change_of_the_optimum(kernel: Any, loss: str) -> None:
    X, y = tall(2)
    X, y = X[:60, :5], y[:60]
    machine = SVC(kernel=kernel, loss=loss, C=2.0, tol=1e-9)
    whole = clone(machine).fit(X, y).objective_[0]
    parts = [clone(machine).fit(np.delete(X, k, axis=1), y).objective_[0] for k in range(5)]
    selector = KernelRFE(machine, n_features_to_select=1, step=4, criterion="retrained").fit(X, y)
    expected = np.sort(np.abs(np.array(parts) - whole))[:4]
    assert_allclose(selector.trace_.importances[0], expected, rtol=1e-4)


@pytest.mark.parametrize("criterion", ["bound", "span", "retrained"])
def test_bounds_find_what_matters(criterion: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    y = (X[:, 1] * X[:, 4] > 0).astype(int)
    selector = KernelRFE(SVC(C=5.0), n_features_to_select=2, criterion=criterion).fit(X, y)
    assert_array_equal(selector.get_support(indices=True), [1, 4])


def test_a_kernel_too_narrow_needs_the_sign() -> None:
    """Loud noise makes the kernel nearly the identity; only its sign tells it from what matters."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 10))
    y = (X[:, 1] * X[:, 4] > 0).astype(int)
    X[:, 5:] *= 30.0
    found = {
        criterion: KernelRFE(SVC(gamma=0.3), n_features_to_select=5, criterion=criterion)
        .fit(X, y)
        .get_support(indices=True)
        .tolist()
        for criterion in ("objective", "decrease")
    }
    assert found["decrease"] == [0, 1, 2, 3, 4]
    assert found["objective"] != found["decrease"]


@pytest.mark.parametrize("criterion", ["auto", "decrease", "gradient"])
def test_kernel_regression_is_that_of_the_definition(criterion: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 6))
    target = X[:, 0] ** 2 + X[:, 3]
    machine = SVR(C=10.0, tol=1e-8)
    selector = KernelRFE(machine, n_features_to_select=1, criterion=criterion).fit(X, target)
    name = "objective" if criterion == "auto" else criterion
    expected = naive.eliminate(machine, X, target, 1, name)
    assert [gone.tolist() for gone in selector.trace_.removed[:-1]] == expected


def test_linear_regression_by_its_weights() -> None:
    X, target = make_regression(60, 12, n_informative=3, random_state=0, coef=False)
    ours = KernelRFE(SVR(kernel="linear", C=10.0), n_features_to_select=3).fit(X, target)
    assert ours.score(X, target) > 0.99


# ---- many classes ----------------------------------------------------------------------------


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize(
    ("joint", "power"), [("sum", 1.0), ("sum", 3.0), ("max", 1.0), ("median", 1.0)]
)
def test_joint_criteria(multi_class: str, joint: str, power: float) -> None:
    """The first round by hand, from the weights of all machines."""
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    weights = SVC(kernel="linear", multi_class=multi_class, tol=1e-10).fit(X, y).coef_ ** 2
    ways = {"max": weights.max(axis=0), "median": np.median(weights, axis=0)}
    joined = ways.get(joint, (weights**power).sum(axis=0))
    selector = KernelRFE(
        SVC(kernel="linear", multi_class=multi_class),
        n_features_to_select=1,
        joint=joint,
        joint_power=power,
        step=3,
    ).fit(X, y)
    assert_array_equal(selector.trace_.removed[0], np.argsort(joined)[:3])
    assert_allclose(selector.trace_.importances[0], np.sort(joined)[:3], rtol=1e-5)


def test_variation_is_deviation_over_mean() -> None:
    from mercer.feature_selection._kernel_ranker import join

    values = [np.array([1.0, 2.0, 0.0]), np.array([3.0, 2.0, 0.0])]
    assert_allclose(join(values, "variation", 1.0), [0.5, 0.0, 0.0])


def test_accuracy_of_many_classes_is_that_of_the_machine() -> None:
    X, y = load_digits(n_class=4, return_X_y=True)
    X, y = X[:200], y[:200]
    for multi_class in ("ovo", "ovr"):
        machine = SVC(C=0.01, multi_class=multi_class, tol=1e-6)
        trace = KernelRFE(machine, n_features_to_select=4, step=30).fit(X, y).trace_
        order = trace.order
        for size, accuracy in zip(trace.sizes, trace.train_accuracy):
            features = np.sort(order[:size])
            assert accuracy == pytest.approx(
                machine.fit(X[:, features], y).score(X[:, features], y)
            )


# ---- groups, protected features, ties --------------------------------------------------------


def test_groups_go_together() -> None:
    X, y = tall()
    groups = np.arange(25) // 5
    selector = KernelRFE(SVC(kernel="linear"), n_features_to_select=2, groups=groups).fit(X, y)
    assert selector.n_features_ == 10
    for group in range(5):
        assert len(set(selector.ranking_[groups == group])) == 1
    weights = SVC(kernel="linear", tol=1e-10).fit(X, y).coef_[0] ** 2
    first = np.bincount(groups, weights=weights).argmin()
    assert set(groups[selector.trace_.removed[0]]) == {first}


def test_groups_of_one_are_features() -> None:
    X, y = tall()
    names = np.array([f"g{k}" for k in range(25)])
    plain = KernelRFE(SVC(), n_features_to_select=5, step=2).fit(X, y)
    grouped = KernelRFE(SVC(), n_features_to_select=5, step=2, groups=names).fit(X, y)
    assert_array_equal(plain.ranking_, grouped.ranking_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_protected_features_stay(kernel: str) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = tall()
    free = KernelRFE(SVC(kernel=kernel), n_features_to_select=4).fit(X, y)
    weakest = free.order_[-2:]
    mask = np.isin(np.arange(25), weakest)
    names = [f"x{k}" for k in range(25)]
    frame = pandas.DataFrame(X, columns=names)
    found = [
        KernelRFE(SVC(kernel=kernel), n_features_to_select=4, protected=protected).fit(data, y)
        for protected, data in (
            (mask, X),
            (weakest, X),
            ([names[k] for k in weakest], frame),
        )
    ]
    for selector in found:
        assert selector.support_[weakest].all()
        assert selector.n_features_ == 4
        assert_array_equal(selector.ranking_, found[0].ranking_)


@pytest.mark.parametrize("step", [1, 3, lambda state: 2])
def test_ties_go_by_position(step: Any) -> None:
    """Of copies of a feature the first is dropped first, always."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(30, 4)), 3, axis=1)
    y = (X.sum(axis=1) > 0).astype(int)
    selector = KernelRFE(SVC(kernel="linear"), n_features_to_select=1, step=step).fit(X, y)
    again = KernelRFE(SVC(kernel="linear"), n_features_to_select=1, step=step).fit(X, y)
    assert_array_equal(selector.order_, again.order_)


def test_data_far_from_zero_cost_no_digits() -> None:
    """A shift of the features changes nothing in a linear machine, nor in a Gaussian one."""
    X, y = tall()
    for kernel in ("linear", "rbf"):
        machine = SVC(kernel=kernel, gamma=0.05)
        near = KernelRFE(machine, n_features_to_select=1, step=2).fit(X, y)
        far = KernelRFE(machine, n_features_to_select=1, step=2).fit(X + 1e6, y)
        assert_array_equal(near.order_, far.order_)


def test_constant_features_go_first() -> None:
    X, y = tall()
    X[:, [3, 7]] = 0.0
    for kernel in ("linear", "rbf", "poly"):
        selector = KernelRFE(SVC(kernel=kernel), n_features_to_select=1, step=2).fit(X, y)
        assert_array_equal(selector.trace_.removed[0], [3, 7])


# ---- sampling and repetition -----------------------------------------------------------------


def test_subsample_takes_its_share_of_each_class() -> None:
    X, y = tall()
    selector = KernelRFE(
        SVC(), n_features_to_select=2, step=3, subsample=0.4, subsample_until=10, random_state=0
    ).fit(X, y)
    trace = selector.trace_
    expected = sum(round(0.4 * count) for count in np.bincount(y))
    assert_array_equal(trace.n_rows, np.where(trace.sizes > 10, expected, len(y)))
    again = KernelRFE(
        SVC(), n_features_to_select=2, step=3, subsample=0.4, subsample_until=10, random_state=0
    ).fit(X, y)
    assert_array_equal(selector.order_, again.order_)
    other = KernelRFE(
        SVC(), n_features_to_select=2, step=3, subsample=0.4, subsample_until=10, random_state=1
    ).fit(X, y)
    assert not np.array_equal(selector.order_, other.order_)


def test_rows_are_drawn_anew_in_every_round() -> None:
    from mercer.feature_selection.elimination import RowSampler

    codes = np.repeat([0, 1], [90, 10])
    sampler = RowSampler(codes, 0.1, 0, np.random.RandomState(0))
    first, second = sampler.rows(5), sampler.rows(5)
    assert not np.array_equal(first, second)
    for rows in (first, second):
        assert_array_equal(np.bincount(codes[rows]), [9, 2])  # at least two of each
        assert len(np.unique(rows)) == len(rows)


def test_repeated_rankings_are_averaged() -> None:
    X, y = tall()
    selector = KernelRFE(
        SVC(kernel="linear"), n_features_to_select=6, n_repeats=5, random_state=0
    ).fit(X, y)
    assert len(selector.traces_) == 5
    places = np.mean([np.argsort(trace.order) for trace in selector.traces_], axis=0)
    assert set(selector.get_support(indices=True)) == set(np.argsort(places, kind="stable")[:6])
    assert selector.ranking_.max() == 25 - 6 + 1
    assert selector.n_fits_ == 5 * 25


# ---- the choice, the trace -------------------------------------------------------------------


def test_estimated_size_is_that_of_the_trace() -> None:
    X, y = tall()
    selector = KernelRFE(SVC(C=5.0), n_features_to_select="estimate", step=2).fit(X, y)
    trace = selector.trace_
    assert selector.n_features_ == trace.optimal_size()
    accuracy = trace.estimated_accuracy()
    cost = 0.8 * (1 - accuracy[1:]) + 0.2 * np.arange(1, 26) / 25
    assert selector.n_features_ == 1 + cost.argmin()
    assert_allclose(accuracy[trace.sizes], trace.train_accuracy)
    assert accuracy[0] == trace.chance == max(np.bincount(y)) / len(y)


def test_trace_accounts_for_every_feature() -> None:
    X, y = wide()
    for machine in (SVC(kernel="linear"), SVC(kernel="poly"), PeerSVC(kernel="linear")):
        selector = KernelRFE(machine, n_features_to_select=5, step=percent(0.2)).fit(X, y)
        trace = selector.trace_
        assert_array_equal(np.sort(trace.order), np.arange(X.shape[1]))
        assert_array_equal(trace.order, selector.order_)
        assert_array_equal(np.diff(trace.sizes), [-len(gone) for gone in trace.removed[:-1]])
        assert_array_equal(np.sort(trace.selected), selector.get_support(indices=True))
        assert trace.n_fits == selector.n_fits_ == trace.sizes.size
        assert (np.diff(trace.seconds) >= 0).all()
        for values in trace.importances[:-1]:
            assert (np.diff(values) >= 0).all()
        assert len(trace.to_dict()["size"]) == trace.sizes.size


def test_steps_that_look_at_the_importances() -> None:
    X, y = wide(d=300)
    for step in (entropy(few=20), around(None, 0.5, 2)):
        trace = KernelRFE(SVC(kernel="linear"), n_features_to_select=1, step=step).fit(X, y).trace_
        assert trace.sizes.size < 150
        assert trace.order.size == 300


def test_estimator_is_fitted_on_the_selected_features() -> None:
    X, y = tall()
    selector = KernelRFE(SVC(C=3.0), n_features_to_select=0.4).fit(X, y)
    assert selector.n_features_ == 10
    alone = SVC(C=3.0).fit(X[:, selector.support_], y)
    assert_allclose(selector.decision_function(X), alone.decision_function(X[:, selector.support_]))
    assert selector.score(X, y) == alone.score(X[:, selector.support_], y)


def test_output_may_be_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = tall()
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(25)])
    selector = KernelRFE(SVC(kernel="linear"), n_features_to_select=3).set_output(
        transform="pandas"
    )
    chosen = selector.fit_transform(frame, y)
    assert chosen.columns.tolist() == selector.get_feature_names_out().tolist()
    assert_array_equal(chosen.to_numpy(), X[:, selector.support_])


def test_sparse_data_are_the_same_data() -> None:
    import scipy.sparse as sp

    X, y = tall()
    X[np.abs(X) < 0.5] = 0.0
    for machine in (SVC(kernel="linear"), SVC(), PeerSVC(kernel="linear", tol=1e-8)):
        dense = KernelRFE(machine, n_features_to_select=5, step=2).fit(X, y)
        sparse = KernelRFE(machine, n_features_to_select=5, step=2).fit(sp.csr_array(X), y)
        assert_array_equal(dense.ranking_, sparse.ranking_)


def test_kernel_with_one_width_for_each_feature_loses_them() -> None:
    X, y = tall()
    widths = np.linspace(0.01, 0.1, 25)
    machine = SVC(kernel=RBF(widths), tol=1e-10)
    found = KernelRFE(machine, n_features_to_select=22, step=1).fit(X, y)
    left = np.arange(25)
    for gone in found.trace_.removed[:-1]:
        model = SVC(kernel=RBF(widths[left]), tol=1e-10).fit(X[:, left], y)
        beta, points = model.dual_coef_[0], model.support_vectors_
        whole = beta @ model.kernel_(points) @ beta
        without = [
            beta @ RBF(np.delete(widths[left], k))(np.delete(points, k, axis=1)) @ beta
            for k in range(left.size)
        ]
        assert left[np.argmin(np.abs(whole - np.array(without)))] == gone[0]
        left = np.setdiff1d(left, gone)


# ---- bad input -------------------------------------------------------------------------------

BAD = {
    "too many": ({"n_features_to_select": 26}, "26 is more than"),
    "criterion": ({"criterion": "weights", "estimator": SVC()}, "linear kernel"),
    "groups": ({"groups": [1, 2]}, "one label for each of the 25"),
    "protected": ({"protected": [99]}, "protected must be"),
    "precomputed": ({"estimator": SVC(kernel="precomputed")}, "no features"),
    "other machine": (
        {"estimator": LogisticRegression(), "criterion": "objective"},
        "needs mercer's SVC",
    ),
    "share": ({"n_features_to_select": 1.5}, "n_features_to_select"),
    "step": ({"step": 0}, "step"),
}


@pytest.mark.parametrize(("changes", "words"), BAD.values(), ids=BAD)
def test_bad_input_gets_one_sentence(changes: Any, words: str) -> None:
    X, y = tall()
    selector = KernelRFE(**{"estimator": SVC(kernel="linear"), **changes})
    with pytest.raises((ValueError, TypeError), match=words) as error:
        selector.fit(X, y)
    assert "\n" not in str(error.value).strip()
    assert not hasattr(selector, "ranking_")


@pytest.mark.parametrize("warm_start", [True, False])
def test_hard_margin_says_when_the_classes_meet(warm_start: bool) -> None:
    X, y = wide()
    selector = KernelRFE(
        SVC(kernel="linear", C=np.inf), n_features_to_select=1, step=5, warm_start=warm_start
    )
    with pytest.raises(ValueError, match="cannot be separated"):
        selector.fit(X, y)
    enough = KernelRFE(SVC(kernel="linear", C=np.inf), n_features_to_select=80, step=5).fit(X, y)
    peer = RFE(PeerSVC(kernel="linear", C=1e6, tol=1e-8), n_features_to_select=80, step=5)
    assert_array_equal(enough.ranking_, peer.fit(X, y).ranking_)


def test_parameters_of_the_machine_are_checked() -> None:
    X, y = make_classification(40, 5, random_state=0)
    with pytest.raises(ValueError, match="The 'C' parameter of SVC"):
        KernelRFE(SVC(kernel="linear", C="1")).fit(X, y)
