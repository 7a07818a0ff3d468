"""The Southern Women: which of 18 women attended which of 14 social events."""

from __future__ import annotations

import numpy as np

from .dataset import Dataset

# Davis, Gardner & Gardner, Deep South (1941)
_ATTENDANCE = {
    "Evelyn Jefferson": (1, 2, 3, 4, 5, 6, 8, 9),
    "Laura Mandeville": (1, 2, 3, 5, 6, 7, 8),
    "Theresa Anderson": (2, 3, 4, 5, 6, 7, 8, 9),
    "Brenda Rogers": (1, 3, 4, 5, 6, 7, 8),
    "Charlotte McDowd": (3, 4, 5, 7),
    "Frances Anderson": (3, 5, 6, 8),
    "Eleanor Nye": (5, 6, 7, 8),
    "Pearl Oglethorpe": (6, 8, 9),
    "Ruth DeSand": (5, 7, 8, 9),
    "Verne Sanderson": (7, 8, 9, 12),
    "Myra Liddel": (8, 9, 10, 12),
    "Katherina Rogers": (8, 9, 10, 12, 13, 14),
    "Sylvia Avondale": (7, 8, 9, 10, 12, 13, 14),
    "Nora Fayette": (6, 7, 9, 10, 11, 12, 13, 14),
    "Helen Lloyd": (7, 8, 10, 11, 12),
    "Dorothy Murchison": (8, 9),
    "Olivia Carleton": (9, 11),
    "Flora Price": (9, 11),
}


def read() -> Dataset:
    """18 women x 14 events, 89 attendances."""
    matrix = np.zeros((len(_ATTENDANCE), 14), dtype=np.int64)
    for row, events in enumerate(_ATTENDANCE.values()):
        matrix[row, [event - 1 for event in events]] = 1
    return Dataset(matrix, list(_ATTENDANCE), [f"E{event}" for event in range(1, 15)])
