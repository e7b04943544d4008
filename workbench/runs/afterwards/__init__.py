"""What is computed from a finished run: unseen documents, bounds, scores of documents."""
