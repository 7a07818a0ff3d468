"""Finding a clustering."""
