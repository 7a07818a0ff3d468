"""The test of independence: its level, and what it never calls independent."""

import numpy as np
import pytest
import scipy.sparse as sp

from comarkov.costs import selection
from comarkov.costs.selection import is_independent


@pytest.mark.parametrize(("above", "independent"), [(0, False), (4, False), (5, True), (99, True)])
def test_five_of_a_hundred_tables_is_the_level(above, independent, monkeypatch):
    """The observed table counts as one of them."""
    correlations = iter([0.5] + [0.5] * above + [0.4] * (selection.NULL_TABLES - above))
    monkeypatch.setattr(selection, "_correlation", lambda _: next(correlations))
    table = sp.csr_array(np.ones((3, 3), int))
    assert is_independent(table, np.random.default_rng(0)) is independent


@pytest.mark.parametrize("largest", [1, 5])
def test_tables_that_are_independent_or_not(largest):
    rng = np.random.default_rng(0)
    rates = np.outer(rng.random(30), rng.random(20)) * largest
    table = rng.poisson(rates).clip(max=largest)
    assert is_independent(sp.csr_array(table), rng)
    blocks = rng.poisson(np.kron(np.eye(2), np.ones((15, 10))) * largest).clip(max=largest)
    assert not is_independent(sp.csr_array(blocks), rng)


@pytest.mark.parametrize(("columns", "independent"), [(512, True), (513, False)])
def test_tables_of_more_than_512_x_512_are_never_called_independent(
    columns, independent, monkeypatch
):
    monkeypatch.setattr(selection, "_correlation", lambda _: 0.0)
    monkeypatch.setattr(selection, "_drawn", lambda *_: None)
    table = sp.csr_array(np.eye(512, columns, dtype=int))
    assert is_independent(table, np.random.default_rng(0)) is independent


def test_weights_are_never_called_independent():
    assert not is_independent(sp.csr_array(np.full((5, 5), 0.3)), np.random.default_rng(0))


def test_the_correlation_is_that_of_two_signs():
    """Two binary variables that agree with probability (1 + c) / 2 correlate by c."""
    assert selection._correlation(np.array([[3.0, 1, 0], [1, 3, 0]])) == pytest.approx(0.5)
    assert selection._correlation(np.array([[3.0, 1]])) == 0.0
