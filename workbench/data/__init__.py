"""Functions that corpora and records share: read and write files, draw random subsets."""
