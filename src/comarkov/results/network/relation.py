"""A relation between two types, with the clusters of both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.relations import Information
from ...data.relations import Key
from ..findings import lift_of, log2
from ..numbers import is_informative


class Relation(NamedTuple):
    """A relation between two types with their clusters."""

    key: Key
    share: sp.csr_array  # P(x, y), its weights divided by their sum
    members: tuple[sp.csr_array, sp.csr_array]  # elements x clusters, of rows and of columns
    information: Information
    weight: float

    @property
    def name(self) -> str:
        """The two types."""
        return " × ".join(self.key)

    @property
    def blocks(self) -> np.ndarray:
        """P(x̄, ȳ)."""
        rows, columns = self.members
        blocks: np.ndarray = (rows.T @ self.share @ columns).toarray()
        return blocks

    def across(self, axis: int) -> np.ndarray:
        """P(x̄, y) by (cluster of this side, element of the other side)."""
        share = self.share if axis == 0 else self.share.T
        masses: np.ndarray = (self.members[axis].T @ share).toarray()
        return masses

    def bits(self, axis: int) -> np.ndarray:
        """What each element of a side adds to the information kept."""
        share, blocks = (self.share, self.blocks) if axis == 0 else (self.share.T, self.blocks.T)
        onto = share @ self.members[1 - axis]
        gain = self.members[axis] @ log2(lift_of(blocks))
        bits: np.ndarray = (onto.toarray() * gain).sum(axis=1)
        return bits

    def strongest(self, n: int) -> list[tuple[int, int, float]]:
        """The n blocks that add most to the information kept, with their lifts."""
        blocks = self.blocks
        lift = lift_of(blocks)
        order = np.argsort(-(blocks * log2(lift)), axis=None, kind="stable")[:n]
        places = [divmod(int(i), blocks.shape[1]) for i in order]
        return [(a, b, float(lift[a, b])) for a, b in places if is_informative(lift[a, b])]
