"""Machines in cells of other kinds, in searches, and rows at the ends of the range of numbers."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVR, CellOneClassSVM, CellSVC, CellSVR, GradientSearch, OneClassSVM
from mercer.cells import Partition
from mercer.kernels import RBF

X, y = make_moons(1200, noise=0.3, random_state=0)
NAMES = np.where(y > 0, "yes", "no")
STRICT = SVC(class_weight={"no": 20.0})


def cells(machine, **changes) -> CellSVC:
    return CellSVC(machine, cell_size=200, random_state=0, **changes)


@pytest.mark.parametrize("metric", ["gradients", "euclidean"])
@pytest.mark.parametrize("overlap", [0.3, 1.0])
def test_overlap_is_that_asked_for(metric, overlap):
    """Also where there are as many directions as features."""
    model = cells(SVC(), overlap=overlap, metric=metric).fit(X, y)
    assert model.cell_sizes_.sum() / len(X) - 1 == pytest.approx(overlap, rel=0.15)


# ---- searches and pipelines ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "machine",
    [
        make_pipeline(StandardScaler(), STRICT),
        GridSearchCV(STRICT, {"C": [1.0]}, cv=2),
        GradientSearch(STRICT, max_evaluations=2),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_class_weights_inside_are_of_labels(machine):
    found = cells(machine).fit(X, NAMES).predict(X)
    assert (found == "no").mean() > 0.6


def test_class_weights_that_mean_something_else_stay():
    forest = RandomForestClassifier(5, class_weight="balanced_subsample", random_state=0)
    assert cells(forest).fit(X, NAMES).score(X, NAMES) > 0.85


def test_duels_inside_are_counted():
    rows, classes = X[:600], np.digitize(X[:600, 0], [-0.5, 0.5, 1.5])
    machine = make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo"))
    assert cells(machine).fit(rows, classes).score(rows, classes) > 0.9


@pytest.mark.parametrize("kernel", ["rbf", RBF("scale")], ids=str)
def test_the_width_in_a_search_is_that_of_all_rows(kernel):
    model = cells(GridSearchCV(SVC(kernel=kernel), {"C": [1.0]}, cv=2)).fit(X, y)
    widths = [one.best_estimator_.kernel_.gamma for one in model.estimators_ if hasattr(one, "fit")]
    assert widths == pytest.approx([RBF("scale").resolve(X).gamma] * len(widths))


def test_a_search_may_set_the_width():
    model = cells(GridSearchCV(SVC(), {"gamma": [7.0]}, cv=2)).fit(X, y)
    machines = [one for one in model.estimators_ if hasattr(one, "fit")]
    assert {one.best_estimator_.kernel_.gamma for one in machines} == {7.0}


# ---- other kinds --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "kinds"),
    [
        (CellSVC(SVR()), "a classifier; SVR is a regressor"),
        (CellSVC(OneClassSVM()), "a classifier; OneClassSVM is an outlier detector"),
        (CellSVR(SVC()), "a regressor; SVC is a classifier"),
        (CellOneClassSVM(SVR()), "an outlier detector; SVR is a regressor"),
        (CellSVC(make_pipeline(SVR())), "a classifier; Pipeline is a regressor"),
    ],
    ids=repr,
)
def test_machines_of_another_kind_are_refused(model, kinds):
    with pytest.raises(ValueError, match=kinds):
        model.fit(X, y)


def test_one_class_without_its_offset_is_not_kept(monkeypatch):
    model = CellOneClassSVM(cell_size=200, random_state=0).fit(X)
    before = model.decision_function(X)

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.cells.cell_one_class_svm.rejection_level", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X + 5.0)
    np.testing.assert_array_equal(model.decision_function(X), before)


# ---- the ends of the range of numbers -----------------------------------------------------------


@pytest.mark.parametrize("machine", [KNeighborsClassifier(), SVC(gamma=1e-300)], ids=repr)
def test_rows_whose_squares_are_no_numbers_are_refused(machine):
    with pytest.raises(ValueError, match="cannot be cut into cells"):
        cells(machine, metric="euclidean").fit(1e155 * X, y)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("directions", [None, np.array([[1.0, 0.5], [0.0, 1.0]])])
def test_rows_far_out_belong_to_the_cells_in_their_direction(kind, directions):
    partition = Partition(np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 1.2, directions)
    rows = np.array([[1e300, 0.0], [-1e200, 0.0], [0.3, 0.1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = partition.members(kind(rows)).toarray()
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(
        found[2:], partition.members(kind(rows[2:])).toarray(), strict=True
    )


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_single_precision_loses_nothing(kind):
    scale = np.float32(2.0**80)  # its square is beyond single precision
    machine, how = KNeighborsClassifier(), {"metric": "euclidean"}
    small = cells(machine, **how).fit(kind(X.astype(np.float32)), y)
    large = cells(machine, **how).fit(kind(X.astype(np.float32) * scale), y)
    np.testing.assert_array_equal(small.cell_sizes_, large.cell_sizes_)
