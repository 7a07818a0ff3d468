"""The methods by name: each is CoClustering with β and the way to optimise it as published."""

from .base import OneSided
from .both import IBCC, IDC, ITCC, IBDouble
from .one_sided import AIB, SIB

__all__ = ["AIB", "IBCC", "IDC", "ITCC", "SIB", "IBDouble", "OneSided"]
