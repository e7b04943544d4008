"""Runs over a corpus that is kept in shards: out of core in one process, or by several processes.

`laying_out` has the data in one part, a plain call of the engine, and a corpus in several with the same methods; `part` is what
is done with the documents of one part, `crew` who does it. `workbench.engines.parts` says how an engine takes part.
"""
