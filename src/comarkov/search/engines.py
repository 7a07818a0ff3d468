"""Which engine computes the parts of a matrix: threads of this process, or a cluster."""

from __future__ import annotations

from ..data.cluster.joint import ClusterJoint
from ..data.joint import Joint
from .cluster_workers import ClusterWorkers
from .ledger import Ledger
from .workers import Threads, Workers


def workers_of(joint: Joint) -> Workers:
    """Return those who compute the parts of a matrix."""
    known = joint.__dict__
    if "workers" not in known:
        if isinstance(joint, ClusterJoint):
            ledger = Ledger()
            for matrix in (joint, joint.T):
                matrix.__dict__["workers"] = ClusterWorkers(matrix, ledger)
        else:
            known["workers"] = Threads(joint)
    workers: Workers = known["workers"]
    return workers
