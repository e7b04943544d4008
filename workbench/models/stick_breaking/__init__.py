"""Models whose probabilities are broken off a stick, each piece by a Gaussian: correlated topics."""
