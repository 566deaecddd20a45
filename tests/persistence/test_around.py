"""Models of scikit-learn around ours, kernels of all kinds, and what cannot be saved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import Birch, BisectingKMeans, FeatureAgglomeration
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as gp
from sklearn.linear_model import SGDClassifier, TweedieRegressor
from sklearn.metrics import f1_score, make_scorer
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder, StandardScaler

import mercer
from mercer import SVC, PrunedTreeClassifier
from mercer.feature_selection import fisher_score
from mercer.kernels import (
    RBF,
    CallableKernel,
    Constant,
    Kernel,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Sigmoid,
    Weighted,
)
from mercer.persistence import ModelFileError

pytest.importorskip("skops")

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
MACRO = make_scorer(f1_score, average="macro")

AROUND = {
    "pipeline": make_pipeline(StandardScaler(), SVC()),
    "columns": make_pipeline(
        make_column_transformer((StandardScaler(), ["a", "b"]), remainder="passthrough"), SVC()
    ),
    "selector": make_pipeline(
        ColumnTransformer([("all", StandardScaler(), make_column_selector(dtype_include=float))]),
        SVC(),
    ),
    "grid": GridSearchCV(SVC(), {"C": [1, 9], "kernel": [RBF(0.1), Laplacian(0.1)]}, cv=3),
    "several scores": GridSearchCV(
        SVC(), {"C": [1, 9]}, scoring=["accuracy", "f1_macro"], refit="accuracy", cv=3
    ),
    "random": RandomizedSearchCV(SVC(), {"C": [0.1, 1.0]}, n_iter=2, cv=FOLDS, scoring=MACRO),
    "calibrated": CalibratedClassifierCV(SVC(), cv=3),
    "isotonic": CalibratedClassifierCV(SVC(), method="isotonic", cv=3),
    "one against the rest": OneVsRestClassifier(SVC()),
    "bagging": BaggingClassifier(SVC(), 3, random_state=0),
    "voting": VotingClassifier([("a", SVC()), ("b", PrunedTreeClassifier())]),
    "stacking": StackingClassifier([("a", SVC()), ("b", PrunedTreeClassifier())], cv=2),
    "trees one after another": GradientBoostingClassifier(n_estimators=2),
    "isolation": IsolationForest(n_estimators=4, max_features=3, random_state=0),
    "neighbours": KNeighborsClassifier(algorithm="kd_tree"),
    "neighbours in balls": KNeighborsClassifier(algorithm="ball_tree", metric="manhattan"),
    "our score": make_pipeline(SelectKBest(fisher_score, k=2), SVC()),
    "its score": make_pipeline(SelectKBest(f_classif, k=2), SVC()),
    "logarithm": make_pipeline(FunctionTransformer(np.log1p), SVC()),
    "repeated": GridSearchCV(
        SVC(), {"C": [1]}, cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=1)
    ),
    "temperature": CalibratedClassifierCV(SVC(), method="temperature", cv=2),
    "threshold": OneVsRestClassifier(TunedThresholdClassifierCV(SVC(), cv=2)),
    "gaussian process": GaussianProcessClassifier(),
    "network": MLPClassifier(4, max_iter=2),
    "descent": SGDClassifier(random_state=0),
    "groups": make_pipeline(BisectingKMeans(2), FeatureAgglomeration(), SVC()),
    "random state": SVC(random_state=np.random.RandomState(0)),
    "weights by name": SVC(class_weight={"setosa": 1.0, "versicolor": 2.0, "virginica": 3.0}),
}
KERNELS = {
    "algebra": (RBF(0.5) * Linear() + Constant(2.0) * Polynomial(2)) ** 2,
    "wrapped": Normalized(Polynomial(3)) + Weighted(RBF(0.1), [1.0, 2.0, 3.0, 4.0]),
    "sigmoid": Sigmoid(0.001),
    "width per feature": RBF(np.array([0.1, 0.2, 0.3, 0.4])),
    "gaussian process": gp.RBF(1.0) + gp.WhiteKernel(0.1),
    "matern": gp.Matern(nu=1.5) * 2.0,
    "function of scikit-learn": CallableKernel(chi2_kernel, {"gamma": 0.5}),
}


@pytest.fixture(scope="module", name="flowers")
def flowers_data() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])
    return pd.DataFrame(X[::3], columns=list("abcd")), words[y[::3]]


def same_after_saving(model: Any, X: Any, path: Path) -> Any:
    mercer.save(model, path)
    again = mercer.load(path)
    for name in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, name):
            said, expected = getattr(again, name)(X), getattr(model, name)(X)
            np.testing.assert_array_equal(said, expected, strict=True)
    return again


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("name", AROUND)
def test_around_ours(name: str, flowers: Any, tmp_path: Path) -> None:
    X, y = flowers
    again = same_after_saving(AROUND[name].fit(X, y), X, tmp_path / "file")
    assert again.feature_names_in_.tolist() == list("abcd")
    found = mercer.describe(tmp_path / "file")
    assert found.feature_names == ("a", "b", "c", "d")
    assert found.classes == (None if name == "isolation" else tuple(np.unique(y)))


def test_tweedie(flowers: Any, tmp_path: Path) -> None:
    X = flowers[0].to_numpy()
    same_after_saving(TweedieRegressor(power=1.5).fit(X, X[:, 0]), X, tmp_path / "file")


@pytest.mark.filterwarnings("ignore:The kernel is not positive")
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str, flowers: Any, tmp_path: Path) -> None:
    X, y = flowers
    model = SVC(kernel=KERNELS[name]).fit(X.to_numpy(), y)
    again = same_after_saving(model, X.to_numpy(), tmp_path / "file")
    assert str(again.kernel_) == str(model.kernel_)
    mercer.save(KERNELS[name], tmp_path / "kernel")
    assert str(mercer.load(tmp_path / "kernel")) == str(KERNELS[name])


def test_table_with_words_dates_and_gaps(tmp_path: Path) -> None:
    pytest.importorskip("skrub")
    from mercer.tables import as_table, vectorizer

    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": random.normal(size=80),
            "colour": pd.Categorical(random.choice(["red", "green"], 80)),
            "day": pd.date_range("2024-01-01", periods=80, freq="17h"),
            "text": [f"sample {k} of {k % 7}" for k in range(80)],
        }
    )
    frame.loc[3, "size"] = np.nan
    table = as_table(frame, np.where(random.normal(size=80) > 0, "yes", "no"))
    model = make_pipeline(vectorizer(table), StandardScaler(), SVC()).fit(
        table.frame, np.asarray(table.target)
    )
    same_after_saving(model, table.frame, tmp_path / "file")


def test_keys_keep_their_type(flowers: Any, tmp_path: Path) -> None:
    X, y = flowers
    for weights in ({True: 2.0, False: 1.0}, {np.True_: 3.0, np.False_: 0.5}):
        model = SVC(class_weight=weights).fit(X, y == "setosa")
        assert same_after_saving(model, X, tmp_path / "file").class_weight == weights
    model = SVC(class_weight={0: 1.0, 1: 0.5, 2: 2.0}).fit(X, np.unique(y, return_inverse=True)[1])
    assert same_after_saving(model, X, tmp_path / "file").class_weight == {0: 1.0, 1: 0.5, 2: 2.0}


@pytest.mark.filterwarnings("ignore:The perceptron still made")
def test_fitting_goes_on_after_loading(flowers: Any, tmp_path: Path) -> None:
    X, y = flowers
    model = mercer.KernelPerceptron(random_state=0).partial_fit(
        X[:20], y[:20], classes=np.unique(y)
    )
    mercer.save(model, tmp_path / "file")
    again = mercer.load(tmp_path / "file")
    for one in (model, again):
        one.partial_fit(X[20:], y[20:])
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    for one in (model, again):
        one.set_params(max_iter=3, variant="averaged").fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))


def own_function(X: Any, Y: Any) -> Any:
    return X @ Y.T


class OwnKernel(Kernel):
    def __call__(self, X: Any, Y: Any = None) -> Any:
        return X @ (X if Y is None else Y).T

    def diag(self, X: Any) -> Any:
        return (X**2).sum(axis=1)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SVC(kernel=own_function), r"function '.*own_function' \(in kernel\).*mercer\.kernels"),
        (SVC(kernel=lambda X, Y: X @ Y.T), r"function '.*<lambda>' \(in kernel\)"),
        (SVC(kernel=own_function.__call__), "cannot be saved"),
        (SVC(kernel=OwnKernel()), r"type '.*OwnKernel' \(in kernel\), which mercer.load would not"),
        (make_pipeline(FunctionTransformer(own_function), SVC()), "function .*own_function"),
        (make_pipeline(SVC(kernel=RBF(0.1) + CallableKernel(own_function))), "own_function"),
        (SVC(C=b"bytes"), "builtins.bytes"),
        (SVC(C=np.array([1, object()])), "cannot be saved"),
        (Birch(), r"type Birch are not supported yet; help\(mercer.save\) says"),
        (SVC(class_weight={None: 1.0}), "NoneType"),
        (SVC(class_weight={(1, 2): 1.0}), "cannot be saved: keys must be"),
        (SVC(class_weight={1: 1.0, "1": 2.0}), "more or fewer keys"),
        ("no model", "takes an estimator; got str"),
        (SVC, "takes an estimator"),
    ],
)
def test_what_cannot_be_saved(model: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("as before")
    with pytest.raises(ModelFileError, match=words) as raised:
        mercer.save(model, path)
    assert "\n" not in str(raised.value)
    assert path.read_text() == "as before"
    assert list(tmp_path.iterdir()) == [path]


def test_boosting_with_categories(tmp_path: Path) -> None:
    """What the error proposes can be saved."""
    X = np.random.default_rng(0).integers(3, size=(60, 2)).astype(float)
    boosting = HistGradientBoostingClassifier(categorical_features=[0], max_iter=2)
    model = make_pipeline(StandardScaler(), boosting).fit(X, X[:, 0] > 1)
    words = r"make_pipeline\(OrdinalEncoder\(\), \.\.\.\).*categorical_features=None\.$"
    with pytest.raises(ModelFileError, match=words):
        mercer.save(model, tmp_path / "file")
    boosting.set_params(categorical_features=None)
    other = make_pipeline(OrdinalEncoder(), boosting).fit(X.astype(str), X[:, 0] > 1)
    mercer.save(other, tmp_path / "file")
    again = mercer.load(tmp_path / "file")
    np.testing.assert_array_equal(again.predict(X.astype(str)), X[:, 0] > 1)


def test_a_model_that_contains_itself(tmp_path: Path) -> None:
    model = make_pipeline(StandardScaler(), SVC())
    model.steps.append(("again", model))
    with pytest.raises(ModelFileError, match="contains itself"):
        mercer.save(model, tmp_path / "file")


def test_without_skops(monkeypatch: Any, tmp_path: Path) -> None:
    mercer.save(SVC(), tmp_path / "file")
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r'pip install "mercer\[app\]"'):
        mercer.save(SVC(), tmp_path / "other")
    with pytest.raises(ImportError, match=r'pip install "mercer\[app\]"'):
        mercer.load(tmp_path / "file")
    assert mercer.describe(tmp_path / "file").model == "SVC()"  # which needs no skops


def test_a_package_that_is_missing(monkeypatch: Any) -> None:
    from mercer.persistence import loading

    monkeypatch.setattr(loading, "find_spec", lambda name: None if name == "skrub" else name)
    path = Path(__file__).parent / "files" / "form_1" / "table.mercer"
    with pytest.raises(ModelFileError, match="needs the package 'skrub'"):
        mercer.load(path)


def test_description(flowers: Any, tmp_path: Path) -> None:
    X, y = flowers
    wide = pd.DataFrame(np.tile(X, 5), columns=[f"column\n{k}" for k in range(20)])
    mercer.save(make_pipeline(StandardScaler(), SVC(C=3.0)).fit(wide, y), tmp_path / "file")
    found = mercer.describe(tmp_path / "file")
    assert (found.kind, found.fitted, found.n_features) == ("classifier", True, 20)
    assert found.type == "sklearn.pipeline.Pipeline"
    assert found.feature_names == tuple(wide.columns)
    assert found.classes == ("setosa", "versicolor", "virginica")
    assert found.versions["mercer"] == mercer.__version__
    assert found.size == (tmp_path / "file").stat().st_size
    lines = str(found).splitlines()
    assert len(lines) == len(found.rows()) == 7
    assert "column 0, column 1" in lines[2]
    assert lines[2].endswith("and 12 more")
    assert dict(found.rows())["sha256"] == found.sha256


def test_a_place_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder"):
        mercer.save(SVC(), tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        mercer.save(SVC(), tmp_path / "absent" / "file")
    assert not list(tmp_path.iterdir())


def test_a_search_goes_without_what_only_a_warm_start_needs(flowers: Any, tmp_path: Path) -> None:
    X, y = flowers
    search = mercer.GradientSearch(max_evaluations=3, warm_start=True).fit(X, y == "virginica")
    again = same_after_saving(search, X, tmp_path / "file")
    again.fit(X, y == "virginica")
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))
    assert len(again.history_) == len(search.history_)


def test_equal_models_have_equal_files(flowers: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        model = make_pipeline(
            SelectKBest(f_classif, k=2),
            FunctionTransformer(f1_score),
            SVC(random_state=np.random.RandomState(0)),
        )
        mercer.save(model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert "0x" not in mercer.describe(tmp_path / "a").model


def test_search_over_distributions(tmp_path: Path) -> None:
    for distribution in (loguniform(0.1, 10.0), randint(1, 5)):
        with pytest.raises(ModelFileError, match=r"SciPy|scipy"):
            mercer.save(RandomizedSearchCV(SVC(), {"C": distribution}), tmp_path / "file")


def test_what_is_no_path() -> None:
    for path in (None, 5, b"file"):
        with pytest.raises(TypeError, match="read from a path; got"):
            mercer.load(path)
        with pytest.raises(TypeError, match="read from a path; got"):
            mercer.describe(path)
