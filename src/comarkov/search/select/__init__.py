"""Choosing how many clusters there are, and β."""
