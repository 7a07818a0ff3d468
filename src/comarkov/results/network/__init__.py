"""Results of Markov chains and of several types of elements: words, files and pages."""
