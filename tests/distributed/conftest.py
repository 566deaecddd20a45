"""Clusters on this computer."""

import pytest


@pytest.fixture(scope="session")
def client():
    """Two workers that are threads of this process, which takes no time to start."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def in_use(client):
    """The same, as the client in use."""
    with client.as_current():
        yield client
