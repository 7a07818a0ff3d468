"""Information-theoretic co-clustering by Markov aggregation."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Imported when first used: the command line answers at once, numba is slow to import.
_HOMES = {
    "AIB": "named",
    "CoClustering": "estimators",
    "Data": "reading",
    "Hierarchy": "hierarchy",
    "IBCC": "named",
    "IBDouble": "named",
    "IDC": "named",
    "ITCC": "named",
    "Information": "relations",
    "MarkovAggregation": "markov",
    "MergeTree": "agglomerate",
    "MultiwayClustering": "multiway",
    "Progress": "progress",
    "Results": "results",
    "SIB": "named",
    "Step": "optimise",
    "Weighting": "weighting",
    "compare": "comparison",
    "cost": "objective",
    "information": "objective",
    "load": "storage",
    "read": "reading",
    "write_h5ad": "reading",
    "plot_blocks": "plot",
    "plot_heatmap": "plot",
    "plot_path": "plot",
}
_MODULES = ("datasets", "evaluate")

__all__ = [
    "AIB",
    "IBCC",
    "IDC",
    "ITCC",
    "SIB",
    "CoClustering",
    "Data",
    "Hierarchy",
    "IBDouble",
    "Information",
    "MarkovAggregation",
    "MergeTree",
    "MultiwayClustering",
    "Progress",
    "Results",
    "Step",
    "Weighting",
    "__version__",
    "compare",
    "cost",
    "datasets",
    "evaluate",
    "information",
    "load",
    "plot_blocks",
    "plot_heatmap",
    "plot_path",
    "read",
    "write_h5ad",
]

if TYPE_CHECKING:
    from . import datasets, evaluate
    from .agglomerate import MergeTree
    from .comparison import compare
    from .estimators import CoClustering
    from .hierarchy import Hierarchy
    from .markov import MarkovAggregation
    from .multiway import MultiwayClustering
    from .named import AIB, IBCC, IDC, ITCC, SIB, IBDouble
    from .objective import cost, information
    from .optimise import Step
    from .plot import plot_blocks, plot_heatmap, plot_path
    from .progress import Progress
    from .reading import Data, read, write_h5ad
    from .relations import Information
    from .results import Results
    from .storage import load
    from .weighting import Weighting


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
