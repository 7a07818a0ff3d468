import networkx as nx
import numpy as np
import pytest

from comarkov import CoClustering, datasets

BETAS = [round(0.1 * i, 1) for i in range(1, 11)]


def test_southern_women_is_the_graph_that_networkx_has():
    women = datasets.load("southern-women")
    graph = nx.davis_southern_women_graph()
    assert women.matrix.shape == (18, 14)
    assert women.matrix.sum() == 89
    edges = {(women.row_names[i], women.column_names[j]) for i, j in np.argwhere(women.matrix)}
    theirs = {(woman, event) for woman, event in graph.edges}
    surnames = {name.split()[0]: name for name in women.row_names}
    assert len(surnames) == 18
    assert {(surnames[woman.split()[0]], event) for woman, event in theirs} == edges


@pytest.mark.parametrize("beta", BETAS)
def test_southern_women_fall_into_the_communities_of_the_literature(beta):
    women = datasets.load("southern-women")
    model = CoClustering((2, 3), beta=beta, n_init=50, random_state=0).fit(women.matrix)
    groups = {tuple(np.flatnonzero(model.column_labels_ == b) + 1) for b in range(3)}
    assert groups == {(1, 2, 3, 4, 5, 6), (7, 8, 9), (10, 11, 12, 13, 14)}
    assert {tuple(np.flatnonzero(model.row_labels_ == a)) for a in range(2)} == {
        tuple(range(9)),
        tuple(range(9, 18)),
    }
