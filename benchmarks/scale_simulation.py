"""What 64 and 256 workers would find: their parts are computed here, one after another.

Shows the cost after each round and the bytes that would travel, from a random start at β = 1, then
at β = 0.7. The data have 1e7 non-zeros, so that each of 256 parts has only 40,000.
"""

from unittest.mock import patch

import numpy as np
from common import Report, newsgroups
from scale_tasks import CLUSTERS, planted_csr

from comarkov.joint.joint import joint
from comarkov.search.parallel import workers
from comarkov.search.run import Run, Seed
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.starts import free_start

PARTS = (1, 16, 64, 256)
ROUNDS = (1.0,) * 6 + (0.7,) * 6
BETA = 0.7


class Traffic:
    """Counts what half-steps of all parts would send."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self.bytes = 0.0

    def half_steps(self, threads, jobs, stop):
        """Make half-steps and count labels, margins and changed cells."""
        steps = original(threads, jobs, stop)
        for job, step in zip(jobs, steps, strict=True):
            cells = job.board.table.mass.itemsize * answer_width(job)
            visited = sum(ask.order.size for ask in job.asks)
            changed = step.change.items.size * (4 + cells)
            self.bytes += 2 * visited * (1 + 4) + (self.n_workers + 1) * changed
        return steps


original = workers.Threads.half_steps


def answer_width(job) -> int:
    """The clusters of a table, without its padding."""
    return job.asks[0].sizes.size


def rounds(data, n_parts: int, seed: int):
    """Yield the cost and the bytes after each round."""
    traffic = Traffic(n_parts)
    rows, columns = data.row_mass, data.column_mass
    starts = free_start(CLUSTERS, rows), free_start(CLUSTERS, columns)
    with (
        patch.object(workers, "count_parts", lambda *size: n_parts),
        patch.object(workers.Threads, "half_steps", lambda *a: traffic.half_steps(*a)),
    ):
        data = data.with_threads(2)
        state = CoClusterProblem(data, starts).begin(starts, np.random.default_rng(seed))
        for beta in ROUNDS:
            for side in state.sides():
                state.sweep(side, Run(beta, Seed((seed,))))
            yield state.cost(BETA), traffic.bytes


def main(report: Report) -> None:
    """Print costs and bytes by rounds for each number of parts."""
    for name, matrix in (
        ("planted, 1e7 non-zeros", planted_csr(10**7)),
        ("20 Newsgroups", newsgroups()),
    ):
        report.title(f"{name}: cost in bits at β = {BETA} after each round, and bytes in all")
        data = joint(matrix)
        _ = data.T  # once, not for each number of parts
        print("parts " + " ".join(f"{i:>7}" for i in range(1, len(ROUNDS) + 1)) + "   bytes")
        for n_parts in PARTS:
            costs, sent = zip(*rounds(data, n_parts, 1), strict=True)
            line = " ".join(f"{cost:>7.4f}" for cost in costs)
            print(f"{n_parts:>5} {line}   {sent[-1] / 1e6:,.0f} MB", flush=True)


if __name__ == "__main__":
    main(Report())
