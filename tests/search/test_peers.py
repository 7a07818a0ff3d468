"""Peers on Dask workers find what threads do, to the last bit, also when some of them are lost."""

import os
import signal
import sys
import threading
import time
from functools import partial

import cloudpickle
import numpy as np
import psutil
import pytest
from dask_processes import processes
from distributed import Client
from helpers import run_at
from numpy.testing import assert_array_equal

import comarkov
from comarkov import CoClustering
from comarkov.joint import parts
from comarkov.joint.joint import joint
from comarkov.model.confidence import _against_others
from comarkov.model.storage import load_value
from comarkov.search.parallel import dask_client, peers
from comarkov.search.parallel.dask_joint import on_cluster
from comarkov.search.parallel.peers import _peers
from comarkov.search.parallel.worker import worker_of
from comarkov.search.progress import Monitor
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.side import inserted
from comarkov.search.state.starts import free_start

for name in (__name__, "helpers"):  # workers do not have these files
    cloudpickle.register_pickle_by_value(sys.modules[name])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three workers, one of them with two threads."""
    folder = tmp_path_factory.mktemp("dask")
    with processes(folder, 2) as started, Client(started.address) as own:
        started.start_worker(2)
        own.wait_for_workers(3, timeout=120)
        yield dask_client.Cluster(own)


@pytest.fixture(autouse=True)
def many_parts(monkeypatch):
    """Divide even small matrices."""
    monkeypatch.setattr(parts, "ENTRIES", 250)
    monkeypatch.setattr(parts, "PER_COLUMN", 1)


def blocks(kind="counts"):
    rng = np.random.default_rng(3)
    rates = rng.gamma(0.4, 4.0, (5, 4))[rng.integers(5, size=90)][:, rng.integers(4, size=70)]
    X = rng.poisson(rates).astype(float)
    X[[0, 40]] = 0
    return X * rng.uniform(0.1, 3.0, X.shape) if kind == "weights" else X


def started(data, k=6, l=5):
    starts = free_start(k, data.row_mass), free_start(l, data.column_mass)
    return CoClusterProblem(data, starts).begin(starts, np.random.default_rng(1))


def tables(state):
    """All that is known of both sides."""
    return [array for side in state.sides() for array in (*side.clusters, *side.table[:1])]


def assert_same(one, other):
    for ours, theirs in zip(one, other, strict=True):
        assert_array_equal(ours, theirs)


def steps_of_a_search(data, run):
    """Sweeps of all kinds, splits, costs, seeds and rows."""
    state = started(data)
    known = tables(state)
    for beta, complete in [(1.0, True), (0.7, True), (0.7, False)]:
        own = run_at(beta)
        for side in state.sides():
            state.sweep(side, own, complete)
        known += [array.copy() for array in tables(state)]
    known += [split.gain for split in state.splits(state.rows, run_at(0.7, 1))]
    known += state.rows.each_row(partial(_against_others, gamma=0.5), state.cross(state.rows), 0.7)
    known.append(state.information())
    known.append(state.merge_costs(state.columns, 0.7))
    known.append(inserted(data, 5, np.flatnonzero(data.row_mass), run_at(1.0, 4)).labels)
    chosen = np.random.default_rng(0).permutation(90)[:40]
    return [*known, *data.subset(chosen).matrix[:-1], *data.T.matrix[:-1]]


@pytest.mark.parametrize("most", [1, 3])  # peers that send changes to each other in one round
@pytest.mark.parametrize("kind", ["counts", "weights"])
def test_the_steps_of_a_search_are_those_of_threads(cluster, kind, most):
    cluster.client.run(setattr, peers, "MAX_DIRECT", most)
    local = joint(blocks(kind), small=0)
    assert worker_of(local).bounds.size > 8
    found = on_cluster(local, cluster).compute(steps_of_a_search, run_at(0.7))
    assert_same(found, steps_of_a_search(local, run_at(0.7)))


def left_behind():
    """What is left of fits in a worker."""
    searching = [one for one in threading.enumerate() if one.name.startswith("comarkov-search")]
    return len(_peers), len(searching)


def test_a_fit_reports_and_leaves_nothing_behind(cluster):
    X, seen, known = blocks(), [], cluster.client.who_has()
    options = {"n_clusters": (4, 3), "random_state": 0, "n_init": 1}
    distributed = CoClustering(engine="dask", callback=seen.append, **options).fit(X)
    local = CoClustering(**options).fit(X)
    for name in ("row_labels_", "column_labels_", "row_confidence_", "cost_", "n_iter_"):
        assert_array_equal(getattr(distributed, name), getattr(local, name))
    assert {state.stage for state in seen} >= {"anneal", "end"}
    end = time.monotonic() + 10
    while cluster.client.who_has().keys() - known.keys() and time.monotonic() < end:
        time.sleep(0.05)
    assert cluster.client.who_has().keys() <= known.keys()
    assert set(cluster.client.run(left_behind).values()) == {(0, 0)}


def sweeps(data, run):
    """The labels of rows after eight sweeps, each of which is reported."""
    state = started(data)
    for number in range(8):
        state.sweep(state.rows, run_at(0.7))
        run.monitor.report("sweep", 0.7, number, 0.0)
        time.sleep(0.1)
    return state.rows.labels


def test_lost_workers_change_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_client, "ARRIVAL", 300.0)
    local = joint(blocks("weights"), small=0)
    expected = sweeps(local, run_at(0.7))
    with processes(tmp_path, 3) as running, Client(running.address) as own:
        own.wait_for_workers(3, timeout=120)
        data = on_cluster(local, dask_client.Cluster(own))
        for lost in ([0], [1], [0, 2], [0, 1, 2]):  # each time, new workers arrive late
            seen = []

            def lose(state, lost=lost, seen=seen):
                seen.append(state)
                if len(seen) == 3:
                    processes_of = own.run(os.getpid)
                    for rank in lost:
                        os.kill(processes_of[sorted(processes_of)[rank]], signal.SIGKILL)
                        running.start_worker()

            run = run_at(0.7, monitor=Monitor(callback=lose))
            assert_array_equal(data.compute(sweeps, run), expected)
            assert len(seen) > 3
            own.wait_for_workers(3, timeout=120)


def test_a_fit_goes_on_after_its_scheduler_was_lost(tmp_path):
    X, file, seen = blocks(), tmp_path / "fit.npz", []
    options = {"n_clusters": (4, 3), "random_state": 0, "n_init": 1, "checkpoint": file}
    for folder in (tmp_path / "one", tmp_path / "other"):
        folder.mkdir()
        with processes(folder, 1) as running, Client(running.address, timeout=20):

            def lose(state, scheduler=running.scheduler):
                if file.exists():
                    scheduler.kill()

            if folder.name == "one":
                with pytest.raises(ConnectionError):
                    CoClustering(engine="dask", callback=lose, **options).fit(X)
                labels = load_value(file)["labels"]
            else:
                model = CoClustering(engine="dask", callback=seen.append, **options).fit(X)
    assert {state.stage for state in seen} == {"end"}  # it was annealed before
    assert model.cost_ <= comarkov.cost(X, *labels, model.beta_) + 1e-9


@pytest.mark.nightly
@pytest.mark.filterwarnings(
    "ignore:No convergence"
)  # few sweeps are enough to leave something behind
def test_ten_fits_leave_no_memory_on_workers(cluster, monkeypatch):
    monkeypatch.setattr(parts, "ENTRIES", 1 << 17)
    X, sizes = np.random.default_rng(0).poisson(0.7, (2000, 1000)), []
    for _ in range(10):
        CoClustering((8, 6), engine="dask", random_state=0, n_init=1, max_iter=5).fit(X)
        sizes.append(sum(cluster.client.run(resident).values()))
    assert sizes[-1] < 1.1 * sizes[1], sizes


def resident():
    return psutil.Process().memory_info().rss


def endless(data, run):
    """Sweep until the end is asked for."""
    state, count = started(data), 0
    while count == 0 or not run.stop():
        state.sweep(state.rows, run.at(0.7))
        count += 1
    return count


def test_a_search_on_workers_can_be_stopped(cluster):
    data = on_cluster(joint(blocks(), small=0), cluster)
    run = run_at(0.7, monitor=Monitor(max_time=0.5))
    assert data.compute(endless, run) > 0
    assert run.monitor.reason == "max_time was reached"


def faulty(data, run):
    raise ValueError("this is wrong")


def test_an_error_on_workers_is_raised_here(cluster):
    with pytest.raises(ValueError, match="this is wrong"):
        on_cluster(joint(blocks(), small=0), cluster).compute(faulty, run_at(0.7))
