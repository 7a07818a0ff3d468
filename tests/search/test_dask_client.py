"""Finding or starting a Dask cluster, and what can be wrong with it."""

import os

import numpy as np
import psutil
import pytest
from dask_processes import processes
from numpy.testing import assert_array_equal

from comarkov.joint.joint import joint
from comarkov.search.parallel import dask_client
from comarkov.search.parallel.dask_joint import on_cluster


def test_a_cluster_of_this_machine_listens_on_loopback_only():
    with dask_client.session(None, 2) as started:
        assert len(started.workers) == 2
        X = np.arange(12.0).reshape(3, 4)
        own = on_cluster(joint(X), started)
        assert_array_equal(own.csr.toarray(), X)
        this = psutil.Process()
        listening = [
            connection.laddr.ip
            for process in (this, *this.children(recursive=True))
            for connection in process.net_connections()
            if connection.status == psutil.CONN_LISTEN
        ]
        assert set(listening) == {"127.0.0.1"}


def test_without_a_client():
    with pytest.raises(ValueError, match=r"Client\(\)"):
        dask_client.current()


def test_workers_that_cannot_take_part(tmp_path, monkeypatch):
    this = os.getpid()

    def other(name):
        return "9.9" if os.getpid() == this else "1.0"

    def none(name):
        return "9.9" if os.getpid() == this else 1 / 0

    with processes(tmp_path, 1) as started:
        for version, message in (
            (other, r"has comarkov 1.0, but this is 9.9. Run there: pip install"),
            (none, r"has no comarkov"),
        ):
            monkeypatch.setattr(dask_client, "version", version)
            with pytest.raises(ValueError, match=message), dask_client.session(started.address, 1):
                pass


def test_without_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_client, "ARRIVAL", 0.2)
    with (
        processes(tmp_path, 0) as started,
        pytest.raises(ValueError, match="dask worker tcp"),
        dask_client.session(started.address, 1),
    ):
        pass
