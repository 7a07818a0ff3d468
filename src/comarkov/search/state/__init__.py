"""The clustering that a search changes."""
