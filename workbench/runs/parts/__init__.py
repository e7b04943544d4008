"""Runs over a corpus that is kept in shards: out of core in one process, or by several processes.

`laying_out` cuts the corpus, `group` is what is done with the documents of one range, `crew` who does it, `engine` the engine
that the loop sees. `workbench.engines.in_parts` says what an engine declares.
"""
