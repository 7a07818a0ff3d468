"""Dask workers compute what threads do, to the last bit, also when some of them are lost."""

import time
from functools import partial

import numpy as np
import pytest
from dask_processes import processes
from distributed import Client
from helpers import run_at
from numpy.testing import assert_array_equal

from comarkov.joint import parts
from comarkov.joint.joint import joint
from comarkov.model.confidence import _against_others
from comarkov.search.parallel import dask_client
from comarkov.search.parallel.boards import board_of
from comarkov.search.parallel.dask_inputs import from_memory
from comarkov.search.parallel.dask_workers import workers_of
from comarkov.search.progress import Monitor
from comarkov.search.run import Settings
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.side import inserted
from comarkov.search.state.starts import free_start


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with processes(tmp_path_factory.mktemp("dask"), 2) as started, Client(started.address) as own:
        own.wait_for_workers(2, timeout=30)
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


def assert_same_state(one, other):
    for mine, yours in zip(one.sides(), other.sides(), strict=True):
        for ours, theirs in zip(mine.clusters, yours.clusters, strict=True):
            assert_array_equal(ours, theirs)
        for ours, theirs in zip(mine.table, yours.table, strict=True):
            assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", ["counts", "weights"])
def test_the_steps_of_a_search_are_those_of_threads(cluster, kind):
    local = joint(blocks(kind), small=0)
    states = [started(data) for data in (from_memory(local, cluster), local)]
    assert workers_of(local).bounds.size > 8
    assert_same_state(*states)
    for beta, complete, shuffle in [(1.0, True, False), (0.7, True, True), (0.7, False, False)]:
        for state in states:
            run = run_at(beta, settings=Settings(shuffle=shuffle))
            for side in state.sides():
                state.sweep(side, run, complete)
        assert_same_state(*states)
    gains = [[split.gain for split in state.splits(state.rows, run_at(0.7, 1))] for state in states]
    assert gains[0] == gains[1]
    costs = [
        state.rows.each_row(partial(_against_others, gamma=0.5), state.cross(state.rows), 0.7)
        for state in states
    ]
    assert_array_equal(*costs)
    assert states[0].information() == states[1].information()


def test_seeds_are_those_of_threads(cluster, monkeypatch):
    monkeypatch.setattr("comarkov.search.state.side.INSERTED_FIRST_ENTRIES", 300)
    local = joint(blocks(), small=0)
    sides = [
        inserted(data, 5, np.flatnonzero(data.row_mass), run_at(1.0, 4))
        for data in (from_memory(local, cluster), local)
    ]
    assert_array_equal(sides[0].labels, sides[1].labels)
    assert_array_equal(sides[0].table.mass, sides[1].table.mass)


def test_only_changes_of_tables_travel(cluster):
    data = from_memory(joint(blocks(), small=0), cluster)
    state, traffic = started(data), workers_of(data).ledger.traffic
    for side in state.sides():
        state.sweep(side, run_at(0.7))
    tables, changes = traffic["tables"], traffic["changes"]
    assert tables == 2 * 2 * sum(side.table.mass.nbytes for side in state.sides())
    assert all(board_of(side.cross[5:9]) for side in state.sides())  # which are not sent either
    for side in state.sides():
        state.sweep(side, run_at(0.7))
    assert traffic["tables"] == tables
    assert traffic["changes"] > changes


def test_rows_are_those_of_the_matrix(cluster):
    local = joint(blocks(), small=0)
    numbers = np.random.default_rng(0).permutation(90)[:40]
    data = from_memory(local, cluster)
    matrix, places = workers_of(data).rows(numbers)
    chosen, expected = data.subset(numbers), local.subset(numbers)
    for ours, theirs in zip(chosen.matrix, expected.matrix, strict=True):
        assert_array_equal(ours, theirs)
    assert_array_equal(matrix.mass[places], local.row_mass[numbers])


def sweep_while(data, *happenings):
    """The labels of rows after some sweeps, between which something happens."""
    state = started(data)
    state.rows.is_fresh = False
    for happens in (*happenings, lambda: None):
        state.sweep(state.rows, run_at(0.7))
        happens()
    state.sweep(state.rows, run_at(0.7))
    return state.rows.labels


def test_lost_workers_change_nothing(tmp_path):
    local = joint(blocks(), small=0)
    with processes(tmp_path, 2) as running, Client(running.address) as own:
        own.wait_for_workers(2, timeout=30)

        def lose_one():
            running.workers[0].kill()

        def replace_the_other():
            known = set(own.nthreads())
            running.start_worker()
            while set(own.nthreads()) <= known:
                time.sleep(0.05)
            running.workers[1].kill()

        data = from_memory(local, dask_client.Cluster(own))
        labels = sweep_while(data, lose_one, replace_the_other)
    assert_array_equal(labels, sweep_while(local, lambda: None, lambda: None))


def test_a_lost_scheduler_is_an_error(tmp_path):
    with processes(tmp_path, 1) as running, Client(running.address, timeout=2) as own:
        data = from_memory(joint(blocks(), small=0), dask_client.Cluster(own))
        with pytest.raises(ConnectionError, match=r"The Dask scheduler at tcp://127.0.0.1:.* gone"):
            sweep_while(data, running.scheduler.kill)


def test_a_search_on_workers_can_be_stopped(cluster):
    data = from_memory(joint(blocks(), small=0), cluster)
    state = started(data)
    before = state.rows.labels.copy()
    visit = state.sweep(state.rows, run_at(0.7, monitor=Monitor(max_time=1e-9)))
    assert not visit.complete
    assert_array_equal(state.rows.labels, before)
