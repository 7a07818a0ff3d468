"""The decision for a number of clusters, and the reason for it in words."""

from __future__ import annotations

from typing import NamedTuple

from .halves import Agreement

SIDES = ("row", "column")

OUT_OF_TIME = "There was no time to compare numbers of clusters."
NOTHING = "Halves of the data have nothing in common; no clusters were found."
INDEPENDENT_SIDES = "Rows and columns are independent; there are no clusters."
INDEPENDENT = "The counts vary as if independent; no clusters were found."


class Decision(NamedTuple):
    """The number of clusters of a side, the rule that chose it, and the reason in words."""

    number: int
    rule: str
    reason: str = ""


def described(axes: list[int], numbers: tuple[int, int], is_tested: bool) -> list[Decision]:
    """The blocks explain the data: one reason for both sides, of which some are chosen.

    Only if there are enough elements was it tested whether entries vary independently.
    """
    counts = " and ".join(_clusters(axis, numbers[axis]) for axis in axes)
    reason = f"{counts}: the shortest description of the data."
    if is_tested:
        reason += " Within blocks, entries vary as if independent."
    return [Decision(k, "description length", reason) for k in numbers]


def agreed(axis: int, k: int, agreement: Agreement) -> Decision:
    """Halves of the other side agree on this number."""
    reason = (
        f"{_clusters(axis, k)}: the largest number on which halves of the {_others(axis)} agree "
        f"almost as well as they ever do ({agreement.mean(k):.2f})."
    )
    return Decision(k, "agreement of halves", reason)


def smallest_agreed(axis: int, agreement: Agreement, least: int) -> Decision:
    """Halves agree on many numbers alike: the smallest, but not fewer than on the other side."""
    near = agreement.nearly_best()
    why = (
        f"halves of the {_others(axis)} agree equally well on {near[0]} to {near[-1]} clusters, "
        f"close to the ceiling of {agreement.ceiling}"
    )
    return _view(axis, near[0], least, why, "the smallest of these")


def view(axis: int, knee: int, least: int, agreement: Agreement) -> Decision:
    """Halves cannot decide: the knee, but not fewer clusters than on the other side."""
    return _view(axis, knee, least, _why(axis, agreement), "the knee of the information kept")


def _view(axis: int, number: int, least: int, why: str, choice: str) -> Decision:
    k = max(number, least)
    if k > number:
        choice = f"raised to match the {SIDES[1 - axis]} clusters"
    reason = f"{_clusters(axis, k)}: one possible view, because no number stands out ({why})"
    return Decision(k, "view", f"{reason}. This number is {choice}.")


def _why(axis: int, agreement: Agreement) -> str:
    """Why halves cannot decide."""
    if not agreement.values:
        return f"too few {_others(axis)} to compare halves of them"
    if not agreement.is_clear:
        return f"halves of the {_others(axis)} agree on none; {agreement.best:.2f} at best"
    return (
        f"halves of the {_others(axis)} agree better on more clusters, up to the ceiling of "
        f"{agreement.ceiling}"
    )


def _clusters(axis: int, k: int) -> str:
    return f"{k} {SIDES[axis]} cluster" + ("" if k == 1 else "s")


def _others(axis: int) -> str:
    return f"{SIDES[1 - axis]}s"
