"""Each rule for the numbers of clusters, at the limits where another one decides."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import agreement, problem_of, run_at

from comarkov import datasets
from comarkov.joint.joint import joint
from comarkov.search.select import choose_numbers, number_ladder
from comarkov.search.select.choose_numbers import Decision, _Choice, select
from comarkov.search.select.number_ladder import Gain, ladder, numbers_of
from comarkov.search.select.swaps import Contrast

DIRECTIONS = Contrast(np.array([2.0, 1.5, 1.45]), np.ones((2, 3)))
FLAT = agreement(k2=0.9, k3=0.72, k4=0.65)


def blocks():
    return datasets.planted((90, 80), (3, 3), random_state=0).matrix.toarray()


def choice_of(W, wanted=("auto", "auto")):
    return _Choice(wanted, joint(W), run_at(0.7))


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


# --- is there structure? -----------------------------------------------------------------------


@pytest.mark.parametrize(("z", "is_something"), [(1.64, False), (1.65, True)])
def test_both_sides_must_gain_for_sure(z, is_something, monkeypatch):
    gains = iter([Gain(z, z), Gain(5.0, 5.0)])
    monkeypatch.setattr(choose_numbers, "held_out_gain", lambda *_: next(gains))
    assert bool(choice_of(blocks())._nothing((3, 1))) is not is_something


# --- views -------------------------------------------------------------------------------------


def test_the_smallest_number_is_a_view_if_halves_agree_on_many_alike():
    choice = choice_of(blocks())
    choice.agreements[0] = agreement(ceiling=20, k6=0.9, k12=0.76, k16=0.71, k20=0.1)
    near = choice.agreements[0].nearly_best()
    assert (near[0], near[-1]) == (6, 16)
    assert choice._smallest_agreed(0, None)[::2] == (
        6,
        "6 to 16 row clusters fit about equally well; we show 6.",
    )
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
    problem = problem_of(W, 1, 2)
    assert numbers_of(next(ladder(problem.joint, problem.starts, run_at(0.7)))) == (top, 2)


def test_a_ladder_never_begins_below_a_number_that_is_given():
    problem = problem_of(np.random.default_rng(0).poisson(1.0, (30, 6)) + 1, 17, 1)
    assert numbers_of(next(ladder(problem.joint, problem.starts, run_at(0.7)))) == (17, 2)


# --- the knee -----------------------------------------------------------------------------------


def knee_of(W, numbers=(8, 8), axes=(0, 1)):
    problem = problem_of(W, *numbers)
    return number_ladder.knee_of_kept(problem.joint, problem.starts, axes, run_at(0.7))


def test_the_knee_is_where_blocks_end():
    blocks = np.kron(np.eye(4) * 50 + 1, np.ones((6, 6)))
    W = np.random.default_rng(0).poisson(blocks)
    assert knee_of(W) == ([4, 4], [[4], [4]])
    assert knee_of(W, (8, 4), axes=[0])[0] == [4, 4]
    numbers, near = knee_of(W, (8, 2), axes=[0])
    assert numbers[1] == 2
    assert near[1] == [2]


# --- reasons ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "number", "parts"),
    [
        (choose_numbers.described([0, 1], (3, 1))[0], 3, ["1 column cluster "]),
        (choose_numbers.described([1], (3, 1))[1], 1, ["1 column cluster "]),
        (choose_numbers.agreed(1, 3, FLAT), 3, ["2 to 4 column", "halves of the rows", "0.72"]),
        (
            choose_numbers.view(0, 3, [3], agreement()),
            3,
            ["3 row clusters for an overview", "too few"],
        ),
        (choose_numbers.view(1, 3, [2, 4], agreement(k2=0.01, k3=0.02)), 3, ["2 to 4", "show 3"]),
        (choose_numbers.view(1, 3, [2, 4], agreement(k2=0.01)), 3, ["different clusters"]),
        (choose_numbers.view(0, 3, [3], agreement(k2=0.5, k4=0.9)), 3, ["finer ones also fit"]),
        (choose_numbers.contrasted(0, DIRECTIONS), 3, ["2 to 4 row", "show 3", "at random"]),
    ],
)
def test_a_reason_has_the_number_and_the_evidence(decision, number, parts):
    assert decision.number == number
    assert all(part in decision.reason for part in parts)
