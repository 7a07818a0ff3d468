"""What users import from here: the types of each, and for ``__init__.py`` where each is."""

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

__version__: str
