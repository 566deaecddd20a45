"""Low rank on many computers is that of one, whichever worker has done what."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from mercer import NystroemSVC, NystroemSVR
from mercer.distributed import Distributed, _low_rank
from mercer.distributed._cluster import Cluster
from mercer.lowrank import planning

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

X, y = make_classification(
    2400, 6, n_informative=5, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
)
X = X / X.std(axis=0)
NAMES = np.array(["one", "three", "two"], dtype=object)[y]
TARGET = np.sin(X[:, 0]) * X[:, 1]
WEIGHTS = np.random.default_rng(0).integers(0, 4, size=len(X)).astype(float)
UNEQUAL = ((700, 1, 1099, 600), (4, 2))
SETTINGS = {"C": 3.0, "rank": 30, "gamma": 0.1, "tol": 1e-6, "random_state": 0}

pytestmark = pytest.mark.usefixtures("in_use")


def of_dask(*arrays, chunks=UNEQUAL):
    return [da.from_array(one, chunks=chunks[: one.ndim]) for one in arrays]


@pytest.fixture
def few_rows(monkeypatch):
    """A sample of 300 rows, as if there were many more."""
    monkeypatch.setattr(planning, "ROWS_OF_SAMPLE", 300)
    monkeypatch.setattr(planning, "ROWS_PER_FEATURE", 1)


def same(model, one):
    """The landmarks are those of one computer; sums are added up in another order."""
    np.testing.assert_array_equal(model.landmarks_, one.landmarks_)
    np.testing.assert_allclose(model.objective_, one.objective_, rtol=1e-7)
    np.testing.assert_allclose(
        getattr(model, "decision_function", model.predict)(X),
        getattr(one, "decision_function", one.predict)(X),
        atol=1e-4,
    )
    assert model.converged_
    assert (model.gap_ <= model.tol).all()


# ---- the same as on one computer ----------------------------------------------------------------


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_two_classes(loss):
    machine = NystroemSVC(loss=loss, **SETTINGS)
    rows, labels = of_dask(X, y > 0)
    model, one = Distributed(machine).fit(rows, labels), machine.fit(X, y > 0)
    same(model.model_, one)
    np.testing.assert_array_equal(model.model_.approximation_error_, one.approximation_error_)
    assert model.classes_.tolist() == [False, True]
    values = model.decision_function(rows)
    np.testing.assert_allclose(values.compute(), one.decision_function(X), atol=1e-4)


@pytest.mark.usefixtures("few_rows")
def test_many_classes_with_names_and_weights(monkeypatch):
    """Weights of all rows, also where "balanced" means those of the classes."""
    machine = NystroemSVC(class_weight="balanced", **SETTINGS)
    rows, labels, weights = of_dask(X, NAMES, WEIGHTS)
    one = machine.fit(X, NAMES, WEIGHTS)
    model = Distributed(machine).fit(rows, labels, weights)
    same(model.model_, one)
    np.testing.assert_array_equal(model.predict(rows).compute(), one.predict(X))
    monkeypatch.setattr(_low_rank, "CURVATURE_BYTES", 0)  # one machine after another
    same(Distributed(machine).fit(rows, labels, weights).model_, one)


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regression(loss):
    machine = NystroemSVR(loss=loss, **SETTINGS)
    model = Distributed(machine).fit(*of_dask(X, TARGET, WEIGHTS))
    same(model.model_, machine.fit(X, TARGET, WEIGHTS))


def test_few_rows_are_their_own_sample():
    machine = NystroemSVC(**SETTINGS)
    same(Distributed(machine).fit(*of_dask(X, y)).model_, machine.fit(X, y))


def test_batches_with_the_same_landmarks_make_the_same_machine():
    machine = NystroemSVC(**{**SETTINGS, "landmarks": X[:30]})
    batches = [(X[:700], y[:700]), (X[700:], y[700:])]
    same(
        Distributed(machine).fit(*of_dask(X, y, chunks=((700, 1700), 6))).model_,
        machine.fit_batches(batches),
    )


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.coo_array])
def test_sparse_blocks(kind):
    points = np.where(np.abs(X) > 0.7, X, 0.0)
    rows, labels = of_dask(points, y > 0)
    machine = NystroemSVC(**SETTINGS)
    one = machine.fit(sp.csr_array(points), y > 0)
    same(Distributed(machine).fit(rows.map_blocks(kind), labels).model_, one)


@pytest.mark.usefixtures("few_rows")
def test_data_frames_of_unknown_lengths():
    """Their blocks have as many rows as are left, some none; the width is that of the sample."""
    frame = pd.DataFrame(X, columns=list("abcdef"), dtype=np.float32).assign(label=NAMES)
    frame = frame.sort_values("a", ignore_index=True)
    table = dd.from_pandas(frame, npartitions=8)
    table = table[table["a"] > frame["a"][700]]
    rows, labels = table[list("abcdef")], table["label"]
    machine = NystroemSVC(**{**SETTINGS, "gamma": "scale"})
    model, known = Distributed(machine).fit(rows, labels), table.compute()
    one = machine.fit(known[list("abcdef")], known["label"])
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.model_.kernel_.gamma == one.kernel_.gamma
    found, expected = model.predict(rows).compute(), one.predict(known[list("abcdef")])
    np.testing.assert_array_equal(found.index, known.index)
    np.testing.assert_array_equal(found, expected)


# ---- where the work is done ---------------------------------------------------------------------


def fitted_by(n_workers):
    cluster = distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=2,
        processes=False,
        protocol="tcp",  # so that what is sent is written and read
        dashboard_address=":0",
    )
    rows, labels = of_dask(X, y, chunks=(110, 6))
    with cluster, distributed.Client(cluster):
        return Distributed(NystroemSVC(**SETTINGS)).fit(rows, labels).model_


@pytest.mark.usefixtures("few_rows")
def test_any_number_of_workers_gives_the_same():
    """To the last digit: 22 blocks are added up in groups of eight, and these in one."""
    one, three = fitted_by(1), fitted_by(3)
    np.testing.assert_array_equal(one.dual_coef_, three.dual_coef_)
    np.testing.assert_array_equal(one.gap_, three.gap_)


@pytest.mark.usefixtures("few_rows")
def test_only_sums_come_to_the_client(monkeypatch):
    """Twenty times as many rows make it no more; all rows are 3.2 MB."""
    machine = NystroemSVC(rank=20, gamma=0.05, random_state=0)
    points = np.random.default_rng(0).normal(size=(20_000, 20))
    labels = points[:, 0] + np.abs(points[:, 1]) > 0.7
    sizes = []
    fetched = Cluster.fetched

    def noted(*asked):
        sizes.append(len(pickle.dumps(found := fetched(*asked))))
        return found

    monkeypatch.setattr(Cluster, "fetched", noted)
    Distributed(machine).fit(*of_dask(points[:1000], labels[:1000], chunks=(250, 20)))
    few, sizes[:] = max(sizes), []
    Distributed(machine).fit(*of_dask(points, labels, chunks=(1000, 20)))
    assert len(sizes) > 4
    assert max(sizes) < 2 * few < 0.1 * points.nbytes


def test_what_is_told(capsys):
    Distributed(NystroemSVC(**SETTINGS), verbose=1).fit(*of_dask(X, y > 0))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Distributed: rank 30, of k(x, x) ")
    assert lines[1] == "Distributed: look at all rows"
    assert {line.split(": ")[1] for line in lines[1:]} == {
        f"{name} at all rows" for name in ("look", "gather", "check")
    }


# ---- limits, and what is refused ----------------------------------------------------------------


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("limit", [{"max_iter": 1}, {"time_limit": 0.0}])
def test_limits_end_with_a_warning(limit):
    machine = NystroemSVC(**SETTINGS).set_params(**limit)
    with pytest.warns(ConvergenceWarning, match="NystroemSVC stopped .*above tol"):
        model = Distributed(machine).fit(*of_dask(X, y)).model_
    assert not model.converged_


def test_refusals_are_one_sentence():
    rows, labels = of_dask(X, y)
    refused = {
        "needs points, not kernel values": (NystroemSVC(kernel="precomputed"), rows),
        "as many columns as X, 6; got 4": (NystroemSVC(landmarks=X[:9, :4]), rows),
        "not positive semi-definite": (NystroemSVC(kernel="sigmoid", gamma=2.0, coef0=-1.0), rows),
        "Input contains NaN": (NystroemSVC(), da.where(rows > 2, np.nan, rows)),
        "'rank' parameter": (NystroemSVC(rank=0), rows),
    }
    for words, (machine, some) in refused.items():
        with pytest.raises(ValueError, match=words):
            Distributed(machine).fit(some, labels)
