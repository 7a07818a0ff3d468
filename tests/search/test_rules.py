"""Each rule for the numbers of clusters, at the limits where another one decides."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import agreement, run_at

from comarkov import datasets
from comarkov.joint.joint import joint
from comarkov.search.select import choose_numbers, halves, number_ladder
from comarkov.search.select.choose_numbers import _Choice, _goal, select
from comarkov.search.select.halves import Gain
from comarkov.search.select.number_ladder import Decision, ladder, numbers_of, step_down
from comarkov.search.select.swaps import Contrast
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.starts import free_start

FLAT = agreement(k2=0.9, k3=0.72, k4=0.65)


def blocks():
    return datasets.planted((90, 80), (3, 3), random_state=0).matrix.toarray()


def choice_of(W, wanted=("auto", "auto")):
    data = joint(W)
    goal = _goal(data.row_mass, wanted[0]), _goal(data.column_mass, wanted[1])
    return _Choice(data, wanted, goal, run_at(0.7))


# --- do blocks explain the data? ---------------------------------------------------------------


@pytest.mark.parametrize(("left", "explains"), [(1.1, True), (1.11, False)])
def test_blocks_explain_the_data_if_little_is_left(left, explains, monkeypatch):
    monkeypatch.setattr(choose_numbers, "leftover", lambda *_: left)
    rules = {one.rule for one in select(("auto", "auto"), joint(blocks()), run_at(0.7)).decisions}
    assert ("description length" in rules) is explains


@pytest.mark.parametrize(("left", "settles"), [(1.25, True), (1.26, False)])
def test_numbers_are_not_settled_if_nothing_can_explain_the_data(left, settles, monkeypatch):
    """The smaller of both sides counts."""
    sides = iter([left, 9.0] * 99)
    monkeypatch.setattr(choose_numbers, "leftover", lambda *_: next(sides))
    settled = []
    monkeypatch.setattr(choose_numbers, "settle", lambda state, *_: settled.append(1) or state)
    select(("auto", "auto"), joint(blocks()), run_at(0.7))
    assert bool(settled) is settles


@pytest.mark.parametrize(("share", "explains"), [(0.5, True), (0.49, False)])
def test_few_counts_are_explained_if_they_vary_like_counts(share, explains):
    women = datasets.load("southern-women").matrix
    choice = choice_of(women)
    choice.evidence = SimpleNamespace(total=share * women.sum())
    assert choice._explains(None) == explains
    weights = choice_of(women * np.pi)
    weights.evidence = SimpleNamespace(total=women.sum() * 9)
    assert not weights._explains(None)


@pytest.mark.parametrize("shape", [(31, 40), (40, 31), (32, 40)])
def test_few_elements_are_fewer_than_32_of_either_side(shape, monkeypatch):
    monkeypatch.setattr(choose_numbers, "leftover", lambda *_: 9.0)
    choice = choice_of(np.ones(shape, int))
    choice.evidence = SimpleNamespace(total=np.prod(shape))
    state = SimpleNamespace(all_labels=lambda: (None, None))
    assert choice._explains(state) == (min(shape) < 32)


# --- is there structure? -----------------------------------------------------------------------


@pytest.mark.parametrize(("z", "is_something"), [(1.64, False), (1.65, True)])
def test_both_sides_must_gain_for_sure(z, is_something, monkeypatch):
    gains = iter([Gain(z, 1.0), Gain(5.0, 1.0)])
    monkeypatch.setattr(halves, "held_out_gain", lambda *_: next(gains))
    assert bool(choice_of(blocks())._nothing((3, 1))) is not is_something


# --- views -------------------------------------------------------------------------------------


def test_the_smallest_number_is_a_view_if_halves_agree_on_many_alike():
    choice = choice_of(blocks())
    choice.agreements[0] = agreement(ceiling=20, k6=0.9, k12=0.76, k16=0.71, k20=0.1)
    near = choice.agreements[0].nearly_best()
    assert (near[0], near[-1]) == (6, 16)
    assert choice._smallest_agreed(0, None).number == 6
    assert choice._smallest_agreed(0, Decision(9, "agreement of halves")).number == 9
    choice.agreements[1] = agreement(ceiling=20, k12=0.9, k16=0.845, k20=0.1)
    assert choice._smallest_agreed(1, None).number == 12
    choice.agreements[1] = agreement(ceiling=20, k14=0.9, k16=0.87, k20=0.1)  # too many for a view
    assert choice._smallest_agreed(1, None) is None
    choice.agreements[1] = agreement(ceiling=20, k6=0.9, k20=0.7)  # more might be better still
    assert choice._smallest_agreed(1, None) is None
    choice.agreements[1] = agreement(ceiling=20, k6=0.1, k20=0.01)  # nothing agrees
    assert choice._smallest_agreed(1, None) is None


# --- the ladder --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("elements", "top"),
    [(1, 1), (2, 2), (5, 2), (9, 3), (36, 12), (90, 12), (104, 13), (320, 40), (400, 40)],
)
def test_a_ladder_begins_with_forty_clusters_of_eight_or_twelve_of_three(elements, top):
    W = np.random.default_rng(0).poisson(1.0, (elements, 6)) + 1
    data = joint(W)
    goal = _goal(data.row_mass, "auto"), _goal(data.column_mass, 2)
    assert numbers_of(next(iter(ladder(data, goal, run_at(0.7))))) == (top, 2)


def test_a_ladder_never_begins_below_a_number_that_is_given():
    data = joint(np.random.default_rng(0).poisson(1.0, (30, 6)) + 1)
    goal = _goal(data.row_mass, 17), _goal(data.column_mass, "auto")
    assert numbers_of(next(iter(ladder(data, goal, run_at(0.7))))) == (17, 2)


# --- the knee -----------------------------------------------------------------------------------


def knee_of(W, numbers=(8, 8), axes=(0, 1)):
    data = joint(W)
    starts = tuple(
        free_start(k, mass)
        for k, mass in zip(numbers, (data.row_mass, data.column_mass), strict=True)
    )
    return choose_numbers.knee_of_kept(data, starts, axes, run_at(0.7))


def test_the_knee_is_where_blocks_end():
    blocks = np.kron(np.eye(4) * 50 + 1, np.ones((6, 6)))
    W = np.random.default_rng(0).poisson(blocks)
    assert knee_of(W) == [4, 4]
    assert knee_of(W, (8, 4), axes=[0]) == [4, 4]
    assert knee_of(W, (8, 2), axes=[0])[1] == 2


def test_the_smallest_numbers_that_keep_enough_if_the_knee_does_not(monkeypatch):
    W = np.random.default_rng(0).poisson(np.kron(np.eye(4) * 50 + 1, np.ones((6, 6))))
    data = joint(W)
    starts = free_start(8, data.row_mass), free_start(8, data.column_mass)
    run = run_at(0.7)
    levels = step_down(CoClusterProblem(data, starts).seeded(run), [2, 2], run)
    kept = {numbers_of(level): level.information().kept for level in levels}
    usual, second = knee_of(W), list(kept)[1]
    assert kept[tuple(usual)] < kept[second]
    monkeypatch.setattr(choose_numbers, "LEAST_KEPT", kept[second])
    assert knee_of(W) == list(second)
    monkeypatch.setattr(choose_numbers, "LEAST_KEPT", 0.99)  # which no numbers keep
    assert knee_of(W) == usual


# --- reasons ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "number", "parts"),
    [
        (number_ladder.described([0, 1], (3, 1))[0], 3, ["1 column cluster "]),
        (number_ladder.described([1], (3, 1))[1], 1, ["1 column cluster "]),
        (number_ladder.agreed(1, 3, FLAT), 3, ["3 column clusters", "halves of the rows", "0.72"]),
        (number_ladder.view(0, 3, 1, agreement()), 3, ["3 row clusters", "too few"]),
        (number_ladder.view(1, 3, 1, agreement(k2=0.01, k3=0.02)), 3, ["different clusters"]),
        (number_ladder.view(0, 3, 1, agreement(k2=0.5, k4=0.9)), 3, ["more than 4"]),
        (number_ladder.view(0, 3, 5, agreement()), 5, ["5 row clusters", "the columns"]),
        (number_ladder.smallest_agreed(1, FLAT, 1), FLAT.nearly_best()[0], ["about equally well"]),
        (number_ladder.contrasted(0, Contrast({2: 1.4, 3: 1.5, 4: 1.1})), 3, ["1.5 times"]),
    ],
)
def test_a_reason_has_the_number_and_the_evidence(decision, number, parts):
    assert decision.number == number
    assert all(part in decision.reason for part in parts)
