"""Stores: matrices on disk that are loaded as needed, packed from data of any size."""

from .opening import Store, open_joint, open_store
from .packing import pack

__all__ = ["Store", "open_joint", "open_store", "pack"]
