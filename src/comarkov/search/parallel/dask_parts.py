"""The rows of a matrix in parts, each of them on a worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...joint.joint import Joint
from ...joint.parts import count_parts, part_bounds
from ...kernels.matrix import Matrix
from .dask_client import Cluster, LostError, Task, places

PART_ATTEMPTS = 20  # at the same work, while workers are lost
PART_PAUSE = 0.2  # seconds before the next
PARTS_PER_WORKER = 4  # groups for each worker, if the number of workers is not a power of two


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

    def results(
        self,
        start: Callable[[], list[Task]],
        stop: Callable[[], bool] = lambda: False,
        forget: Callable[[], None] = lambda: None,
    ) -> list[Any] | None:
        """Return the results of tasks; None once ``stop`` returns True.

        If workers are lost, or if the result of a task is None, tasks are started again, after
        ``forget`` has removed what is known of the workers.
        """
        for attempt in range(PART_ATTEMPTS):
            try:
                if attempt:
                    self.restore()
                results = self.cluster.results(start(), stop)
                if results is None or all(result is not None for result in results):
                    return results
            except LostError:
                time.sleep(PART_PAUSE)  # until the scheduler has noticed
                self.cluster.refresh()
            forget()
        raise ConnectionError(
            f"Dask workers were lost {PART_ATTEMPTS} times in the same step. They may have too "
            "little memory: start more of them, or some with a higher limit."
        )

    def groups(self) -> list[range]:
        """Return the parts of each group, one group for each thread of the workers.

        The parts of a group are those that a sum in pairs adds up before all others.
        """
        workers, count = len(self.cluster.workers), len(self.futures)
        groups = 1 << (workers - 1).bit_length()
        groups = min(groups if groups == workers else groups * PARTS_PER_WORKER, count)
        size = count // groups
        return [range(i * size, (i + 1) * size) for i in range(groups)]

    def on_groups(self, work: Callable[..., Any], *arguments: Sequence[Any]) -> list[Task]:
        """Start work(parts, ...) on each group; of further arguments it gets those of its parts."""
        groups = self.groups()
        return [
            self.cluster.submit(
                work,
                [self.futures[p] for p in group],
                *([each[p] for p in group] for each in arguments),
                place=i / len(groups),
            )
            for i, group in enumerate(groups)
        ]

    def rows(self, numbers: np.ndarray) -> tuple[Matrix, np.ndarray]:
        """Return a matrix in this process that has these rows, and where they are in it."""
        part = np.searchsorted(self.bounds, numbers, side="right") - 1
        order = np.argsort(part, kind="stable")
        ends = np.cumsum(np.bincount(part, minlength=self.bounds.size - 1))
        own = [
            rows - start
            for rows, start in zip(np.split(numbers[order], ends[:-1]), self.bounds, strict=False)
        ]
        pieces = self.results(lambda: self.on_groups(_chosen, own))
        assert pieces is not None
        places = np.empty(numbers.size, np.int64)
        places[order] = np.arange(numbers.size)
        return joined(pieces), places

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
        place = p / (self.bounds.size - 1)
        return self.cluster.submit(aligned, self.cluster.scatter(rows, place), place=place)


def sent_parts(source: Joint, cluster: Cluster) -> Parts:
    """Send the parts of a matrix in memory to workers."""
    indptr = source.matrix.indptr
    bounds = bounds_of(indptr, source.shape[1])
    parts = Parts(cluster, indptr, bounds, [], source)
    parts.futures = [parts._sent(p) for p in range(bounds.size - 1)]
    return parts


def aligned(value: Any) -> Any:
    """Return an array, or a tuple of arrays, as numba wants it.

    Arrays that come from other processes may begin at any byte. Numba would compile kernels for
    these again, and they would be slow.
    """
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["A", "C", "W"])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(aligned, value))
    return [aligned(each) for each in value] if isinstance(value, list) else value


def _chosen(parts: Sequence[Matrix], positions: Sequence[np.ndarray]) -> Matrix:
    """Return chosen rows of parts, one part after another."""
    return joined([chosen_rows(part, own) for part, own in zip(parts, positions, strict=True)])


def chosen_rows(part: Matrix, positions: np.ndarray) -> Matrix:
    """Return some rows of a part."""
    counts = np.diff(part.indptr)[positions]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    places = np.repeat(part.indptr[positions] - indptr[:-1], counts) + np.arange(indptr[-1])
    return part._replace(
        indptr=indptr,
        indices=part.indices[places],
        weights=part.weights[places],
        ones=part.ones[positions],
        twos=part.twos[positions],
        mass=part.mass[positions],
    )


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


def joined(parts: Sequence[Matrix]) -> Matrix:
    """Return the whole matrix of parts that lie above each other."""
    starts = np.cumsum([0, *(part.indices.size for part in parts)])
    indptr = [part.indptr[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
    fields = ("indices", "weights", "ones", "twos", "mass")
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    return Matrix(np.concatenate([*indptr, starts[-1:]]), spread=parts[0].spread, **arrays)
