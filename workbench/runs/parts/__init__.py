"""Runs over a corpus that is kept in shards: out of core in one process, or by several processes.

`whole` is the data in one part, a plain call of the engine. `laying_out` cuts a corpus in several and works on it by the same
methods; `part` is what is done with the documents of one part, `crew` who does it. `workbench.engines.parts` says how an engine
takes part.
"""
