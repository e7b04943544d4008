"""Computations from a stored run: inference of unseen documents, bounds on the evidence, scores of documents."""
