"""Runs on the workers of a Dask cluster; only this package imports `distributed`, and only when a cluster is used."""
