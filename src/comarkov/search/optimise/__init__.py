"""Steps and methods that lower the cost."""
