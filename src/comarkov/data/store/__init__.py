"""Stores: matrices on disk that are loaded as needed, packed from data of any size."""

from .opening import Store, open_joint, open_store
from .packing import pack
from .references import keep_data, open_reference

__all__ = ["Store", "keep_data", "open_joint", "open_reference", "open_store", "pack"]
