"""Sweeps in parts: the answer depends on the parts, not on who computes them."""

from itertools import pairwise

import numpy as np
import pytest
from helpers import run_at
from numpy.testing import assert_allclose, assert_array_equal

from comarkov.joint import parts
from comarkov.joint.joint import joint
from comarkov.joint.parts import Change, aligned_ranges, total, total_of_ranges
from comarkov.search.optimise.refine import refine
from comarkov.search.parallel.half_steps import Mover
from comarkov.search.parallel.worker import (
    rows_of_parts,
    worker_of,
)
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.side import Side, inserted
from comarkov.search.state.starts import free_start


@pytest.fixture(autouse=True)
def _many_parts(monkeypatch):
    """Divide even small matrices."""
    monkeypatch.setattr(parts, "ENTRIES", 150)
    monkeypatch.setattr(parts, "PER_COLUMN", 1)


@pytest.fixture(params=["counts", "weights", "single"])
def matrix(request):
    """Blocks with empty rows, as counts, decimals, and in single precision."""
    rng = np.random.default_rng(3)
    rates = rng.gamma(0.4, 4.0, (5, 4))[rng.integers(5, size=90)][:, rng.integers(4, size=70)]
    X = rng.poisson(rates).astype(float)
    X[[0, 40]] = 0
    if request.param != "counts":
        X *= rng.uniform(0.1, 3.0, X.shape)
    return X.astype(np.float32) if request.param == "single" else X


def divided(X, threads=1):
    data = joint(X, small=0).with_threads(threads)
    assert worker_of(data).bounds.size > 4
    return data


def started(data, k, l, seed):
    starts = free_start(k, data.row_mass), free_start(l, data.column_mass)
    return CoClusterProblem(data, starts).begin(starts, np.random.default_rng(seed))


def labels_after(X, beta, threads, sweeps=4):
    state = started(divided(X, threads), 6, 5, 1)
    for _ in range(sweeps):
        for side in state.sides():
            state.sweep(side, run_at(beta))
    return state.labels()


@pytest.mark.parametrize("beta", [1.0, 0.7, 0.2])
def test_sweeps_do_not_depend_on_the_number_of_threads(matrix, beta):
    one, two, five = (labels_after(matrix, beta, threads) for threads in (1, 2, 5))
    for axis in (0, 1):
        assert_array_equal(one[axis], two[axis])
        assert_array_equal(one[axis], five[axis])


@pytest.mark.parametrize("beta", [1.0, 0.7, 0.2])
def test_every_sweep_saves_what_it_says_and_keeps_the_table(matrix, beta):
    state = started(divided(matrix), 6, 5, 2)
    for _ in range(5):
        for side in state.sides():
            before = state.cost(beta)
            visit = state.sweep(side, run_at(beta))
            assert visit.saved >= 0
            assert before - state.cost(beta) == pytest.approx(visit.saved, abs=1e-9)
            fresh = Side(side.joint, side.labels, side.k, side.free)
            assert_allclose(side.masses, fresh.masses, rtol=1e-9, atol=1e-12)
            assert_array_equal(side.clusters.size, fresh.clusters.size)
            assert side.clusters.size.min() > 0


def test_one_part_at_a_time_is_the_sequential_sweep(matrix, monkeypatch):
    state = started(divided(matrix), 6, 5, 3)
    monkeypatch.setattr(parts, "MAX_PARTS", 1)
    whole = started(joint(matrix, small=0), 6, 5, 3)
    assert worker_of(whole.joint).bounds.size == 2
    side, run = state.rows, run_at(1.0)
    mover = side.mover(side.blocks(np.zeros((0, 0))), np.zeros((0, 0)), 1.0, run.stop)
    mover._one_after_another(rows_of_parts(mover.worker.bounds, side.free))
    whole.rows.sweep(None, run)
    assert_array_equal(side.labels, whole.rows.labels)


def test_a_half_step_that_raises_the_cost_is_made_again_in_smaller_ones(matrix, monkeypatch):
    state = started(divided(matrix), 6, 5, 4)
    tried, again = [], Mover._again

    def rises(mover, step):
        return -1.0

    monkeypatch.setattr(Mover, "_saved", rises)
    monkeypatch.setattr(Mover, "_again", lambda *a: tried.append(a[2]) or again(*a))
    before = state.rows.labels.copy()
    visit = state.sweep(state.rows, run_at(1.0))
    assert tried[:3] == [2, 1, 0]
    assert visit.moves > 0  # one part after another
    assert not np.array_equal(before, state.rows.labels)


def test_a_stopped_half_step_changes_nothing(matrix):
    state = started(divided(matrix, 2), 6, 5, 5)
    before, masses = state.rows.labels.copy(), state.rows.masses.copy()
    visit = state.sweep(state.rows, run_at(1.0, max_time=1e-9))
    assert not visit.complete
    assert_array_equal(state.rows.labels, before)
    assert_array_equal(state.rows.masses, masses)


@pytest.mark.parametrize("beta", [1.0, 0.7, 0.5])
def test_in_the_end_no_single_move_lowers_the_cost(matrix, beta, monkeypatch):
    for k, seed in ((6, 1), (25, 2)):  # many clusters have one row in each of a few parts
        state = started(divided(matrix), k, 5, seed)
        refine(state, run_at(beta), "test")
        labels = state.labels()
        with monkeypatch.context() as one_part:
            one_part.setattr(parts, "MAX_PARTS", 1)
            data = joint(matrix, small=0)
            starts = free_start(k, data.row_mass), free_start(5, data.column_mass)
            whole = CoClusterProblem(data, starts).with_labels(labels)
            moves = [whole.sweep(side, run_at(beta)).moves for side in whole.sides()]
        assert moves == [0, 0]


def test_rows_inserted_in_parts_are_all_inserted(matrix, monkeypatch):
    monkeypatch.setattr("comarkov.search.state.side.INSERTED_FIRST_ENTRIES", 200)
    for threads in (1, 2):
        data = divided(matrix, threads)
        free = np.flatnonzero(data.row_mass)
        side = inserted(data, 5, free, run_at(1.0, 0))
        assert (side.labels[free] >= 0).all()
        assert_allclose(side.masses, Side(data, side.labels, 5, free).masses, rtol=1e-12)
        random = Side(data, np.arange(90) % 5, 5, free)
        assert side.information() > 2 * random.information()
    assert_array_equal(side.labels, inserted(divided(matrix), 5, free, run_at(1.0, 0)).labels)


@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_splits_in_parts_save_what_they_promise(matrix, beta, monkeypatch):
    monkeypatch.setattr("comarkov.search.state.side.SPLIT_SAMPLE_ENTRIES", 100)
    state = started(divided(matrix, 2), 4, 5, 8)
    side = state.rows
    gains = []
    for a, (gain, leavers) in enumerate(state.splits(side, run_at(beta, 1))):
        assert (side.labels[leavers] == a).all()
        labels = side.labels.copy()
        labels[leavers] = 4
        finer = state.with_side(side, Side(side.joint, labels, 5, side.free))
        assert state.cost(beta) - finer.cost(beta) == pytest.approx(gain, abs=1e-9)
        gains.append(gain)
    assert min(gains) > 0


def test_large_data_keep_no_derived_values(matrix):
    side = started(divided(matrix, 2), 4, 5, 8).rows
    for each in (
        side,
        side.copy(),
        side.merged(0, 1),
        inserted(side.joint, 4, side.free, run_at(1)),
    ):
        assert each.table.mass.size > 0
        assert [each.table.log.size, each.table.unit.size, each.table.pair.size] == [0, 0, 0]


def test_masses_move_with_rows_that_get_other_labels(matrix):
    data = divided(matrix, threads=2)
    side = started(data, 6, 5, 1).rows
    labels = side.labels.copy()
    labels[::3] = 2
    masses = Side(data, labels, 6, side.free).masses
    assert_allclose(side.relabelled(labels).masses, masses, rtol=1e-12)


def test_changes_add_up():
    rng = np.random.default_rng(1)
    dense = np.zeros((9, 3))
    changes = []
    for _ in range(7):
        items = np.flatnonzero(rng.random(9) < 0.4).astype(np.uint32)
        cells = rng.integers(-5, 5, (items.size, 3)).astype(float)
        dense[items] += cells
        changes.append(Change(items, cells))
    whole = np.zeros((9, 3))
    items, cells = total(changes, Change.plus)
    assert (np.diff(items.astype(int)) > 0).all()
    whole[items] = cells
    assert_array_equal(whole, dense)


@pytest.mark.parametrize("ends", [[0, 8], [0, 3, 5, 8], [0, 1, 2, 8], [0, 0, 7, 8]])
def test_sums_of_ranges_are_those_of_all_values(ends):
    values = np.random.default_rng(0).random(8) * 10.0 ** np.arange(8)
    ranges = [some for a, b in pairwise(ends) for some in aligned_ranges(range(a, b))]
    sums = [(some, total(values[some.start : some.stop], float.__add__)) for some in ranges]
    assert total_of_ranges(sums, float.__add__) == total(values, float.__add__)


def test_the_parts_of_a_matrix_cover_its_rows():
    indptr = np.concatenate([[0], np.cumsum(np.random.default_rng(2).integers(0, 50, 300))])
    for count in (1, 2, 16, 64):
        bounds = parts.part_bounds(indptr, count)
        assert bounds.size == count + 1
        assert (bounds[0], bounds[-1]) == (0, 300)
        assert (np.diff(indptr[bounds]) <= indptr[-1] / count + 50).all()
