"""Numba code without policy: sparse matrices, sweeps and their logarithm."""
