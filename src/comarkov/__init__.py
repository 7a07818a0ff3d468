"""Information-theoretic co-clustering by Markov aggregation."""

from . import datasets, evaluate
from .estimators import CoClustering
from .objective import Information, cost, information
from .optimise import Step
from .progress import Progress
from .weighting import Weighting

__version__ = "0.1.0"

__all__ = [
    "CoClustering",
    "Information",
    "Progress",
    "Step",
    "Weighting",
    "__version__",
    "cost",
    "datasets",
    "evaluate",
    "information",
]
