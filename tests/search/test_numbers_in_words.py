"""The reason for a number of clusters in words, and the knee where nothing else decides."""

import numpy as np
import pytest
from helpers import agreement, run_at

from comarkov.joint.joint import joint
from comarkov.search.select import choose_numbers, number_ladder
from comarkov.search.select.halves import Agreement
from comarkov.search.select.number_ladder import numbers_of, step_down
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.starts import free_start

NONE = Agreement({}, ceiling=1)
DOUBTFUL = agreement(k2=0.01, k3=0.02)
RISING = agreement(k2=0.5, k3=0.6, k4=0.9)
FLAT = agreement(k2=0.9, k3=0.72, k4=0.65)


@pytest.mark.parametrize(
    ("axes", "start"),
    [
        ([0, 1], "3 row clusters and 1 column cluster: the shortest description of the data."),
        ([1], "1 column cluster: the shortest description of the data."),
    ],
)
def test_one_description_for_both_sides(axes, start):
    rows, columns = number_ladder.described(axes, (3, 1), is_tested=True)
    assert (rows.number, columns.number) == (3, 1)
    assert rows.rule == columns.rule == "description length"
    assert (
        rows.reason == columns.reason == f"{start} Within blocks, entries vary as if independent."
    )
    assert number_ladder.described(axes, (3, 1), is_tested=False)[0].reason == start


def test_halves_that_agree():
    decision = number_ladder.agreed(1, 3, FLAT)
    assert decision == (
        3,
        "agreement of halves",
        "3 column clusters: the largest number on which halves of the rows agree almost as well as "
        "they ever do (0.72).",
    )


@pytest.mark.parametrize(
    ("axis", "evidence", "why"),
    [
        (0, NONE, "too few columns to compare halves of them"),
        (1, DOUBTFUL, "halves of the rows agree on none; 0.02 at best"),
        (0, RISING, "halves of the columns agree better on more clusters, up to the ceiling of 4"),
    ],
)
def test_a_view_gives_the_reason_why_nothing_else_decides(axis, evidence, why):
    side = ("row", "column")[axis]
    decision = number_ladder.view(axis, 3, 1, evidence)
    assert decision == (
        3,
        "view",
        f"3 {side} clusters: one possible view, because no number stands out ({why}). This number "
        "is the knee of the information kept.",
    )


def test_a_view_has_no_fewer_clusters_than_the_other_side():
    assert number_ladder.view(0, 3, 3, NONE).reason.endswith("is the knee of the information kept.")
    raised = number_ladder.view(0, 3, 5, NONE)
    assert raised.number == 5
    assert raised.reason.startswith("5 row clusters: ")
    assert raised.reason.endswith("This number is raised to match the column clusters.")
    assert number_ladder.view(1, 3, 5, NONE).reason.endswith("to match the row clusters.")


def test_the_smallest_of_numbers_on_which_halves_agree_alike():
    near = FLAT.nearly_best()
    assert len(near) > 1
    decision = number_ladder.smallest_agreed(1, FLAT, 1)
    assert decision.number == near[0]
    assert decision.reason == (
        f"{near[0]} column clusters: one possible view, because no number stands out (halves of "
        f"the rows agree equally well on {near[0]} to {near[-1]} clusters, close to the ceiling of "
        "4). This number is the smallest of these."
    )


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
