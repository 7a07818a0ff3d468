"""Choices of numbers and of β whose evidence is known: no change goes unnoticed.

`PYTHONPATH=tests python tests/search/test_known_choices.py` writes the evidence anew; a diff shows
what has changed.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import recorded_fits as recorded

from comarkov import CoClustering

KNOWN = Path(__file__).with_name("known_choices.json")


def rows_of_their_own():
    """Rows in four groups, each with its own few columns: blocks cannot explain them."""
    groups = recorded.uniform((4, 120), 21) ** 6
    own = np.floor(recorded.uniform((80, 120), 22) * 1.25)
    return np.floor(40 * (groups[np.arange(80) % 4] + own * recorded.uniform((80, 120), 23) / 3))


def heavy():
    """Few columns and thousands of counts, each row with a profile of its own."""
    return np.floor(recorded.uniform((40, 9), 31) ** 5 * 4000)


def noise():
    return np.floor(recorded.uniform((60, 40), 41) * 4)


def small_noise():
    return np.floor(recorded.uniform((20, 9), 51) * 3)


def small_and_uneven():
    """Counts that vary more than counts do, too few for halves."""
    return np.floor(recorded.uniform((20, 9), 52) * 7)


def small_weights():
    """Weights whose entries are worth less than counts."""
    return recorded.uniform((18, 12), 53) ** 9 * np.kron(np.eye(3) * 9 + 1, np.ones((6, 4)))


def of_two_sizes():
    """Two large groups of rows, of which one has two small parts, on unequal columns."""
    rates = np.array([[9, 1, 3], [1, 6, 1], [1, 8, 2]])
    rows, columns = np.repeat([0, 1, 2], [50, 30, 12]), np.repeat([0, 1, 2], [30, 20, 8])
    return np.floor(recorded.uniform((92, 58), 61) * rates[rows][:, columns])


CASES = {
    "women": (recorded.women, "auto", 0.7),
    "counts": (recorded.counts, "auto", 0.7),
    "counts, rows given": (recorded.counts, (3, "auto"), 0.7),
    "counts, rows only": (recorded.counts, ("auto", None), 0.7),
    "weights": (recorded.weights, "auto", 0.7),
    "rows of their own": (rows_of_their_own, "auto", 0.7),
    "heavy": (heavy, "auto", 0.7),
    "noise": (noise, "auto", 0.7),
    "small noise": (small_noise, "auto", 0.7),
    "small, uneven": (small_and_uneven, "auto", 0.7),
    "small weights": (small_weights, "auto", 0.7),
    "small weights, columns given": (small_weights, ("auto", 5), 0.7),
    "two sizes": (of_two_sizes, "auto", 0.7),
    "β": (of_two_sizes, (3, 3), "auto"),
    "β of weights": (heavy, (4, 3), "auto"),
}


def evidence(name):
    """What was chosen, and means over all that was compared."""
    data, n_clusters, beta = CASES[name]
    model = CoClustering(n_clusters, beta=beta, n_init=1, random_state=4).fit(data())
    table = model.beta_selection_ if beta == "auto" else model.selection_
    chosen = table["chosen" if beta == "auto" else "suggested"]
    names = [one for one in table.dtype.names if table.dtype[one].kind == "f"]
    return {
        "chosen": table[chosen][0].tolist(),
        "size": len(table),
        "means": [float(np.nanmean([0, *table[one]])) for one in names],
        "reason": getattr(model, "selection_reason_", ""),
    }


def write():
    found = {name: evidence(name) for name in CASES}
    KNOWN.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("name", CASES)
def test_the_evidence_is_the_known_one(name):
    known, found = json.loads(KNOWN.read_text())[name], evidence(name)
    assert found["reason"] == known["reason"]
    assert found["size"] == known["size"]
    for one, other in ((found["chosen"], known["chosen"]), (found["means"], known["means"])):
        for value, expected in zip(one, other, strict=True):
            is_number = isinstance(expected, float)
            assert value == (
                pytest.approx(expected, rel=1e-7, nan_ok=True) if is_number else expected
            )


if __name__ == "__main__":
    write()
