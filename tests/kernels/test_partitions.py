"""Kernels over partitions: the best of them is that of trying all, and blocks cost what they do."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy

from comarkov.kernels.partitions import add_block_costs, best_partitions
from comarkov.search.optimise.exact import decoded, subsets_of


def canonical_labels(n, k):
    """All labels in which clusters are numbered by their first elements, in order."""
    return [
        labels
        for labels in itertools.product(range(k), repeat=n)
        if list(dict.fromkeys(labels)) == list(range(k))
    ]


def blocks_of(masses, rows, columns, k, l):
    blocks = np.zeros((k, l))
    np.add.at(blocks, (np.array(rows)[:, None], np.array(columns)[None]), masses)
    return blocks


@st.composite
def labelled_tables(draw):
    """Masses, many of them equal, and some labellings of the columns."""
    n, m, l = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    masses = rng.integers(0, 3, (n, m)) / 7.0
    return masses, rng.integers(l, size=(3, m)).astype(np.int16), rng.uniform(-1, 1, l), rng


@given(labelled_tables())
def test_blocks_cost_what_they_do(table):
    masses, columns, factors, rng = table
    rows = rng.integers(2, size=(6, masses.shape[0])).astype(np.int16)
    scratch = np.empty((2, masses.shape[1])), np.empty((2, factors.size))
    out = np.ones(6)
    add_block_costs(masses, rows, columns, factors, *scratch, out)
    for c in range(6):  # the columns have three labellings, which come twice
        M = blocks_of(masses, rows[c], columns[c % 3], 2, factors.size)
        assert out[c] == pytest.approx(1 + (xlogy(M, M) @ factors).sum(), abs=1e-12)


@given(labelled_tables(), st.data())
def test_the_best_partition_is_the_first_of_least_cost(table, data):
    masses, columns, factors, rng = table
    n = masses.shape[0]
    k = data.draw(st.integers(1, n))
    own = rng.integers(0, 3, (n, 2)) / 3.0
    own_factors = np.array([1.0, -0.5])
    least, code = np.empty(3), np.empty(3, np.int64)
    subsets = subsets_of(own, own_factors, k)
    best_partitions(subsets, np.ascontiguousarray(masses.T), columns, factors, k, least, code)
    every = canonical_labels(n, k)
    for c in range(3):
        costs = []
        for labels in every:
            M = blocks_of(masses, labels, columns[c], k, factors.size)
            A = blocks_of(own, labels, (0, 1), k, 2)
            costs.append((xlogy(M, M) @ factors).sum() + (xlogy(A, A) @ own_factors).sum())
        assert least[c] == pytest.approx(min(costs), abs=1e-12)
        first = next(i for i, cost in enumerate(costs) if cost <= min(costs) + 1e-10)
        assert tuple(decoded(int(code[c]), n, k)) == every[first]
