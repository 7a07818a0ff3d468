"""Numbers of clusters: the ladder, and the rules that decide."""

from itertools import pairwise

import numpy as np
import pytest
from helpers import problem_of, refused, run_at, weights
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from comarkov import CoClustering, Results, datasets
from comarkov.joint.joint import joint
from comarkov.search.select.choose_numbers import select
from comarkov.search.select.number_ladder import (
    evidence_of,
    ladder,
    numbers_of,
    settle,
)


def planted(n_clusters=(5, 4), shape=(200, 160), seed=0, **kind):
    return datasets.planted(shape, n_clusters, random_state=seed, **kind).matrix.toarray()


def levels_of(W, seed=0, rows=1, columns=1):
    problem = problem_of(W, rows, columns)
    levels = ladder(problem.joint, problem.starts, run_at(0.7, seed))
    return [state.copy() for state in levels]


def suggested(selection):
    return selection.table[selection.table["suggested"]]


def chosen(W, wanted=("auto", "auto"), seed=0, **kinds):
    return select(wanted, joint(W), run_at(0.7, seed, **kinds))


# --- the ladder -----------------------------------------------------------------------------------


@given(weights(max_rows=14, max_columns=12), st.integers(0, 99))
@settings(max_examples=30)
def test_a_ladder_merges_one_pair_at_a_time_of_the_side_with_more_clusters(W, seed):
    levels = levels_of(W, seed)
    numbers = [numbers_of(level) for level in levels]
    assert numbers[-1] == (1, 1)
    for before, after in pairwise(numbers):
        assert sorted(np.subtract(before, after)) == [0, 1]
        assert max(after) < max(before) or before[0] == before[1]
    for level, both in zip(levels, numbers, strict=True):
        assert tuple(np.unique(labels[labels >= 0]).size for labels in level.labels()) == both


def test_settling_finds_planted_numbers_from_wrong_ones():
    W = planted()
    levels = levels_of(W)
    evidence = evidence_of(levels[0])
    for wrong in ((2, 2), (9, 9)):
        off = [
            np.abs(np.subtract([level.rows.k, level.columns.k], wrong)).sum() for level in levels
        ]
        state = levels[int(np.argmin(off))].copy()
        before = evidence.description_length(*state.labels())
        after = settle(state, (False, False), evidence, run_at(0.7))
        assert evidence.description_length(*after.labels()) < before
        assert (after.rows.k, after.columns.k) == (5, 4)


def test_settling_leaves_fixed_sides_at_their_number():
    levels = levels_of(planted(), rows=2)
    evidence = evidence_of(levels[0])
    after = settle(levels[-1], (True, False), evidence, run_at(0.7))
    assert after.rows.k == 2
    assert after.columns.k > 1


# --- numbers of clusters ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"bursts": 1, "unequal": True, "degrees": 0.5, "shape": (300, 250)},
        {"n_clusters": (3, 9), "mean": 1.0},
        {"n_clusters": (12, 6), "mean": 1.0},
    ],
    ids=["Poisson", "bursty", "very different", "many"],
)
def test_planted_numbers_are_found(kind):
    selection = chosen(planted(**kind))
    assert_allclose(selection.numbers, kind.get("n_clusters", (5, 4)), atol=1)
    line = suggested(selection)
    assert line["row_rule"] == line["column_rule"] == ["description length"]
    assert (line["row_clusters"][0], line["column_clusters"][0]) == selection.numbers
    counts = "{} row clusters and {} column clusters".format(*selection.numbers)
    assert selection.reason.startswith(counts)


@pytest.mark.parametrize("kind", ["Poisson", "bursty", "heavy-tailed"])
def test_noise_has_one_cluster(kind):
    rng = np.random.default_rng(1)
    rates = np.outer(rng.lognormal(size=120), rng.lognormal(size=90))
    if kind == "bursty":
        rates = rates * rng.gamma(0.3, 1 / 0.3, size=rates.shape)
    if kind == "heavy-tailed":
        rates = rates * np.minimum(rng.pareto(1.3, size=rates.shape), 1e3)
    selection = chosen(rng.poisson(rates))
    assert selection.numbers == (1, 1)
    assert suggested(selection)["row_rule"] == ["no structure"]


def rows_of_their_own(n=80, groups=4, words=120, seed=0):
    """Rows in groups, each row with a few columns of its own: blocks cannot explain them."""
    rng = np.random.default_rng(seed)
    group = rng.dirichlet(np.full(words, 0.3), size=groups)
    profile = [rng.dirichlet(20 * group[x % groups] + 1e-3) for x in range(n)]
    return np.stack([rng.multinomial(300, one) for one in profile]).astype(float)


def test_halves_decide_where_blocks_do_not_explain_the_data():
    selection = chosen(rows_of_their_own())
    assert selection.numbers[0] == 4
    assert suggested(selection)["row_rule"] == ["agreement of halves"]


def heavy():
    """Few columns and thousands of counts, each row with a profile of its own."""
    return np.random.default_rng(0).dirichlet(np.full(9, 0.5), size=40) * 1e4 // 1


@pytest.mark.parametrize(
    ("wanted", "numbers", "rule"),
    [(3, [3], "given"), (None, [1], "none"), ("auto", range(2, 13), "view")],
)
def test_a_heavy_table_gets_a_view_of_each_side_that_is_open(wanted, numbers, rule):
    selection = chosen(heavy(), ("auto", wanted))
    assert 2 <= selection.numbers[0] <= 12
    assert selection.numbers[1] in numbers
    line = suggested(selection)
    assert line["row_rule"] == ["view"]
    assert line["column_rule"] == [rule]


def test_one_number_may_be_given():
    X = planted()
    model = CoClustering((5, "auto"), random_state=0).fit(X)
    assert model.row_labels_.max() + 1 == 5
    assert abs(model.column_labels_.max() + 1 - 4) <= 1
    sides = CoClustering(("auto", None), random_state=0).fit(X)
    assert abs(sides.row_labels_.max() + 1 - 5) <= 1
    assert_array_equal(sides.column_labels_, np.arange(160))


def test_a_fit_with_chosen_numbers_is_that_of_the_same_numbers():
    X = planted()
    model = CoClustering("auto", random_state=3).fit(X)
    given_numbers = CoClustering((5, 4), random_state=3).fit(X)
    assert_array_equal(model.row_labels_, given_numbers.row_labels_)
    assert not hasattr(given_numbers, "selection_")
    assert (np.diff(model.selection_["row_clusters"]) <= 0).all()
    results = Results.of(model, X)
    assert model.selection_reason_ == results.selection_reason
    for text in (model.describe(), results.describe(), results.to_html()):
        assert model.selection_reason_ in text
    again = model.set_params(n_clusters=3).fit(X)
    assert not hasattr(again, "selection_")
    assert not hasattr(again, "selection_reason_")


@given(weights(max_rows=9, max_columns=8), st.integers(0, 99))
@settings(max_examples=25)
def test_evidence_reason_and_clusters_show_the_same_numbers(W, seed):
    model = CoClustering("auto", random_state=seed).fit(W)
    fitted = [int(labels.max()) + 1 for labels in (model.row_labels_, model.column_labels_)]
    line = model.selection_[model.selection_["suggested"]]
    assert line.size == 1
    assert [line["row_clusters"][0], line["column_clusters"][0]] == fitted
    for k, what in zip(fitted, ("row", "column"), strict=True):
        shown = f"{k} {what} cluster", f"{what} clusters fit about equally well; we show {k}"
        assert k == 1 or any(words in model.selection_reason_ for words in shown)


@pytest.mark.parametrize(
    ("numbers", "named", "given_labels"),
    [
        ("auto", "init", {"init": (np.zeros(200, int), None)}),
        (("auto", 3), "fixed", {"fixed": (np.zeros(200, int), None)}),
        (("auto", 161), "160", {}),
        (("some", 3), "'some'", {}),
    ],
)
def test_what_auto_does_not_take(numbers, named, given_labels):
    with refused(named):
        CoClustering(numbers, **given_labels).fit(planted())


def test_when_the_time_is_over_there_are_numbers_still():
    selection = chosen(planted(), wanted=(6, "auto"), max_time=1e-9)
    assert selection.numbers[0] == 6
    with pytest.warns(ConvergenceWarning):
        model = CoClustering("auto", max_time=1e-9, random_state=0).fit(planted())
    assert model.row_labels_.max() >= 0


@pytest.mark.parametrize("shape", [(10, 8), (60, 50)])
def test_weights_without_information_have_one_cluster(shape):
    """Rounding would have a knee, but is no information."""
    rows, columns = map(np.arange, shape)
    for W in (np.full(shape, 2.0**31 + 5), np.outer(rows + 1, columns + 3) * 1000003.0):
        selection = chosen(W)
        assert selection.numbers == (1, 1)
