"""Methods of the literature: each is CoClustering with its published β and optimiser."""

from .base import OneSided
from .both import IBCC, IDC, ITCC, IBDouble
from .one_sided import AIB, SIB

__all__ = ["AIB", "IBCC", "IDC", "ITCC", "SIB", "IBDouble", "OneSided"]
