"""The rows of a matrix in parts, each of them on a worker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...joint.joint import Joint
from ...kernels.matrix import Matrix
from .dask_client import Cluster, Task
from .dask_joint import aligned, bounds_of, rows_between


@dataclass(eq=False)
class Parts:
    """Tasks whose results are the parts of a matrix, which stay on their workers.

    ``source`` is the matrix if it is in the memory of this process: parts are sent again if their
    worker is lost. Without it the scheduler computes lost parts again.
    """

    cluster: Cluster
    bounds: np.ndarray  # part p has the rows from bounds[p] to bounds[p + 1]
    futures: list[Task]
    source: Joint | None = None

    def gathered(self) -> list[Matrix]:
        """Return all parts in this process."""
        self.restore()
        return aligned(self.cluster.gather(self.futures))

    def restore(self) -> bool:
        """Send lost parts again; return whether there were any."""
        lost = [p for p, future in enumerate(self.futures) if future.status == "cancelled"]
        if self.source is None or not lost:
            return False
        self.cluster.refresh()
        for p in lost:
            self.futures[p] = self.sent(p)
        return True

    def sent(self, p: int) -> Task:
        """Send a part to the worker that is likely to compute it."""
        assert self.source is not None
        rows = rows_between(self.source.matrix, int(self.bounds[p]), int(self.bounds[p + 1]))
        return self.cluster.scatter(rows, p / (self.bounds.size - 1))


def sent_parts(source: Joint, cluster: Cluster) -> Parts:
    """Send the parts of a matrix in memory to workers."""
    bounds = bounds_of(source.matrix.indptr, source.shape[1])
    parts = Parts(cluster, bounds, [], source)
    parts.futures = [parts.sent(p) for p in range(bounds.size - 1)]
    return parts
