"""The parts of a fitted model."""
