"""The cost of a clustering, in plain NumPy."""
