"""The only loop, and what it leaves behind: specs, the run store, workers, comparisons."""
