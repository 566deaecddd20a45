"""Workers and schedulers that die, and what is missing, in processes of their own."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification

from mercer import SVC, CellSVC
from mercer.distributed import Distributed, _cluster
from mercer.distributed._cluster import cluster_at

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

X, y = make_classification(2000, 6, n_informative=5, n_redundant=0, random_state=0)
ROWS, LABELS = da.from_array(X, chunks=(200, 6)), da.from_array(y, chunks=200)
CELLS = CellSVC(SVC(tol=1e-6), cell_size=400, random_state=0)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are killed otherwise there")


def deadly(folder, reads):
    """Return rows that kill the other process which reads blocks of them, at its last read."""
    own = os.getpid()

    def read(block):
        if len(block) and os.getpid() != own:
            (folder / str(len(os.listdir(folder)))).touch()
            if len(os.listdir(folder)) == reads:
                os.kill(os.getpid(), signal.SIGKILL)
        return block

    return ROWS.map_blocks(read, dtype=float, meta=X[:0])


def test_a_killed_worker_loses_nothing(tmp_path):
    """It dies when the rows are cut by cell, with all that it has done."""
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        command += ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as other:
            client.wait_for_workers(2)
            model = Distributed(CELLS).fit(deadly(tmp_path, 6), LABELS)
            assert other.wait(10) == -signal.SIGKILL
    expected = CELLS.fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-4, atol=1e-4)


SCHEDULER = """
import time
from distributed import LocalCluster
with LocalCluster(
    n_workers=1, processes=False, protocol="tcp", dashboard_address=":0"
) as cluster:
    print(cluster.scheduler_address, flush=True)
    time.sleep(100)
"""


def test_a_killed_scheduler_is_a_sentence(tmp_path, capfd):
    command = [sys.executable, "-c", SCHEDULER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            address = process.stdout.readline().decode().strip()
            with pytest.raises(ConnectionError) as error:
                Distributed(CELLS, address=address).fit(deadly(tmp_path, 12), LABELS)
        finally:
            process.kill()
    assert str(error.value) == (
        f"The scheduler at {address} is gone, and the fit with it; fit again when there is one."
    )
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__
    assert "Traceback" not in capfd.readouterr().err


def test_workers_without_memory_are_a_sentence(in_use):
    with pytest.raises(MemoryError, match=r"ended 4 workers .* lack of memory"):
        with cluster_at(None):
            raise distributed.KilledWorker("fit", None, 3)


def test_work_that_is_given_up_is_a_sentence(client):
    """As when all workers are restarted, and rows that were sent to them are lost."""
    lost = client.submit(len, X)
    lost.cancel()
    with pytest.raises(ConnectionError, match=r"given up the fit, .* make X and y anew") as error:
        with client.as_current(), cluster_at(None) as cluster:
            cluster.fetched([lost])
    assert error.value.__suppress_context__


def test_a_read_that_takes_too_long_is_told_as_such(in_use):
    """It is not for lack of workers."""

    def read(block):
        if len(block):
            raise TimeoutError("the store does not answer")
        return block

    with pytest.raises(TimeoutError, match="the store does not answer"):
        Distributed(CELLS).fit(ROWS.map_blocks(read, dtype=float, meta=X[:0]), LABELS)


def test_no_workers_is_a_sentence(monkeypatch):
    monkeypatch.setattr(_cluster, "SECONDS_FOR_WORKERS", 0.1)
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as none:
        with distributed.Client(none), pytest.raises(ConnectionError, match="has no workers"):
            Distributed(CELLS).fit(ROWS, LABELS)


@pytest.mark.parametrize("missing", ["dask.array", "distributed"])
def test_without_dask_a_sentence_says_what_to_install(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r'needs dask.*pip install "mercer\[dask\]"'):
        Distributed().fit(X, y)


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("dask", "distributed"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import numpy as np
from mercer import SVC, CellSVC
from mercer.distributed import Distributed
X = np.random.default_rng(0).normal(size=(200, 2))
print(CellSVC(SVC(), cell_size=50).fit(X, X[:, 0] > 0).n_cells_ > 1, Distributed())
try:
    Distributed().fit(X, X[:, 0] > 0)
except ImportError as error:
    print(error)
"""


def test_where_dask_is_missing_everything_else_works():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    first, second = done.stdout.splitlines()
    assert first == "True Distributed()", done.stderr
    assert 'needs dask, which is not installed; run pip install "mercer[dask]"' in second


def test_importing_brings_no_dask():
    script = "import sys, mercer; mercer.Distributed(); print('dask' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
