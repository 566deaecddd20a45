"""Cells on many computers are those of one; what cannot be learned from is told in a sentence."""

import pickle
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from mercer import SVC, SVDD, SVR, CellOneClassSVM, CellSVC, CellSVR, GradientSearch, OneClassSVM
from mercer.distributed import Distributed, _cells, _cluster
from mercer.distributed._cluster import Cluster

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

X, y = make_classification(
    2400, 6, n_informative=5, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
)
NAMES = np.array(["one", "three", "two"], dtype=object)[y]
WEIGHTS = np.random.default_rng(0).integers(0, 4, size=len(X)).astype(float)
UNEQUAL = ((700, 1, 1099, 600), (4, 2))

pytestmark = pytest.mark.usefixtures("in_use")


def cells(machine=None, **changes):
    machine = SVC(C=3.0, tol=1e-6) if machine is None else machine
    return CellSVC(machine, **{"cell_size": 400, "random_state": 0, **changes})


def of_dask(*arrays, chunks=UNEQUAL):
    return [da.from_array(one, chunks=chunks[: one.ndim]) for one in arrays]


def close(found, expected):
    """Machines are solved in other groups, to a gap of 1e-6."""
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


# ---- the same as on one computer ----------------------------------------------------------------


def test_two_classes():
    rows, labels = of_dask(X, y > 0)
    model, one = Distributed(cells()).fit(rows, labels), cells().fit(X, y > 0)
    assert model.model_.n_cells_ == one.n_cells_ > 4
    close(model.model_.cell_sizes_, one.cell_sizes_)
    close(model.decision_function(rows).compute(), one.decision_function(X))
    close(model.decision_function(X), one.decision_function(X))
    assert model.classes_.tolist() == [False, True]


def test_many_classes_with_names_and_weights():
    """Weights of all rows, also where "balanced" means those of the classes."""
    machine = cells(SVC(class_weight="balanced", tol=1e-6))
    rows, labels, weights = of_dask(X, NAMES, WEIGHTS)
    model = Distributed(machine).fit(rows, labels, weights)
    one = machine.fit(X, NAMES, WEIGHTS)
    values = model.decision_function(rows)
    assert values.shape == (len(X), 3)
    close(values.compute(), one.decision_function(X))
    np.testing.assert_array_equal(model.predict(rows).compute(), one.predict(X))


def test_sorted_labels_and_cells_of_one_class():
    order = np.argsort(y > 0, kind="stable")
    points, labels = X[order].copy(), (y > 0)[order]
    points[labels] += 4.0
    model = Distributed(cells()).fit(*of_dask(points, labels))
    one = cells().fit(points, labels)
    assert any(machine.classes_.size == 1 for machine in model.model_.estimators_)
    close(model.decision_function(points), one.decision_function(points))


def test_regression():
    target = np.sin(X[:, 0]) * X[:, 1]
    machine = CellSVR(SVR(C=3.0, tol=1e-6), cell_size=400, random_state=0)
    model = Distributed(machine).fit(*of_dask(X, target))
    close(model.predict(X), machine.fit(X, target).predict(X))


def test_one_class():
    machine = CellOneClassSVM(OneClassSVM(nu=0.1, tol=1e-6), cell_size=400, random_state=0)
    (rows,) = of_dask(X)
    model, one = Distributed(machine).fit(rows), machine.fit(X)
    close(model.decision_function(rows).compute(), one.decision_function(X))
    close(model.score_samples(X), one.score_samples(X))


def test_parameters_from_some_cells():
    search = GradientSearch(SVC(tol=1e-6), max_evaluations=2, random_state=0)
    machine = cells(search, cell_size=900, tune_on=2)
    model, one = Distributed(machine).fit(*of_dask(X, y > 0)), machine.fit(X, y > 0)
    assert model.model_.estimators_[0].C == pytest.approx(one.estimators_[0].C)
    np.testing.assert_allclose(model.decision_function(X), one.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.coo_array])
def test_sparse_blocks(kind):
    points = np.where(np.abs(X) > 1.0, X, 0.0)
    rows, labels = of_dask(points, y > 0)
    model = Distributed(cells()).fit(rows.map_blocks(kind), labels)
    one = cells().fit(sp.csr_array(points), y > 0)
    close(model.decision_function(points), one.decision_function(points))
    close(model.decision_function(rows.map_blocks(kind)).compute(), one.decision_function(points))


def test_data_frames_of_unknown_lengths():
    """Their blocks have as many rows as are left, some none."""
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(len(X)) * 3)
    frame["label"] = NAMES
    table = dd.from_pandas(frame, npartitions=5)
    table = table[table["a"] > np.sort(X[:, 0])[200]]
    rows, labels = table[list("abcdef")], table["label"]
    model, known = Distributed(cells()).fit(rows, labels), table.compute()
    one = cells().fit(known[list("abcdef")], known["label"])
    assert model.feature_names_in_.tolist() == list("abcdef")
    found = model.predict(rows).compute()
    np.testing.assert_array_equal(found.index, known.index)
    np.testing.assert_array_equal(found, one.predict(known[list("abcdef")]))
    values = model.decision_function(rows).compute()
    close(values, one.decision_function(known[list("abcdef")]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(rows[list("fedcba")])


def test_names_in_memory():
    model = Distributed(cells()).fit(ROWS, NAMES)
    np.testing.assert_array_equal(model.predict(X), cells().fit(X, NAMES).predict(X))


def test_small_files_of_which_some_are_read_together(tmp_path):
    """As many for labels alone as dask likes, and others for the rows."""
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=NAMES)
    for k in range(4):
        frame[600 * k : 600 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    table = dd.read_parquet(tmp_path / "*.parquet")
    rows, labels = table.drop(columns="label"), table["label"]
    assert len(rows.to_delayed()) != len(labels.to_delayed())
    model = Distributed(cells()).fit(rows, labels)
    one = cells().fit(frame[list("abcdef")], NAMES)
    np.testing.assert_array_equal(model.predict(rows).compute(), one.predict(rows.compute()))


def test_empty_blocks_and_single_precision():
    kept = np.arange(len(X)) >= 701
    rows, labels, inside = of_dask(X.astype(np.float32), y > 0, kept)
    model = Distributed(cells()).fit(rows[inside], labels[inside])
    one = cells().fit(X[kept].astype(np.float32), (y > 0)[kept])
    found = model.decision_function(rows[inside]).compute()
    close(found, one.decision_function(X[kept].astype(np.float32)))


# ---- where the work is done ---------------------------------------------------------------------


def test_predictions_are_lazy_and_block_by_block(tmp_path):
    def note(block, block_info=None):
        (tmp_path / str(block_info[0]["chunk-location"][0])).write_text(str(len(block)))
        return block

    rows, labels = of_dask(X, y, chunks=((700, 1100, 600), 6))
    model = Distributed(cells()).fit(rows, labels)
    values = model.predict(rows.map_blocks(note, dtype=float, meta=X[:0]))
    assert not list(tmp_path.iterdir())
    values.blocks[1].compute()
    assert [file.read_text() for file in tmp_path.iterdir()] == ["1100"]


def test_only_models_come_to_the_client(monkeypatch):
    """The rows, of which each machine has a few, are 3.2 MB."""
    sizes = []
    fetched, as_done = Cluster.fetched, Cluster.as_done

    def noted(value):
        sizes.append(len(pickle.dumps(value)))
        return value

    monkeypatch.setattr(Cluster, "fetched", lambda *asked: noted(fetched(*asked)))
    monkeypatch.setattr(Cluster, "as_done", lambda *asked: map(noted, as_done(*asked)))
    points = np.random.default_rng(0).normal(size=(20_000, 20))
    labels = points[:, 0] > 0
    points[labels, 0] += 2.0
    model = Distributed(cells(SVC(kernel="linear"), cell_size=5000))
    model.fit(*of_dask(points, labels, chunks=(5000, 20)))
    assert model.predict(points).tolist() == labels.tolist()
    assert len(sizes) > 4
    assert sum(sizes) < 0.1 * points.nbytes  # most of it the slack of each row


@pytest.mark.parametrize("is_tuned", [False, True])
def test_rows_beyond_the_memory_of_workers_come_in_rounds(is_tuned, monkeypatch):
    """Else dask puts blocks of groups on disk, and reads them back whole for each group."""
    sizes, fitted = [], _cells._fitted

    def noted(template, groups, *others):
        sizes.append(len(groups))
        return fitted(template, groups, *others)

    monkeypatch.setattr(_cells, "_fitted", noted)
    search = GradientSearch(SVC(), max_evaluations=2, random_state=0)
    machine = cells(search, tune_on=1) if is_tuned else cells()
    whole = Distributed(machine).fit(*of_dask(X, y > 0))
    assert len(sizes) == 1
    little = property(lambda _: 2 * X.nbytes, lambda *_: None)
    monkeypatch.setattr(Cluster, "memory", little, raising=False)
    monkeypatch.setattr(_cells, "SHARE_HELD", 1 / 16)  # a quarter of the rows, by two workers
    parts = Distributed(machine).fit(*of_dask(X, y > 0))
    assert len(sizes) > 4
    close(parts.decision_function(X), whole.decision_function(X))
    close(parts.model_.cell_sizes_, whole.model_.cell_sizes_)


def test_workers_forget_machines_that_have_been_fetched(client):
    """Else they would have all of them in memory at the end."""
    tasks = [dask.delayed(np.ones)(n, dask_key_name=f"machine-{n}") for n in range(100, 104)]
    done = Cluster(client).as_done(tasks)

    def held():
        return sum("machine-" in str(key) for keys in client.has_what().values() for key in keys)

    for left, _ in zip((4, 3, 2, 1), done):
        for _ in range(1000):  # workers forget when they are told to, a little later
            if held() <= left:
                break
            time.sleep(0.01)
        assert held() <= left


@pytest.mark.parametrize("left", [0.2e9, 10e9])
def test_caches_of_kernel_values_leave_room_on_small_workers(left):
    class Client:
        def wait_for_workers(self, *_, **__):
            pass

        def scheduler_info(self, **_):
            return {"workers": {"one": {"memory_limit": _cluster.OWN_BYTES + left, "nthreads": 2}}}

    machine = GradientSearch(SVC(cache_size=300.0))
    modest = Cluster(Client()).modest(machine)
    assert modest.estimator.cache_size == min(300.0, left / 2 / 8 / 1e6)
    assert machine.estimator.cache_size == 300.0


def test_an_address_is_enough(client):
    rows, labels = of_dask(X[:400], y[:400], chunks=(200, 6))
    model = Distributed(cells(), address=client.scheduler.address).fit(rows, labels)
    close(model.decision_function(X), cells().fit(X[:400], y[:400]).decision_function(X))


# ---- what is refused ----------------------------------------------------------------------------

ROWS, LABELS = of_dask(X, y)
UNKNOWN = ROWS[ROWS[:, 0] > 0]
TEXT = dd.from_dict({"a": [1.0, 2.0], "b": ["u", "v"]}, npartitions=1).astype({"b": "category"})
MIXED = np.where(np.arange(len(X)) % 2 == 0, NAMES, None)
REFUSED = {
    "array": (Distributed(), X, y, TypeError, "X is of type ndarray"),
    "no labels": (Distributed(), ROWS, None, ValueError, "CellSVC needs y"),
    "lengths": (Distributed(), ROWS, LABELS[1:], ValueError, "X has 2400 rows, y has 2399"),
    "blocks": (Distributed(), UNKNOWN, LABELS[:5], ValueError, "in 4 blocks and y in 1"),
    "unknown": (Distributed(), UNKNOWN, LABELS, ValueError, "must be cut alike"),
    "kinds": (Distributed(), UNKNOWN, y, TypeError, "y must be of dask"),
    "a task": (Distributed(), dask.delayed(X), LABELS, TypeError, "X is of type Delayed"),
    "text": (Distributed(), TEXT, TEXT["a"], ValueError, "text or categories in 'b'; turn them"),
    "missing": (
        Distributed(),
        ROWS,
        MIXED,
        ValueError,
        "none of them missing; it has NoneType and",
    ),
    "named": (Distributed(), ROWS, NAMES[:5], ValueError, "X has 2400 rows, y has 5"),
    "one class": (Distributed(), ROWS, da.zeros_like(LABELS), ValueError, "at least two classes"),
    "no number": (Distributed(), da.where(ROWS > 2, np.nan, ROWS), LABELS, ValueError, "NaN"),
    "targets": (Distributed(), ROWS, ROWS[:, 0], ValueError, "Unknown label type"),
    "no weight": (Distributed(), ROWS, LABELS, ValueError, "no rows with weight above 0"),
    "dimensions": (Distributed(), ROWS[:, :, None], LABELS, ValueError, "3 dimensions"),
    "machine": (Distributed(SVDD()), ROWS, LABELS, TypeError, "OneClassSVM; got SVDD"),
    "in cells": (Distributed(CellSVC(SVR())), ROWS, LABELS, ValueError, "is a regressor"),
    "parameter": (Distributed(CellSVC(overlap=-1)), ROWS, LABELS, ValueError, "'overlap'"),
    "time": (Distributed(CellSVC(time_budget=1.0)), ROWS, LABELS, ValueError, "give cell_size"),
    "address": (Distributed(address="tcp://127.0.0.1:9"), ROWS, LABELS, ConnectionError, "answers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_are_one_sentence(name):
    model, rows, labels, kind, words = REFUSED[name]
    weights = da.zeros_like(LABELS) if name == "no weight" else None
    with dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}):
        with pytest.raises(kind, match=words) as error:
            model.fit(rows, labels, weights)
    assert "\n" not in str(error.value)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_no_client_is_a_sentence(monkeypatch):
    def none():
        raise ValueError("No global client found")

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(ValueError, match="There is no dask client; make one"):
        Distributed().fit(ROWS, LABELS)


def test_columns_are_counted():
    model = Distributed(cells()).fit(ROWS, LABELS)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(ROWS[:, :3])
