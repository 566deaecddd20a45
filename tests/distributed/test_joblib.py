"""What runs in parallel by joblib runs on workers of dask where that back end is chosen."""

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier

from mercer import SVC, CellSVC, GradientSearch, KernelRFE, PathSearchCV
from mercer.feature_selection import ranking_curve
from mercer.studies import Configuration, Study, run_study

distributed = pytest.importorskip("distributed")

X, y = load_iris(return_X_y=True)


@pytest.fixture
def on_dask(in_use):
    with joblib.parallel_config("dask"):
        yield


def accuracy(model, rows, labels):
    """Return the share of right labels; outside of a worker there is none."""
    distributed.get_worker()
    return accuracy_score(labels, model.predict(rows))


class WorkerSVC(SVC):
    """A machine that learns on workers only."""

    def fit(self, X, y, sample_weight=None):
        distributed.get_worker()
        return super().fit(X, y, sample_weight)


def test_elsewhere_there_is_no_worker():
    with pytest.raises(ValueError, match="No worker found"):
        WorkerSVC().fit(X, y)


def test_grids(on_dask):
    search = GridSearchCV(WorkerSVC(), {"C": [0.01, 1.0]}, scoring=accuracy, refit=False)
    assert search.fit(X, y).best_params_ == {"C": 1.0}


@pytest.mark.parametrize(
    "search",
    [PathSearchCV(SVC(), {"C": [0.1, 1.0]}), GradientSearch(SVC(), max_evaluations=2)],
    ids=["path", "gradient"],
)
def test_our_searches_fold_by_fold(search, on_dask):
    assert cross_val_score(search, X, y, scoring=accuracy).mean() > 0.9


def test_pairs_of_classes(on_dask):
    model = OneVsOneClassifier(WorkerSVC(), n_jobs=-1).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), SVC().fit(X, y).predict(X))


def test_eliminations(on_dask):
    curves = ranking_curve(
        {"RFE": KernelRFE(WorkerSVC())}, SVC(), X, y, scoring=accuracy, random_state=0
    )
    assert curves["RFE"].mean_test_score[-1] > 0.9


def test_cells(on_dask):
    """Two at least at a time, else they are fitted here."""
    names, rows = np.array(["a", "b", "c"])[y], X[:, :2]
    machine = CellSVC(WorkerSVC(), cell_size=50, n_jobs=2, random_state=0, metric="euclidean")
    assert machine.fit(rows, names).n_cells_ > 1


def draw(configuration, method, repetition, seed):
    distributed.get_worker()
    return {"error": float(np.random.default_rng(seed).normal())}


def test_studies(on_dask):
    study = Study("drawn", "", "", "", (Configuration("one"),), {"mean": {}}, draw, repetitions=6)
    results = run_study(study, n_jobs=2)
    assert len(results.records) == 6
    assert not results.failures
