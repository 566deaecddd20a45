"""The estimators keep scikit-learn's rules."""

from __future__ import annotations

import inspect
import pickle
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn import svm
from sklearn.base import clone, is_outlier_detector
from sklearn.datasets import load_iris, make_blobs
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted
from variants import VARIANTS, checks_of_each_variant, fewer_formats, only_expected_warnings

from mercer import SVC, SVDD, SVR, NearestHypersphereClassifier, OneClassSVM
from mercer.kernels import RBF, Linear


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")  # a check's
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:sklearn.naive_bayes")
@pytest.mark.parametrize(
    ("estimator", "check"),
    checks_of_each_variant(),
    ids=cache(parametrize_with_checks([]).kwargs["ids"]),  # words of an estimator take their time
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    with only_expected_warnings(estimator), fewer_formats(estimator, check):
        check(estimator)


@pytest.mark.parametrize(
    "name",
    ["check_param_validation", "check_dataframe_column_names_consistency"],
)
@pytest.mark.parametrize("kind", sorted({type(model) for model in VARIANTS}, key=str))
def test_checks_that_the_list_omits(name: str, kind: Any) -> None:
    model = next(model for model in VARIANTS if type(model) is kind)
    with only_expected_warnings(model):
        getattr(estimator_checks, name)(kind.__name__, clone(model))


@pytest.mark.parametrize("model", VARIANTS, ids=str)
def test_only_transformers_choose_their_output(model: Any) -> None:
    """What transforms nothing must not offer to choose the output."""
    assert hasattr(model, "set_output") == hasattr(model, "transform")


@pytest.fixture(scope="module", name="iris")
def iris_data() -> tuple[np.ndarray, np.ndarray]:
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weight_is_repetition(loss: str, kernel: str, class_weight: Any, iris: Any) -> None:
    """An integer weight is that many copies of the row; so see it gamma="scale" and "balanced"."""
    X, y = iris
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    model = SVC(loss=loss, kernel=kernel, class_weight=class_weight, tol=1e-9)
    weighted = clone(model).fit(X, y, sample_weight=counts)
    repeated = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-8)


def test_median_width_counts_weights(iris: Any) -> None:
    X, y = iris
    counts = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = SVC(gamma="median").fit(X, y, sample_weight=counts)
    repeated = SVC(gamma="median").fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.kernel_.gamma == pytest.approx(repeated.kernel_.gamma, rel=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_zero_weight_is_removal(kernel: str, iris: Any) -> None:
    """Rows of weight 0 change nothing, and support_ still counts in all rows."""
    X, y = iris
    kept = np.random.default_rng(2).random(len(y)) < 0.7
    train = X @ X.T if kernel == "precomputed" else X
    part = train[np.ix_(kept, kept)] if kernel == "precomputed" else X[kept]
    weighted = SVC(kernel=kernel, tol=1e-8).fit(train, y, sample_weight=kept.astype(float))
    removed = SVC(kernel=kernel, tol=1e-8).fit(part, y[kept])
    np.testing.assert_array_equal(weighted.support_, np.flatnonzero(kept)[removed.support_])
    np.testing.assert_allclose(weighted.dual_coef_, removed.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(weighted.intercept_, removed.intercept_, atol=1e-9)
    slack = weighted.slack_.toarray()
    np.testing.assert_array_equal(slack[~kept], 0.0)
    np.testing.assert_allclose(slack[kept], removed.slack_.toarray(), atol=1e-9)
    values = train[:, kept] if kernel == "precomputed" else X
    np.testing.assert_allclose(
        weighted.decision_function(train), removed.decision_function(values), atol=1e-9
    )


def test_a_class_of_weight_zero_is_gone(iris: Any) -> None:
    X, y = iris
    model = SVC().fit(X, y, sample_weight=(y != 1).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 2])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(library: str, iris: Any) -> None:
    frames = pytest.importorskip(library)
    X, y = iris
    names = ["a", "b", "c", "d"]
    frame = frames.DataFrame(dict(zip(names, X.T)))
    labels = np.array(["x", "y", "z"])[y]
    model = SVC().fit(frame, frames.Series(labels))
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.predict(frame), SVC().fit(X, labels).predict(X))
    assert np.asarray(model.support_vectors_).dtype == np.float64


def test_column_names_must_match(iris: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = iris
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = SVC().fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("abdc")])


def test_frames_of_numbers_are_read_as_arrays(iris: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = iris
    frame, labels = pandas.DataFrame(X, columns=list("abcd")), pandas.Series(y, index=y[::-1])
    model = SVC().fit(frame, labels)
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(
        model.decision_function(frame), SVC().fit(X, y).decision_function(X)
    )
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(X)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("abc")])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(frame.mask(frame > 5))
    without_names = SVC().fit(X, y)
    with pytest.warns(UserWarning, match="without feature names"):
        without_names.predict(frame)
    assert not hasattr(model.fit(X, y), "feature_names_in_")
    mixed = frame.assign(a=frame["a"].astype("float32"), b=frame["b"].round().astype("int64"))
    same = SVC().fit(mixed.to_numpy(dtype=np.float64), y)
    found = SVC().fit(mixed, labels).decision_function(mixed)
    np.testing.assert_array_equal(found, same.decision_function(mixed.to_numpy(dtype=np.float64)))


def test_weights_of_features_follow_another_fit(iris: Any) -> None:
    X, y = iris
    model = SVC(kernel="linear").fit(X, y)
    before = model.coef_
    after = model.fit(X[:, :2], y).coef_
    assert before.shape == (3, 4)
    np.testing.assert_array_equal(after, SVC(kernel="linear").fit(X[:, :2], y).coef_)


@pytest.mark.parametrize("model", VARIANTS, ids=str)
def test_pickle_keeps_the_model(model: Any, iris: Any) -> None:
    X, y = iris
    X = X @ X.T if get_tags(model).input_tags.pairwise else X
    with only_expected_warnings(model):
        fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    methods = ("decision_function", "predict", "transform")
    method = next(name for name in methods if hasattr(fitted, name))
    np.testing.assert_array_equal(getattr(again, method)(X), getattr(fitted, method)(X))


def test_clone_forgets_the_fit(iris: Any) -> None:
    model = SVC(kernel=RBF(0.3), C=7.0).fit(*iris)
    copy = clone(model)
    assert copy.get_params()["kernel__gamma"] == 0.3
    assert copy.kernel is not model.kernel
    with pytest.raises(AttributeError):
        check_is_fitted(copy)


def test_nested_parameters(iris: Any) -> None:
    model = SVC(kernel=RBF(0.3))
    model.set_params(kernel__gamma=2.0)
    assert model.kernel.gamma == 2.0
    assert model.fit(*iris).kernel_.gamma == 2.0
    composed = SVC(kernel=RBF(0.3) + Linear())
    names = [name for name in composed.get_params() if name.endswith("gamma") and "__" in name]
    composed.set_params(**{names[0]: 1.5})
    assert 1.5 in composed.get_params().values()


def test_fit_leaves_parameters_alone(iris: Any) -> None:
    kernel = RBF("scale")
    model = SVC(kernel=kernel).fit(*iris)
    assert model.kernel is kernel
    assert kernel.gamma == "scale"
    assert isinstance(model.kernel_.gamma, float)


def test_grid_search_over_the_kernel(iris: Any) -> None:
    grid = {"kernel__gamma": [1e-3, 0.1, 1.0], "C": [0.1, 10.0]}
    search = GridSearchCV(SVC(kernel=RBF(1.0)), grid, cv=3).fit(*iris)
    assert search.best_score_ > 0.95
    assert len(search.cv_results_["params"]) == 6
    assert search.best_estimator_.kernel_.gamma == search.best_params_["kernel__gamma"]


def test_pipelines_and_meta_estimators(iris: Any) -> None:
    assert cross_val_score(make_pipeline(StandardScaler(), SVC()), *iris, cv=3).min() > 0.9
    assert OneVsRestClassifier(SVC()).fit(*iris).score(*iris) > 0.95


def test_cross_validation_of_a_precomputed_kernel(iris: Any) -> None:
    """The folds are taken from rows and columns."""
    X, y = iris
    direct = cross_val_score(SVC(kernel="linear"), X, y, cv=3)
    np.testing.assert_allclose(cross_val_score(SVC(kernel="precomputed"), X @ X.T, y, cv=3), direct)


BAD_INPUT = {
    "C zero": ({"C": 0.0}, {}, "'C'"),
    "C negative": ({"C": -1.0}, {}, "'C'"),
    "kernel name": ({"kernel": "cosine-ish"}, {}, "kernel"),
    "gamma": ({"gamma": -1.0}, {}, "gamma"),
    "loss": ({"loss": "cubic"}, {}, "'loss'"),
    "tol": ({"tol": 0.0}, {}, "'tol'"),
    "negative weight": ({}, {"sample_weight": np.linspace(-1, 1, 150)}, "sample_weight"),
    "zero weights": ({}, {"sample_weight": np.zeros(150)}, "weight"),
    "one class": ({}, {"y": np.ones(150)}, "class"),
    "continuous": ({}, {"y": np.linspace(0, 1, 150)}, "Unknown label type"),
    "class weight": ({"class_weight": {0: -1.0}}, {}, "class_weight"),
    "not square": ({"kernel": "precomputed"}, {}, "square"),
    "linear solver": ({"solver": "linear"}, {}, "linear"),
}


@pytest.mark.parametrize(("params", "changes", "words"), BAD_INPUT.values(), ids=BAD_INPUT)
def test_bad_input_gets_one_sentence(params: Any, changes: Any, words: str, iris: Any) -> None:
    """What, and what is allowed; and the model that was there before is untouched."""
    model = SVC().fit(*iris)
    before = model.decision_function(iris[0])
    given = {"X": iris[0], "y": iris[1]} | changes
    with pytest.raises((ValueError, TypeError), match=words) as error:
        model.set_params(**params).fit(**given)
    assert "\n" not in str(error.value).strip()
    after = model.set_params(**SVC().get_params()).decision_function(iris[0])
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_no_numbers(value: float, iris: Any) -> None:
    X = iris[0].copy()
    X[3, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        SVC().fit(X, iris[1])
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        SVC().fit(*iris).predict(X)


def documented_attributes() -> list[str]:
    """Return the names in the Attributes section of the docstring."""
    text = inspect.getdoc(SVC) or ""
    section = text.split("Attributes\n----------\n")[1].split("References\n----------")[0]
    lines = re.findall(r"^(\w+_(?:, \w+_)*) :", section, flags=re.MULTILINE)
    return [name for line in lines for name in line.split(", ")]


def expected_shapes(model: SVC, n: int, d: int) -> dict[str, tuple[int, ...]]:
    k, n_sv = len(model.classes_), len(model.support_)
    machines = 1 if k == 2 else (k if model.multi_class == "ovr" else k * (k - 1) // 2)
    rows = k - 1 if model.multi_class == "ovo" else machines
    per_machine = ("intercept_", "margin_", "objective_", "gap_", "n_iter_")
    return dict.fromkeys(per_machine, (machines,)) | {
        "classes_": (k,),
        "support_": (n_sv,),
        "support_vectors_": (n_sv, d),
        "n_support_": (k,),
        "dual_coef_": (rows, n_sv),
        "support_kind_": (rows, n_sv),
        "coef_": (machines, d),
        "slack_": (n,) if k == 2 else (n, machines),
        "feature_names_in_": (d,),
    }


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_documented_attributes(n_classes: int, multi_class: str, loss: str) -> None:
    """Each exists with the shape that the documentation gives, and means what it says."""
    pandas = pytest.importorskip("pandas")
    X, y = make_blobs(80, 3, centers=n_classes, cluster_std=4.0, random_state=0)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = SVC(kernel="linear", multi_class=multi_class, loss=loss).fit(frame, y)
    names = documented_attributes()
    shapes = expected_shapes(model, *X.shape)
    assert set(names) >= shapes.keys()
    for name in names:
        if name == "sigmoids_":  # with probability=True only
            assert not hasattr(model, name)
            continue
        value = getattr(model, name)
        if name in shapes:
            assert value.shape == shapes[name], name
    assert model.converged_ is True
    assert model.n_features_in_ == 3
    assert model.n_support_.sum() == len(model.support_)
    np.testing.assert_array_equal(y[model.support_], np.sort(y[model.support_]))
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
    np.testing.assert_array_equal(model.support_kind_ == "", model.dual_coef_ == 0)
    assert set(np.unique(model.support_kind_)) <= {"", "margin", "bound"}
    np.testing.assert_allclose(1 / model.margin_, np.linalg.norm(model.coef_, axis=1), atol=1e-3)


def test_no_undocumented_attributes(iris: Any) -> None:
    """What a fit leaves behind in public is in the documentation."""
    model = SVC().fit(*iris)
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    # shape_fit_ is scikit-learn's own, for compatibility.
    assert public - {"shape_fit_"} <= set(documented_attributes())


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_slack_of_many_classes(multi_class: str, iris: Any) -> None:
    """One column a machine; rows that take no part have none."""
    X, y = iris
    model = SVC(multi_class=multi_class, decision_function_shape="ovo", tol=1e-6).fit(X, y)
    values, slack = model.decision_function(X), model.slack_.toarray()
    pairs = [(0, 1), (0, 2), (1, 2)] if multi_class == "ovo" else [(0, None), (1, None), (2, None)]
    for column, (first, second) in enumerate(pairs):
        others = -1.0 if second is None else np.where(y == second, -1.0, 0.0)
        sign = np.where(y == first, 1.0, others)
        expected = np.where(sign == 0, 0.0, np.maximum(0.0, 1.0 - sign * values[:, column]))
        np.testing.assert_allclose(slack[:, column], expected, atol=1e-5)


def test_one_against_the_rest_is_the_arg_max(iris: Any) -> None:
    model = SVC(multi_class="ovr", tol=1e-6).fit(*iris)
    values = model.decision_function(iris[0])
    np.testing.assert_array_equal(model.predict(iris[0]), values.argmax(axis=1))
    alone = SVC(tol=1e-6, gamma=model.kernel_.gamma).fit(iris[0], iris[1] == 2)
    np.testing.assert_allclose(values[:, 2], alone.decision_function(iris[0]), atol=1e-4)


def test_coefficients_need_a_linear_kernel(iris: Any) -> None:
    assert not hasattr(SVC().fit(*iris), "coef_")
    model = SVC(kernel="linear").fit(*iris)
    np.testing.assert_allclose(
        iris[0] @ model.coef_.T + model.intercept_,
        model.set_params(decision_function_shape="ovo").decision_function(iris[0]),
        atol=1e-10,
    )


def test_verbose_says_one_line(iris: Any, capsys: Any) -> None:
    SVC(verbose=True).fit(*iris)
    assert capsys.readouterr().out.count("\n") == 1
    SVC().fit(*iris)
    assert capsys.readouterr().out == ""


def failed_checks(model: Any) -> set[str]:
    """Return the names of scikit-learn's checks that a model does not pass."""
    found = estimator_checks.check_estimator(model, on_fail=None, on_skip=None)
    return {one["check_name"] for one in found if one["status"] == "failed"}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_of_pairs_keep_the_rules_that_theirs_keep() -> None:
    """Their arg max is no prediction, in scikit-learn's own SVC as in ours; all else holds."""
    ours = failed_checks(SVC(decision_function_shape="ovo", tol=1e-10))
    theirs = failed_checks(svm.SVC(decision_function_shape="ovo", tol=1e-10))
    assert ours <= theirs
    assert "check_classifiers_train" in theirs


NOTHING_TO_DO = [
    OneClassSVM(nu=1.0),
    SVDD(nu=1.0),
    NearestHypersphereClassifier(nu=1.0, cv=None),
    SVR(epsilon=100.0),
    SVC(warm_start=True),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [*NOTHING_TO_DO, *(model for model in VARIANTS if hasattr(model, "max_iter"))],
    ids=str,
)
def test_iterations_are_counted_from_one(model: Any, iris: Any) -> None:
    """Also where the first look finds nothing to do, and in a second fit from the solution."""
    X, y = iris[0][:100], iris[1][:100]
    data = X @ X.T if get_tags(model).input_tags.pairwise else X
    arguments = (data,) if is_outlier_detector(model) else (data, y)
    fitted = clone(model).fit(*arguments)
    assert np.min(fitted.fit(*arguments).n_iter_) >= 1
