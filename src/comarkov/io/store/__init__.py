"""Stores: matrices on disk that are loaded as needed, packed from data of any size."""
