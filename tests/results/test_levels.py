"""The levels of a hierarchy, the order in which leaves are drawn, and the map of elements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import linkage

from comarkov import SIB, CoClustering, Results, datasets
from comarkov.model.hierarchy import alignment, best_orders
from comarkov.results.levels import SideLevels
from comarkov.results.pictures import element_map, map_of_side

WOMEN = datasets.load("southern-women")


@pytest.fixture(scope="module")
def model():
    return CoClustering((2, 3), random_state=0).fit(WOMEN.matrix)


@pytest.fixture(scope="module")
def results(model):
    return Results.of(model, WOMEN)


@pytest.mark.parametrize("axis", ["row", "column"])
def test_nodes_have_the_labels_of_a_cut(model, axis):
    levels = SideLevels.of(model.hierarchy_, axis)
    for k in range(1, levels.n_leaves + 1):
        nodes = levels.nodes_at(k)
        labels = np.full(levels.n_leaves, -1)
        for number, node in enumerate(nodes):
            labels[levels.members[node]] = number
        cut = model.cut((k, 3) if axis == "row" else (2, k))
        assert np.array_equal(labels[levels.leaves.leaf], getattr(cut, f"{axis}_labels_"))


def test_shares_and_profiles_are_those_of_the_matrix(model):
    levels = SideLevels.of(model.hierarchy_, "row")
    shares = WOMEN.matrix / WOMEN.matrix.sum()
    for node, profile in enumerate(levels.profiles()):
        rows = np.isin(levels.leaves.leaf, levels.members[node])
        assert profile == pytest.approx(shares[rows].sum(axis=0))
        assert levels.shares[node] == pytest.approx(shares[rows].sum())


def test_results_of_a_cut_have_its_labels_and_titles_of_their_own(model, results):
    for numbers in ((4, 2), (1, 5), (2, 3)):
        cut, coarse = model.cut(numbers), results.cut(numbers).findings
        assert np.array_equal(coarse.rows.labels, cut.row_labels_)
        assert np.array_equal(coarse.columns.labels, cut.column_labels_)
        assert coarse.cost == cut.cost_
        assert len(set(coarse.rows.titles)) == numbers[0]
    assert coarse.rows.titles == results.findings.rows.titles
    assert "fit(data).cut((4, 2))" in results.cut((4, 2)).python
    given = Results.of(model, WOMEN, titles={"rows": ["mine", ""], "columns": {"1": "gone"}})
    assert given.cut((2, 2)).findings.rows.titles[0] == "mine"
    assert "gone" not in given.cut((2, 2)).findings.columns.titles
    again = results.cut((4, 2)).cut((2, 3)).findings  # as if it were from the fit
    assert np.array_equal(again.columns.labels, model.column_labels_)


@pytest.mark.parametrize("n_clusters", [(2, 3), (3, None), (None, 3), 1])
def test_every_cluster_of_every_level_is_drawn_in_one_piece(n_clusters):
    model = CoClustering(n_clusters, random_state=0).fit(WOMEN.matrix)
    findings = Results.of(model, WOMEN).findings
    for side, order in zip(findings.sides, findings.orders, strict=True):
        assert sorted(order) == list(range(side.labels.size))
        levels = SideLevels.of(side.tree, side.axis)
        for leaves in levels.members if levels else []:
            (places,) = np.nonzero(np.isin(levels.leaves.leaf[order], leaves))
            assert places[-1] - places[0] + 1 == places.size


def test_strong_blocks_are_near_the_diagonal(results):
    findings = results.findings
    shares = WOMEN.matrix / WOMEN.matrix.sum()

    def places(order):
        return np.argsort(order).astype(float)

    drawn = alignment(shares, *(places(order) for order in findings.orders))
    by_number = alignment(shares, *(places(np.argsort(side.labels)) for side in findings.sides))
    assert drawn > 0.7 > by_number  # 0.75 and 0.16


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 6))
def test_blocks_on_a_diagonal_are_put_there(seed, n):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(n), rng.permutation(n)
    blocks = np.full((n, n), 0.01)
    blocks[rows, columns] = 1.0
    orders = best_orders(blocks / blocks.sum(), None, None)
    ordered = blocks[np.ix_(orders.rows, orders.columns)]
    assert np.diag(ordered) == pytest.approx(1.0)


@given(seed=st.integers(0, 2**32 - 1))
def test_orders_respect_the_merges(seed):
    rng = np.random.default_rng(seed)
    blocks = rng.random((7, 5))
    merges = linkage(rng.random((7, 2)), "average")[:, :2].astype(int)
    order = best_orders(blocks / blocks.sum(), merges, None).rows.tolist()
    nodes = [{a} for a in range(7)]
    for first, second in merges:
        nodes.append(nodes[first] | nodes[second])
        places = sorted(order.index(a) for a in nodes[-1])
        assert places == list(range(places[0], places[0] + len(places)))


# --- the map of elements ---

masses = arrays(
    np.float64,
    st.tuples(st.integers(2, 8), st.integers(1, 5)),
    elements=st.integers(0, 9).map(float),
).filter(lambda table: table.sum() > 0)


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def test_two_axes_show_all_of_three_parts_in_hellinger_distance():
    """Square roots of profiles lie on a sphere; with two parts the plane holds all of it."""
    table = np.array([[9.0, 1], [5, 5], [1, 9], [2, 8]])
    roots = np.sqrt(table / table.sum(axis=1, keepdims=True))
    assert distances(element_map(table).points) == pytest.approx(distances(roots))


@given(masses, st.sampled_from([0.25, 3.0]), st.randoms())
def test_the_map_ignores_units_and_the_order_of_parts(table, unit, random):
    order = random.sample(range(table.shape[1]), table.shape[1])
    ours, theirs = element_map(table), element_map(unit * table[:, order])
    assert theirs.shares == pytest.approx(ours.shares, abs=1e-9)
    for axis in range(2):
        if ours.shares[axis] - np.append(ours.shares, 0)[axis + 1] > 0.05:  # else axes may turn
            spread = [np.abs(each.points[:, axis]) for each in (ours, theirs)]
            if axis == 0 or ours.shares[0] - ours.shares[1] > 0.05:
                assert spread[1] == pytest.approx(spread[0], abs=1e-6, nan_ok=True)


@given(masses)
def test_elements_without_mass_have_no_place_and_others_do(table):
    points = element_map(table).points
    assert (np.isnan(points).all(axis=1) == (table.sum(axis=1) == 0)).all()
    assert np.nanmax(np.abs(points)) <= np.sqrt(2)


def test_equal_profiles_share_a_place_and_make_a_flat_map():
    flat = element_map(np.array([[1.0, 2], [2, 4]]))
    assert flat.points == pytest.approx(np.zeros((2, 2)))
    assert not flat.shares.any()


@pytest.mark.parametrize("model", [CoClustering((2, 3), random_state=0), SIB(2, random_state=0)])
def test_both_sides_have_a_map_also_where_only_one_is_clustered(model):
    results = Results.of(model.fit(WOMEN.matrix), WOMEN)
    for side in (results.findings.rows, results.findings.columns):
        assert np.isfinite(map_of_side(results.findings, results.matrix, side).points).all()
