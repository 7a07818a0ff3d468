"""What a clustering costs, in plain NumPy."""
