"""The kernel perceptron against its textbook algorithms and Novikoff's theorem."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mercer import SVC, KernelPerceptron
from mercer.kernels import RBF, Laplacian, Linear, Polynomial
from mercer.perceptron import _learning
from mercer.perceptron._learning import KernelRows

VARIANTS = ("last", "averaged", "voted")
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def algorithm_4(K: np.ndarray, y: np.ndarray, max_iter: int) -> tuple[np.ndarray, int]:
    """Return alpha and the mistakes of the last epoch, as printed in document 000."""
    alpha = np.zeros(len(y))
    errors = -1
    for _ in range(max_iter):
        errors = 0
        for i in range(len(y)):
            if y[i] * sum(alpha[j] * y[j] * K[j, i] for j in range(len(y))) <= 0:
                alpha[i] += 1
                errors += 1
        if errors == 0:
            break
    return alpha, errors


def algorithm_1(X: np.ndarray, y: np.ndarray, max_iter: int) -> list[tuple[np.ndarray, int]]:
    """Return every w with the visits it survived, after Freund and Schapire (1999)."""
    passed = [(np.zeros(X.shape[1]), 0)]
    for _ in range(max_iter):
        errors = 0
        for x, label in zip(X, y):
            w, survived = passed[-1]
            if label * (w @ x) > 0:
                passed[-1] = (w, survived + 1)
            else:
                passed.append((w + label * x, 1))
                errors += 1
        if errors == 0:
            break
    return passed


@pytest.fixture(name="moons")
def two_moons():
    X, y = make_moons(60, noise=0.15, random_state=0)
    return X, y, np.where(y == 1, 1.0, -1.0)


@pytest.fixture(name="noise")
def overlapping_blobs():
    X, y = make_blobs(90, 3, centers=[[0, 0, 0], [1, 1, 0]], random_state=1)
    return X, y, np.where(y == 1, 1.0, -1.0)


KERNELS = [
    Linear(),
    RBF(2.0),
    Laplacian(1.0),
    Polynomial(3, 0.5, 1.0),
    RBF(1.0) + Linear(),
]


@quiet
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_mistakes_are_those_of_the_textbook(kernel, bias, moons):
    X, y, signs = moons
    model = KernelPerceptron(kernel=kernel, fit_intercept=bias, max_iter=12, shuffle=False)
    model.fit(X, y)
    K = kernel(X) + float(bias)
    alpha, errors = algorithm_4(K, signs, 12)
    assert_array_equal(model.difficulty_, alpha)
    assert model.converged_ == (errors == 0)
    assert model.n_mistakes_[0] == alpha.sum()
    assert_array_equal(model.support_, np.flatnonzero(alpha))
    assert_array_equal(model.dual_coef_[0], (alpha * signs)[alpha > 0])
    assert_allclose(model.decision_function(X), K @ (alpha * signs), atol=1e-9)
    assert model.intercept_[0] == (alpha @ signs if bias else 0.0)


@quiet
@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("bias", [True, False])
def test_variants_are_read_from_the_sequence_of_w(form, variant, bias, noise):
    X, y, signs = noise
    model = KernelPerceptron(
        kernel="linear", variant=variant, form=form, fit_intercept=bias, max_iter=5, shuffle=False
    ).fit(X, y)
    extended = np.column_stack([X, np.ones(len(X))]) if bias else X
    passed = algorithm_1(extended, signs, 5)
    total = sum(survived for _, survived in passed)
    assert total == 5 * len(y)
    expected = {
        "last": extended @ passed[-1][0],
        "averaged": sum(c * (extended @ w) for w, c in passed) / total,
        "voted": sum(c * np.sign(extended @ w) for w, c in passed) / total,
    }[variant]
    assert_allclose(model.decision_function(X), expected, atol=1e-10)
    assert_array_equal(model.predict(X), (expected > 0).astype(int))


@given(
    st.lists(
        st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.booleans()), min_size=2, max_size=15
    ),
    st.booleans(),
)
def test_primal_and_dual_form_are_the_same_machine(points, bias):
    """With whole numbers there is no rounding: the same mistakes, labels and weights."""
    data = np.array(points, dtype=float)
    X, y = data[:, :2], data[:, 2]
    assume(np.unique(y).size == 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        primal, dual = (
            KernelPerceptron(
                kernel="linear", form=form, fit_intercept=bias, max_iter=20, random_state=0
            ).fit(X, y)
            for form in ("primal", "dual")
        )
    assert_array_equal(primal.difficulty_, dual.difficulty_)
    assert_array_equal(primal.predict(X), dual.predict(X))
    assert_array_equal(primal.coef_, dual.coef_)
    direct = (X @ primal.coef_[0] + primal.intercept_[0] > 0).astype(float)
    assert_array_equal(primal.predict(X), direct)


def test_primal_form_is_chosen_for_many_rows_and_needs_a_linear_kernel(moons, monkeypatch):
    X, y, _ = moons
    used = []

    class Watched(_learning.PrimalLearner):
        def __init__(self, *arguments: Any) -> None:
            used.append(True)
            super().__init__(*arguments)

    monkeypatch.setattr("mercer.perceptron.kernel_perceptron.PrimalLearner", Watched)
    separable = X + 10.0 * y[:, None]
    KernelPerceptron(kernel="linear").fit(separable, y)
    assert len(used) == 1
    KernelPerceptron(kernel="linear").fit(np.repeat(separable, 40, axis=1), y)
    KernelPerceptron(kernel="linear", form="dual").fit(separable, y)
    assert len(used) == 1
    with pytest.raises(ValueError, match=r"form='primal' needs kernel='linear'.*got RBF"):
        KernelPerceptron(kernel=RBF(1.0), form="primal").fit(X, y)


def largest_margin_through_the_origin(K: np.ndarray, signs: np.ndarray) -> float:
    """Return the largest margin of unit vectors: with every -x added, the best bias is 0."""
    mirrored = np.block([[K, -K], [-K, K]])
    labels = np.concatenate([signs, -signs])
    model = SVC(kernel="precomputed", C=np.inf, tol=1e-8).fit(mirrored, labels)
    assert abs(model.intercept_[0]) < 1e-5
    return float(model.margin_[0])


@given(
    st.integers(0, 10**6),
    st.integers(2, 30),
    st.integers(1, 4),
    st.sampled_from([Linear(), RBF(0.5), Polynomial(2, 1.0, 1.0)]),
    st.booleans(),
)
def test_novikoff(seed, n, d, kernel, bias):
    """Separable data: an epoch without mistakes comes, after at most (R / rho)^2 mistakes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    values = X @ rng.normal(size=d) + (0.5 * rng.normal() if bias else 0.0)
    # A gap between the classes, so that the bound stays small enough to be reached.
    X, values = X[np.abs(values) > 0.1], values[np.abs(values) > 0.1]
    assume(np.unique(values > 0).size == 2)
    y, signs = values > 0, np.sign(values)
    K = kernel(X) + float(bias)
    rho = largest_margin_through_the_origin(K, signs)
    bound = K.diagonal().max() / rho**2
    model = KernelPerceptron(
        kernel=kernel, fit_intercept=bias, max_iter=int(bound) + 2, random_state=seed
    ).fit(X, y)
    assert model.converged_
    assert_array_equal(model.predict(X), y)
    assert model.n_mistakes_[0] <= bound * (1 + 1e-6)
    assert model.difficulty_.sum() == model.n_mistakes_[0]
    if bias:  # the weaker bound of the docstring, from the machine with a free bias
        hard = SVC(kernel=kernel, C=np.inf, tol=1e-8).fit(X, y)
        weaker = K.diagonal().max() * (hard.margin_[0] ** -2 + hard.intercept_[0] ** 2)
        assert bound <= weaker * (1 + 1e-5)


def test_the_bound_can_be_reached():
    """Points at right angles teach nothing about each other: each costs one mistake."""
    signs = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    bound = 1.0 / largest_margin_through_the_origin(np.eye(5), signs) ** 2
    model = KernelPerceptron(kernel="linear", fit_intercept=False).fit(np.eye(5), signs)
    assert bound == pytest.approx(5.0, rel=1e-6)
    assert model.n_mistakes_[0] == 5


def test_data_that_are_not_separable_are_reported():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    y = [0, 0, 1, 1]
    model = KernelPerceptron(kernel="linear", max_iter=17, shuffle=False)
    with pytest.warns(
        ConvergenceWarning, match=r"still made (\d+) mistakes in the last of 17"
    ) as w:
        model.fit(X, y)
    signs = np.array([-1.0, -1.0, 1.0, 1.0])
    last = int(re.search(r"made (\d+)", str(w[0].message))[1])
    assert last == algorithm_4(X @ X.T + 1, signs, 17)[1] > 0
    assert "not separable" in str(w[0].message)
    assert model.converged_ is False
    assert_array_equal(model.n_iter_, [17])
    assert w[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KernelPerceptron(kernel=RBF(1.0)).fit(X, y).converged_ is True


def test_the_report_counts_machines():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    with pytest.warns(ConvergenceWarning, match=r"\(1 of 3 machines\)"):
        model = KernelPerceptron(kernel="linear", max_iter=60, shuffle=False).fit(X, [0, 1, 2, 2])
    assert (model.n_iter_[[0, 2]] < 60).all()
    assert model.n_iter_[1] == 60


@quiet
def test_averages_and_votes_generalise_better():
    """Over ten noisy problems, as Freund and Schapire found."""
    scores = {variant: [] for variant in VARIANTS}
    for seed in range(10):
        X, y = make_moons(400, noise=0.35, random_state=seed)
        model = KernelPerceptron(kernel=RBF(1.0), max_iter=5, random_state=seed)
        model.fit(X[:200], y[:200])
        for variant in VARIANTS:
            model.set_params(variant=variant)
            scores[variant].append(model.score(X[200:], y[200:]))
    means = {variant: np.mean(values) for variant, values in scores.items()}
    assert means["averaged"] > means["last"] + 0.01
    assert means["voted"] > means["last"] + 0.01


@quiet
@pytest.mark.parametrize("variant", VARIANTS)
def test_another_variant_needs_no_new_fit(variant, noise):
    X, y, _ = noise
    model = KernelPerceptron(max_iter=5, random_state=0).fit(X, y).set_params(variant=variant)
    fitted = KernelPerceptron(max_iter=5, random_state=0, variant=variant).fit(X, y)
    assert_array_equal(model.decision_function(X), fitted.decision_function(X))


@quiet
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kernel", ["linear", RBF(0.5), RBF(0.5) + Linear()], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_partial_fits_are_one_epoch(variant, kernel, n_classes):
    """However the rows are cut into batches."""
    X, y = make_blobs(120, 2, centers=n_classes, cluster_std=4.0, random_state=0)
    whole = KernelPerceptron(kernel=kernel, variant=variant, max_iter=1, shuffle=False).fit(X, y)
    parts = KernelPerceptron(kernel=kernel, variant=variant)
    counts = []
    for start, stop in ((0, 50), (50, 51), (51, 120)):
        parts.partial_fit(X[start:stop], y[start:stop], classes=np.unique(y))
        counts.append(parts.difficulty_)
    assert_array_equal(np.concatenate(counts), whole.difficulty_)
    assert_array_equal(parts.support_, whole.support_)
    assert_array_equal(parts.support_vectors_, whole.support_vectors_)
    assert_array_equal(parts.n_mistakes_, whole.n_mistakes_)
    assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-10)


@quiet
def test_partial_fit_goes_on_from_a_fit(moons):
    """Rows once more are rows of their own: two passes are the two epochs of a fit."""
    X, y, _ = moons
    model = KernelPerceptron(kernel=RBF(0.5), max_iter=1, shuffle=False).fit(X, y)
    first = model.difficulty_
    model.partial_fit(X, y)
    twice = KernelPerceptron(kernel=RBF(0.5), max_iter=2, shuffle=False).fit(X, y)
    assert_array_equal(first + model.difficulty_, twice.difficulty_)
    assert_allclose(model.decision_function(X), twice.decision_function(X), atol=1e-10)
    assert model.support_.max() >= len(y)
    while not model.converged_:
        model.partial_fit(X, y)
    assert model.score(X, y) == 1.0


def test_partial_fit_refuses_what_does_not_fit(moons):
    X, y, _ = moons
    model = KernelPerceptron(kernel=RBF(2.0))
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="at least two classes; got 1 class"):
        model.partial_fit(X, y, classes=[1])
    with pytest.raises(ValueError, match=r"y holds .*1.*none of the classes .*\[0, 5\]"):
        model.partial_fit(X, y, classes=[0, 5])
    assert not hasattr(model, "classes_")
    model.partial_fit(X, y, classes=[1, 0])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=r"classes=\[0, 1, 2\] is not the same as"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :1], y)
    assert_array_equal(model.decision_function(X), before)
    assert not hasattr(KernelPerceptron(kernel="precomputed"), "partial_fit")


def test_many_classes_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = KernelPerceptron(kernel=RBF(1.0), shuffle=False, max_iter=300).fit(X, y)
    values = model.decision_function(X)
    assert model.difficulty_.shape == values.shape == (150, 3)
    for c in range(3):
        alone = KernelPerceptron(kernel=RBF(1.0), shuffle=False, max_iter=300).fit(X, y == c)
        assert_allclose(values[:, c], alone.decision_function(X), atol=1e-9)
        assert_array_equal(model.difficulty_[:, c], alone.difficulty_)
    assert_array_equal(model.predict(X), values.argmax(axis=1))
    assert model.score(X, y) == 1.0


@quiet
def test_difficulty_finds_a_row_with_a_wrong_label():
    X, y = make_blobs(100, 2, centers=[[-3, 0], [3, 0]], cluster_std=0.7, random_state=0)
    y[17] = 1 - y[17]
    model = KernelPerceptron(kernel=RBF(0.2), max_iter=30, random_state=0).fit(X, y)
    assert model.difficulty_.argmax() == 17
    assert model.difficulty_[17] > 2 * np.sort(model.difficulty_)[-2]


@quiet
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dense_limit", [0, 2**28])
def test_sparse_and_precomputed_data(variant, dense_limit, noise, monkeypatch):
    monkeypatch.setattr("mercer.perceptron.kernel_perceptron.DENSE_LIMIT", dense_limit)
    X, y, _ = noise
    X = np.where(X > 0, X, 0.0)
    for kernel in ("linear", RBF(0.5), Laplacian(0.5)):
        model = KernelPerceptron(kernel=kernel, variant=variant, max_iter=5, random_state=0)
        dense = model.fit(X, y).decision_function(X)
        for form in ("auto", "dual"):
            model = clone(model).set_params(form=form).fit(sp.csr_array(X), y)
            assert sp.issparse(model.support_vectors_)
            assert_allclose(model.decision_function(sp.csr_array(X)), dense, atol=1e-9)
    given = KernelPerceptron(kernel="precomputed", variant=variant, max_iter=5, random_state=0)
    K = Laplacian(0.5)(X)
    assert_allclose(given.fit(K, y).decision_function(K), dense, atol=1e-9)


@quiet
def test_same_seed_same_result(noise):
    X, y, _ = noise
    first, again, other = (
        KernelPerceptron(max_iter=5, random_state=seed).fit(X, y).difficulty_ for seed in (0, 0, 1)
    )
    assert_array_equal(first, again)
    assert (first != other).any()
    ordered = [KernelPerceptron(max_iter=5, shuffle=False).fit(X, y).difficulty_ for _ in "ab"]
    assert_array_equal(*ordered)


@quiet
@pytest.mark.parametrize("kernel", [RBF(1.0), RBF(1.0) + Linear()], ids=str)
@pytest.mark.parametrize("megabytes", [0.3, 0.02, 1e-6])
def test_little_memory_gives_the_same_result(kernel, megabytes, monkeypatch):
    """Rows that no longer fit are computed again; the number kept never exceeds the room."""
    X, y = make_moons(400, noise=0.4, random_state=0)
    most = []
    fetch = KernelRows.fetch

    def watched(self, row, likely):
        values = fetch(self, row, likely)
        most.append(len(self.kept))
        return values

    monkeypatch.setattr(KernelRows, "fetch", watched)
    plenty = KernelPerceptron(kernel=kernel, max_iter=4, random_state=0).fit(X, y)
    most.clear()
    little = clone(plenty).set_params(cache_size=megabytes).fit(X, y)
    assert_array_equal(little.difficulty_, plenty.difficulty_)
    assert max(most) == max(1, int(megabytes * 1e6 / (8 * 400)))
    assert len(most) > 4


@quiet
def test_interrupted_fit_leaves_the_model_alone(noise, monkeypatch):
    X, y, _ = noise
    model = KernelPerceptron(max_iter=3, random_state=0).fit(X, y)
    before = model.decision_function(X)
    monkeypatch.setattr(
        _learning.DualLearner, "learn", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    for call in (model.fit, model.partial_fit):
        with pytest.raises(KeyboardInterrupt):
            call(X[:50] + 3.0, 1 - y[:50])
    assert_array_equal(model.decision_function(X), before)


@quiet
@pytest.mark.parametrize("variant", VARIANTS)
def test_documented_attributes(variant):
    pandas = pytest.importorskip("pandas")
    X, y = make_blobs(60, 2, centers=3, cluster_std=4.0, random_state=0)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    model = KernelPerceptron(kernel="linear", variant=variant, max_iter=5).fit(frame, y)
    section = inspect.getdoc(KernelPerceptron).split("Attributes\n----------\n")[1]
    section = section.split("Notes\n-----")[0]
    names = re.findall(r"^(\w+_) :", section, flags=re.MULTILINE)
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(names)
    missing = {name for name in names if not hasattr(model, name)}
    assert missing == ({"dual_coef_", "intercept_", "coef_"} if variant == "voted" else set())
    shapes = {"dual_coef_": (3, model.support_.size), "intercept_": (3,), "coef_": (3, 2)}
    for name in shapes.keys() - missing:
        assert getattr(model, name).shape == shapes[name]
    assert not hasattr(KernelPerceptron(max_iter=5).fit(X, y), "coef_")


def test_bad_input_gets_one_sentence(moons):
    X, y, _ = moons
    with pytest.raises(ValueError, match="at least two classes; got 1 class"):
        KernelPerceptron().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="'variant'"):
        KernelPerceptron(variant="first").fit(X, y)
    with pytest.raises(ValueError, match="'max_iter'"):
        KernelPerceptron(max_iter=0).fit(X, y)
    with pytest.raises(ValueError, match="square"):
        KernelPerceptron(kernel="precomputed").fit(X, y)
    with pytest.raises(NotFittedError):
        KernelPerceptron().predict(X)
    assert not hasattr(KernelPerceptron(), "intercept_")
