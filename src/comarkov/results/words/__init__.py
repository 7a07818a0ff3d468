"""Results in words: titles, sentences and numbers."""
