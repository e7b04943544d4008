"""Runs and fits on the workers of a Dask cluster: the only place that imports `distributed`, and only when it is used."""
