"""A corpus as a folder of shards: written from files or a corpus, opened, split."""
