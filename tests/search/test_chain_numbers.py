"""How many clusters a chain has: the correlations of many states, and what follows from them."""

import numpy as np
import pytest
import scipy.sparse as sp

from comarkov.search.run import Run, Seed
from comarkov.search.select import chain_numbers as module


def sets(n, k, stay, seed=0):
    """The flow of a chain of counts: ten steps from each state, most into its own set."""
    rng = np.random.default_rng(seed)
    label = np.sort(rng.integers(k, size=n))
    source = np.repeat(np.arange(n), 10)
    first, last = (np.searchsorted(label, label[source], side) for side in ("left", "right"))
    inside = rng.integers(first, last)
    target = np.where(rng.random(source.size) < stay, inside, rng.integers(n, size=source.size))
    return sp.csr_array(sp.coo_array((np.ones(source.size), (source, target)), (n, n)))


@pytest.mark.parametrize("most_eigenvalues", [900, 20_000])
def test_many_states_can_have_many_clusters(monkeypatch, most_eigenvalues):
    monkeypatch.setattr(module, "MAX_EIGENVALUE_STATES", most_eigenvalues)
    flow = sets(1500, 20, 0.95)
    values = module.correlations(flow, module.MAX_CLUSTERS)
    monkeypatch.setattr(module, "DENSE_STATES", 2000)
    exact = module.correlations(flow, module.MAX_CLUSTERS)
    assert values[:19] == pytest.approx(exact[:19], abs=1e-4)
    assert values == pytest.approx(exact, abs=0.02)
    monkeypatch.undo()
    assert module.choose_number(flow, None, Run(0.5, Seed.of(0))).number == 20


def test_sets_that_are_never_left_are_counted_in_large_chains(monkeypatch):
    monkeypatch.setattr(module, "MAX_EIGENVALUE_STATES", 900)
    flow = sp.csr_array(sp.block_diag([sets(400, 1, 1.0, seed) for seed in range(4)]))
    assert not module._is_connected(flow)
    assert module._is_connected(sets(1500, 20, 0.95))
    chosen = module.choose_number(flow, None, Run(0.5, Seed.of(0)))
    assert chosen.number == 4
    assert "never moves" in chosen.reason
