"""Runs over a corpus in shards: out of core in one process, or by several processes.

A part is one shard of the corpus, with the arrays of the state that belong to its documents or tokens (its rows). The other
arrays, such as counts by word and priors, are shared. A step is computed in phases: each part computes from the shared arrays
up to a meeting, at which changes and sums over the parts are combined. `part` has the computations of one part; a `crew` has
all parts, in this process or others; `laying_out` has the data for the loop. `workbench.engines.engine` is the engine's side.
"""
