"""A corpus as a folder of shards, for corpora larger than memory: write, open and split it."""
