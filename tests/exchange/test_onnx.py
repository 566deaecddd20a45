"""onnxruntime gives our labels, values and probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from absolute_terms import ROUNDING, absolute_terms, unscaled
from sklearn.base import is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from zoo import ZOO, Problem, blobs

import mercer
from mercer import (
    RVC,
    RVR,
    SVC,
    SVDD,
    SVR,
    NearestHypersphereClassifier,
    OneClassSVM,
    PlattClassifier,
)
from mercer.exchange import register_onnx
from mercer.exchange._expansion import Expansion
from mercer.kernels import RBF, Laplacian, Linear, Normalized, Polynomial, Sigmoid, Weighted

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")

pytestmark = pytest.mark.filterwarnings(
    "ignore:The kernel is not positive semi-definite", "ignore::DeprecationWarning"
)
X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
LIMITS = {"float32": 1e-5, "float64": 1e-10}
PRECISIONS = pytest.mark.parametrize("precision", LIMITS)


def run(model: Any, rows: Any) -> tuple[list[Any], set[str]]:
    """Return the outputs of the graph, and the operators that it consists of."""
    graph = mercer.to_onnx(model, rows)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    answers = session.run(None, {session.get_inputs()[0].name: rows})
    return answers, {node.op_type for node in graph.graph.node}


def values_of(model: Any, rows: Any) -> Any:
    """Return what the second output has to be."""
    machine = model[-1] if hasattr(model, "steps") else model
    if is_regressor(machine):
        return model.predict(rows)[:, None]
    if hasattr(model, "predict_proba"):
        return model.predict_proba(rows)
    if isinstance(machine, NearestHypersphereClassifier):
        return -machine.dissimilarities(rows)
    values = model.decision_function(rows)
    return values.reshape(len(values), -1)


def agree(model: Any, rows: Any, precision: str, share: float = 1.0) -> set[str]:
    """Check all outputs, labels wherever no value is too near to another for the precision."""
    given = np.ascontiguousarray(rows, dtype=precision)
    answers, operators = run(model, given)
    seen, limit = given.astype(np.float64), LIMITS[precision]
    ours = values_of(model, seen)
    scale = max(1.0, np.abs(ours).max())
    assert answers[-1].dtype == precision
    assert answers[-1].shape == ours.shape
    np.testing.assert_allclose(answers[-1], ours, rtol=0, atol=limit * scale)
    if len(answers) == 2:
        labels = model.predict(seen)
        assert answers[0].shape == labels.shape
        clear = _is_clear(model, ours, limit * scale)
        assert clear.mean() >= share
        np.testing.assert_array_equal(answers[0][clear], labels[clear])
    return operators


def _is_clear(model: Any, values: Any, limit: float) -> Any:
    machine = model[-1] if hasattr(model, "steps") else model
    if values.shape[1] == 1 or getattr(machine, "decision_function_shape", "") == "ovo":
        return (np.abs(values) > limit).all(axis=1)
    return np.diff(np.sort(values, axis=1)[:, -2:], axis=1)[:, 0] > limit


ALL_TIES = {"two_equal_rows", "linear_features_1e-6"}
"""Problems whose values are all 0 to the precision."""

FOREIGN = {"callable", "callable_squared", "gaussian_process"}


@pytest.mark.parametrize("problem", ZOO, ids=lambda problem: problem.name)
def test_zoo(problem: Problem) -> None:
    """Every classifier of the zoo, in both precisions, or a sentence that says why not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC(**problem.params).fit(problem.X, problem.y, problem.sample_weight)
    rows = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    if problem.name in FOREIGN or problem.name.startswith("precomputed"):
        with pytest.raises(ValueError, match=r"own kernels|precomputed kernel") as error:
            mercer.to_onnx(model, rows)
        assert "\n" not in str(error.value)
        return
    for precision in LIMITS:
        agree(model, rows, precision, share=0.0 if problem.name in ALL_TIES else 0.5)


MACHINES: dict[str, Any] = {
    "svc_3": SVC(),
    "svc_ties": SVC(gamma=20.0, break_ties=True),
    "svc_pairs": SVC(decision_function_shape="ovo"),
    "svc_no_ties": SVC(gamma=20.0),
    "svc_rest": SVC(multi_class="ovr", C=10.0),
    "svc_probability": SVC(probability=True),
    "svc_poly": SVC(kernel="poly", coef0=1.0, gamma=0.1),
    "svc_sum": SVC(kernel=RBF(0.2) + 0.1 * Linear() ** 2),
    "svc_normalized": SVC(kernel=Normalized(Polynomial(2, 1.0, 1.0)) * Laplacian(0.1)),
    "platt": PlattClassifier(SVC()),
    "platt_rest": PlattClassifier(SVC(multi_class="ovr")),
    "platt_scaled": PlattClassifier(make_pipeline(StandardScaler(), MinMaxScaler(), SVC())),
    "platt_sigmoid": PlattClassifier(SVC(kernel=Sigmoid(0.001, 0.1))),
    "rvc": RVC(),
    "rvc_rest": RVC(multi_class="ovr"),
    "rvc_map": RVC(output="map"),
    "rvc_columns": RVC(basis="columns"),
    "rvc_linear": RVC(kernel="linear"),
    "rvc_linear_rest": RVC(kernel="linear", multi_class="ovr"),
    "spheres": NearestHypersphereClassifier(),
    "spheres_power": NearestHypersphereClassifier(dissimilarity="power", power=0.5, cv=None),
    "spheres_linear": NearestHypersphereClassifier(kernel="linear", nu=0.1),
    "spheres_poly": NearestHypersphereClassifier(kernel="poly", coef0=1.0, nu=0.1),
}


@PRECISIONS
@pytest.mark.parametrize("name", MACHINES)
def test_classifiers(name: str, precision: str) -> None:
    """Three classes with texts for names, and two with numbers."""
    model = MACHINES[name]
    agree(model.fit(X, NAMES[y]), X, precision, share=0.9)
    agree(model.fit(X[50:], 3 * y[50:] - 4), X, precision, share=0.9)


KERNELS: dict[str, Any] = {
    "linear": "linear",
    "poly": Polynomial(2, 0.1, 1.0),
    "widths": RBF([0.1, 0.2, 0.3, 1.0]),
    "weighted_linear": Weighted(Linear(), [1.0, 0.5, 2.0, 1.0]),
    "sum": 0.1 * Linear() + Laplacian(0.2, metric="euclidean"),
}
OF_KERNELS: dict[str, Callable[[Any], Any]] = {
    "svc": lambda kernel: SVC(kernel=kernel, decision_function_shape="ovo"),
    "platt": lambda kernel: PlattClassifier(SVC(kernel=kernel, loss="squared_hinge")),
    "rvc": lambda kernel: RVC(kernel=kernel, fit_intercept=False),
    "rvc_rest": lambda kernel: RVC(kernel=kernel, multi_class="ovr", centers=X[::15]),
    "spheres": lambda kernel: NearestHypersphereClassifier(kernel=kernel, nu=0.1, cv=None),
}


@pytest.mark.parametrize("machine", OF_KERNELS)
def test_five_classes_and_all_kinds_of_kernels(machine: str) -> None:
    """A part of all machines with all kernels, more classes than features."""
    kinds = y + 3 * (X[:, 1] > 3.2) - (y == 2) * (X[:, 1] > 3.2)
    for kernel in KERNELS.values():
        model = OF_KERNELS[machine](kernel).fit(X[::2], kinds[::2])
        assert model.classes_.size == 5
        agree(model, X[1::2], "float64", share=0.9)


@PRECISIONS
def test_other_machines(precision: str) -> None:
    target = X @ [1.0, -2.0, 0.5, 1.0]
    models = [
        SVR(C=10.0),
        SVR(kernel="linear"),
        SVR(kernel=RBF([0.1, 0.2, 0.3, 1.0])),
        SVR(epsilon=99.0),
        RVR(),
        RVR(basis="columns"),
        OneClassSVM(nu=0.2),
        OneClassSVM(nu=0.2, kernel=RBF([0.1, 0.2, 0.3, 1.0])),
        SVDD(nu=0.2),
        SVDD(nu=0.2, kernel="linear"),
        SVDD(nu=0.2, kernel="poly", coef0=1.0, gamma=0.1),
    ]
    for model in models:
        agree(model.fit(X, target) if "SVD" not in repr(model) else model.fit(X), X, precision, 0.7)


@PRECISIONS
def test_pipelines(precision: str) -> None:
    table, kinds = load_wine(return_X_y=True)
    for machine in (SVC(), PlattClassifier(SVC()), NearestHypersphereClassifier()):
        for scaler in (StandardScaler(), MinMaxScaler()):
            model = make_pipeline(scaler, machine).fit(table, kinds)
            agree(model, table, precision, share=0.9)
    parts = ColumnTransformer([("a", StandardScaler(), [0, 2]), ("b", MinMaxScaler(), [1, 3])])
    agree(make_pipeline(parts, SVR()).fit(X, X[:, 0]), X, precision)


def test_balls_fitted_in_single_precision() -> None:
    """The squared length of a centre is what the fit found, rounded or not."""
    points = np.random.default_rng(0).integers(2, size=(600, 30)).astype(float)
    classes = NearestHypersphereClassifier(kernel=RBF(0.3), nu=0.2, cv=None)
    for model in (SVDD(nu=0.2).fit(points), classes.fit(points, points[:, 0])):
        agree(model, points[:50] + 0.01, "float64", share=0.9)


def test_rounding_on_data_far_from_zero() -> None:
    for name, (model, table) in unscaled().items():
        error = np.abs(run(model, table)[0][-1] - values_of(model, table))
        assert (error <= ROUNDING * absolute_terms(model, table)).all(), name


def test_data_frames_and_searches() -> None:
    """A frame has an input for each column, and a search predicts by what it has found."""
    table = load_iris(as_frame=True)["data"]
    search = mercer.PathSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 10.0]})
    for model in (search.fit(table, y), SVC().fit(table, y)):
        graph = mercer.to_onnx(model, table)
        session = onnxruntime.InferenceSession(graph.SerializeToString())
        inputs = zip(session.get_inputs(), table, strict=True)
        columns = {one.name: table[[column]].to_numpy() for one, column in inputs}
        np.testing.assert_array_equal(session.run(None, columns)[0], model.predict(table))


def test_operators_of_libsvm_where_they_fit() -> None:
    """In float32 and with numbers that bear it."""
    many = agree(SVC(C=0.1).fit(X, y), X, "float32", 0.9)
    assert "SVMClassifier" in many
    two = SVC(gamma=0.1).fit(X[50:], y[50:])
    assert "SVMRegressor" in agree(two, X, "float32", 0.9)
    assert "SVMRegressor" in agree(SVR(C=0.1, gamma=0.1).fit(X, y), X, "float32")
    assert "SVMRegressor" not in agree(two, X, "float64", 0.9)
    far, labels = blobs(69, 100, 3)
    rough = agree(SVC(C=5.0).fit(far + 1e5, labels), far + 1e5, "float32", 0.0)
    assert "SVMRegressor" not in rough


@PRECISIONS
def test_as_many_vectors_as_pairs(precision: str) -> None:
    """Weights of pairs are no support vectors, even where there are as many."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    model = SVC(kernel="linear", decision_function_shape="ovo").fit(points, [0, 1, 2])
    assert len(model.support_) == len(model.intercept_) == 3
    agree(model, points, precision)


def test_rejected_rows() -> None:
    far = np.vstack([X, X + 30.0])
    for label, kinds in ((-1, y), ("none", NAMES[y])):
        model = NearestHypersphereClassifier(reject_threshold=1.2, reject_label=label).fit(X, kinds)
        answers, _ = run(model, far)
        np.testing.assert_array_equal(answers[0], model.predict(far))
        assert (answers[0] == label).any()
    model.set_params(reject_label=-1)
    with pytest.raises(ValueError, match="not both at once"):
        run(model, far)


def test_ties_are_won_in_the_order_of_the_file(tmp_path: Any) -> None:
    mercer.to_libsvm(SVC(gamma=5.0).fit(X, y), tmp_path / "model")
    text = (tmp_path / "model").read_text().replace("label 0 1 2", "label 2 1 0")
    (tmp_path / "model").write_text(text)
    model = mercer.from_libsvm(tmp_path / "model")
    np.testing.assert_array_equal(run(model, X + 3.0)[0][0], model.predict(X + 3.0))


def test_registered_for_those_who_call_skl2onnx() -> None:
    import skl2onnx

    register_onnx()
    register_onnx()
    graph = skl2onnx.to_onnx(SVC().fit(X, y), X[:1], target_opset=15)
    assert [output.name for output in graph.graph.output] == ["label", "scores"]
    graph = skl2onnx.to_onnx(PlattClassifier(SVC()).fit(X, y), X[:1])
    assert [output.name for output in graph.graph.output] == ["label", "probabilities"]


def test_refusals() -> None:
    function = NearestHypersphereClassifier(dissimilarity=lambda d, r: d - r).fit(X, y)
    other = PlattClassifier(NearestHypersphereClassifier()).fit(X, y)
    for words, model in {"a function": function, "of an SVC": other}.items():
        with pytest.raises((ValueError, TypeError), match=words) as error:
            mercer.to_onnx(model, X)
        assert "\n" not in str(error.value)


def test_rows_of_any_form() -> None:
    """The rows tell type and number of columns only."""
    model = SVC().fit(X, y)
    for rows in (X.tolist(), sp.csr_array(X), X[:0], X.astype(object).tolist()):
        graph = mercer.to_onnx(model, rows)
        session = onnxruntime.InferenceSession(graph.SerializeToString())
        np.testing.assert_array_equal(session.run(None, {"X": X})[0], model.predict(X))
    for rows in (None, X[0], X[None], X.astype(str), X[:, 1:], [[1.0, 2.0], [3.0]]):
        with pytest.raises(ValueError, match="X must") as error:
            mercer.to_onnx(model, rows)
        assert "\n" not in str(error.value)


def test_models_around_machines() -> None:
    """Searches in pipelines give what they found; of classifiers in others graphs were wrong."""
    search = mercer.PathSearchCV(SVC(), {"C": [1.0, 10.0]})
    agree(make_pipeline(StandardScaler(), search).fit(X, y), X, "float64", share=0.9)
    agree(VotingRegressor([("a", SVR()), ("b", RVR())]).fit(X, X[:, 0]), X, "float64")
    calibrated = CalibratedClassifierCV(SVC(probability=True), cv=2).fit(X, y)
    voting = VotingClassifier([("a", SVC()), ("b", SVC())]).fit(X, y)
    for model in (calibrated, voting, make_pipeline(StandardScaler(), voting).fit(X, y)):
        with pytest.raises(ValueError, match=r"at the end of pipelines.* got \w+ of SVC\.$"):
            mercer.to_onnx(model, X)


def test_what_skl2onnx_raises_is_one_sentence() -> None:
    table = load_iris(as_frame=True)["data"]
    parts = ColumnTransformer([("a", StandardScaler(), [table.columns[0]])])
    model = make_pipeline(parts, SVC()).fit(table, y)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    plain = VotingClassifier([("a", tree), ("b", tree)]).fit(X, y)
    for words, one in {"column name.*as a data frame": model, "flatten_transform": plain}.items():
        with pytest.raises(ValueError, match=f"skl2onnx cannot convert this model: .*{words}") as e:
            mercer.to_onnx(one, X)
        assert "\n" not in str(e.value)
        assert ". " not in str(e.value)
    for model in (SVC(), make_pipeline(StandardScaler(), SVC())):
        with pytest.raises(NotFittedError):
            mercer.to_onnx(model, X)


def test_what_skl2onnx_does_not_know() -> None:
    class Strange(StandardScaler):
        """A scaler that nobody has registered."""

        def transform(self, X: Any, copy: bool | None = None) -> Any:
            return -super().transform(X, copy)

    with pytest.raises(ValueError, match="no converter for some part") as error:
        mercer.to_onnx(make_pipeline(Strange(), SVC()).fit(X, y), X)
    assert "\n" not in str(error.value)


def test_expansions_are_the_machines() -> None:
    """What all exports begin with has our values, without the engine."""
    pairs = SVC(decision_function_shape="ovo")
    for model in (pairs.fit(X, y), SVDD().fit(X), OneClassSVM().fit(X), SVR().fit(X, y)):
        np.testing.assert_allclose(
            Expansion.of(model).values(X + 0.1), values_of(model, X + 0.1), rtol=1e-9, atol=1e-9
        )


@PRECISIONS
def test_no_row_is_nearer_than_the_centre(precision: str) -> None:
    points = np.random.default_rng(1).normal(size=(20, 3))
    model = SVDD(kernel=Sigmoid(1.0, 1.0), nu=0.5).fit(points)
    assert (model.decision_function(points) == model.radius_**2).any()
    agree(model, points, precision, share=0.3)


@PRECISIONS
def test_gaps_are_filled_in_both_precisions(precision: str) -> None:
    """The operator of skl2onnx for imputers is known in single precision only."""
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    for strategy in ("median", "constant"):
        model = make_pipeline(
            SimpleImputer(strategy=strategy), make_pipeline(StandardScaler(), SVC())
        )
        agree(model.fit(gaps, y), gaps, precision, share=0.9)
    frame = pd.DataFrame(gaps.astype(precision), columns=list("abcd"))
    graph = mercer.to_onnx(model.fit(frame, y), frame)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    labels = session.run(None, {name: frame[[name]].to_numpy() for name in frame})[0]
    assert np.mean(labels == model.predict(frame)) > 0.98  # ties of votes
