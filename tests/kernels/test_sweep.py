"""The sweep against slow and plain arithmetic."""

from unittest.mock import patch

import numpy as np
import pytest
from helpers import callable_from_python, enter, problems, run_at, started
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

import comarkov
from comarkov.joint.joint import joint
from comarkov.kernels import insertion, logarithm, tables
from comarkov.kernels.insertion import new_workspace
from comarkov.kernels.sweep import insertion_costs, sweep
from comarkov.search.state.side import Side, coupled, inserted

block_entries = callable_from_python(insertion.block_entries)
cost_all = callable_from_python(insertion.cost_all)
cost_exact = callable_from_python(insertion.cost_exact)
error_bound = callable_from_python(insertion.error_bound)
left = callable_from_python(logarithm.left)
add = callable_from_python(tables.add)
remove = callable_from_python(tables.remove)


def sides(state):
    return ((state.rows, state.columns), (state.columns, state.rows))


def nats(state, W, beta):
    """The cost by the oracle, in the kernels' unit."""
    return comarkov.cost(W, *state.labels(), beta) * np.log(2) * state.joint.total


@pytest.fixture(autouse=True, scope="module", params=["derived", "packed"])
def table_kind(request):
    """Every test, with all tables packed as well, as those of counts are that exceed the cache."""
    limit = 0 if request.param == "packed" else tables.CACHED_BYTES
    with patch.object(tables, "CACHED_BYTES", limit):
        yield


@given(problems())
def test_packed_tables_lead_to_the_same_labels(problem):
    W, k, l, beta, seed = problem
    labels = []
    for limit in (0, 1 << 23):
        with patch.object(tables, "CACHED_BYTES", limit):
            state = started(W, k, l, seed)
            for side, other in 3 * sides(state):
                side.sweep(other and other.cross, run_at(beta, seed))
            labels.append(np.concatenate(state.labels()))
    assert_array_equal(*labels)


def oracle_costs(side, other, beta, x):
    """c_a of row x for every cluster, straight from the formula."""
    matrix = side.joint.matrix
    dense = np.zeros(side.joint.shape)
    for row in range(dense.shape[0]):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        dense[row, matrix.indices[part].astype(int)] = matrix.weights[part]
    rest = np.arange(dense.shape[0]) != x
    own = np.array([dense[rest & (side.labels == a)].sum(axis=0) for a in range(side.k)])
    member = other.labels == np.arange(other.k)[:, None]
    coupling = 2 * beta - 1
    alone = enter(dense[x].sum(), own.sum(1))
    table = enter(dense[x], own).sum(1)
    blocks = enter(dense[x] @ member.T, own @ member.T).sum(1)
    return alone - coupling * table - (1 - coupling) * blocks


def exact_costs(side, other, beta, x):
    cross, coupling = coupled(side.table, other and other.cross, beta)
    blocks = side.blocks(cross)
    workspace = new_workspace(blocks)
    home = side.labels[x]
    setting = insertion.CostContext(side.joint.matrix, side.table, blocks, coupling)
    entries = block_entries(x, cross, side.joint.row_mass[x], workspace)
    exact = [cost_exact(x, a, home, setting, entries) for a in range(side.k)]
    cost_all(x, home, setting, entries, workspace)
    return np.array(exact), workspace.total[: side.k], error_bound(x, setting, entries)


@given(problems())
def test_what_a_move_promises_is_what_the_cost_does(problem):
    W, k, l, beta, seed = problem
    for which in (0, 1):
        state = started(W, k, l, seed)
        side, other = sides(state)[which]
        before = nats(state, W, beta)
        for x in side.free:
            home = side.labels[x]
            if side.clusters.size[home] == 1:
                continue
            costs, approximate, bound = exact_costs(side, other, beta, x)
            atol = 1e-10 * side.joint.row_mass[x]
            assert_allclose(costs, oracle_costs(side, other, beta, x), rtol=1e-10, atol=atol)
            assert (abs(costs - approximate) <= bound).all()
            for a in range(side.k):
                side.labels[x] = a
                after = nats(state, W, beta)
                rounding = 1e-14 * side.joint.total  # of the oracle
                tolerance = 1e-10 * max(before, side.joint.row_mass[x]) + rounding
                assert abs((costs[a] - costs[home]) - (after - before)) <= tolerance
            side.labels[x] = home


@given(problems())
def test_costs_that_are_nearly_the_least_are_exact(problem):
    """Clusters are doubled, so that every row has two that cost the same but for its own mass."""
    W, k, l, beta, seed = problem
    W = np.vstack([W, W])
    state = started(W, k, l, seed)
    side, other = state.rows, state.columns
    cross, coupling = coupled(side.table, other and other.cross, beta)
    blocks = side.blocks(cross)
    out = np.empty((side.labels.size, side.k))
    setting = side.joint.matrix, side.table, blocks, cross, coupling
    insertion_costs(out, side.labels.copy(), *setting, new_workspace(blocks))
    for x in np.flatnonzero(side.labels >= 0):
        exact, approximate, bound = exact_costs(side, other, beta, x)
        assert (abs(out[x] - exact) <= bound).all()
        near = approximate <= approximate.min() + 1.99 * bound  # surely, whatever is fused
        if near.sum() > 1:
            atol = 1e-12 * side.joint.row_mass[x]
            assert_allclose(out[x][near], exact[near], rtol=1e-12, atol=atol)


@given(problems())
def test_sweeps_keep_their_promises(problem):
    W, k, l, beta, seed = problem
    state = started(W, k, l, seed)
    run = run_at(beta, seed)
    cost = comarkov.cost(W, *state.labels(), beta)
    for _ in range(4):
        for side, other in sides(state):
            visit = side.sweep(other and other.cross, run)
            now = comarkov.cost(W, *state.labels(), beta)
            assert now <= cost + 1e-12
            assert_allclose(visit.saved, cost - now, rtol=1e-3, atol=1e-9)
            assert visit.saved >= 0
            cost = now
            members = np.bincount(side.labels[side.labels >= 0], minlength=side.k)
            assert_array_equal(side.clusters.size, members)
            assert members.min() > 0
            table = side.table
            kept = {name: getattr(table, name).copy() for name in ("mass", "log", "unit")}
            side.table = side._filled()
            if side.joint.is_count:
                for name, values in kept.items():
                    assert_array_equal(values, getattr(side.table, name))
            else:
                scale = side.table.mass.max()
                assert_allclose(kept["mass"], side.table.mass, rtol=1e-10, atol=1e-13 * scale)
            side.table = table


@given(problems())
def test_a_row_goes_where_it_costs_least(problem):
    W, k, l, beta, seed = problem
    state = started(W, k, l, seed)
    for side, other in sides(state):
        cross, coupling = coupled(side.table, other and other.cross, beta)
        for x in side.free:
            blocks = side.blocks(cross)
            home = side.labels[x]
            costs = oracle_costs(side, other, beta, x)
            alone = side.clusters.size[home] == 1
            masses = (side.joint.matrix, side.clusters, side.table, blocks, cross)
            sweep(np.array([x]), *masses, coupling, new_workspace(blocks))
            if alone:
                assert side.labels[x] == home
            else:
                least = costs.min() + 1e-9 * max(side.joint.row_mass[x], abs(costs).max())
                assert costs[side.labels[x]] <= least


@given(problems())
def test_an_inserted_row_goes_where_it_costs_least_at_that_time(problem):
    W, k, _l, _beta, seed = problem
    data = joint(W, small=0)
    free = np.flatnonzero(data.row_mass)
    order = run_at(1.0, seed).rng.permutation(free)
    end = inserted(data, k, free, run_at(1.0, seed)).labels
    assert_array_equal(end[order[:k]], np.arange(k))
    dense = W / data.scale
    for i, x in enumerate(order[k:], k):
        before = order[:i]
        own = np.array([dense[before[end[before] == a]].sum(axis=0) for a in range(k)])
        costs = enter(dense[x].sum(), own.sum(1)) - enter(dense[x], own).sum(1)
        assert costs[end[x]] <= costs.min() + 1e-9 * max(dense[x].sum(), abs(costs).max())


def test_insertion_without_time_fills_all_clusters():
    data = joint(np.random.default_rng(0).poisson(0.5, (300, 200)), small=0)
    free = np.flatnonzero(data.row_mass)
    side = inserted(data, 5, free, run_at(1.0, max_time=1e-9))
    assert set(side.labels[free]) == set(range(5))
    assert_array_equal(side.masses, Side(data, side.labels, 5, free).masses)


def test_ties_stay_at_home_and_else_go_to_the_lowest():
    W = np.eye(6)[:, :3] + np.eye(6)[:, 3:]  # the identity twice
    side = Side(joint(np.eye(6)), np.array([0, 0, 1, 1, 2, 2]), 3, np.arange(6))
    assert side.sweep(None, run_at(1.0)).moves == 0
    side = Side(joint(W), np.array([2, 2, 0, 1, 0, 1]), 3, np.array([0]))
    side.sweep(None, run_at(1.0))
    assert side.labels[0] == 1  # where its double is


def test_the_masses_of_float_weights_come_out_exactly_empty():
    W = np.array([[0.1, 0.2], [0.3, 0.0], [0.7, 0.1], [0.0, 0.9]])
    side = Side(joint(W), np.array([0, 0, 0, 1]), 2, np.arange(4))
    blocks = side.blocks(np.zeros((0, 0)))
    matrix = side.joint.matrix
    for x in (0, 1, 2):
        row = matrix.indices, matrix.weights, matrix.indptr[x], matrix.indptr[x + 1]
        mass = np.array([0], np.uint32), matrix.mass[x : x + 1], 0, 1
        for table, entries in ((side.table, row), (blocks, mass)):
            remove(table, *entries, 0)
            add(table, *entries, 1)
    assert_array_equal(side.table.mass[:, 0], 0.0)
    assert blocks.mass[0, 0] == 0.0


def test_nothing_left_is_plus_zero():
    nothing = left(0.3, 0.1 + 0.2)  # less than nothing, by rounding
    assert nothing == 0.0
    assert not np.signbit(nothing)
    assert left(1.0, 1.0 - 2.0**-40) == 2.0**-40
    large = 2.0**20  # remainders are relative
    assert left(large, large - 2.0**-25) == 2.0**-25
    assert left(large, large - 1.5 * 2.0**-27) == 0.0


def test_counts_beyond_the_lookup_table():
    rng = np.random.default_rng(0)
    W = rng.integers(1, 100_000, (40, 6))
    W[:, 0] = 1  # and a row's ones and twos meet large masses
    W[:20, 1] = 2
    state = started(np.vstack([W, 10**6 * np.ones((2, 6), int)]), 3, 2, 0)
    W = np.vstack([W, 10**6 * np.ones((2, 6), int)])
    assert state.joint.is_count
    assert state.rows.table.mass.max() > state.rows.table.lookup.shape[0]
    for side, other in sides(state):
        for x in side.free:
            costs, approximate, bound = exact_costs(side, other, 0.8, x)
            assert (abs(costs - approximate) <= bound).all()
            assert bound < 1e-3 * side.joint.row_mass[x]


def test_one_logarithm_of_counts_is_enough():
    q = callable_from_python(insertion._q)
    assert abs(q(np.float32(0)) - np.exp(-2)) < 1e-6
    v = np.concatenate([np.arange(1.0, 5000), 2.0 ** np.arange(13, 31)])
    exact = np.log(v) + (v + 1) * np.log1p(1 / v)
    squares = np.array([q(np.float32(u)) for u in v])
    assert (abs(1 + np.log(squares) / 2 - exact) < insertion.Q_ERROR).all()


def test_long_rows_are_summed_in_chunks():
    rng = np.random.default_rng(0)
    W = rng.integers(0, 4, (30, 5000))
    state = started(W, 4, 3, 0)
    side, other = state.rows, state.columns
    costs, approximate, bound = exact_costs(side, other, 0.8, 0)
    assert (abs(costs - approximate) <= bound).all()
    assert bound < 1e-3 * side.joint.row_mass[0]
