"""Information-theoretic co-clustering by Markov aggregation."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Imported when first used: the command line answers at once, numba is slow to import.
_HOMES = {
    "AIB": "estimators.named",
    "ChainResults": "results.network.chain",
    "CoClustering": "estimators.coclustering",
    "Data": "data.reading",
    "Hierarchy": "model.hierarchy",
    "IBCC": "estimators.named",
    "IBDouble": "estimators.named",
    "IDC": "estimators.named",
    "ITCC": "estimators.named",
    "Information": "costs.relations",
    "MarkovAggregation": "estimators.markov",
    "MergeTree": "search.agglomeration",
    "MultiwayClustering": "estimators.multiway",
    "MultiwayResults": "results.network.multiway",
    "Progress": "search.progress",
    "Results": "results.results",
    "SIB": "estimators.named",
    "Step": "search.coclusters",
    "Weighting": "data.weighting",
    "compare": "estimators.comparison",
    "cost": "costs.objective",
    "information": "costs.objective",
    "load": "model.storage",
    "pack": "data.store.packing",
    "plot_blocks": "results.plot",
    "plot_heatmap": "results.plot",
    "plot_path": "results.plot",
    "read": "data.reading",
    "write_h5ad": "data.reading",
}
#: Modules of rooms that users import from here, also as ``from comarkov.evaluate import ...``.
_MODULES = {"datasets": "data.datasets", "evaluate": "costs.evaluation"}

__all__ = [
    "AIB",
    "IBCC",
    "IDC",
    "ITCC",
    "SIB",
    "ChainResults",
    "CoClustering",
    "Data",
    "Hierarchy",
    "IBDouble",
    "Information",
    "MarkovAggregation",
    "MergeTree",
    "MultiwayClustering",
    "MultiwayResults",
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
    "pack",
    "plot_blocks",
    "plot_heatmap",
    "plot_path",
    "read",
    "write_h5ad",
]

if TYPE_CHECKING:
    from .costs import evaluation as evaluate
    from .costs.objective import cost, information
    from .costs.relations import Information
    from .data import datasets
    from .data.reading import Data, read, write_h5ad
    from .data.store.packing import pack
    from .data.weighting import Weighting
    from .estimators.coclustering import CoClustering
    from .estimators.comparison import compare
    from .estimators.markov import MarkovAggregation
    from .estimators.multiway import MultiwayClustering
    from .estimators.named import AIB, IBCC, IDC, ITCC, SIB, IBDouble
    from .model.hierarchy import Hierarchy
    from .model.storage import load
    from .results.network.chain import ChainResults
    from .results.network.multiway import MultiwayResults
    from .results.plot import plot_blocks, plot_heatmap, plot_path
    from .results.results import Results
    from .search.agglomeration import MergeTree
    from .search.coclusters import Step
    from .search.progress import Progress


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


class _Alias(ModuleType):
    """A module of a room under its public name, loaded when first used."""

    def __getattr__(self, name: str) -> Any:
        home = _MODULES[self.__name__.rpartition(".")[2]]
        return getattr(import_module(f".{home}", __package__), name)


for _name in _MODULES:
    sys.modules[f"{__name__}.{_name}"] = _Alias(f"{__name__}.{_name}")
