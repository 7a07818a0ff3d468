"""Information-theoretic co-clustering by Markov aggregation."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .costs import agreement as evaluate  # noqa: F401
    from .costs.objective import Approximation as Approximation
    from .costs.objective import Information as Information
    from .costs.objective import approximation as approximation
    from .costs.objective import cost as cost
    from .costs.objective import information as information
    from .estimators.coclustering import CoClustering as CoClustering
    from .estimators.comparison import compare as compare
    from .estimators.markov import MarkovAggregation as MarkovAggregation
    from .estimators.multiway import MultiwayClustering as MultiwayClustering
    from .estimators.multiway import communities as communities
    from .estimators.named import AIB as AIB
    from .estimators.named import IBCC as IBCC
    from .estimators.named import IDC as IDC
    from .estimators.named import ITCC as ITCC
    from .estimators.named import SIB as SIB
    from .estimators.named import IBDouble as IBDouble
    from .io import datasets as datasets
    from .io.read import Data as Data
    from .io.read import read as read
    from .io.read import records as records
    from .io.read import write_h5ad as write_h5ad
    from .io.store.packing import pack as pack
    from .joint.messages import InputError as InputError
    from .joint.weighting import Weighting as Weighting
    from .model.hierarchy import Hierarchy as Hierarchy
    from .model.storage import load as load
    from .results.chain_results import ChainResults as ChainResults
    from .results.multiway_results import MultiwayResults as MultiwayResults
    from .results.plot import plot_blocks as plot_blocks
    from .results.plot import plot_confidence as plot_confidence
    from .results.plot import plot_dendrogram as plot_dendrogram
    from .results.plot import plot_features as plot_features
    from .results.plot import plot_heatmap as plot_heatmap
    from .results.plot import plot_information as plot_information
    from .results.plot import plot_map as plot_map
    from .results.plot import plot_selection as plot_selection
    from .results.results import Results as Results
    from .search.optimise.agglomeration import MergeTree as MergeTree
    from .search.progress import Progress as Progress
    from .search.state.coclusters import Step as Step

__version__ = "0.2.0"

# Imported when first used: the command line answers at once, numba is slow to import.
_ROOMS = {
    "costs.objective": "Approximation Information approximation cost information",
    "estimators.coclustering": "CoClustering",
    "estimators.comparison": "compare",
    "estimators.markov": "MarkovAggregation",
    "estimators.multiway": "MultiwayClustering communities",
    "estimators.named": "AIB IBCC IBDouble IDC ITCC SIB",
    "io.read": "Data read records write_h5ad",
    "io.store.packing": "pack",
    "joint.messages": "InputError",
    "joint.weighting": "Weighting",
    "model.hierarchy": "Hierarchy",
    "model.storage": "load",
    "results.chain_results": "ChainResults",
    "results.multiway_results": "MultiwayResults",
    "results.plot": "plot_blocks plot_confidence plot_dendrogram plot_features plot_heatmap "
    "plot_information plot_map plot_selection",
    "results.results": "Results",
    "search.optimise.agglomeration": "MergeTree",
    "search.progress": "Progress",
    "search.state.coclusters": "Step",
}
_HOMES = {name: home for home, names in _ROOMS.items() for name in names.split()}
#: Modules of rooms that users import from here, also as ``from comarkov.evaluate import ...``.
_MODULES = {"datasets": "io.datasets", "evaluate": "costs.agreement"}

__all__ = sorted(["__version__", *_HOMES, *_MODULES])


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
