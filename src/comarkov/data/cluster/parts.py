"""The rows of a matrix in parts, each of them on a worker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.matrix import Matrix
from ..joint import Joint
from ..parts import count_parts, part_bounds
from .client import Cluster, Task, places


@dataclass(eq=False)
class Parts:
    """Tasks whose results are the parts of a matrix, which stay on their workers.

    ``source`` is the matrix if it is in the memory of this process: parts are sent again if their
    worker is lost. Without it the scheduler computes lost parts again.
    """

    cluster: Cluster
    indptr: np.ndarray  # where rows begin in the whole matrix
    bounds: np.ndarray  # part p has the rows from bounds[p] to bounds[p + 1]
    futures: list[Task]
    source: Joint | None = None

    @property
    def places(self) -> list[float]:
        """The places of parts among the workers."""
        return places(len(self.futures))

    def restore(self) -> bool:
        """Send lost parts again; return whether there were any."""
        lost = [p for p, future in enumerate(self.futures) if future.status == "cancelled"]
        if self.source is None or not lost:
            return False
        self.cluster.refresh()
        for p in lost:
            self.futures[p] = self._sent(p)
        return True

    def _sent(self, p: int) -> Task:
        assert self.source is not None
        rows = rows_between(self.source.matrix, int(self.bounds[p]), int(self.bounds[p + 1]))
        return self.cluster.scatter(rows, p / (self.bounds.size - 1))


def sent_parts(source: Joint, cluster: Cluster) -> Parts:
    """Send the parts of a matrix in memory to workers."""
    indptr = source.matrix.indptr
    bounds = bounds_of(indptr, source.shape[1])
    parts = Parts(cluster, indptr, bounds, [], source)
    parts.futures = [parts._sent(p) for p in range(bounds.size - 1)]
    return parts


def bounds_of(indptr: np.ndarray, columns: int) -> np.ndarray:
    """Return where parts begin and end: as for the same matrix in memory."""
    return part_bounds(indptr, count_parts(int(indptr[-1]), columns))


def rows_between(matrix: Matrix, start: int, stop: int) -> Matrix:
    """Return a copy of a range of rows."""
    first, last = int(matrix.indptr[start]), int(matrix.indptr[stop])
    return matrix._replace(
        indptr=matrix.indptr[start : stop + 1] - first,
        indices=np.array(matrix.indices[first:last]),
        weights=np.array(matrix.weights[first:last]),
        ones=np.array(matrix.ones[start:stop]),
        twos=np.array(matrix.twos[start:stop]),
        mass=np.array(matrix.mass[start:stop]),
    )


def joined(parts: list[Matrix]) -> Matrix:
    """Return the whole matrix of parts that lie above each other."""
    starts = np.cumsum([0, *(part.indices.size for part in parts)])
    indptr = [part.indptr[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
    fields = ("indices", "weights", "ones", "twos", "mass")
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    return Matrix(np.concatenate([*indptr, starts[-1:]]), spread=parts[0].spread, **arrays)
