"""The gradient search finds the minimum, can be interrupted, and says what it did."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from mercer import SVC, GradientSearch
from mercer._files import record_line
from mercer._folds import weighted_folds
from mercer.kernels import RBF, Laplacian, Linear, Polynomial, Weighted
from mercer.model_selection import (
    Criterion,
    evidence,
    leave_one_out,
    modified_radius_margin,
    press,
    radius_margin,
    smoothed_validation_error,
    span,
)
from mercer.model_selection.gradient.classifier import Objective
from mercer.model_selection.gradient.tuning import Evaluation, Evaluations
from mercer.model_selection.search_record import SearchRecord

L2 = SVC(loss="squared_hinge")


def problem(n: int = 80, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two features matter, by a circle; the others are noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = (X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4).astype(int)
    return X, np.where(random.random(n) < 0.1, 1 - y, y)


@pytest.mark.parametrize(
    ("criterion", "function", "loss"),
    [
        ("evidence", evidence, "squared_hinge"),
        ("press", press, "squared_hinge"),
        ("radius_margin", radius_margin, "squared_hinge"),
        ("modified_radius_margin", modified_radius_margin, "hinge"),
    ],
)
def test_minimum_of_a_dense_grid(criterion: str, function: Any, loss: str) -> None:
    """Nothing on a grid over the whole range is better than what the search has found."""
    X, y = problem(40)
    start = SVC(C=1.0, gamma=0.3, loss=loss)
    search = GradientSearch(
        start, criterion, n_starts=5, ftol=1e-10, gtol=1e-7, random_state=0
    ).fit(X, y)
    grid = [
        function(SVC(C=C, gamma=gamma, loss=loss, tol=1e-6).fit(X, y), X, y, gradient=False).value
        for C in np.geomspace(1e-2, 1e4, 9)
        for gamma in 0.3 * np.geomspace(1e-3, 1e3, 9)
    ]
    assert search.best_criterion_ <= min(grid) + 1e-6
    assert search.best_criterion_ >= min(grid) - 0.1 * abs(min(grid))
    again = function(search.best_estimator_.set_params(tol=1e-8).fit(X, y), X, y)
    assert again.value == pytest.approx(search.best_criterion_, rel=1e-4)


KERNELS = {
    "rbf": "rbf",
    "linear": "linear",
    "polynomial": SVC(kernel="poly", degree=2, coef0=1.0).kernel,
    "widths": RBF([1.0, 0.3, 0.3]),
    "weighted linear": Weighted(Linear(), np.ones(3)),
    "weighted polynomial": Weighted(Polynomial(2, 0.5, 1.0), np.ones(3)),
    "sum": 1.0 * RBF(0.3) + 0.5 * Linear() + 0.5 * Laplacian(0.3),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("criterion", ["auto", "radius_margin", "span"])
def test_kernels(kernel: str, criterion: str) -> None:
    """The criterion falls, and the parameters are those of the fitted classifier."""
    X, y = problem(60)
    estimator = SVC(kernel=KERNELS[kernel], degree=2, coef0=1.0, loss="squared_hinge")
    search = GradientSearch(estimator, criterion, max_evaluations=20).fit(X, y)
    values = [step["objective"] for step in search.history_]
    assert min(values) < values[0]
    assert search.n_evaluations_ == len(values) <= 20
    again = clone(estimator).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), search.decision_function(X), atol=1e-6)
    assert again.kernel_ == search.best_estimator_.kernel_ == search.best_kernel_


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(
    "criterion",
    ["evidence", "press", "span", "smoothed_validation_error", "posterior_error"],
)
def test_losses(criterion: str, loss: str) -> None:
    X, y = problem(50)
    search = GradientSearch(SVC(loss=loss), criterion, max_evaluations=12, cv=3).fit(X, y)
    assert search.best_criterion_ < search.history_[0]["criterion"]
    trained = {"evidence": 0, "press": 0, "span": 1}.get(criterion, 3)
    assert search.n_fits_ == trained * search.n_evaluations_ + 1


def test_hard_margin() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:100] + 0.0, y[:100]
    search = GradientSearch(SVC(C=np.inf), "radius_margin").fit(X, y)
    assert search.best_params_["C"] == np.inf
    assert search.best_criterion_ < search.history_[0]["criterion"]


def test_features_that_matter_get_their_widths() -> None:
    X, y = problem(300, d=6, seed=1)
    search = GradientSearch(random_state=0).fit(X, y)
    widths = search.best_params_["gamma"]
    assert widths[:2].min() > 3 * widths[2:].max()
    X_test, y_test = problem(1000, d=6, seed=2)
    plain = GradientSearch(L2, "evidence").fit(X, y)
    assert search.score(X_test, y_test) > plain.score(X_test, y_test)


def test_one_width_where_the_features_are_alike() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 8))
    y = (X.sum(axis=1) + random.normal(size=120) > 0).astype(int)
    search = GradientSearch(random_state=0).fit(X, y)
    assert {step["stage"] for step in search.history_} >= {"together", "each on its own"}
    assert np.ndim(search.best_params_["gamma"]) == 0


def test_more_features_than_rows_keep_one_width() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 50))
    search = GradientSearch().fit(X, np.arange(30) % 2)
    assert "each on its own" not in {step["stage"] for step in search.history_}


def test_loss_is_chosen_by_folds_where_it_is_open() -> None:
    X, y = problem(120)
    search = GradientSearch(random_state=0).fit(X, y)
    tried = [step for step in search.history_ if "hinge" in step["stage"]]
    assert [step["stage"] for step in tried] == ["squared_hinge", "hinge", "hinge"]
    best = min(tried, key=lambda step: step["criterion"])
    assert (search.best_params_["loss"], search.best_params_["C"]) == (best["stage"], best["C"])
    assert search.n_fits_ == 3 * 5 + 1
    given = GradientSearch(SVC(loss="hinge"), random_state=0).fit(X, y)
    assert "loss" not in given.best_params_
    assert given.best_estimator_.loss == "hinge"
    assert GradientSearch(L2).fit(X, y).n_fits_ == 1


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_on_folds_are_those_of_separate_fits(n_classes: int, weighted: bool) -> None:
    """For each pair of classes the weight of the rows that machines without them get wrong."""
    X = problem(90)[0]
    y = (np.digitize(X[:, 0], [-0.5, 0.5]) if n_classes == 3 else X[:, 0] > 0).astype(int)
    y = np.where(np.arange(90) % 7 == 0, 0, y)
    weights = np.random.default_rng(0).integers(1, 4, 90) / 2 if weighted else np.ones(90)
    search = GradientSearch(random_state=0, max_evaluations=4).fit(X, y, sample_weight=weights)
    shares = weighted_folds(X, y, weights, 5)
    tried = [step for step in search.history_ if "hinge" in step["stage"]]
    assert len(tried) == 3
    for step in tried:
        assert step["start"] == 0
        errors = []
        for pair in combinations(range(n_classes), 2):
            own = np.isin(y, pair)
            wrong = 0.0
            for held in shares.T:
                left, out = own & (weights - held > 1e-9), own & (held > 1e-9)
                model = SVC(C=step["C"], kernel=step["kernel"], loss=step["stage"], tol=1e-5)
                model.fit(X[left], y[left], sample_weight=(weights - held)[left])
                wrong += held[out] @ (model.predict(X[out]) != y[out])
            errors.append(wrong / weights[own].sum())
        assert step["criterion"] == pytest.approx(np.mean(errors), abs=1e-9)


@pytest.mark.parametrize("n_starts", [1, 2])
def test_evaluations_are_limited(n_starts: int) -> None:
    """Those of both stages count together, for each start."""
    X, y = problem(80, d=4)
    X[:, 2:] *= 0.01
    search = GradientSearch(
        L2, "auto", n_starts=n_starts, max_evaluations=9, ftol=0.0, gtol=0.0, random_state=0
    ).fit(X, y)
    stages = [step["stage"] for step in search.history_]
    together, apart = stages.count("together"), stages.count("each on its own")
    assert 0 < together <= n_starts * 9
    assert 0 < apart <= 9 - together // n_starts


def test_many_classes() -> None:
    X, y = load_iris(return_X_y=True)
    for multi_class in ("ovo", "ovr"):
        search = GradientSearch(SVC(multi_class=multi_class, loss="squared_hinge")).fit(X, y)
        assert search.score(X, y) > 0.95
        assert search.decision_function(X).shape == (150, 3)
        assert search.classes_.tolist() == [0, 1, 2]


def test_precomputed_kernel_matrix() -> None:
    X, y = problem(60)
    K = RBF(0.5)(X)
    given = GradientSearch(SVC(kernel="precomputed", loss="squared_hinge"), "evidence").fit(K, y)
    assert given.best_params_.keys() == {"C"}
    fixed = GradientSearch(
        SVC(kernel=RBF(0.5), loss="squared_hinge"), "evidence", kernel_bounds=(1.0, 1.0)
    ).fit(X, y)
    assert given.best_params_["C"] == pytest.approx(fixed.best_params_["C"], rel=1e-2)
    np.testing.assert_array_equal(given.predict(K), fixed.predict(X))


def test_criterion_of_your_own() -> None:
    X, y = problem(60)
    named = GradientSearch(L2, "radius_margin", ftol=1e-8).fit(X, y)

    def logarithm(model: SVC, X: Any, y: Any) -> Criterion:
        found = radius_margin(model.set_params(tol=1e-6).fit(X, y), X, y)
        return Criterion(np.log(found.value), found.gradient / found.value, found.names)

    own = GradientSearch(L2, logarithm, ftol=1e-8).fit(X, y)
    assert own.best_params_["C"] == pytest.approx(named.best_params_["C"], rel=1e-2)
    assert own.best_params_["gamma"] == pytest.approx(named.best_params_["gamma"], rel=1e-2)


def test_kernel_without_a_name() -> None:
    """A function that cannot be pickled is no obstacle; it has no parameters but C."""
    X, y = problem(40)
    search = GradientSearch(SVC(kernel=lambda A, B: A @ B.T, loss="squared_hinge")).fit(X, y)
    linear = GradientSearch(SVC(kernel="linear", loss="squared_hinge")).fit(X, y)
    assert search.best_params_["C"] == pytest.approx(linear.best_params_["C"], rel=1e-6)


def test_same_seed_same_result() -> None:
    X, y = problem(200)
    one, two, other = (
        GradientSearch(L2, "evidence", max_rows=60, n_starts=2, random_state=seed).fit(X, y)
        for seed in (3, 3, 4)
    )
    assert one.n_rows_ == 60
    assert one.best_params_ == two.best_params_
    assert one.best_params_ != other.best_params_
    assert {step["start"] for step in one.history_} == {0, 1}


def test_rows_are_chosen_in_proportion() -> None:
    y = problem(400)[1]
    search = GradientSearch(L2, "evidence", max_rows=100, random_state=0)
    rows = search._choose_rows(np.arange(400), y, np.random.RandomState(0))
    assert rows.size == 100
    assert abs(y[rows].mean() - y.mean()) < 0.02


def interrupted_after(count: int, monkeypatch: Any) -> None:
    """Make the evaluation after `count` ones raise what Ctrl-C raises."""
    original = Objective._evaluate
    calls = iter(range(count))

    def evaluate(self: Any, *args: Any) -> Any:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return original(self, *args)

    monkeypatch.setattr(Objective, "_evaluate", evaluate)


@pytest.mark.parametrize("criterion", ["auto", "radius_margin", "smoothed_validation_error"])
@pytest.mark.parametrize("by_file", [False, True])
def test_taken_up_after_an_interruption(
    criterion: str, by_file: bool, monkeypatch: Any, tmp_path: Path
) -> None:
    """The result is that of the uninterrupted search, and nothing is evaluated twice."""
    X, y = problem(270, d=4)  # large enough that a warm start shows in the last digits
    settings = {"estimator": None if criterion == "auto" else L2, "criterion": criterion}
    settings |= {"max_evaluations": 12, "ftol": 1e-9}
    whole = GradientSearch(**settings, random_state=0).fit(X, y)
    half = whole.n_evaluations_ // 2
    checkpoint = tmp_path / "search.txt" if by_file else None
    search = GradientSearch(**settings, random_state=0, warm_start=True, checkpoint=checkpoint)
    with monkeypatch.context() as patch:
        interrupted_after(half, patch)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, y)
    assert not hasattr(search, "best_estimator_")
    if by_file:
        search = clone(search)
    with monkeypatch.context() as patch:
        interrupted_after(whole.n_evaluations_ - half, patch)
        search.fit(X, y)
    assert search.n_evaluations_ == whole.n_evaluations_
    assert search.n_fits_ == whole.n_fits_
    assert search.best_criterion_ == whole.best_criterion_
    np.testing.assert_array_equal(search.decision_function(X), whole.decision_function(X))


def test_other_data_start_anew() -> None:
    X, y = problem(60)
    search = GradientSearch(L2, "evidence", warm_start=True).fit(X, y)
    other = search.fit(X + 1e-3 * X**2, y).best_params_
    assert other == GradientSearch(L2, "evidence").fit(X + 1e-3 * X**2, y).best_params_


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_leaves_the_last_checkpoint(monkeypatch: Any, tmp_path: Path) -> None:
    """The search ends with the system's error; what was saved before is used later."""
    X, y = problem(60)
    path = tmp_path / "search.txt"
    open_file, additions = Path.open, iter(range(100))

    def on_a_full_disk(file: Path, mode: str = "r", **how: Any) -> Any:
        is_full = mode == "a" and next(additions) >= 2
        return open_file(Path("/dev/full") if is_full else file, mode, **how)

    search = GradientSearch(L2, "evidence", checkpoint=path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", on_a_full_disk)
        with pytest.raises(OSError, match="No space left"):
            search.fit(X, y)
    assert not hasattr(search, "best_estimator_")
    kept = path.read_bytes()
    assert kept
    search.fit(X, y)
    assert path.read_bytes().startswith(kept)
    alone = GradientSearch(L2, "evidence").fit(X, y)
    assert search.best_criterion_ == alone.best_criterion_


@pytest.mark.parametrize("C", ["1", -1.0])
def test_parameters_of_the_machine_are_checked(C: Any) -> None:
    with pytest.raises(ValueError, match="The 'C' parameter of SVC"):
        GradientSearch(SVC(C=C)).fit(*problem(40))


def test_checkpoints_that_do_not_fit(tmp_path: Path) -> None:
    X, y = problem(40)
    path = tmp_path / "search.txt"
    GradientSearch(L2, "evidence", checkpoint=path).fit(X, y)
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError, match="other data"):
        GradientSearch(L2, "evidence", checkpoint=path).fit(X[1:], y[1:])
    head = path.read_text().splitlines(keepends=True)[0]
    foreign = tmp_path / "foreign.txt"
    foreign.write_text(head + record_line({"key": "no number", "value": 1.0}))
    with pytest.raises(ValueError, match="no checkpoint of this kind"):
        GradientSearch(L2, "evidence", checkpoint=foreign).fit(X, y)
    path.write_bytes(path.read_bytes()[1:50])
    with pytest.raises(ValueError, match="no checkpoint"):
        GradientSearch(L2, "evidence", checkpoint=path).fit(X, y)


def test_a_torn_checkpoint_loses_its_last_evaluation_only(tmp_path: Path) -> None:
    X, y = problem(40)
    path = tmp_path / "search.txt"
    whole = GradientSearch(L2, "evidence", checkpoint=path).fit(X, y)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + whole.n_evaluations_
    path.write_bytes(b"".join(lines)[:-5])
    again = GradientSearch(L2, "evidence", checkpoint=path).fit(X, y)
    assert again.best_params_ == whole.best_params_
    assert path.read_bytes() == b"".join(lines)


def test_evaluations_survive_the_file(tmp_path: Path) -> None:
    path, found = tmp_path / "m", Evaluation(0.1, np.array([1 / 3, np.inf]), 2)
    kept = Evaluations(SearchRecord.open("f", path, seed=7))
    kept.add(b"key", found, {1: {"fold 2": np.array([0.5, -0.1])}})
    again = Evaluations(SearchRecord.open("f", path, seed=8))
    assert again.record.seed == 7
    assert (again.known[b"key"].value, again.known[b"key"].n_fits) == (0.1, 2)
    np.testing.assert_array_equal(again.known[b"key"].gradient, found.gradient)
    np.testing.assert_array_equal(again.solutions[1]["fold 2"], [0.5, -0.1])


WRONG = {
    "loss": (GradientSearch(SVC(), "radius_margin"), "squared_hinge"),
    "modified": (GradientSearch(L2, "modified_radius_margin"), "hinge"),
    "no gradient": (GradientSearch(SVC(), leave_one_out), "gradient"),
    "name": (GradientSearch(SVC(), "guesswork"), "criterion"),
    "estimator": (GradientSearch(Linear()), "estimator"),
    "not separable": (GradientSearch(SVC(C=np.inf, kernel="linear"), "radius_margin"), "separated"),
    "no start": (GradientSearch(n_starts=0), "n_starts"),
    "no evaluation": (GradientSearch(max_evaluations=0), "max_evaluations"),
    "one row": (GradientSearch(max_rows=1), "max_rows"),
    "turned": (GradientSearch(kernel_bounds=(2.0, 1.0)), "kernel_bounds"),
    "from nothing": (GradientSearch(C_bounds=(0.0, 1.0)), "C_bounds"),
    "bounds": (GradientSearch(C_bounds=(1.0,)), "C_bounds"),
}


@pytest.mark.parametrize(("search", "words"), WRONG.values(), ids=WRONG)
def test_one_sentence_says_what_is_wrong(search: GradientSearch, words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        search.fit(*problem(40))
    assert "\n" not in str(error.value)
    assert not hasattr(search, "best_params_")


def test_weights_need_a_criterion_that_knows_them() -> None:
    X, y = problem(40)
    with pytest.raises(ValueError, match="sample_weight"):
        GradientSearch(L2, "span").fit(X, y, sample_weight=np.full(40, 2.0))


def test_indefinite_kernels_turn_the_search_back() -> None:
    """Where K + I/C is not positive definite there is a wall, not an end."""
    X, y = problem(60)
    estimator = SVC(kernel="sigmoid", gamma=1.0, loss="hinge", C=100.0)
    with pytest.warns(UserWarning, match="eigenvalue"):
        search = GradientSearch(estimator, "evidence").fit(X, y)
    assert search.best_params_["C"] < 100.0
    assert np.isfinite(search.best_criterion_)


def test_progress_is_told(capsys: Any) -> None:
    X, y = problem(40)
    lines = []
    for verbose in range(3):
        search = GradientSearch(L2, "evidence", verbose=verbose).fit(X, y)
        lines.append(capsys.readouterr().out.splitlines())
    assert lines[0] == []
    assert any("C = " in line for line in lines[1])
    assert len(lines[2]) == len(lines[1]) + len(search.history_)  # one more an evaluation


def test_functions_and_names_agree() -> None:
    """What the search reports is what the public function says of the same classifier."""
    X, y = problem(60)
    for function in (span, smoothed_validation_error):
        search = GradientSearch(L2, function.__name__, max_evaluations=4).fit(X, y)
        model = clone(search.best_estimator_).set_params(tol=1e-8).fit(X, y)
        assert function(model, X, y).value == pytest.approx(search.best_criterion_, rel=1e-5)


def test_sixty_widths(data_folder: Path) -> None:
    """Document 000 calls this search hopeless for a grid: 60 widths on splice."""
    data = np.load(data_folder / "ida" / "splice.npz")
    train, test = data["train"][0], data["test"][0]
    search = GradientSearch(max_rows=600, random_state=0).fit(data["X"][train], data["y"][train])
    assert search.n_evaluations_ <= 60
    assert search.best_params_["gamma"].shape == (60,)
    assert search.score(data["X"][test], data["y"][test]) > 0.93


def test_weights_of_classes_do_not_make_a_machine_that_knows_nothing() -> None:
    """As precisions of the noise they would call for widths around each rare row."""
    random = np.random.default_rng(0)
    y = np.r_[np.zeros(380, dtype=int), np.ones(16, dtype=int)]
    X = random.normal(size=(396, 4))
    X[y == 1, :2] *= 0.3
    new = random.normal(size=(600, 4))
    new[300:, :2] *= 0.3
    truth = np.repeat([0, 1], 300)
    machine = SVC(loss="squared_hinge", class_weight="balanced")
    search = GradientSearch(machine, C_bounds=(1e-6, 1e4), random_state=0).fit(X, y)
    assert roc_auc_score(truth, search.decision_function(new)) > 0.8
    assert balanced_accuracy_score(truth, search.predict(new)) > 0.7
    stages = [step["stage"] for step in search.history_]
    assert stages.count("squared_hinge") == 5
    assert search.best_params_["C"] == search.history_[search.best_index_]["C"]
    plain = GradientSearch(L2, C_bounds=(1e-6, 1e4), random_state=0).fit(X, y)
    np.testing.assert_array_equal(plain.best_kernel_.theta, search.best_kernel_.theta)


def test_errors_on_folds_have_the_weights_of_their_classes() -> None:
    y = np.r_[np.ones(15, dtype=int), np.zeros(45, dtype=int)]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 1.2 * y[:, None]
    search = GradientSearch(SVC(class_weight={1: 3.0}), max_evaluations=8, random_state=0)
    search.fit(X, y)
    step = next(step for step in search.history_ if step["stage"] == "hinge")
    shares = weighted_folds(X, y, np.ones(60), 5)
    total = 0.0
    for share in shares.T:
        held = share > 0
        model = SVC(C=step["C"], kernel=step["kernel"], class_weight={1: 3.0}, tol=1e-5)
        wrong = model.fit(X[~held], y[~held]).predict(X[held]) != y[held]
        total += float(np.where(y[held] == 1, 3.0, 1.0) @ wrong)
    assert step["criterion"] == pytest.approx(total / 90)
